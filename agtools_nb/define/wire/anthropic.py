"""Anthropic: declarations for the Messages API."""

from __future__ import annotations

from typing import Any

from agtools_nb.define.tool import Tool


def declare(tool: Tool) -> dict[str, Any]:
    """``{"name", "description", "input_schema"}``."""
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
    }
