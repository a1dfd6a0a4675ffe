"""Schemas that a server sent: bounded before anything here reads them."""

from __future__ import annotations

from typing import Any

from agtools_nb.define.subschemas import MANY, MISSING, NAMED, ONE, resolve, walk
from agtools_nb.jsonable import json_text
from agtools_nb.mcp.text import quoted

MAX_CHARACTERS = 256 * 1024
MAX_DEPTH = 64
MAX_EXPANDED = 20_000
"""Most schemas that one becomes when its references are put in place."""


def too_much(schema: Any) -> str | None:
    """What is too much about a schema, in words; ``None`` if nothing is.

    A few references that each lead twice to the next are short to send, and take for ever to
    check a value against: what counts is how large it is with every reference in its place.
    """
    if _is_deeper(schema, MAX_DEPTH):
        return f"it is nested deeper than {MAX_DEPTH} levels"
    size = len(json_text(schema))
    if size > MAX_CHARACTERS:
        return f"it has {size:,} characters, more than {MAX_CHARACTERS:,}"
    elsewhere = _elsewhere(schema)
    if elsewhere is not None:
        return f"it refers to {quoted(elsewhere)}, and nothing is fetched"
    try:
        expanded = _Expanded(schema).size(schema)
    except RecursionError:
        return "its references lead on and on"
    if expanded > MAX_EXPANDED:
        return f"it has more than {MAX_EXPANDED:,} parts once its references are followed"
    return None


def _is_deeper(value: Any, depth: int) -> bool:
    """Whether a value is nested deeper than ``depth``; level by level, not by recursion."""
    level = [value]
    for _ in range(depth):
        level = [
            item
            for one in level
            if isinstance(one, (dict, list))
            for item in (one.values() if isinstance(one, dict) else one)
            if isinstance(item, (dict, list))
        ]
        if not level:
            return False
    return True


_REFERENCES = ("$ref", "$dynamicRef")
_ANCHORS = ("$anchor", "$dynamicAnchor")


def _elsewhere(schema: Any) -> str | None:
    """A reference that leads out of the document, or by a name that a part of it gives itself."""
    for node in walk(schema):
        for key in _REFERENCES:
            target = node.get(key)
            if isinstance(target, str) and not target.startswith("#"):
                return target
    return None


class _Expanded:
    """Counts the schemas in a schema with its references in place. One that recurs ends there."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._known: dict[int, int] = {}
        self._anchors = {
            f"#{node[key]}": node
            for node in walk(root)
            for key in _ANCHORS
            if isinstance(node.get(key), str)
        }

    def size(self, schema: Any) -> int:
        if not isinstance(schema, dict):
            return 1
        if id(schema) not in self._known:
            self._known[id(schema)] = 1  # while it is open: it has come back to itself
            self._known[id(schema)] = 1 + sum(map(self.size, self._inner(schema)))
        return self._known[id(schema)]

    def _inner(self, schema: dict[str, Any]) -> list[Any]:
        found: list[Any] = []
        for key, value in schema.items():
            if key in NAMED and key not in ("$defs", "definitions") and isinstance(value, dict):
                found += value.values()
            elif key in MANY and isinstance(value, list):
                found += value
            elif key in ONE:
                found.append(value)
        for key in _REFERENCES:
            reference = schema.get(key)
            target = resolve(reference, self._root)
            if target is MISSING and isinstance(reference, str):
                target = self._anchors.get(reference, MISSING)
            if target is not MISSING:
                found.append(target)
        return found
