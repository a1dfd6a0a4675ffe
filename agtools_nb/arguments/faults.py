"""Making a fault: its sentence, what came in short, and which faults are told."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from agtools_nb.calls import Fault
from agtools_nb.jsonable import clean_text, jsonable, shorten

MAX_FAULTS = 20
HIDDEN = "(not shown)"
"""What stands for a value that is secret."""
_SHOWN = 60
_PLACE_SHOWN = 200
_EXPECTED_SHOWN = 500


@dataclass(frozen=True, slots=True)
class UnknownKey(Fault):
    """A key that the schema does not know.

    Attributes:
        close: The key that may have been meant; ``None`` if none is close.
        known: The keys there are, in one line.
    """

    close: str | None
    known: str


def make_fault(
    pointer: str, expected: str, got: str, remark: str = "", *, is_sentence: bool = False
) -> Fault:
    """A fault whose sentence names the place, what was expected and what came.

    Args:
        pointer: The place.
        expected: What goes after "expected".
        got: What came.
        remark: Goes at the end, with the space or sign before it.
        is_sentence: Whether ``expected`` says by itself what is wrong, and takes no
            "expected" before it.
    """
    pointer, expected = clean_text(pointer), shorten(clean_text(expected), _EXPECTED_SHOWN)
    words = f"{expected}; got {got}" if is_sentence else f"expected {expected}, got {got}"
    return Fault(pointer, expected, got, f"{place_text(pointer)}: {words}{remark}")


def place_text(pointer: str) -> str:
    """A place in words; of a long one, its start and its end."""
    if len(pointer) > _PLACE_SHOWN:
        half = _PLACE_SHOWN // 2
        pointer = f"{pointer[:half]}…{pointer[1 - half :]}"
    return clean_text(pointer) or "the arguments"


def told(faults: Iterable[Fault]) -> tuple[tuple[Fault, ...], bool]:
    """The first fault of each place, at most 20, and whether there are more places."""
    found: dict[str, Fault] = {}
    for fault in faults:
        if len(found) == MAX_FAULTS and fault.pointer not in found:
            return tuple(found.values()), True
        found.setdefault(fault.pointer, fault)
    return tuple(found.values()), False


def top_of(pointer: str) -> str:
    """The parameter that a place belongs to."""
    return pointer.split("/", 2)[1] if pointer else ""


def got_text(value: Any) -> str:
    """A value in short, with its JSON type: ``'"ten" (a string)'``."""
    return "null" if value is None else f"{brief_json(value, _SHOWN)} ({kind_of(value)})"


def brief_json(value: Any, limit: int) -> str:
    """The start of a value's JSON text, made without looking at more than is shown."""
    text = ""
    for piece in _pieces(value, limit):
        text += piece
        if len(text) > limit:
            break
    return shorten(text, limit)


def _pieces(value: Any, limit: int) -> Iterator[str]:
    """JSON text bit by bit; whoever asks stops, so that depth and cycles do no harm."""
    if isinstance(value, dict):
        yield "{"
        for number, (key, item) in enumerate(value.items()):
            yield f"{', ' if number else ''}{_leaf(str(key), limit)}: "
            yield from _pieces(item, limit)
        yield "}"
    elif isinstance(value, (list, tuple)):
        yield "["
        for number, item in enumerate(value):
            if number:
                yield ", "
            yield from _pieces(item, limit)
        yield "]"
    else:
        yield _leaf(value, limit)


def _leaf(value: Any, limit: int) -> str:
    if isinstance(value, str):
        value = value[: limit + 1]
    return json.dumps(jsonable(value), ensure_ascii=False)


def kind_of(value: Any) -> str:
    """The JSON type of a value, with its article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number" if isinstance(value, float) else "an integer"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, (list, tuple)) else "an object"
