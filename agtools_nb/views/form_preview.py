"""Arguments as lines of JSON with remarks: as they came, and as the tool will get them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agtools_nb.arguments import Prepared
from agtools_nb.jsonable import pointer_step, shorten
from agtools_nb.views.form_words import json_of

MAX_LINES = 400
MAX_TEXT = 400
"""Characters of one value's text on a line."""

MARKS = ("changed", "default", "left", "fault")
"""Kinds of remark, the later the more important."""

Marks = Mapping[str, tuple[str, str]]
"""By JSON pointer: one of :data:`MARKS`, and the remark's words."""


def marked_lines(value: Any, marks: Marks) -> list[dict[str, Any]]:
    """Return the indented JSON of a value, a line each.

    Args:
        value: A JSON value.
        marks: Remarks; they stand on the first line of their place.

    Returns:
        ``{"t": text}`` and, where the place or what holds it has a remark, ``m`` (its
        kind) and on its first line ``n`` (its words).
    """
    lines: list[dict[str, Any]] = []
    for text, pointer in _lines(value, "", 0, ""):
        if len(lines) == MAX_LINES:
            lines.append({"t": "… (the JSON tab has all of it)"})
            break
        line: dict[str, Any] = {"t": text}
        if pointer in marks:
            line |= {"m": marks[pointer][0], "n": marks[pointer][1]}
        elif holder := next((p for p in _holders(pointer) if p in marks), None):
            line["m"] = marks[holder][0]
        lines.append(line)
    return lines


def _holders(pointer: str) -> Iterator[str]:
    while pointer:
        pointer = pointer.rpartition("/")[0]
        yield pointer


def _lines(
    value: Any, pointer: str, depth: int, end: str, key: str = ""
) -> Iterator[tuple[str, str]]:
    pad = "  " * depth
    if isinstance(value, dict) and value:
        yield f"{pad}{key}{{", pointer
        inner: Iterable[tuple[str, str, Any]] = (
            (f"{pointer}/{pointer_step(name)}", f"{json_of(name)}: ", child)
            for name, child in value.items()
        )
        yield from _inside(inner, len(value), depth)
        yield f"{pad}}}{end}", f"{pointer}/\0"
    elif isinstance(value, list) and value:
        yield f"{pad}{key}[", pointer
        inner = ((f"{pointer}/{at}", "", child) for at, child in enumerate(value))
        yield from _inside(inner, len(value), depth)
        yield f"{pad}]{end}", f"{pointer}/\0"
    else:
        yield f"{pad}{key}{shorten(json_of(value), MAX_TEXT)}{end}", pointer


def _inside(
    children: Iterable[tuple[str, str, Any]], count: int, depth: int
) -> Iterator[tuple[str, str]]:
    for at, (pointer, key, child) in enumerate(children, 1):
        yield from _lines(child, pointer, depth + 1, "," if at < count else "", key)


def remarks(
    prepared: Prepared, left: Mapping[str, Any], *, came: bool
) -> dict[str, tuple[str, str]]:
    """Remarks on the arguments as they came, or as the tool gets them, by JSON pointer."""
    marks = {
        change.pointer: ("changed", "" if came else change.rule) for change in prepared.changes
    }
    if not came:
        marks |= {f"/{name}": ("default", "default") for name in prepared.defaulted}
    marks |= dict.fromkeys(left, ("left", "left empty"))
    # What a fault says stands at its field; here the line is only marked.
    for fault in prepared.faults:
        if fault.pointer:
            marks[fault.pointer] = ("fault", "" if came else "does not fit")
    return marks
