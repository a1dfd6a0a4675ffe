"""Reading JSON Schema for a form: local references, ``allOf``, which types a schema means."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from agtools_nb.define import subschemas

JsonSchema = dict[str, Any]

TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")

# Keywords that say something about a value without limiting it.
ANNOTATIONS = frozenset({
    "title", "description", "default", "examples", "example", "deprecated", "readOnly",
    "writeOnly", "$comment", "$schema", "$id", "$defs", "definitions", "discriminator",
})  # fmt: skip

# Keywords that limit an object without naming a field to draw.
_RULES_ONLY = frozenset({
    "required", "not", "dependentRequired", "minProperties", "maxProperties", "type",
})  # fmt: skip

_KEYWORDS_OF_TYPE = {
    "object": ("properties", "additionalProperties", "patternProperties", "required",
               "propertyNames", "minProperties", "maxProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"),
    "string": ("pattern", "minLength", "maxLength"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}  # fmt: skip


class CannotDrawError(Exception):
    """This part of a schema has no field of its own; its message says why, for people."""


def resolve(root: JsonSchema, reference: str) -> Any:
    """Return what a local reference (``#``, ``#/$defs/Item``) points to.

    Raises:
        CannotDrawError: The reference leaves the document or points to nothing.
    """
    found = subschemas.resolve(reference, root)
    if found is subschemas.MISSING:
        raise CannotDrawError(f"the reference {reference!r} points to nothing in this schema")
    return found


def merge(first: Any, second: Any) -> Any:
    """Return one schema that asks for what both ask for, as far as a form shows it.

    Where both set a keyword that cannot be joined, ``second`` wins: the validator
    still holds the arguments to both.

    Raises:
        CannotDrawError: The two contradict each other, or both are unions.
    """
    if first is True or first == {}:
        return second
    if second is True or second == {}:
        return first
    if not isinstance(first, dict) or not isinstance(second, dict):
        raise CannotDrawError("no value can satisfy this schema")
    for keyword in ("anyOf", "oneOf", "items", "$ref"):
        if keyword in first and keyword in second and first[keyword] != second[keyword]:
            raise CannotDrawError(f"several {keyword!r} apply to it at once")
    joined = {
        keyword: join(first[keyword], second[keyword])
        for keyword, join in _JOINS.items()
        if keyword in first and keyword in second
    }
    return {**first, **second, **joined}


def _merged_properties(first: JsonSchema, second: JsonSchema) -> JsonSchema:
    merged = dict(first)
    for name, schema in second.items():
        merged[name] = merge(first[name], schema) if name in first else schema
    return merged


def _common_type(first: Any, second: Any) -> Any:
    ours, theirs = as_list(first), as_list(second)
    common = [kind for kind in ours if kind in theirs]
    if {"integer", "number"} <= {*ours, *theirs} and not {"integer", "number"} & {*common}:
        common.append("integer")  # the narrower of the two
    if not common:
        raise CannotDrawError(f"its types contradict each other: {first!r} and {second!r}")
    return common[0] if len(common) == 1 else common


_JOINS: dict[str, Callable[[Any, Any], Any]] = {
    "type": _common_type,
    "properties": _merged_properties,
    "required": lambda first, second: list(dict.fromkeys([*first, *second])),
    "enum": lambda first, second: [value for value in first if value in second],
    "allOf": lambda first, second: [*first, *second],
}


def as_list(value: Any) -> list[Any]:
    """A ``type`` keyword as a list."""
    return list(value) if isinstance(value, list) else [value]


def types_of(schema: JsonSchema) -> list[str]:
    """The types a schema means: those it names, else those its keywords are about.

    Returns:
        An empty list if any value will do.

    Raises:
        CannotDrawError: It names a type that JSON Schema does not know.
    """
    if "type" in schema:
        named = as_list(schema["type"])
        for kind in named:
            if kind not in TYPES:
                raise CannotDrawError(f"{kind!r} is not a JSON Schema type")
        return list(dict.fromkeys(named))
    for kind, keywords in _KEYWORDS_OF_TYPE.items():
        if any(keyword in schema for keyword in keywords):
            return [kind]
    return []


def is_plain_null(schema: Any) -> bool:
    """Whether ``null`` is the one value a schema allows."""
    if not isinstance(schema, dict):
        return False
    only_null = schema.get("type") in ("null", ["null"]) or schema.get("enum") == [None]
    return only_null or ("const" in schema and schema["const"] is None)


def without(schema: JsonSchema, *keywords: str) -> JsonSchema:
    """A schema without some keywords."""
    return {key: value for key, value in schema.items() if key not in keywords}


def structure(schema: JsonSchema) -> JsonSchema:
    """A schema without its annotations."""
    return {key: value for key, value in schema.items() if key not in ANNOTATIONS}


def only_rules(branches: list[Any]) -> bool:
    """Whether a union's branches only limit what their parent draws: ``required: [a]``."""
    return all(isinstance(b, dict) and structure(b).keys() <= _RULES_ONLY for b in branches)


def conforms(value: Any, types: list[str]) -> bool:
    """Whether a JSON value is of one of the types. No types: any value is."""
    if not types:
        return True
    match value:
        case None:
            return "null" in types
        case bool():
            return "boolean" in types
        case int():
            return "integer" in types or "number" in types
        case float():
            return "number" in types or ("integer" in types and value.is_integer())
        case str():
            return "string" in types
        case list():
            return "array" in types
        case dict():
            return "object" in types
    return False


def same(first: Any, second: Any) -> bool:
    """Whether two JSON values are the same to the digit: ``1``, ``1.0`` and ``true`` differ."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
