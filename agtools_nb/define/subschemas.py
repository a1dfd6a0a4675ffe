"""Walking JSON Schemas: which keywords hold further schemas, and inlining of definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

JsonSchema = dict[str, Any]

# JSON Schema 2020-12, core and applicator vocabularies, and the older spellings.
ONE = (
    "items", "additionalProperties", "additionalItems", "contains", "propertyNames", "not",
    "if", "then", "else", "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
MANY = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


MISSING: Any = object()
"""What :func:`resolve` returns for a reference that leads nowhere."""


def resolve(reference: Any, root: Any) -> Any:
    """Follow a local reference (``#``, ``#/$defs/Item``), and never fetch anything.

    Returns:
        What stands there; :data:`MISSING` if it leads nowhere or out of the document.
    """
    if reference == "#":
        return root
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return MISSING
    found = root
    for step in unquote(reference[2:]).split("/"):
        step = step.replace("~1", "/").replace("~0", "~")
        try:
            found = found[int(step)] if isinstance(found, list) else found[step]
        except (KeyError, IndexError, ValueError, TypeError):
            return MISSING
    return found


def map_subschemas(schema: Any, change: Callable[[JsonSchema], JsonSchema]) -> Any:
    """Return ``schema`` rebuilt with ``change`` applied to every subschema, innermost first."""
    if not isinstance(schema, dict):
        return schema
    built = {}
    for key, value in schema.items():
        if key in NAMED and isinstance(value, dict):
            value = {name: map_subschemas(sub, change) for name, sub in value.items()}
        elif key in MANY and isinstance(value, list):
            value = [map_subschemas(sub, change) for sub in value]
        elif key in ONE and isinstance(value, dict):
            value = map_subschemas(value, change)
        built[key] = value
    return change(built)


def walk(schema: Any) -> Iterator[JsonSchema]:
    """Yield a schema and every subschema in it."""
    if not isinstance(schema, dict):
        return
    yield schema
    for key, value in schema.items():
        if key in NAMED and isinstance(value, dict):
            for sub in value.values():
                yield from walk(sub)
        elif key in MANY and isinstance(value, list):
            for sub in value:
                yield from walk(sub)
        elif key in ONE:
            yield from walk(value)


def allows_null(schema: JsonSchema) -> bool:
    """Whether a schema says at its own level that ``null`` is a value."""
    kind = schema.get("type")
    if kind == "null" or (isinstance(kind, list) and "null" in kind):
        return True
    branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if any(isinstance(branch, dict) and allows_null(branch) for branch in branches):
        return True
    return not {"type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"} & schema.keys()


def holds_secret(schema: Any, root: Any) -> bool:
    """Whether a schema marks a secret anywhere: ``writeOnly``, or the format ``password``."""
    seen: set[str] = set()
    todo = [schema]
    while todo:
        for node in walk(todo.pop()):
            if node.get("writeOnly") is True or node.get("format") == "password":
                return True
            target = node.get("$ref")
            if isinstance(target, str) and target not in seen:
                seen.add(target)
                todo.append(resolve(target, root))
    return False


def inline_single_uses(schema: JsonSchema) -> JsonSchema:
    """Put each definition that is used once in its place; keep shared and recursive ones."""
    definitions = schema.get("$defs")
    if not definitions:
        return schema
    uses = Counter(node["$ref"] for node in walk(schema) if isinstance(node.get("$ref"), str))
    single = {
        f"#/$defs/{name}": definition
        for name, definition in definitions.items()
        if uses[f"#/$defs/{name}"] == 1
        and not _mentions(definition, f"#/$defs/{name}", definitions)
    }

    def inline(node: JsonSchema) -> JsonSchema:
        target = single.get(node.get("$ref", ""))
        if target is None:
            return node
        siblings = {key: value for key, value in node.items() if key != "$ref"}
        return {**map_subschemas(target, inline), **siblings}

    built: JsonSchema = map_subschemas(schema, inline)
    kept = {
        name: value for name, value in built["$defs"].items() if f"#/$defs/{name}" not in single
    }
    del built["$defs"]
    if kept:
        built["$defs"] = kept
    return built


def _mentions(schema: Any, ref: str, definitions: JsonSchema) -> bool:
    """Whether a definition comes back to itself, directly or through others."""
    seen: set[str] = set()
    todo = [schema]
    while todo:
        for node in walk(todo.pop()):
            target = node.get("$ref")
            if target == ref:
                return True
            if isinstance(target, str) and target not in seen:
                seen.add(target)
                todo.append(definitions.get(target.removeprefix("#/$defs/")))
    return False
