"""OpenAI: declarations for chat completions and for the Responses API."""

from __future__ import annotations

from typing import Any

from agtools_nb.define.tool import Tool
from agtools_nb.define.wire.strict import NotStrictError, strict_schema


def declare_chat(tool: Tool, strict: bool) -> dict[str, Any]:
    """Chat completions: ``{"type": "function", "function": {..., "parameters"}}``."""
    function: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
    }
    if strict:
        function |= _strict(tool)
    return {"type": "function", "function": function}


def declare_response(tool: Tool, strict: bool) -> dict[str, Any]:
    """Responses: the same in one level. Its ``strict`` is on unless a declaration says no."""
    declared: dict[str, Any] = {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
        "strict": False,
    }
    return declared | _strict(tool) if strict else declared


def _strict(tool: Tool) -> dict[str, Any]:
    try:
        return {"parameters": strict_schema(tool.input_schema), "strict": True}
    except NotStrictError:
        return {"strict": False}
