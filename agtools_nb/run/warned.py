"""What Python warns of during a call, kept with that call.

``warnings.catch_warnings`` changes the whole process, so it cannot tell calls apart
that run at once. Here the process keeps its filters: beside each that shows a warning
once a place stands a twin that shows it always, but only inside a call, because a
second call that does the same must be warned as well. What a filter ignores or turns
into an error, it still does.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, TextIO

from agtools_nb.jsonable import clean_text, shorten

_SHOWN_ONCE = ("default", "module", "once")
_TEXT_LIMIT = 2_000
_MATCHES_NOTHING = "(?!)"


class _InCall:
    """Stands where a filter holds the pattern of its message: matches inside a call only."""

    def __init__(self, is_in_call: Callable[[], bool], pattern: Any) -> None:
        self.is_in_call = is_in_call
        self.pattern = pattern

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied or sent elsewhere (joblib sends the filters along), it is for no call there."""
        return re.compile, (_MATCHES_NOTHING,)

    def match(self, text: str) -> bool:
        """Whether a call runs here, and its message is one that the filter is for."""
        if not self.is_in_call():
            return False
        if self.pattern is None or isinstance(self.pattern, str):
            return self.pattern in (None, text)
        return self.pattern.match(text) is not None


class WarningRouter:
    """Hands warnings of calls to ``keep``, and leaves all others where they went.

    Args:
        is_in_call: Whether the current thread and task run a call.
        keep: Takes a warning as one line of text.
    """

    def __init__(self, is_in_call: Callable[[], bool], keep: Callable[[str], None]) -> None:
        self._is_in_call = is_in_call
        self._keep = keep
        self._outside: Callable[..., None] = warnings.showwarning

    def enter(self) -> None:
        """Start routing."""
        if warnings.showwarning != self._show:
            self._outside = warnings.showwarning
            warnings.showwarning = self._show
        found: list[Any] = []
        for entry in warnings.filters:
            action, pattern, *rest = entry
            if action in _SHOWN_ONCE:
                found.append(("always", _InCall(self._is_in_call, pattern), *rest))
            found.append(entry)
        # What no filter names is shown once a place as well.
        found.append(("always", _InCall(self._is_in_call, None), Warning, None, 0))
        _set_filters(found)

    def leave(self) -> None:
        """End routing; someone who replaced ``showwarning`` meanwhile keeps theirs."""
        if warnings.showwarning == self._show:
            warnings.showwarning = self._outside
        entries: list[Any] = list(warnings.filters)
        _set_filters([entry for entry in entries if not isinstance(entry[1], _InCall)])

    def _show(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if file is not None or not self._is_in_call():
            self._outside(message, category, filename, lineno, file, line)
            return
        self._keep(warning_text(message, category, filename, lineno))


def warning_text(
    message: Warning | str, category: type[Warning], filename: str, lineno: int
) -> str:
    """A warning as one line: ``"UserWarning: text (file.py:3)"``."""
    text = shorten(clean_text(str(message)), _TEXT_LIMIT)
    path = PurePath(filename)
    # The file of a cell has a number for a name, which says nothing to anybody.
    is_cell = path.parent.name.startswith("ipykernel_")
    place = f"a cell, line {lineno}" if is_cell else f"{path.name}:{lineno}"
    return f"{category.__name__}: {text} ({place})"


def _set_filters(filters: list[Any]) -> None:
    warnings.filters[:] = filters  # type: ignore[index]  # in place: the C code holds this very list
    # Or modules would go on by what they remember of the former filters.
    changed = getattr(warnings, "_filters_mutated", None) or getattr(
        warnings, "_filters_mutated_lock_held", None
    )
    if changed is not None:
        changed()
