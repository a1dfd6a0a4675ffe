"""JSON Schema in a few words: ``an integer from 1 to 10``."""

from __future__ import annotations

import json
from typing import Any

from agtools_nb.define.subschemas import MISSING, resolve
from agtools_nb.jsonable import shorten

MAX_CHOICES = 12
_MAX_DEPTH = 4


def type_text(schema: Any, root: Any = None) -> str:
    """Name the type of a schema: ``"integer"``, ``"array of string"``, ``"one of 'a', 'b'"``.

    Args:
        schema: A JSON Schema; a boolean one is ``"any"`` or ``"nothing"``.
        root: The document that ``$ref`` points into. Default: ``schema`` itself.
    """
    return _type_text(schema, schema if root is None else root, 0)


def bounds_text(schema: Any) -> str:
    """Name the bounds of a schema: ``"from 1 to 10"``, ``"at least 2 items"``; ``""`` if none."""
    if not isinstance(schema, dict):
        return ""
    parts = [
        _range(schema),
        _span(schema, "minLength", "maxLength", "character"),
        _span(schema, "minItems", "maxItems", "item"),
        _span(schema, "minProperties", "maxProperties", "key"),
        f"a multiple of {schema['multipleOf']}" if "multipleOf" in schema else "",
        f"matching {schema['pattern']}" if "pattern" in schema else "",
        "without repeats" if schema.get("uniqueItems") is True else "",
    ]
    return ", ".join(part for part in parts if part)


def expected_text(schema: Any, root: Any = None) -> str:
    """Type and bounds together, with an article: ``"an integer from 1 to 10"``."""
    kind = type_text(schema, root)
    bounds = bounds_text(schema)
    if not kind.startswith(("one of", "exactly", "any", "nothing")):
        kind = f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"
    return f"{kind} {bounds}".strip()


def _type_text(schema: Any, root: Any, depth: int) -> str:
    if not isinstance(schema, dict):
        return "nothing" if schema is False else "any"
    if depth > 2 * _MAX_DEPTH:
        return "any"
    if "$ref" in schema:
        return _reference(schema, root, depth)
    if "const" in schema:
        return f"exactly {_literal(schema['const'])}"
    if isinstance(schema.get("enum"), list):
        return _choices(schema["enum"])
    branches = schema.get("anyOf") or schema.get("oneOf")
    kind = schema.get("type")
    if kind is None and isinstance(branches, list):
        return _join([_type_text(branch, root, depth + 1) for branch in branches])
    if isinstance(kind, list):
        return _join([_type_text({**schema, "type": one}, root, depth) for one in kind])
    return _plain_type(schema, kind, root, depth)


def _plain_type(schema: dict[str, Any], kind: Any, root: Any, depth: int) -> str:
    items = schema.get("items")
    if kind == "array" and isinstance(items, dict) and depth < _MAX_DEPTH:
        return f"array of {_type_text(items, root, depth + 1)}"
    if kind == "string" and isinstance(schema.get("format"), str):
        return f"string ({schema['format']})"
    if isinstance(kind, str):
        return kind
    return "object" if "properties" in schema else "any"


def _reference(schema: Any, root: Any, depth: int) -> str:
    name = str(schema["$ref"]).rsplit("/", 1)[-1]
    target = resolve(schema["$ref"], root)
    if target is MISSING or depth >= _MAX_DEPTH:
        return name
    text = _type_text(target, root, depth + 1)
    return f"object {name}" if text == "object" else text


def _choices(values: list[Any]) -> str:
    shown = ", ".join(_literal(value) for value in values[:MAX_CHOICES])
    more = len(values) - MAX_CHOICES
    return f"one of {shown}" + (f" and {more} more" if more > 0 else "")


def _literal(value: Any) -> str:
    try:
        return shorten(json.dumps(value, ensure_ascii=False), 60)
    except (TypeError, ValueError):
        return shorten(repr(value), 60)


def _join(parts: list[str]) -> str:
    return " or ".join(dict.fromkeys(parts)) or "any"


def _range(schema: Any) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    # Draft 4 wrote these two as booleans beside minimum and maximum.
    above = None if isinstance(above, bool) else above
    below = None if isinstance(below, bool) else below
    if low is not None and high is not None:
        return f"from {low} to {high}"
    parts = [
        f"at least {low}" if low is not None else "",
        f"at most {high}" if high is not None else "",
        f"above {above}" if above is not None else "",
        f"below {below}" if below is not None else "",
    ]
    return " and ".join(part for part in parts if part)


def _span(schema: Any, low_key: str, high_key: str, unit: str) -> str:
    low, high = schema.get(low_key), schema.get(high_key)
    if low is None and high is None:
        return ""
    if low == high:
        return f"exactly {_count(low, unit)}"
    if low is None:
        return f"at most {_count(high, unit)}"
    if high is None:
        return f"at least {_count(low, unit)}"
    return f"{low} to {_count(high, unit)}"


def _count(number: Any, unit: str) -> str:
    return f"{number} {unit}" + ("" if number == 1 else "s")
