"""References that lead a value back to where it came from at once, which would not end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agtools_nb.define.subschemas import JsonSchema, resolve, walk


def closing_references(root: Any) -> set[int]:
    """Ids of the schemas whose ``$ref`` leads a value back to where it came from at once.

    Such a reference says nothing, and following it would not end. What else the
    document asks for still counts.
    """
    closing: set[int] = set()
    done: set[int] = set()

    def visit(schema: Any, path: list[Any]) -> None:
        if not isinstance(schema, dict) or id(schema) in done:
            return
        at = next((place for place, one in enumerate(path) if one is schema), None)
        if at is not None:
            closing.add(next(id(one) for one in reversed(path[at:]) if "$ref" in one))
            return
        for part in _applied_in_place(schema, root):
            visit(part, [*path, schema])
        done.add(id(schema))

    for node in walk(root):
        visit(node, [])
    return closing


def _applied_in_place(schema: JsonSchema, root: Any) -> Iterator[Any]:
    """The schemas that a schema applies to the same value."""
    if "$ref" in schema:
        yield resolve(schema["$ref"], root)
    for keyword in ("allOf", "anyOf", "oneOf"):
        parts = schema.get(keyword)
        yield from parts if isinstance(parts, list) else ()
    yield from (schema.get(keyword) for keyword in ("not", "if", "then", "else"))
    parts = schema.get("dependentSchemas")
    yield from parts.values() if isinstance(parts, dict) else ()
