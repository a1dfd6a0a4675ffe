"""Reading ``null`` as "not given": what a model in strict mode writes for an optional key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agtools_nb.define.subschemas import MISSING, allows_null, resolve

JsonSchema = dict[str, Any]


def accepts_null(schema: Any, root: JsonSchema) -> bool:
    """Whether ``null`` fits a schema, through its references; ``False`` where that is unclear."""
    seen: set[str] = set()
    while isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
        if schema["$ref"] in seen:
            return False
        seen.add(schema["$ref"])
        schema = resolve(schema["$ref"], root)
        if schema is MISSING:
            return False
    if not isinstance(schema, dict):
        return schema is True
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(choices, list):
        return any(choice is None for choice in choices)
    if any(accepts_null(part, root) for part in schema.get("anyOf", ()) if part != schema):
        return True
    return allows_null(schema)


def without_unset(arguments: Any, schema: Mapping[str, Any]) -> tuple[Any, tuple[str, ...]]:
    """Take out each ``null`` that a model in strict mode wrote for "not given".

    That is a ``null`` of an object's key that is optional and cannot be ``null``. Without
    strict mode such a ``null`` fits nothing either, so this is safe on any arguments. Looks
    into arrays, nested objects, references, and the one branch of a union whose keys fit.

    Args:
        arguments: JSON value; not changed.
        schema: The tool's own schema, not its strict form.

    Returns:
        The value without them (the same object if there are none), and the JSON Pointers of
        what was taken out.
    """
    removed: list[str] = []
    try:
        built = _Unset(dict(schema), removed).value(arguments, schema, "")
    except RecursionError:
        return arguments, ()
    return built, tuple(removed)


class _Unset:
    def __init__(self, root: JsonSchema, removed: list[str]) -> None:
        self.root = root
        self.removed = removed

    def value(self, value: Any, schema: Any, at: str) -> Any:
        if not isinstance(value, (dict, list)):
            return value
        schema = self.fitting(schema, value)
        if isinstance(value, list):
            items = schema.get("items")
            built: Any = [self.value(sub, items, f"{at}/{n}") for n, sub in enumerate(value)]
            return value if all(map(_is, built, value)) else built
        properties = schema.get("properties", {})
        required = schema.get("required", ())
        kept = {}
        for name, sub in value.items():
            inner = properties.get(name, MISSING)
            pointer = f"{at}/{str(name).replace('~', '~0').replace('/', '~1')}"
            optional = inner is not MISSING and name not in required
            if sub is None and optional and not accepts_null(inner, self.root):
                self.removed.append(pointer)
                continue
            kept[name] = self.value(sub, inner, pointer)
        same = len(kept) == len(value) and all(map(_is, kept.values(), value.values()))
        return value if same else kept

    def fitting(self, schema: Any, value: Any, depth: int = 0) -> JsonSchema:
        """The schema of an object or array at this place, behind references and unions."""
        if not isinstance(schema, Mapping) or depth > 20:
            return {}
        if isinstance(schema.get("$ref"), str):
            target = self.fitting(resolve(schema["$ref"], self.root), value, depth + 1)
            return {**target, **{key: sub for key, sub in schema.items() if key != "$ref"}}
        parts = schema.get("allOf")
        if isinstance(parts, list) and len(parts) == 1:
            return {**self.fitting(parts[0], value, depth + 1), **schema}
        branches = [
            self.fitting(branch, value, depth + 1)
            for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ()))
        ]
        if not branches:
            return dict(schema)
        fits = [branch for branch in branches if _may_hold(branch, value)]
        if len(fits) > 1 and isinstance(value, dict):
            # Strict mode has the model write every key of the branch it chose.
            fits = [branch for branch in fits if branch["properties"].keys() == value.keys()]
        return fits[0] if len(fits) == 1 else {}


def _is(one: Any, other: Any) -> bool:
    return one is other


def _may_hold(schema: JsonSchema, value: Any) -> bool:
    """Whether a branch is the one that an object or array was written for."""
    if isinstance(value, list):
        return schema.get("type") == "array" or "items" in schema
    properties = schema.get("properties")
    if not isinstance(properties, dict) or value.keys() - properties.keys():
        return False
    if set(schema.get("required", ())) - value.keys():
        return False
    return all(
        value.get(name) == sub["const"]
        for name, sub in properties.items()
        if isinstance(sub, dict) and "const" in sub
    )
