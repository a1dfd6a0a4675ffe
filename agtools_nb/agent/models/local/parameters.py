"""The parameters of a tool, as far as they can be filled one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agtools_nb.define import Tool
from agtools_nb.jsonable import shorten

Kind = Literal["choice", "number", "text", "other"]

MOST_CHOICES = 16
"""Values of an enumeration that are weighed against each other."""

_LONGEST_DESCRIPTION = 200
_FREE_TEXT = {"type", "description", "default", "title", "minLength", "maxLength", "examples"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter.

    Attributes:
        name: Its name.
        kind: ``"choice"``: one of a few values; ``"number"``; ``"text"``: free text, which can
            be copied; ``"other"``: anything else, which only the schema describes.
        required: Whether every call has it.
        description: What it is, ``""`` if nobody says.
        schema: Its JSON Schema, ``null`` left out.
        choices: The values of a choice.
    """

    name: str
    kind: Kind
    required: bool
    description: str
    schema: Mapping[str, Any]
    choices: tuple[Any, ...] = ()


def parameters_of(tool: Tool) -> tuple[Parameter, ...]:
    """The parameters of a tool in order."""
    schema = tool.input_schema
    required = set(schema.get("required", ()))
    properties: Mapping[str, Any] = schema.get("properties", {})
    return tuple(_parameter(name, one, name in required) for name, one in properties.items())


def needed_numbers(tool: Tool) -> int:
    """How many numbers a call of the tool cannot do without."""
    return sum(one.required and one.kind == "number" for one in parameters_of(tool))


def purpose(tool: Tool) -> str:
    """What a tool is for, as ``get the weather of a city``: its first sentence, or its name."""
    said = tool.description.strip().partition("\n\n")[0].replace("\n", " ")
    said = said.partition(". ")[0].rstrip(".")
    if not said:
        return tool.name.replace("_", " ")
    return shorten(said[:1].lower() + said[1:], _LONGEST_DESCRIPTION)


def _parameter(name: str, schema: Any, required: bool) -> Parameter:
    whole: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
    said = str(whole.get("description", "")).strip().partition("\n")[0].rstrip(".")
    said = shorten(said[:1].lower() + said[1:], _LONGEST_DESCRIPTION)
    inner = _without_null(whole)
    choices = _choices(inner)
    return Parameter(name, _kind(inner, choices), required, said, inner, choices)


def _without_null(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The one kind of value that an optional parameter has besides ``null``."""
    branches = schema.get("anyOf")
    if isinstance(branches, list):
        real = [branch for branch in branches if branch.get("type") != "null"]
        return real[0] if len(real) == 1 else schema
    kinds = schema.get("type")
    if isinstance(kinds, list):
        real = [kind for kind in kinds if kind != "null"]
        return {**schema, "type": real[0]} if len(real) == 1 else schema
    return schema


def _choices(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    if schema.get("type") == "boolean":
        return (True, False)
    if "const" in schema:
        return (schema["const"],)
    values = schema.get("enum", ())
    plain = all(isinstance(value, (str, int, float)) or value is None for value in values)
    return tuple(value for value in values if value is not None) if plain else ()


def _kind(schema: Mapping[str, Any], choices: tuple[Any, ...]) -> Kind:
    if choices:
        return "choice"
    kind = schema.get("type")
    if kind in ("integer", "number"):
        return "number"
    if kind == "string" and schema.keys() <= _FREE_TEXT:
        return "text"
    return "other"
