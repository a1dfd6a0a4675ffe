"""A tool's parameters as the model sees them, and how to call it in one line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agtools_nb.define.describe import bounds_text, type_text
from agtools_nb.jsonable import json_text


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool, as the model sees it.

    Attributes:
        name: The key in the arguments.
        required: Whether a call without it is an error.
        schema: Its JSON Schema; a ``$ref`` points into the tool's ``input_schema``.
        type_text: The type in words: ``"integer"``, ``"array of string"``.
        bounds_text: The bounds in words: ``"from 1 to 10"``; ``""`` without any.
        default_text: The default as JSON text; ``None`` without one.
        description: What it means; ``""`` if the author did not say.
    """

    name: str
    required: bool
    schema: Mapping[str, Any]
    type_text: str
    bounds_text: str
    default_text: str | None
    description: str


def parameters_of(schema: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """The parameters of an object schema, in its order."""
    required = set(schema.get("required", ()))
    return tuple(
        _parameter(name, sub, name in required, schema)
        for name, sub in schema.get("properties", {}).items()
    )


def usage_text(name: str, parameters: Iterable[Parameter]) -> str:
    """One line on how to call a tool: ``convert(value: number, to?: string = "m")``."""
    shown = ", ".join(
        f"{p.name}{'' if p.required else '?'}: {p.type_text}"
        + (f" = {p.default_text}" if p.default_text is not None else "")
        for p in parameters
    )
    return f"{name}({shown})"


def _parameter(name: str, schema: Any, required: bool, root: Mapping[str, Any]) -> Parameter:
    type_words = type_text(schema, root)
    schema = schema if isinstance(schema, dict) else {}
    default = json_text(schema["default"]) if "default" in schema else None
    return Parameter(
        name,
        required,
        schema,
        type_words,
        bounds_text(schema),
        default,
        str(schema.get("description", "")),
    )
