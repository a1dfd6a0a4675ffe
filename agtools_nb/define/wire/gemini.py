"""Gemini: declarations for ``generateContent``."""

from __future__ import annotations

from typing import Any

from agtools_nb.define.tool import Tool
from agtools_nb.define.wire.gemini_schema import gemini_schema


def declare(tool: Tool) -> dict[str, Any]:
    """``FunctionDeclaration``, with ``parameters`` where they can say it all.

    ``parameters`` is the older field, which every model and every tool around Gemini reads; it
    holds only part of JSON Schema (:mod:`.gemini_schema`). A schema that would lose something
    in it goes whole into ``parametersJsonSchema``, so that the model still sees recursion,
    exclusive bounds and choices of numbers. A tool without parameters has neither: Gemini
    refuses an object without properties.
    """
    declared = {"name": tool.name, "description": tool.description}
    schema = tool.input_schema
    if not schema.get("properties") and not schema.get("additionalProperties"):
        return declared
    parameters = gemini_schema(schema)
    if parameters is None:
        return {**declared, "parametersJsonSchema": schema}
    return {**declared, "parameters": parameters}
