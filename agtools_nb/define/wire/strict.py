"""OpenAI's strict mode: the schemas it takes.

In strict mode the model can only write arguments that fit the schema, and the schema must
keep to a subset of JSON Schema. Its rules are OpenAI's guide on structured outputs, section
"Supported schemas", and what the SDK's own conversion does:

* the root is an object, and no ``anyOf``;
* every object lists all its properties as required and allows no others;
* types, ``enum``, ``const``, ``anyOf``, ``$ref`` to the root or to ``$defs`` (recursion too),
  ``pattern``, some formats, bounds of numbers, ``minItems`` and ``maxItems``; nothing else;
* at most 5,000 properties, 10 levels, 1,000 choices, 120,000 characters of names and choices.
"""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

from agtools_nb.define.normal import with_null
from agtools_nb.define.subschemas import resolve, walk
from agtools_nb.define.wire.unset import accepts_null
from agtools_nb.jsonable import shorten

JsonSchema = dict[str, Any]

_KEPT = frozenset(
    ("type", "title", "description", "enum", "const", "anyOf", "$ref", "pattern", "format",
     "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems",
     "maxItems")
)  # fmt: skip
_FORMATS = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
)
# Carried on in another form, or of no use to a model.
_SILENT = frozenset(
    ("properties", "required", "additionalProperties", "items", "oneOf", "allOf", "$defs",
     "definitions", "$schema", "$id", "$anchor", "$comment", "discriminator")
)  # fmt: skip
_OF_TYPE = {
    "string": ("pattern", "format", "minLength", "maxLength"),
    "number": ("multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    "array": ("items", "minItems", "maxItems", "prefixItems", "uniqueItems"),
    "object": ("properties", "required", "additionalProperties", "patternProperties"),
}
_OF_TYPE["integer"] = _OF_TYPE["number"]
_TYPED = frozenset(key for keys in _OF_TYPE.values() for key in keys)

_MOST_PROPERTIES = 5_000
_MOST_LEVELS = 10
_MOST_CHOICES = 1_000
_MOST_CHARACTERS = 120_000


class NotStrictError(Exception):
    """Why a schema has no strict form. Private to this package."""


def strict_schema(schema: JsonSchema) -> JsonSchema:
    """Return the form of an arguments schema that strict mode takes.

    Every property becomes required; one that was optional accepts ``null``, which stands for
    leaving it out (:func:`.without_unset` takes it out again). Objects with properties are
    closed, ``oneOf`` becomes ``anyOf``, and keywords that strict mode has not (``default``,
    ``minLength``, ``not``, ...) go into the description: the model reads them, and the runner
    checks the arguments against the tool's own schema all the same.

    Raises:
        NotStrictError: It has no such form: a part takes any value, any keys, or a tuple.
    """
    if schema.get("type") != "object" or schema.keys() & {"anyOf", "oneOf", "allOf", "$ref"}:
        raise NotStrictError("the arguments as a whole are not a plain object")
    try:
        built = _Strict(schema).document()
    except RecursionError:
        raise NotStrictError("it is nested too deeply") from None
    _check_size(built)
    return built


class _Strict:
    def __init__(self, root: JsonSchema) -> None:
        self.root = root
        self.used: dict[str, JsonSchema] = {}
        self.names: dict[str, str] = {}

    def document(self) -> JsonSchema:
        root = {key: value for key, value in self.root.items() if key != "properties"}
        built = self.node({**root, "properties": self.root.get("properties", {})}, "")
        return {**built, "$defs": self.used} if self.used else built

    def node(self, schema: Any, at: str, open_refs: tuple[str, ...] = ()) -> JsonSchema:
        if not isinstance(schema, dict) or schema.keys() <= {"description", "title", "default"}:
            raise NotStrictError(f"{_place(at)} takes any value")
        if "$ref" in schema:
            return self.reference(schema, at, open_refs)
        if "allOf" in schema:
            return self.merged(schema, at, open_refs)
        kinds = schema.get("type")
        if isinstance(kinds, list) and len([kind for kind in kinds if kind != "null"]) > 1:
            schema = _split_types(schema, kinds)
        built = {key: value for key, value in schema.items() if key in _KEPT}
        for key in ("anyOf", "oneOf"):
            if key in schema:
                branches = schema[key]
                built["anyOf"] = [
                    self.node(branch, f"{at}/{key}/{number}", open_refs)
                    for number, branch in enumerate(branches)
                ]
        self.typed(schema, built, at, open_refs)
        return _with_notes(schema, built)

    def typed(
        self, schema: JsonSchema, built: JsonSchema, at: str, open_refs: tuple[str, ...]
    ) -> None:
        _infer_type(built, at)
        kinds = built.get("type", ())
        kinds = (kinds,) if isinstance(kinds, str) else kinds
        if "object" in kinds:
            self.object(schema, built, at, open_refs)
        if "array" in kinds:
            if not isinstance(schema.get("items"), dict) or "prefixItems" in schema:
                raise NotStrictError(f"{_place(at)} does not say what all its items are")
            built["items"] = self.node(schema["items"], f"{at}/items", open_refs)

    def object(
        self, schema: JsonSchema, built: JsonSchema, at: str, open_refs: tuple[str, ...]
    ) -> None:
        properties = schema.get("properties")
        more = schema.get("additionalProperties", not properties and at != "")
        if more is not False or "patternProperties" in schema:
            raise NotStrictError(f"{_place(at)} takes any keys")
        required = schema.get("required", ())
        if set(required) - (properties or {}).keys():
            raise NotStrictError(f"{_place(at)} requires a key that it does not describe")
        built["properties"] = {
            name: self.property(sub, name in required, f"{at}/{name}", open_refs)
            for name, sub in (properties or {}).items()
        }
        built["required"] = list(built["properties"])
        built["additionalProperties"] = False

    def property(
        self, schema: Any, required: bool, at: str, open_refs: tuple[str, ...]
    ) -> JsonSchema:
        built = self.node(schema, at, open_refs)
        if required or accepts_null(schema, self.root):
            return built
        if built.get("type") in ("object", "array"):
            # The guide shows lists of types for plain values only.
            built = {"anyOf": [built, {"type": "null"}]}
        return _noted(with_null(built), "null leaves it out")

    def reference(self, schema: JsonSchema, at: str, open_refs: tuple[str, ...]) -> JsonSchema:
        ref = schema["$ref"]
        target = resolve(ref, self.root)
        if not isinstance(target, dict):
            raise NotStrictError(
                f"{_place(at)} refers to {shorten(str(ref), 80)}, which is not here"
            )
        siblings = {key: value for key, value in schema.items() if key != "$ref"}
        if siblings:
            # A reference with anything beside it is refused, so its target is put in place.
            if ref in open_refs:
                raise NotStrictError(f"{_place(at)} refers to itself with changes")
            return self.node({**target, **siblings}, at, (*open_refs, ref))
        if ref == "#":
            return {"$ref": "#"}
        name = self.definition_name(ref)
        if name not in self.used:
            self.used[name] = {}  # before its own content, which may refer to it
            self.used[name] = self.node(target, f"/$defs/{name}", open_refs)
        return {"$ref": f"#/$defs/{name}"}

    def definition_name(self, ref: str) -> str:
        if ref not in self.names:
            plain = re.sub("[^A-Za-z0-9_-]", "_", ref.rpartition("/")[2]) or "part"
            taken = self.names.values()
            tries = (f"{plain}_{number}" for number in itertools.count(2))
            self.names[ref] = (
                plain if plain not in taken else next(name for name in tries if name not in taken)
            )
        return self.names[ref]

    def merged(self, schema: JsonSchema, at: str, open_refs: tuple[str, ...]) -> JsonSchema:
        parts = schema["allOf"]
        rest = {key: value for key, value in schema.items() if key != "allOf"}
        if not isinstance(parts, list) or len(parts) != 1 or not isinstance(parts[0], dict):
            raise NotStrictError(f"{_place(at)} combines schemas with allOf")
        if rest.keys() & parts[0].keys() - {"title", "description", "default"}:
            raise NotStrictError(f"{_place(at)} combines schemas with allOf")
        return self.node({**parts[0], **rest}, at, open_refs)


def _split_types(schema: JsonSchema, kinds: list[str]) -> JsonSchema:
    """Several types in one schema as one branch a type."""
    shared = {key: value for key, value in schema.items() if key not in _TYPED and key != "type"}
    if shared.keys() & {"enum", "const", "anyOf", "oneOf"}:
        return schema
    branches = [
        {"type": kind, **{key: schema[key] for key in _OF_TYPE.get(kind, ()) if key in schema}}
        for kind in kinds
    ]
    return {**shared, "anyOf": branches}


def _infer_type(built: JsonSchema, at: str) -> None:
    """Give choices their type: strict mode wants one on everything."""
    if "type" in built or "anyOf" in built:
        return
    choices = [built["const"]] if "const" in built else built.get("enum")
    if not isinstance(choices, list) or not choices:
        raise NotStrictError(f"{_place(at)} has no type")
    kinds = list(dict.fromkeys(_type_of(choice) for choice in choices))
    built["type"] = kinds[0] if len(kinds) == 1 else kinds


def _type_of(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    try:
        return names[type(value)]
    except KeyError:
        raise NotStrictError("a choice is an object or an array") from None


def _with_notes(schema: JsonSchema, built: JsonSchema) -> JsonSchema:
    """What strict mode has no word for, in words in the description."""
    notes = [
        f"{key}: {shorten(json.dumps(value, ensure_ascii=False, default=str), 200)}"
        for key, value in schema.items()
        if key not in _KEPT and key not in _SILENT and (key != "default" or value is not None)
    ]
    if "format" in built and built["format"] not in _FORMATS:
        notes.append(f"format: {built.pop('format')}")
    if "(?" in str(built.get("pattern", "")).replace("(?:", ""):
        notes.append(f"pattern: {built.pop('pattern')}")  # its engine has no lookarounds
    for note in notes:
        built = _noted(built, note)
    return built


def _noted(schema: JsonSchema, note: str) -> JsonSchema:
    if "$ref" in schema:
        return schema
    text = schema.get("description")
    text = f"{text} ({note})" if isinstance(text, str) and text else f"({note})"
    return {**schema, "description": text}


def _check_size(schema: JsonSchema) -> None:
    nodes = list(walk(schema))
    properties = [name for node in nodes for name in node.get("properties", ())]
    choices = [choice for node in nodes for choice in node.get("enum", ())]
    letters = sum(map(len, (*properties, *schema.get("$defs", ())))) + sum(
        len(str(choice)) for choice in choices
    )
    for what, size, most in (
        ("properties", len(properties), _MOST_PROPERTIES),
        ("choices", len(choices), _MOST_CHOICES),
        ("characters of names and choices", letters, _MOST_CHARACTERS),
        ("levels", _levels(schema), _MOST_LEVELS),
    ):
        if size > most:
            raise NotStrictError(f"it has {size:,} {what}, and strict mode takes {most:,}")


def _levels(schema: Any) -> int:
    if not isinstance(schema, dict):
        return 0
    below = [_levels(sub) for sub in schema.get("properties", {}).values()]
    below += [_levels(sub) for sub in schema.get("$defs", {}).values()]
    below += [_levels(sub) for sub in schema.get("anyOf", ())]
    own = 1 if "properties" in schema else 0
    return own + max([_levels(schema.get("items")), *below], default=0)


def _place(at: str) -> str:
    return at or "the whole"
