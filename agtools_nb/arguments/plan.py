"""What is made once for a tool and kept: its compiled schema, its validators, its defaults."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from agtools_nb.arguments.coerce import Coercion
from agtools_nb.arguments.conform import Document
from agtools_nb.arguments.conversions import MAX_INTEGER
from agtools_nb.arguments.direct import Validate, direct_validator
from agtools_nb.context import copied
from agtools_nb.jsonable import jsonable

if TYPE_CHECKING:
    from pydantic import ValidationError

    from agtools_nb.define import Tool


class Plan:
    """How one tool's arguments are read.

    Args:
        tool: The tool.

    Raises:
        DefinitionError: The tool turns out not to be one: an annotation names
            something that is not defined.

    Attributes:
        defaults: The parameters' defaults that JSON can hold, by name.
        schema: The tool's input schema.
        document: The same, ready to be asked.
        is_by_name: Whether the values are just what the function takes, by name.
        direct: A validator of Python values that agrees with strict JSON, if there is one.
        shares: Whether ``direct`` may hand containers of the input through uncopied.
    """

    def __init__(self, tool: Tool) -> None:
        self.schema = schema = tool.input_schema
        self.document = Document(schema)
        properties = schema.get("properties", {})
        self.defaults: dict[str, Any] = {
            name: sub["default"]
            for name, sub in properties.items()
            if isinstance(sub, dict) and "default" in sub
        }
        signature = tool.signature
        self.is_by_name = not signature.injected and not signature.positional
        self.is_by_name &= not any(argument.default_is_field for argument in signature.arguments)
        self._adapter = tool.adapter
        self.direct: Validate | None = None
        self.shares = False
        # Pydantic takes true for a literal 1.
        self._has_odd_literals = self._adapter is not None and _holds_odd_literal(
            self._adapter.core_schema
        )
        found = None if self._adapter is None else direct_validator(self._adapter.core_schema)
        if found is not None:
            self.direct, self.shares = found

    @property
    def is_explicit(self) -> bool:
        """Whether the schema was given, so that the function gets JSON values."""
        return self._adapter is None

    @property
    def has_quick_way(self) -> bool:
        """Whether :meth:`quick` may ever have an answer."""
        return self.is_explicit or self.direct is not None

    @cached_property
    def coercion(self) -> Coercion:
        """The schema's conversions."""
        return Coercion(self.document)

    @cached_property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """The keys of parameters that have others than their names, the schema's first."""
        schema = {} if self._adapter is None else self._adapter.core_schema
        while schema.get("type") == "definitions":
            schema = schema["schema"]
        fields = schema.get("fields", {})
        aliases = {name: _aliases(field.get("validation_alias")) for name, field in fields.items()}
        return {name: keys for name, keys in aliases.items() if keys}

    def quick(self, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """Values for what surely fits, coerced where need be; ``None`` leaves it to the long way.

        Args:
            arguments: Values of any kind under text keys, such as nobody else can change.
        """
        try:
            for value in arguments.values():
                if type(value) not in _SCALARS and not _is_json(value):
                    return None
            if self.direct is None:
                return self._quick_explicit(arguments)
            if self.shares:
                arguments = jsonable(arguments)
            return self.direct(arguments)
        except RecursionError:
            return None
        except ValueError:  # pydantic's ValidationError is one
            value = self.coercion.converted(arguments)
        if value is arguments:
            return None
        try:
            return cast("Validate", self.direct)(value)
        except ValueError:
            return None

    def _quick_explicit(self, arguments: dict[str, Any]) -> dict[str, Any] | None:
        if not self.is_explicit or self.defaults or not is_plain(arguments):
            return None
        # Text beyond ASCII may hold what no text can carry; the long way sees to that.
        if not all(value.isascii() for value in arguments.values() if type(value) is str):
            return None
        return arguments if self.document.surely_conforms(arguments) else None

    def values(self, arguments: dict[str, Any]) -> dict[str, Any] | ValidationError | None:
        """The arguments as Python values; pydantic's error or ``None`` if they do not fit.

        Args:
            arguments: JSON values.
        """
        if self.direct is None:
            return self.judged(arguments)
        try:
            # What the function does to its arguments must not show in what it was sent.
            return self.direct(copied(arguments) if self.shares else arguments)
        except ValueError:  # pydantic's ValidationError is one
            return None

    def judged(self, arguments: dict[str, Any]) -> dict[str, Any] | ValidationError | None:
        """The same, by the judge that has the last word."""
        if self._adapter is None:
            return copied(arguments) if self.document.conforms(arguments) else None
        from pydantic import ValidationError

        if self._has_odd_literals and not self.document.conforms(arguments):
            return None
        try:
            # Strict, so that "yes" is no boolean, and from JSON text, so that a date or an
            # enum member may come as the text that its schema asks for.
            return self._adapter.validate_json(json.dumps(arguments), strict=True)
        except ValidationError as error:
            return error


def _aliases(alias: Any) -> tuple[str, ...]:
    """The keys among the aliases of a field; a path into another object is none."""
    if isinstance(alias, str):
        return (alias,)
    paths = alias or []
    if paths and not isinstance(paths[0], list):
        paths = [paths]
    return tuple(path[0] for path in paths if len(path) == 1)


def _holds_odd_literal(schema: Any) -> bool:
    """Whether a core schema holds a ``Literal`` of anything but text."""
    todo = [schema]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            if node.get("type") == "literal":
                if not all(type(value) is str for value in node.get("expected", ())):
                    return True
                continue
            todo += [value for key, value in node.items() if key != "metadata"]
        elif isinstance(node, (list, tuple)):
            todo += node
    return False


def plan_of(tool: Tool) -> Plan:
    """Return the plan of a tool, made at its first use.

    Raises:
        DefinitionError: The tool turns out not to be one.
    """
    kept = tool.__dict__
    plan: Plan | None = kept.get(_KEPT_AS)
    if plan is None:
        plan = kept[_KEPT_AS] = Plan(tool)
    return plan


# With the tool itself: looking it up in a table of weak references takes longer than judging
# three arguments.
_KEPT_AS = "_plan of its arguments"


_SCALARS = frozenset((str, int, float, bool, type(None)))


def _is_json(value: Any) -> bool:
    """Whether a value holds nothing but JSON's own types: an object would be handed through."""
    kind = type(value)
    if kind in _SCALARS:
        return True
    if kind is list:
        return all([_is_json(item) for item in value])
    return kind is dict and all([type(k) is str and _is_json(item) for k, item in value.items()])


def is_plain(arguments: Any) -> bool:
    """Whether arguments are a dict of scalars as JSON has them, and so need no copy."""
    if type(arguments) is not dict:
        return False
    for key, value in arguments.items():
        kind = type(value)
        if type(key) is not str:
            return False
        if kind is str or kind is bool or value is None:
            continue
        if kind is int:
            if not -MAX_INTEGER <= value < MAX_INTEGER:
                return False
        elif kind is not float or value - value != 0.0:
            return False
    return True
