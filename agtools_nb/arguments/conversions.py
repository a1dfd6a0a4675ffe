"""Single values converted to a JSON type, where only one reading exists."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from agtools_nb.arguments.parse import decode_json

# RFC 8259's grammar of numbers; Python's int() and float() take far more.
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
# Integers that text is converted to: what 64 bits hold, so that whatever JSON library
# comes next keeps them exact.
MAX_INTEGER = 2**63
# Doubles hold each integer below this (RFC 8259, section 6); this one may have been another.
_MAX_EXACT_DOUBLE = 2**53


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal, ``true`` and ``1``, and ``1`` and ``1.0``, kept apart."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


# An unknown type name asks for nothing that this could convert to.
PYTHON_TYPES: dict[str, type] = {
    "integer": int,
    "number": float,
    "string": str,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}


def is_of(value: Any, kind: str) -> bool:
    """Whether a value is of a JSON type; ``3.0`` is no integer."""
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind == "integer" and isinstance(value, bool):
        return False
    return isinstance(value, PYTHON_TYPES[kind])


def converted(value: Any, kind: str) -> tuple[Any, str | None]:
    """The value as ``kind`` and the rule's name; no rule where no reading is certain."""
    if isinstance(value, str):
        return _from_text(value, kind)
    if kind == "integer" and isinstance(value, float):
        exact = value.is_integer() and abs(value) < _MAX_EXACT_DOUBLE
        return (int(value), "number to integer") if exact else (value, None)
    if kind == "string":
        text = json_form(value)
        name = "boolean" if isinstance(value, bool) else "number"
        return (text, f"{name} to text") if text is not None else (value, None)
    return value, None


def _from_text(text: str, kind: str) -> tuple[Any, str | None]:
    read = FROM_TEXT.get(kind)
    return (text, None) if read is None else read(text)


def _boolean_from(text: str) -> tuple[Any, str | None]:
    folded = text.lower() if text.isascii() else ""
    return (folded == "true", "text to boolean") if folded in ("true", "false") else (text, None)


def _null_from(text: str) -> tuple[Any, str | None]:
    return (None, "text to null") if text == "null" else (text, None)


def _integer_from(text: str) -> tuple[Any, str | None]:
    # 20 characters hold every 64-bit integer; longer text is not worth parsing.
    if len(text) > 20 or not _INTEGER.fullmatch(text):
        return text, None
    number = int(text)
    exact = -MAX_INTEGER <= number < MAX_INTEGER
    return (number, "text to integer") if exact else (text, None)


def _number_from(text: str) -> tuple[Any, str | None]:
    if not _NUMBER.fullmatch(text):
        return text, None
    if _INTEGER.fullmatch(text):
        number, rule = _integer_from(text)
        return number, rule and "text to number"
    decimal = float(text)
    return (decimal, "text to number") if math.isfinite(decimal) else (text, None)


def _container_from(text: str, kind: str) -> tuple[Any, str | None]:
    opening = "[" if kind == "array" else "{"
    if not text.lstrip().startswith(opening):
        return text, None
    try:
        value = decode_json(text)
    except ValueError:
        return text, None
    return value, f"JSON text to {kind}"


def json_form(value: Any) -> str | None:
    """The JSON text of a number or boolean; ``None`` for all else, and for NaN and infinities."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 64:
        return None
    return json.dumps(value) if isinstance(value, (bool, int, float)) else None


def choice_text(choice: Any) -> str | None:
    """The text by which a model may name a choice."""
    if isinstance(choice, str):
        return choice
    return "null" if choice is None else json_form(choice)


FROM_TEXT: dict[str, Callable[[str], tuple[Any, str | None]]] = {
    "integer": _integer_from,
    "number": _number_from,
    "boolean": _boolean_from,
    "null": _null_from,
    "array": partial(_container_from, kind="array"),
    "object": partial(_container_from, kind="object"),
}
"""What reads text as each JSON type: the value and the rule's name, which is ``None`` if not."""
