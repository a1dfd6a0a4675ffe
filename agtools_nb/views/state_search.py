"""Finding text in a state: in its keys, anywhere in its values, and in what was written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from agtools_nb.context import ABSENT, StateWrite
from agtools_nb.jsonable import MAX_DEPTH, pointer_step
from agtools_nb.views.values import preview

PARTS_LIMIT = 100_000
"""Parts of values that one search looks at: it runs on the kernel's loop."""

TEXT_LIMIT = 1_000_000
"""Characters of one text that a search looks at."""

OBJECT_LIMIT = 2_000
"""Characters of the text form of what is no JSON, such as a data frame."""

PLACES_LIMIT = 20
"""Places of one value that are named."""


class Search:
    """Looks for a text in any number of values, case aside, within one bound for all.

    Args:
        text: What to look for.

    Attributes:
        is_cut: Whether the bound was reached, so that there may be more.
    """

    def __init__(self, text: str) -> None:
        self._needle = text.casefold()
        self._left = PARTS_LIMIT
        self.is_cut = False

    def names(self, *texts: str | None) -> bool:
        """Tell whether one of a few short texts holds it."""
        return any(text and self._needle in text.casefold() for text in texts)

    def places(self, value: Any, limit: int = PLACES_LIMIT) -> list[str]:
        """Return JSON Pointers of the places in ``value`` where it stands."""
        found: list[str] = []
        self._walk(value, "", found, limit, 0)
        return found

    def writes(self, history: Iterable[StateWrite]) -> list[StateWrite]:
        """Return the writes whose key, tool, call or new value hold it."""
        return [write for write in history if self._is_in(write)]

    def _is_in(self, write: StateWrite) -> bool:
        if self.names(write.key, write.tool_name, write.call_id, write.operation):
            return True
        return write.after is not ABSENT and bool(self.places(write.after, 1))

    def _walk(self, value: Any, pointer: str, found: list[str], limit: int, depth: int) -> None:
        self._left -= 1
        if depth > MAX_DEPTH:
            self.is_cut = True
        elif isinstance(value, Mapping):
            for key, item in value.items():
                if self._is_over(found, limit):
                    return
                place = f"{pointer}/{pointer_step(str(key))}"
                if isinstance(key, str) and self._needle in key.casefold():
                    found.append(place)
                else:
                    self._walk(item, place, found, limit, depth + 1)
        elif isinstance(value, (list, tuple)):
            for at, item in enumerate(value):
                if self._is_over(found, limit):
                    return
                self._walk(item, f"{pointer}/{at}", found, limit, depth + 1)
        elif self._needle in _text(value).casefold():
            found.append(pointer)

    def _is_over(self, found: list[str], limit: int) -> bool:
        if self._left <= 0:
            self.is_cut = True
        return self._left <= 0 or len(found) >= limit


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value[:TEXT_LIMIT]
    if value is None or isinstance(value, (bool, float)):
        return json.dumps(value)
    return preview(value, OBJECT_LIMIT).text
