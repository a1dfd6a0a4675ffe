"""What helps to repair a value, beyond what was expected: a near choice, a form, leaving it out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agtools_nb.arguments.faults import brief_json
from agtools_nb.arguments.nearest import nearest

_SHOWN = 60
_MOST_CHOICES = 1_000
_ITEMS = {
    "string": '["a", "b"]', "integer": "[1, 2]", "number": "[0.5, 2]", "boolean": "[true, false]",
    "object": "[{...}]", "array": "[[...]]",
}  # fmt: skip
_MAX_KEYS = 4


def hint_for(
    pointer: str, value: Any, schema: Any, resolved: Callable[[Any], Any], is_secret: bool
) -> str:
    """Words that go at the end of a fault, with the sign before them; ``""`` if nothing helps.

    Args:
        pointer: The place.
        value: What came.
        schema: What it does not fit.
        resolved: Follows a reference of the document.
        is_secret: Whether neither the value nor its default may be shown.
    """
    schema = resolved(schema)
    if not isinstance(schema, dict):
        return ""
    if value is None:
        return default_hint(schema, is_secret) if "default" in schema else ""
    if not isinstance(value, str):
        return ""
    choice = "" if is_secret else _choice_hint(value, schema)
    return choice or _container_hint(schema, resolved)


def null_hint(name: str, root: Any, is_secret: bool) -> str:
    """The same for ``null`` at a parameter, which may be left out instead if it is optional."""
    properties, required = root.get("properties"), root.get("required")
    if not isinstance(properties, dict) or name not in properties:
        return ""
    if isinstance(required, list) and name in required:
        return ""
    return default_hint(properties[name], is_secret)


def default_hint(schema: Any, is_secret: bool) -> str:
    """That a key may be left out, and what its default is."""
    default = schema.get("default") if isinstance(schema, dict) else None
    if default is None:
        return " (leave it out instead)"
    shown = "" if is_secret else f", {brief_json(default, _SHOWN)}"
    return f" (leave it out for its default{shown})"


def _choice_hint(value: str, schema: dict[str, Any]) -> str:
    choices = schema.get("enum")
    if not isinstance(choices, list):
        return ""
    texts = [choice for choice in choices[:_MOST_CHOICES] if isinstance(choice, str)]
    close = nearest(value, texts)
    return "" if close is None else f"; did you mean {brief_json(close, _SHOWN)}?"


def _container_hint(schema: dict[str, Any], resolved: Callable[[Any], Any]) -> str:
    """How the array or object looks that should have come in place of a text."""
    branches = schema.get("anyOf") or schema.get("oneOf")
    parts = [resolved(part) for part in branches] if isinstance(branches, list) else [schema]
    by_kind: dict[str, dict[str, Any]] = {}
    for part in parts:
        kinds = part.get("type") if isinstance(part, dict) else None
        for kind in kinds if isinstance(kinds, list) else [kinds]:
            by_kind.setdefault(str(kind), part)
    if not by_kind.keys() <= {"array", "object", "null"}:
        return ""
    if "array" in by_kind:
        return f"; send a JSON array such as {_array_example(by_kind['array'])}"
    if "object" in by_kind:
        return f"; send a JSON object such as {_object_example(by_kind['object'])}"
    return ""


def _array_example(schema: dict[str, Any]) -> str:
    items = schema.get("items")
    kind = items.get("type") if isinstance(items, dict) else None
    return _ITEMS.get(kind, "[...]") if isinstance(kind, str) else "[...]"


def _object_example(schema: dict[str, Any]) -> str:
    properties, required = schema.get("properties"), schema.get("required")
    properties = properties if isinstance(properties, dict) else {}
    names = list(properties)
    if isinstance(required, list):
        names = [name for name in names if name in required] or names
    pairs = [(name, properties[name]) for name in names[:_MAX_KEYS]]
    keys = ", ".join(f"{brief_json(name, _SHOWN)}: {_only_value(sub)}" for name, sub in pairs)
    return f"{{{keys}}}" if keys else '{"key": ...}'


def _only_value(schema: Any) -> str:
    if isinstance(schema, dict) and "const" in schema:
        return brief_json(schema["const"], _SHOWN)
    return "..."
