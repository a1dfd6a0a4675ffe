"""Any Python value as JSON text of a bounded size, with a note of what was left out.

The whole value may be a gigabyte, and this runs on the kernel's loop: the work is bounded by
what is shown, not by what there is.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple

from agtools_nb.jsonable import MAX_DEPTH, jsonable, safe_repr

ITEM_COST = 4
"""Characters that a container's item takes at least, for budgeting."""

_PLAIN_DEPTH = 20


class Preview(NamedTuple):
    """A value as JSON text.

    Attributes:
        text: JSON text; every number in full.
        note: What was left out, for people; ``""`` when all is there.
    """

    text: str
    note: str


def preview(value: Any, limit: int, *, indent: int | None = None) -> Preview:
    """Return ``value`` as JSON text of about ``limit`` characters at most. Never raises."""
    # Most values are small and plain: a tenth of the work. One may change under our hands.
    with contextlib.suppress(Exception):
        if _left(value, limit, 0) > 0:
            return Preview(json.dumps(value, ensure_ascii=False, indent=indent), "")
    budget = _Budget(limit)
    shown = budget.cut(value, ())
    text = json.dumps(shown, ensure_ascii=False, indent=indent)
    return Preview(text, "; ".join(budget.notes()))


def _left(value: Any, left: int, depth: int) -> int:
    """Return what a value leaves of a budget; 0 or less if it is large, or no plain JSON."""
    kind = type(value)
    if kind is str:
        return left - len(value) if value.isascii() else 0
    if value is None or kind is bool:
        return left - 5
    if kind is int:
        return left - 20 if -(10**19) < value < 10**19 else 0
    if kind is float:
        return left - 24 if value - value == 0 else 0
    if depth > _PLAIN_DEPTH or kind not in (dict, list):
        return 0
    return _left_by_items(value, left, depth + 1)


def _left_by_items(value: dict[Any, Any] | list[Any], left: int, depth: int) -> int:
    is_dict = isinstance(value, dict)
    for part in value:
        if is_dict:
            left = _left(part, left, depth) if type(part) is str else 0
        left = _left(value[part] if is_dict else part, left - ITEM_COST, depth)
        if left <= 0:
            return 0
    return left


def cut_text(text: str, limit: int) -> Preview:
    """Return the first ``limit`` characters of a text, and a note if there are more."""
    if len(text) <= limit:
        return Preview(text, "")
    return Preview(text[:limit], f"first {limit:,} of {len(text):,} characters")


class _Budget:
    def __init__(self, limit: int) -> None:
        self.left = limit
        self.limit = limit
        self.items = 0
        self.characters = 0

    def notes(self) -> Iterable[str]:
        if self.items:
            yield f"{self.items:,} {'item' if self.items == 1 else 'items'} left out"
        if self.characters:
            yield f"{self.characters:,} characters left out"

    def cut(self, value: Any, parents: tuple[int, ...]) -> Any:
        try:
            return self._cut(value, parents)
        except (Exception, SystemExit, GeneratorExit):  # an object that lies about its class
            return self.text(safe_repr(value))

    def _cut(self, value: Any, parents: tuple[int, ...]) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if value is None or isinstance(value, (bool, int, float)):
            return self.scalar(jsonable(value))
        if isinstance(value, (Mapping, list, tuple, set, frozenset)):
            return self.container(value, parents)
        # A foreign object may do anything; jsonable copes with the whole of it.
        with contextlib.suppress(Exception):
            value = self.sliced(value)
        converted = jsonable(value)
        if isinstance(converted, (dict, list)):
            return self.container(converted, parents)
        return self.text(converted) if isinstance(converted, str) else self.scalar(converted)

    def scalar(self, value: Any) -> Any:
        self.left -= len(str(value)) if not isinstance(value, str) else len(value)
        return value

    def text(self, value: str) -> str:
        whole = str.__str__(value)
        room = max(self.left, 40)
        shown = whole if len(whole) <= room * 1.2 else whole[:room]
        if len(shown) < len(whole):
            self.characters += len(whole) - len(shown)
            shown += f"… {len(whole) - len(shown):,} more characters"
        self.left -= len(shown)
        clean: str = jsonable(shown)
        return clean

    def container(self, value: Any, parents: tuple[int, ...]) -> Any:
        kind = type(value).__name__
        if id(value) in parents:
            return self.scalar(f"<cycle: {kind}>")
        if len(parents) >= MAX_DEPTH:
            return self.scalar(f"<too deep: {kind}>")
        inner = (*parents, id(value))
        try:
            if isinstance(value, Mapping):
                return self.mapping(value, inner)
            return self.sequence(value, inner)
        except Exception:  # changed under our hands, or its own __iter__ failed
            return self.text(jsonable(f"<unreadable: {kind}>"))

    def mapping(self, value: Mapping[Any, Any], parents: tuple[int, ...]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, item in value.items():
            if self.left <= 0:
                return self.rest_of_mapping(out, len(value) - len(out))
            name = self.text(next(iter(jsonable({key: None}))))
            self.left -= ITEM_COST
            out[name] = self.cut(item, parents)
        return out

    def rest_of_mapping(self, out: dict[str, Any], rest: int) -> dict[str, Any]:
        self.items += rest
        out["…"] = f"{rest:,} more"
        return out

    def sequence(self, value: Any, parents: tuple[int, ...]) -> list[Any]:
        if isinstance(value, (set, frozenset)):
            # Sorting costs too much when only the first few are shown.
            value = jsonable(value) if len(value) <= self.left else list(islice(value, self.left))
        out: list[Any] = []
        for item in value:
            if self.left <= 0:
                rest = len(value) - len(out)
                self.items += rest
                out.append(f"… {rest:,} more")
                break
            self.left -= ITEM_COST
            out.append(self.cut(item, parents))
        return out

    def sliced(self, value: Any) -> Any:
        """Keep only as many rows of an array or a data frame as could be shown."""
        module = type(value).__module__.partition(".")[0]
        rows = max(self.left // ITEM_COST, 1)
        dimensions: int = getattr(value, "ndim", 0) if module in ("numpy", "pandas") else 0
        if dimensions and len(value) > rows:
            self.items += len(value) - rows
            return value[:rows]
        return value
