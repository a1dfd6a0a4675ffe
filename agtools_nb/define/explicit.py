"""``ToolWithSchema``: a tool whose JSON Schema is handed in, not read off the function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from agtools_nb.define.annotations import MISSING
from agtools_nb.define.checked_schema import checked_schema
from agtools_nb.define.options import ToolOptions
from agtools_nb.define.reading import read_signature
from agtools_nb.define.signature import Signature
from agtools_nb.define.subschemas import MANY, JsonSchema, resolve
from agtools_nb.define.subschemas import MISSING as NOWHERE
from agtools_nb.define.tool import Tool
from agtools_nb.errors import DefinitionError
from agtools_nb.jsonable import brief_repr

if TYPE_CHECKING:
    from agtools_nb.define.docstrings import Described


class ToolWithSchema(Tool):
    """A tool with an explicit JSON Schema: from a file, a server, another language.

    The arguments are checked against that schema and reach the function as JSON
    values: a date stays text, an object stays a dict. Whether the function takes
    a ``ToolContext`` is still decided by its annotations.

    Args:
        fn: A function, bound method, partial, callable object, or another tool:
            its function, name, description and options are taken over, and the
            schema given here wins.
        input_schema: JSON Schema (draft 7 or 2020-12) of the arguments, an object
            schema. Spellings of providers (``"OBJECT"``, ``any_of``, ``nullable``)
            are put right. It is copied; to change it later has no effect.
        options: Those of :func:`tool`.

    Raises:
        DefinitionError: The schema is none, or has properties that the function
            does not take, or lacks one that the function needs.
    """

    _has_own_schema = True

    def __init__(
        self,
        fn: Callable[..., Any],
        input_schema: Mapping[str, Any],
        *,
        scope: Mapping[str, Any] | None = None,
        **options: Unpack[ToolOptions],
    ) -> None:
        self._given_schema = input_schema
        super().__init__(fn, scope=scope, **options)

    @property
    def adapter(self) -> None:
        """``None``: the arguments are checked by JSON Schema and stay JSON values."""

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, an object schema. Do not change it."""
        return self._schema

    @cached_property
    def _described(self) -> Described:
        """The function's prose, or else what the schema says of itself."""
        from agtools_nb.define.docstrings import Described

        found = super()._described
        own = self._schema.get("description", "")
        return Described(found.summary or own, found.parameters)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.usage} of {brief_repr(self.__wrapped__)}>"

    def _read_signature(self) -> Signature:
        return read_signature(self.fn, tool_name=self.name, scope=self._scope, lenient=True)

    def _prepare(self) -> None:
        where = f"input_schema of {self.name}"
        self._schema = _object_schema(checked_schema(self._given_schema, where), where)
        del self._given_schema
        _check_names(self._schema, self.signature, self.name)

    def _parameter_names(self) -> tuple[str, ...]:
        return tuple(self._schema.get("properties", ()))


def _object_schema(schema: JsonSchema, where: str) -> JsonSchema:
    """The schema with its root written as providers need it: ``type`` is ``object``."""
    if isinstance(schema.get("$ref"), str) and "type" not in schema:
        # A recursive model's schema is nothing but a reference to itself.
        target = resolve(schema["$ref"], schema)
        if isinstance(target, dict) and "$ref" not in target:
            schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    kind = schema.get("type", "object")
    if kind == "object" or (isinstance(kind, list) and "object" in kind):
        return {"type": "object", **{k: v for k, v in schema.items() if k != "type"}}
    raise DefinitionError(
        f"{where}, at /type: {kind!r} must be 'object', because arguments are sent by name. "
        'Write {"type": "object", "properties": {"name": {...}}}.'
    )


def _check_names(schema: JsonSchema, signature: Signature, tool_name: str) -> None:
    taken = {argument.name for argument in signature.arguments}
    injected = {parameter.name for parameter in signature.injected}
    named = _property_names(schema)
    for name, pointer in named.items():
        if name in injected or (name not in taken and signature.extra is MISSING):
            reason = "is filled in by the runner" if name in injected else "is none that it takes"
            shown = ", ".join(sorted(taken)) or "no parameters"
            raise DefinitionError(
                f"{tool_name} cannot be a tool: its input_schema has the property {name!r} (at "
                f"{pointer}), which {reason}. It takes: {shown}. Rename one of them, or let "
                "the function take **kwargs."
            )
    for argument in signature.arguments:
        if argument.required and argument.name not in named:
            raise DefinitionError(
                f"{tool_name} cannot be a tool: its parameter {argument.name!r} has no default, "
                "and its input_schema has no such property, so that no call could give it. "
                f"Add /properties/{argument.name}, or give the parameter a default."
            )


def _property_names(root: JsonSchema) -> dict[str, str]:
    """Every property that the schema may ask for, with its place: also in ``allOf``, ``then``."""
    found: dict[str, str] = {}
    seen: set[int] = set()
    todo: list[tuple[Any, str]] = [(root, "")]
    while todo:
        schema, pointer = todo.pop()
        if not isinstance(schema, dict) or id(schema) in seen:
            continue
        seen.add(id(schema))
        for name, sub in schema.get("properties", {}).items():
            if sub is not False:  # false says that it must not be there
                found.setdefault(name, f"{pointer}/properties/{name}")
        todo += [
            (sub, f"{pointer}/{key}/{index}")
            for key in MANY
            if key in ("allOf", "anyOf", "oneOf")
            for index, sub in enumerate(schema.get(key, ()))
        ]
        todo += [(schema.get(key), f"{pointer}/{key}") for key in ("then", "else")]
        todo += [
            (sub, f"{pointer}/dependentSchemas/{name}")
            for name, sub in schema.get("dependentSchemas", {}).items()
        ]
        target = resolve(schema.get("$ref"), root)
        todo.append((None if target is NOWHERE else target, f"{pointer}/$ref"))
    return found
