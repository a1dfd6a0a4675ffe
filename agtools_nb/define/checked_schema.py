"""A JSON Schema that an author hands in: copied, normalised, and checked place by place.

The keywords are those of drafts 7 and 2020-12; ``json-schema.org`` says what each
must hold. The checks are written out here because the meta-schemas' own messages
name rules instead of remedies, and because importing ``jsonschema`` is dear.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from agtools_nb.define.branching import check_looks
from agtools_nb.define.normal import normalized
from agtools_nb.define.references import Scope
from agtools_nb.define.subschemas import MANY, NAMED, ONE, JsonSchema
from agtools_nb.errors import DefinitionError
from agtools_nb.jsonable import brief_repr, clean_text, pointer_step

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")


def checked_schema(given: Any, where: str) -> JsonSchema:
    """Return a schema's own copy: plain JSON, provider spellings put right, every keyword sound.

    Args:
        given: A mapping, the root of the schema.
        where: What it is, for messages: ``"input_schema of find"``.

    Raises:
        DefinitionError: It is no JSON, or a keyword holds what it must not. The
            message gives the place as a JSON Pointer and the remedy.
    """
    if not isinstance(given, Mapping):
        raise DefinitionError(f"{where} {_not_a_schema(given)}")
    try:
        schema: JsonSchema = normalized(_copied(given, "", where))
        _Check(where, Scope(schema)).schema(schema, "")
        check_looks(schema, where)
    except RecursionError as error:
        raise DefinitionError(
            f"{where} is nested too deeply, or holds itself. Write what recurs once under "
            '"$defs" and refer to it: {"$ref": "#/$defs/name"}.'
        ) from error
    return schema


def _not_a_schema(given: Any) -> str:
    if hasattr(given, "model_json_schema"):
        return f"is the model {given.__name__}; pass {given.__name__}.model_json_schema()"
    if isinstance(given, str):
        return "is text; pass a dict: json.loads(...)"
    return f"must be a dict that holds a JSON Schema, not {brief_repr(given)}"


def _copied(value: Any, pointer: str, where: str) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # of an enum member, the text
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, (list, tuple)):
        return [_copied(item, f"{pointer}/{i}", where) for i, item in enumerate(value)]
    if not isinstance(value, Mapping):
        raise _fault(
            where, pointer, value, "JSON: text, a number, true, false, null, a list, a dict"
        )
    copy = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise _fault(where, pointer, key, "a key that is text")
        key = str.__str__(key)
        copy[key] = _copied(item, f"{pointer}/{pointer_step(key)}", where)
    return copy


def _fault(where: str, pointer: str, value: Any, expected: str) -> DefinitionError:
    shown = clean_text(brief_repr(value))
    return DefinitionError(f"{where}, at {pointer or 'its root'}: {shown} must be {expected}")


class _Check:
    """One walk over a schema. Raises at the first fault."""

    def __init__(self, where: str, scope: Scope) -> None:
        self.where = where
        self.scope = scope

    def schema(self, schema: Any, pointer: str) -> None:
        if isinstance(schema, bool):
            return
        if not isinstance(schema, dict):
            raise _fault(self.where, pointer, schema, "a schema: a dict, true or false")
        with self.scope.entered(schema):
            for key, value in schema.items():
                self._keyword(key, value, f"{pointer}/{pointer_step(key)}")

    def _keyword(self, key: str, value: Any, pointer: str) -> None:
        if key in NAMED:
            self._named(key, value, pointer)
        elif key in MANY and (isinstance(value, list) or key not in ONE):
            self._many(value, pointer)
        elif key in ONE:
            self.schema(value, pointer)
        elif key == "dependencies":
            self._dependencies(value, pointer)
        elif key == "$ref":
            self._reference(value, pointer)
        elif key in _EXPECTED:
            expected, fits = _EXPECTED[key]
            if not fits(value):
                raise _fault(self.where, pointer, value, expected)

    def _named(self, key: str, value: Any, pointer: str) -> None:
        if not isinstance(value, dict):
            raise _fault(self.where, pointer, value, "a dict of schemas by name")
        for name, sub in value.items():
            if key == "patternProperties" and not _is_pattern(name):
                raise _fault(self.where, pointer, name, _PATTERN)
            self.schema(sub, f"{pointer}/{pointer_step(name)}")

    def _many(self, value: Any, pointer: str) -> None:
        if not isinstance(value, list) or not value:
            raise _fault(self.where, pointer, value, "a list of schemas that is not empty")
        for index, sub in enumerate(value):
            self.schema(sub, f"{pointer}/{index}")

    def _dependencies(self, value: Any, pointer: str) -> None:
        if not isinstance(value, dict):
            raise _fault(self.where, pointer, value, "a dict of schemas or lists by name")
        for name, sub in value.items():
            if not _is_texts(sub):
                self.schema(sub, f"{pointer}/{pointer_step(name)}")

    def _reference(self, value: Any, pointer: str) -> None:
        if not isinstance(value, str):
            raise _fault(self.where, pointer, value, 'text such as "#/$defs/name"')
        problem = self.scope.problem(value)
        if problem:
            raise DefinitionError(f"{self.where}, at {pointer}: {value!r} {problem}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_type(value: Any) -> bool:
    kinds = value if isinstance(value, list) and value else [value]
    return all(isinstance(kind, str) and kind in TYPES for kind in kinds)


def _is_pattern(value: Any) -> bool:
    """Whether one of the engines that match patterns here can read it."""
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    if not isinstance(value, str):
        return False
    try:
        SchemaValidator(core_schema.str_schema(pattern=value))
    except SchemaError:
        try:
            re.compile(value)
        except (re.error, RecursionError, OverflowError):
            return False
    return True


_PATTERN = "a regular expression that Python can read"
_NUMBER = ("a number", _is_number)
_COUNT = ("a whole number, 0 or more", _is_count)
_TEXT = ("text", _is_text)
_BOOL = ("true or false", _is_bool)
_LIST = ("a list", _is_list)

_EXPECTED: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "type": (f"a JSON type or a list of them: {', '.join(TYPES)}", _is_type),
    "required": ("a list of property names", _is_texts),
    "dependentRequired": (
        "a dict of lists of property names",
        lambda value: isinstance(value, dict) and all(map(_is_texts, value.values())),
    ),
    "pattern": (_PATTERN, _is_pattern),
    "multipleOf": ("a number above 0", lambda value: _is_number(value) and value > 0),
    "enum": ("a list of values", _is_list),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBER),
    **dict.fromkeys(
        (
            "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
            "minContains", "maxContains",
        ),
        _COUNT,
    ),
    **dict.fromkeys(("uniqueItems", "readOnly", "writeOnly", "deprecated"), _BOOL),
    **dict.fromkeys(
        (
            "$schema", "$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$comment", "title",
            "description", "format", "contentEncoding", "contentMediaType",
        ),
        _TEXT,
    ),
    "examples": _LIST,
}  # fmt: skip


def is_json(value: Any) -> bool:
    """Whether ``json.dumps`` writes it as strict JSON."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True
