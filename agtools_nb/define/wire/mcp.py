"""MCP: a tool as ``tools/list`` has it."""

from __future__ import annotations

from typing import Any

from agtools_nb.define.tool import Tool


def declare(tool: Tool) -> dict[str, Any]:
    """``inputSchema``, ``outputSchema`` where the result is an object, ``annotations``."""
    declared: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
    }
    output = tool.response_schema
    if output is not None and output.get("type") == "object":
        declared["outputSchema"] = output
    if tool.read_only:
        declared["annotations"] = {"readOnlyHint": True}
    return declared
