"""What a model sent as arguments, as a dict; or what is wrong with it, in words for the model."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from agtools_nb.errors import ArgumentsError
from agtools_nb.jsonable import jsonable, shorten

_SHOWN = 80
MAX_NESTING = 200
"""Levels of nesting that arguments may have; what is deeper is refused, not followed."""


def parse_arguments(raw: Any) -> dict[str, Any]:
    """Read arguments into a dict of JSON values.

    Args:
        raw: A mapping, JSON text (also JSON text within JSON text, and with bare
            control characters inside strings, both of which models send), or
            ``None`` or blank text for no arguments. Values of a mapping that are not JSON
            (a date, an enum member, a model) take their JSON form.

    Raises:
        ArgumentsError: It is not JSON, or not an object.
    """
    if raw is None:
        return {}
    if isinstance(raw, Mapping):
        if is_nested_beyond(MAX_NESTING, raw):
            raise _too_deep()
        return _plain(raw)
    if isinstance(raw, (bytes, bytearray)):
        raw = bytes(raw).decode("utf-8", "replace")
    if not isinstance(raw, str):
        raise _not_an_object(raw)
    if not raw.strip():
        return {}
    value = _decode(raw)
    if isinstance(value, str):
        # Some servers encode the arguments twice; an object is wanted, so read once more.
        value = _decode(value)
    if not isinstance(value, dict):
        raise _not_an_object(value)
    if is_nested_beyond(MAX_NESTING, value):
        raise _too_deep()
    return value


def is_nested_beyond(levels: int, value: Any) -> bool:
    """Whether containers hold containers more than ``levels`` deep; in linear time."""
    level = [value] if isinstance(value, (Mapping, list, tuple)) else []
    for _ in range(levels):
        # By id: one container may stand in many places, and in itself.
        found = {
            id(inner): inner
            for item in level
            for inner in (item.values() if isinstance(item, Mapping) else item)
            if isinstance(inner, (Mapping, list, tuple))
        }
        if not found:
            return False
        level = list(found.values())
    return any(level)


def decode_json(text: str) -> Any:
    """Read JSON text strictly as RFC 8259 has it, but for bare control characters in strings.

    Raises:
        ValueError: It is not JSON; ``NaN`` and ``Infinity`` are not.
    """
    try:
        value = json.loads(text, strict=False, parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError:
        raise ValueError(f"it is nested more than {MAX_NESTING} levels deep") from None
    # Half of a surrogate pair is no character, and no message could carry it on.
    return jsonable(value) if "\\ud" in text.lower() else value


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{shorten(text, _SHOWN)} is too large for a number")
    return number


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _decode(text: str) -> Any:
    try:
        return decode_json(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            extra = shorten(text[error.pos :].strip(), _SHOWN)
            raise ArgumentsError(
                "The arguments are more than one JSON value; after the first came: "
                f"{extra}. Send one JSON object a call."
            ) from error
        near = shorten(text[max(error.pos - 20, 0) : error.pos + 20], _SHOWN)
        raise ArgumentsError(
            f"The arguments are not JSON: {error.msg} at character {error.pos}, near {near!r}. "
            "Send one JSON object."
        ) from error
    except ValueError as error:
        raise ArgumentsError(
            f"The arguments are not JSON: {error}. Send one JSON object."
        ) from error


def _too_deep() -> ArgumentsError:
    return ArgumentsError(
        f"The arguments are nested more than {MAX_NESTING} levels deep; send flatter ones."
    )


def _not_an_object(value: Any) -> ArgumentsError:
    shown = shorten(json.dumps(jsonable(value), ensure_ascii=False), _SHOWN)
    return ArgumentsError(
        f"The arguments must be a JSON object, one key a parameter; what came is {shown}."
    )


def _plain(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that shares nothing with the caller, so that what was checked is what runs."""
    plain: dict[str, Any] = jsonable(raw)
    return plain
