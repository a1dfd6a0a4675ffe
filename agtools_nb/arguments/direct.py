"""A tool's validator for arguments that are Python values already, where that is the same.

Pydantic's strict mode for JSON is what arguments are judged by: ``"yes"`` is no boolean,
and a model comes as an object. It takes JSON text, and writing that text costs more
than the rest of a call. For most types the same judgement can be had from Python
values, by a copy of the validator's own schema in which numbers, texts and containers
are strict and models are not. Types of which that is not certain (dates, bytes, a
validator that asks what it was given) keep to JSON text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

CoreSchema = dict[str, Any]
Validate = Callable[[Any], dict[str, Any]]


class _UnsureError(Exception):
    """A type whose judgement may differ between JSON and Python values."""


def direct_validator(core_schema: Any) -> tuple[Validate, bool] | None:
    """Return a validator of Python values and whether its values may share with the input.

    Args:
        core_schema: The pydantic core schema of a tool's arguments.

    Returns:
        ``None`` where it is not certain that the validator agrees with strict JSON.
        The flag is whether containers of the input may be handed through uncopied.
    """
    from pydantic_core import SchemaError, SchemaValidator

    rewriter = _Rewriter()
    try:
        # Else a model would be judged by the validator of its class, not by this copy.
        validator = SchemaValidator(rewriter.rewritten(core_schema), _use_prebuilt=False)
    except (_UnsureError, SchemaError, RecursionError, TypeError):
        return None
    return validator.validate_python, rewriter.shares


class _Rewriter:
    def __init__(self) -> None:
        self.shares = False

    def rewritten(self, schema: Any) -> CoreSchema:
        kind = schema.get("type") if isinstance(schema, Mapping) else None
        if kind == "any":
            self.shares = True
            return dict(schema)
        if kind in _CERTAIN:
            return {**schema, **_CERTAIN[kind]}
        make = _MAKERS.get(str(kind))
        if make is None:
            raise _UnsureError(kind)
        return make(self, {key: value for key, value in schema.items() if key != "serialization"})

    def inner(self, schema: CoreSchema, *keys: str) -> CoreSchema:
        """The schema with its inner schemas, under ``keys`` where there are, rewritten."""
        return {**schema, **{key: self.rewritten(schema[key]) for key in keys if key in schema}}

    def literal(self, schema: CoreSchema) -> CoreSchema:
        if not all(type(value) is str for value in schema["expected"]):
            raise _UnsureError("literal")
        return schema

    def enum(self, schema: CoreSchema) -> CoreSchema:
        if not all(type(member.value) is str for member in schema["members"]):
            raise _UnsureError("enum")
        return {**schema, "strict": False}

    def list(self, schema: CoreSchema) -> CoreSchema:
        if "items_schema" not in schema:
            self.shares = True
        return {**self.inner(schema, "items_schema"), "strict": True}

    def dict(self, schema: CoreSchema) -> CoreSchema:
        keys = schema.get("keys_schema", {"type": "any"})
        if keys.get("type") not in ("str", "any"):
            # Keys are text in JSON, and read as what they stand for.
            raise _UnsureError("keys")
        if "values_schema" not in schema:
            self.shares = True
        return {**self.inner(schema, "values_schema"), "strict": True}

    def set(self, schema: CoreSchema) -> CoreSchema:
        # A JSON array is what it comes as.
        return {**self.inner(schema, "items_schema"), "strict": False}

    def tuple(self, schema: CoreSchema) -> CoreSchema:
        items = [self.rewritten(item) for item in schema["items_schema"]]
        return {**schema, "items_schema": items, "strict": False}

    def union(self, schema: CoreSchema) -> CoreSchema:
        kinds = [
            choice[0]["type"] if isinstance(choice, tuple) else choice["type"]
            for choice in schema["choices"]
        ]
        # Of two that may take one value, pydantic prefers the stricter, and models are not
        # strict here.
        if any(kinds.count(kind) > 1 or kind not in _JSON_TYPES for kind in kinds):
            raise _UnsureError("union")
        types = [_JSON_TYPES[kind] for kind in kinds]
        if types.count("array") > 1 or types.count("object") > 1:
            raise _UnsureError("union")
        if "enum" in kinds and ({"str", "literal"} & set(kinds)):
            raise _UnsureError("union")
        choices = [
            (self.rewritten(choice[0]), choice[1])
            if isinstance(choice, tuple)
            else self.rewritten(choice)
            for choice in schema["choices"]
        ]
        return {**schema, "choices": choices, "strict": None}

    def tagged_union(self, schema: CoreSchema) -> CoreSchema:
        choices = {tag: self.rewritten(choice) for tag, choice in schema["choices"].items()}
        if not all(type(tag) is str for tag in choices):
            raise _UnsureError("tag")
        return {**schema, "choices": choices}

    def model(self, schema: CoreSchema) -> CoreSchema:
        return {**self.inner(schema, "schema"), "strict": False}

    def fields(self, schema: CoreSchema) -> CoreSchema:
        fields = {name: self.inner(field, "schema") for name, field in schema["fields"].items()}
        self._extras(schema)
        return {**self.inner(schema, "extras_schema"), "fields": fields}

    def dataclass_args(self, schema: CoreSchema) -> CoreSchema:
        fields = [self.inner(field, "schema") for field in schema["fields"]]
        return {**schema, "fields": fields}

    def definitions(self, schema: CoreSchema) -> CoreSchema:
        definitions = [self.rewritten(definition) for definition in schema["definitions"]]
        return {**self.inner(schema, "schema"), "definitions": definitions}

    def json_branch(self, schema: CoreSchema) -> CoreSchema:
        return self._renamed(schema, self.rewritten(schema["json_schema"]))

    def strict_branch(self, schema: CoreSchema) -> CoreSchema:
        return self._renamed(schema, self.rewritten(schema["strict_schema"]))

    def function(self, schema: CoreSchema) -> CoreSchema:
        if schema["function"]["type"] != "no-info":
            # It is told whether it got JSON or Python.
            raise _UnsureError("function")
        if schema["type"] == "function-plain":
            self.shares = True
        return self.inner(schema, "schema")

    def wrapped(self, schema: CoreSchema) -> CoreSchema:
        return self.inner(schema, "schema")

    def _extras(self, schema: CoreSchema) -> None:
        if schema.get("extra_behavior") == "allow" and "extras_schema" not in schema:
            self.shares = True

    def _renamed(self, old: CoreSchema, new: CoreSchema) -> CoreSchema:
        """The branch under the name by which other parts refer to the whole."""
        return {**new, "ref": old["ref"]} if "ref" in old else new


# What each kind takes. Others may take anything.
_JSON_TYPES = {
    **dict.fromkeys(("none", "bool", "int", "float", "str", "literal", "enum"), "scalar"),
    **dict.fromkeys(("list", "set", "frozenset", "tuple"), "array"),
    **dict.fromkeys(("dict", "model", "dataclass", "typed-dict"), "object"),
}
_CERTAIN: dict[str, dict[str, Any]] = {
    "none": {},
    "bool": {"strict": True},
    "int": {"strict": True},
    # NaN and infinities are no JSON.
    "float": {"strict": True, "allow_inf_nan": False},
    "str": {"strict": True},
    "definition-ref": {},
}
_MAKERS: dict[str, Callable[[_Rewriter, CoreSchema], CoreSchema]] = {
    "literal": _Rewriter.literal,
    "enum": _Rewriter.enum,
    "list": _Rewriter.list,
    "dict": _Rewriter.dict,
    "set": _Rewriter.set,
    "frozenset": _Rewriter.set,
    "tuple": _Rewriter.tuple,
    "union": _Rewriter.union,
    "tagged-union": _Rewriter.tagged_union,
    "nullable": _Rewriter.wrapped,
    "default": _Rewriter.wrapped,
    "model": _Rewriter.model,
    "model-fields": _Rewriter.fields,
    "typed-dict": _Rewriter.fields,
    "dataclass": _Rewriter.model,
    "dataclass-args": _Rewriter.dataclass_args,
    "definitions": _Rewriter.definitions,
    "json-or-python": _Rewriter.json_branch,
    "lax-or-strict": _Rewriter.strict_branch,
    "function-after": _Rewriter.function,
    "function-before": _Rewriter.function,
    "function-wrap": _Rewriter.function,
    "function-plain": _Rewriter.function,
}
