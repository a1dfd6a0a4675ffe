"""Schemas as providers write them, as plain JSON Schema.

=============================  ========================================================
written                        read as
=============================  ========================================================
``"type": "OBJECT"``           ``"type": "object"``; ``"TYPE_UNSPECIFIED"`` is left out
``"nullable": true``           ``null`` among the types, or as a branch of ``anyOf``
``any_of``, ``min_length``     ``anyOf``, ``minLength``: every snake_case keyword
``defs``, ``ref``              ``$defs``, ``$ref``; ``"#/defs/A"`` is ``"#/$defs/A"``
``"minItems": "3"``            ``"minItems": 3`` (protobuf writes 64-bit numbers as text)
``"format": "enum"``           left out: the ``enum`` beside it says so
``propertyOrdering``           the order of ``properties``
a keyword that is ``None``     left out (an SDK's ``model_dump`` writes all its fields)
=============================  ========================================================

Sources: the ``Schema`` message of the Gemini API, the models of google-genai, OpenAPI 3.0.
Draft-7 spellings (``definitions``, ``dependencies``, an array of ``items``) stay: they are valid.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from typing import Any

from agtools_nb.define.subschemas import MANY, NAMED, ONE
from agtools_nb.errors import DefinitionError

JsonSchema = dict[str, Any]

TYPES = ("null", "boolean", "object", "array", "number", "string", "integer")
_TYPES_BY_CAPITALS = {name.upper(): name for name in TYPES}

# Keywords of 2020-12, the older drafts and OpenAPI that have more than one word.
_KEYWORDS = (
    "additionalItems", "additionalProperties", "allOf", "anyOf", "oneOf", "contentEncoding",
    "contentMediaType", "contentSchema", "dependentRequired", "dependentSchemas",
    "exclusiveMaximum", "exclusiveMinimum", "maxContains", "maxItems", "maxLength",
    "maxProperties", "minContains", "minItems", "minLength", "minProperties", "multipleOf",
    "patternProperties", "prefixItems", "propertyNames", "propertyOrdering", "readOnly",
    "unevaluatedItems", "unevaluatedProperties", "uniqueItems", "writeOnly",
)  # fmt: skip
_BY_SNAKE_CASE = {re.sub("([A-Z])", r"_\1", name).lower(): name for name in _KEYWORDS}
_COUNTS = frozenset(
    f"{end}{what}" for end in ("min", "max")
    for what in ("Items", "Length", "Properties", "Contains")
)  # fmt: skip

# What a value may be without being a schema keyword that an SDK left empty.
_MAY_BE_NONE = ("default", "const")
_ANNOTATIONS = frozenset(
    ("title", "description", "default", "examples", "example", "deprecated", "readOnly",
     "writeOnly", "$comment", "$schema", "$id", "$defs", "definitions", "$anchor")
)  # fmt: skip


def normalized(schema: Any) -> Any:
    """Return a schema that a provider's document or SDK wrote, as plain JSON Schema.

    A plain JSON Schema comes back equal. Only keywords are rewritten: a property that is
    named ``any_of`` or ``type``, and the values of ``enum``, ``const`` and ``default``, stay.
    Doing it twice changes nothing more.

    Args:
        schema: A schema as a mapping (or a boolean, which is one too). It is not changed.

    Raises:
        DefinitionError: It is nested too deeply to be read.
    """
    try:
        return _node(schema)
    except RecursionError:
        raise DefinitionError(
            "this schema is nested too deeply to be read; name its parts in $defs and refer to "
            'them: {"$ref": "#/$defs/..."}'
        ) from None


def _node(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    named = _with_known_names(schema)
    built = {key: _value(key, value) for key, value in named.items()}
    _read_type(built)
    _read_order(built)
    if built.get("format") == "enum" and "enum" in built:
        del built["format"]
    nullable = built.get("nullable")
    if isinstance(nullable, bool):
        del built["nullable"]
    return with_null(built) if nullable is True else built


def _with_known_names(schema: Mapping[Any, Any]) -> JsonSchema:
    dumped = any(value is None and key not in _MAY_BE_NONE for key, value in schema.items())
    built: JsonSchema = {}
    for key, value in schema.items():
        if value is None and (dumped or key not in _MAY_BE_NONE):
            continue
        name = _BY_SNAKE_CASE.get(key, key)
        if name == "ref" and isinstance(value, str) and value.startswith("#"):
            name = "$ref"
        elif name == "defs" and isinstance(value, Mapping):
            name = "$defs"
        # A schema that has both spellings means the right one.
        if name == key or name not in schema:
            built[name] = value
    return built


def _value(key: str, value: Any) -> Any:
    if key in NAMED and isinstance(value, Mapping):
        return {name: _node(sub) for name, sub in value.items()}
    if key in MANY and isinstance(value, (list, tuple)):
        return [_node(sub) for sub in value]
    if key in ONE:
        return _node(value)
    if key == "$ref" and isinstance(value, str):
        return re.sub(r"^#/defs/", "#/$defs/", value)
    if key in _COUNTS and isinstance(value, str) and re.fullmatch(r"[0-9]{1,18}", value):
        return int(value)
    return value


def _read_type(built: JsonSchema) -> None:
    kind = built.get("type")
    if isinstance(kind, (list, tuple)):
        built["type"] = [_type_name(one) for one in kind]
    elif kind is not None:
        built["type"] = _type_name(kind)
    if built.get("type") == "TYPE_UNSPECIFIED":
        del built["type"]


def _type_name(kind: Any) -> Any:
    text = kind.value if isinstance(kind, enum.Enum) else kind
    return _TYPES_BY_CAPITALS.get(text, text) if isinstance(text, str) else text


def _read_order(built: JsonSchema) -> None:
    order = built.pop("propertyOrdering", None)
    properties = built.get("properties")
    if isinstance(order, (list, tuple)) and isinstance(properties, dict):
        first = [name for name in order if isinstance(name, str) and name in properties]
        built["properties"] = {name: properties[name] for name in dict.fromkeys(first)} | properties


def with_null(schema: JsonSchema) -> JsonSchema:
    """Return a schema that accepts ``null`` besides what ``schema`` accepts.

    Where it has types, ``null`` is one more; else it is one more branch of ``anyOf``, and
    title, description and default stay beside them.
    """
    rules = schema.keys() - _ANNOTATIONS
    if not rules:
        return schema
    kind = schema.get("type")
    if kind is not None and not rules & {"$ref", "anyOf", "oneOf", "allOf", "not", "if", "const"}:
        return _with_null_type(schema, kind if isinstance(kind, list) else [kind])
    if rules == {"anyOf"} and isinstance(schema["anyOf"], list):
        branches = schema["anyOf"]
        return schema if _NULL in branches else {**schema, "anyOf": [*branches, _NULL]}
    inner = {key: value for key, value in schema.items() if key in rules}
    outer = {key: value for key, value in schema.items() if key not in rules}
    return {**outer, "anyOf": [inner, _NULL]}


_NULL: JsonSchema = {"type": "null"}


def _with_null_type(schema: JsonSchema, kinds: list[Any]) -> JsonSchema:
    built = {**schema, "type": kinds if "null" in kinds else [*kinds, "null"]}
    choices = schema.get("enum")
    if isinstance(choices, list) and not any(choice is None for choice in choices):
        built["enum"] = [*choices, None]
    return built
