"""Gemini's ``Schema`` message: the part of JSON Schema that it can say.

It is OpenAPI 3.0's: types in capitals, ``nullable`` instead of ``null``, enums of text only,
no references. https://ai.google.dev/api/caching#Schema
"""

from __future__ import annotations

from typing import Any

from agtools_nb.define.subschemas import MISSING, resolve

JsonSchema = dict[str, Any]

# Keywords that mean the same there and in JSON Schema.
_SAME = (
    "title", "description", "default", "minItems", "maxItems", "minProperties", "maxProperties",
    "minLength", "maxLength", "pattern", "minimum", "maximum",
)  # fmt: skip
_ANNOTATIONS = ("title", "description", "default")
_TRANSLATED = frozenset(
    (*_SAME, "type", "enum", "const", "format", "anyOf", "properties", "required", "items",
     "additionalProperties", "$defs", "definitions", "$schema")
)  # fmt: skip
# The API refuses other formats of text: it takes only "enum" and "date-time".
_FORMATS = {
    "number": ("float", "double"),
    "integer": ("int32", "int64"),
    "string": ("date-time",),
}
_MOST_NODES = 2_000  # references are put in place, and a few of them could become a million


class _NotInSubset(Exception):  # noqa: N818
    """The message cannot say this schema."""


def gemini_schema(schema: JsonSchema) -> JsonSchema | None:
    """Translate a JSON Schema to Gemini's ``Schema`` message; ``None`` where that would lose.

    Types are written in capitals, ``null`` as ``nullable``, ``const`` as an enum of one, and
    references (except recursive ones) are put in place. The one thing left out is
    ``additionalProperties: false``, which the message has no word for. What cannot be said:
    choices that are not text, ``oneOf``, ``allOf``, ``prefixItems``, exclusive bounds, formats
    other than ``date-time``, schemas without a type, objects without properties, and the like.
    """
    try:
        return _Translation(schema).node(schema, ())
    except (_NotInSubset, RecursionError):
        return None


class _Translation:
    def __init__(self, root: JsonSchema) -> None:
        self.root = root
        self.nodes = 0

    def node(self, schema: Any, open_refs: tuple[str, ...]) -> JsonSchema:
        self.nodes += 1
        if not isinstance(schema, dict) or self.nodes > _MOST_NODES:
            raise _NotInSubset
        if "$ref" in schema:
            return self.reference(schema, open_refs)
        if schema.keys() - _TRANSLATED:
            raise _NotInSubset
        if "anyOf" in schema:
            return self.branches(schema, open_refs)
        return self.typed(schema, open_refs)

    def reference(self, schema: JsonSchema, open_refs: tuple[str, ...]) -> JsonSchema:
        ref = schema["$ref"]
        siblings = _annotations(schema, beside={"$ref"})
        target = resolve(ref, self.root)
        if target is MISSING or ref in open_refs:
            raise _NotInSubset
        return _merged(self.node(target, (*open_refs, ref)), siblings)

    def branches(self, schema: JsonSchema, open_refs: tuple[str, ...]) -> JsonSchema:
        outer = _annotations(schema, beside={"anyOf"})
        branches = [branch for branch in schema["anyOf"] if branch != {"type": "null"}]
        built = [self.node(branch, open_refs) for branch in branches]
        if not built:
            raise _NotInSubset
        if len(built) < len(schema["anyOf"]):
            outer["nullable"] = True
        return _merged(built[0], outer) if len(built) == 1 else {"anyOf": built, **outer}

    def typed(self, schema: JsonSchema, open_refs: tuple[str, ...]) -> JsonSchema:
        built = {key: schema[key] for key in _SAME if key in schema}
        choices = _choices(schema)
        kinds = schema.get("type", ["string", "null"] if choices else [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        others = [kind for kind in kinds if kind != "null"]
        if len(others) != 1:
            raise _NotInSubset
        if len(others) < len(kinds) and (choices is None or None in choices):
            built["nullable"] = True
        kind = others[0]
        built["type"] = kind.upper()
        self.format(schema, kind, built)
        if choices is not None:
            self.choices(choices, kind, built)
        self.children(schema, kind, built, open_refs)
        return built

    def format(self, schema: JsonSchema, kind: str, built: JsonSchema) -> None:
        form = schema.get("format")
        if form is None:
            return
        if form not in _FORMATS.get(kind, ()):
            raise _NotInSubset
        built["format"] = form

    def choices(self, choices: list[Any], kind: str, built: JsonSchema) -> None:
        texts = [choice for choice in choices if choice is not None]
        # The API refuses an empty text among the choices.
        fits = kind == "string" and texts and all(isinstance(text, str) and text for text in texts)
        if not fits or "format" in built:
            raise _NotInSubset
        built |= {"format": "enum", "enum": texts}

    def children(
        self, schema: JsonSchema, kind: str, built: JsonSchema, open_refs: tuple[str, ...]
    ) -> None:
        properties = schema.get("properties", {})
        if schema.get("additionalProperties", False) is not False:
            raise _NotInSubset
        if kind == "object":
            # The API refuses an object without properties.
            if not properties or set(schema.get("required", ())) - properties.keys():
                raise _NotInSubset
            built["properties"] = {
                name: self.node(sub, open_refs) for name, sub in properties.items()
            }
            built["propertyOrdering"] = list(properties)
            if schema.get("required"):
                built["required"] = list(schema["required"])
        elif properties:
            raise _NotInSubset
        if kind == "array":
            built["items"] = self.node(schema.get("items"), open_refs)
        elif "items" in schema:
            raise _NotInSubset


def _choices(schema: JsonSchema) -> list[Any] | None:
    if "const" in schema and "enum" in schema:
        raise _NotInSubset
    found = [schema["const"]] if "const" in schema else schema.get("enum")
    return found if found is None or isinstance(found, list) else [found]


def _annotations(schema: JsonSchema, beside: set[str]) -> JsonSchema:
    kept = {key: schema[key] for key in _ANNOTATIONS if key in schema}
    if schema.keys() - beside - kept.keys() - {"$defs", "definitions", "$schema"}:
        raise _NotInSubset
    return kept


def _merged(inner: JsonSchema, outer: JsonSchema) -> JsonSchema:
    if any(key in inner and inner[key] != value for key, value in outer.items()):
        raise _NotInSubset
    return {**inner, **outer}
