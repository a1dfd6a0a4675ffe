"""What a model sent as arguments, as a dict; or what is wrong with it, in words for the model."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from agtools_nb.arguments.faults import brief_json, kind_of
from agtools_nb.arguments.malformed import why_no_json
from agtools_nb.errors import ArgumentsError
from agtools_nb.jsonable import MAX_DEPTH, clean_text, jsonable, pointer_step, shorten

_SHOWN = 80
MAX_NESTING = MAX_DEPTH
"""Levels of nesting that arguments may have; what is deeper is refused, not followed."""


def parse_arguments(raw: Any, *, quote: bool = True) -> dict[str, Any]:
    """Read arguments into a dict of JSON values.

    Args:
        raw: A mapping, JSON text (also JSON text within JSON text, and with bare
            control characters inside strings, both of which models send), or
            ``None`` or blank text for no arguments. Values of a mapping that are not JSON
            (a date, an enum member, a model) take their JSON form.
        quote: Whether an error may hold parts of what came. Default ``True``.

    Raises:
        ArgumentsError: It is not JSON, not an object, or nested too deeply.
    """
    if raw is None:
        return {}
    if isinstance(raw, Mapping):
        _refuse_too_deep(raw)
        return _plain(raw)
    if isinstance(raw, (bytes, bytearray)):
        raw = bytes(raw).decode("utf-8", "replace")
    if not isinstance(raw, str):
        raise _not_an_object(raw, quote=quote)
    if not raw.strip():
        return {}
    value = _decode(raw, quote=quote)
    if isinstance(value, str):
        # Some servers encode the arguments twice; an object is wanted, so read once more.
        value = _decode_inner(value, quote=quote)
    if not isinstance(value, dict):
        raise _not_an_object(value, quote=quote)
    _refuse_too_deep(value)
    return value


def is_nested_beyond(levels: int, value: Any) -> bool:
    """Whether containers hold containers more than ``levels`` deep; in linear time."""
    level = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(levels):
        # By id: one container may stand in many places, and in itself.
        found = {
            id(inner): inner
            for item in level
            for inner in (item.values() if isinstance(item, Mapping) else item)
            if isinstance(inner, _CONTAINERS)
        }
        if not found:
            return False
        level = list(found.values())
    return bool(level)


_CONTAINERS = (Mapping, list, tuple)


def place_beyond(levels: int, value: Any) -> str | None:
    """A JSON Pointer to the first place below which it is so; ``None`` if it is nowhere so."""
    if not is_nested_beyond(levels, value):
        return None
    waiting: list[tuple[Any, tuple[Any, ...], int]] = [(value, (), 0)]
    seen: set[tuple[int, int]] = set()
    while waiting:
        item, steps, depth = waiting.pop()
        if not isinstance(item, _CONTAINERS) or (id(item), depth) in seen:
            continue
        seen.add((id(item), depth))
        if depth == levels:
            return _pointer(steps)
        inner = list(item.items() if isinstance(item, Mapping) else enumerate(item))
        # A place is its last step and the place above: copying the steps would take their square.
        waiting += [(sub, (steps, key), depth + 1) for key, sub in reversed(inner)]
    return None


def _pointer(steps: tuple[Any, ...]) -> str:
    keys: list[str] = []
    while steps:
        steps, key = steps
        keys.append(pointer_step(str(key)))
    return "".join(f"/{key}" for key in reversed(keys))


class _TooDeepError(ValueError):
    """JSON text is nested more deeply than is followed."""


def decode_json(text: str) -> Any:
    """Read JSON text strictly as RFC 8259 has it, but for bare control characters in strings.

    Raises:
        ValueError: It is not JSON; ``NaN`` and ``Infinity`` are not.
    """
    try:
        value = json.loads(text, strict=False, parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError:
        raise _TooDeepError from None
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        if "integer string conversion" in str(error):
            raise ValueError("an integer has more than 4,300 digits") from None
        raise
    if "\\ud" not in text.lower():
        return value
    if is_nested_beyond(MAX_NESTING, value):
        raise _TooDeepError
    # Half of a surrogate pair is no character, and no message could carry it on.
    return jsonable(value)


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{shorten(text, _SHOWN)} is too large for a number")
    return number


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _decode(text: str, *, quote: bool) -> Any:
    try:
        return decode_json(text)
    except json.JSONDecodeError as error:
        raise ArgumentsError(why_no_json(text, error, quote=quote)) from error
    except _TooDeepError as error:
        raise _too_deep("") from error
    except ValueError as error:
        raise ArgumentsError(
            f"The arguments are not JSON: {error}. Send one JSON object."
        ) from error


def _decode_inner(text: str, *, quote: bool) -> Any:
    """What stands in a JSON text that holds the arguments once more as text."""
    if text.lstrip()[:1] in ("{", "[", '"', "`"):
        return _decode(text, quote=quote)
    try:
        return decode_json(text)
    except ValueError as error:
        raise ArgumentsError(
            "The arguments are a text that is not JSON itself"
            f"{': ' + brief_json(text, _SHOWN) if quote else ''}. Send one JSON object."
        ) from error


def _refuse_too_deep(value: Any) -> None:
    place = place_beyond(MAX_NESTING, value)
    if place is not None:
        raise _too_deep(f", at {shorten(clean_text(place), _SHOWN)}")


def _too_deep(where: str) -> ArgumentsError:
    return ArgumentsError(
        f"The arguments are nested more than {MAX_NESTING} levels deep{where}; send flatter ones."
    )


def _not_an_object(value: Any, *, quote: bool) -> ArgumentsError:
    came = f"{brief_json(value, _SHOWN)}" if quote else kind_of(value)
    if isinstance(value, str):
        came += " (a text: it was encoded as JSON once too often)"
    return ArgumentsError(
        f"The arguments must be a JSON object, one key a parameter; what came is {came}."
    )


def _plain(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that shares nothing with the caller, so that what was checked is what runs."""
    plain: dict[str, Any] = jsonable(raw)
    return plain
