"""What a store on disk keeps: JSON values, checked all the way down."""

from __future__ import annotations

import json
import math
from typing import Any

from agtools_nb.errors import StateValueError
from agtools_nb.jsonable import MAX_INT_BITS, brief_repr, clean_text, pointer_step, shorten

MAX_DEPTH = 200
"""Containers that a value may be inside of: what any JSON reader takes."""

_REMEDY = "store its JSON form, such as {}, or its bytes as an artifact"
_FORMS = {
    "set": "list(...)",
    "frozenset": "list(...)",
    "bytes": "data.decode()",
    "bytearray": "data.decode()",
    "datetime": "moment.isoformat()",
    "date": "day.isoformat()",
    "DataFrame": "frame.to_dict('records')",
    "ndarray": "array.tolist()",
}


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
# Within these, a number needs no second look.
_SAFE_INT = 2**63
_INFINITY = math.inf


class _NotKeptError(Exception):
    """Tells the way back from a value that cannot be kept."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy
        self.steps: list[str] = []


def json_copy(key: str, value: Any) -> Any:
    """Return ``value`` as it will be read again: plain dicts, lists, texts and numbers.

    A tuple becomes a list, and a subclass (``Counter``, ``IntEnum``) what it is made of.

    Args:
        key: What it is to be kept under, for the message.
        value: ``None``, bools, finite numbers, texts, and dicts with text keys, lists and
            tuples of these.

    Raises:
        StateValueError: There is something else in it; the message says where and what.
    """
    try:
        return _copied(value, 0)
    except _NotKeptError as fault:
        pointer = "".join(f"/{pointer_step(step)}" for step in reversed(fault.steps))
        place = f" at {shorten(clean_text(pointer), 200)}" if pointer else ""
        raise StateValueError(
            f"{brief_repr(key)} cannot be kept: it has {fault.what}{place}, and a store on disk "
            f"keeps JSON values only; {fault.remedy}. Nothing was changed.",
            key=key,
            pointer=pointer,
        ) from None


def dumped(value: Any) -> str:
    """Return the JSON text of what :func:`json_copy` returned, or of a text."""
    text = _encode(value)
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, as models write sometimes
        return json.dumps(value)
    return text


def _is_plain(value: Any) -> bool:
    """Whether it is kept as it is: most of what is in a list of a thousand."""
    kind = type(value)
    return (
        kind is str
        or (kind is int and -_SAFE_INT < value < _SAFE_INT)
        or (kind is float and -_INFINITY < value < _INFINITY)
        or kind is bool
        or value is None
    )


def _copied(value: Any, depth: int) -> Any:
    if _is_plain(value):
        return value
    kind = type(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, float)):
        return _number(value)
    if not isinstance(value, (dict, list, tuple)):
        form = _FORMS.get(kind.__name__, "str(...) or its fields as a dict")
        raise _NotKeptError(f"a value of type {kind.__qualname__}", _REMEDY.format(form))
    if depth >= MAX_DEPTH:
        raise _NotKeptError(
            f"more than {MAX_DEPTH} containers inside each other", "make it flatter"
        )
    if isinstance(value, dict):
        return _dict(value, depth + 1)
    return _list(value, depth + 1)


def _number(value: float) -> float:
    if isinstance(value, int):
        number = int(value)
        if number.bit_length() > MAX_INT_BITS:
            raise _NotKeptError("an integer of over 4,000 digits", "store it as text")
        return number
    if not math.isfinite(value):
        raise _NotKeptError(f"the number {float(value)}", "store None or a text for it")
    return float(value)


def _dict(value: dict[Any, Any], depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise _NotKeptError(
                f"a key of type {type(key).__qualname__}, {brief_repr(key)}", "make it text"
            )
        try:
            made[str.__str__(key)] = _copied(item, depth)
        except _NotKeptError as fault:
            fault.steps.append(key)
            raise
    return made


def _list(value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
    if all(map(_is_plain, value)):
        return list(value)
    made: list[Any] = []
    for place, item in enumerate(value):
        try:
            made.append(_copied(item, depth))
        except _NotKeptError as fault:
            fault.steps.append(str(place))
            raise
    return made
