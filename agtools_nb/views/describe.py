"""A tool as JSON data and as rows: what the registry and the card both show."""

from __future__ import annotations

from typing import Any

from agtools_nb.define import Tool
from agtools_nb.errors import AgtoolsError
from agtools_nb.jsonable import shorten

DESCRIPTION_LIMIT = 4_000


def flags(tool: Tool) -> list[str]:
    """Return what is particular about a tool, in words."""
    words = [
        ("async", tool.is_async),
        ("read-only", tool.read_only),
        ("runs alone", not tool.concurrency_safe),
        ("long-running", tool.long_running),
        ("uses context", bool(tool.injected)),
    ]
    return [word for word, is_so in words if is_so]


def parameter_data(tool: Tool) -> list[dict[str, Any]]:
    """Return the parameters as JSON data.

    Raises:
        AgtoolsError: The schema cannot be built.
    """
    return [
        {
            "name": parameter.name,
            "required": parameter.required,
            "type": shorten(parameter.type_text, 500),
            "bounds": shorten(parameter.bounds_text, 500),
            "default": None
            if parameter.default_text is None
            else shorten(parameter.default_text, 500),
            "description": shorten(parameter.description, DESCRIPTION_LIMIT),
        }
        for parameter in tool.parameters
    ]


def tool_data(tool: Tool) -> dict[str, Any]:
    """Return what a tool is. A schema that cannot be built is told in ``fault``."""
    data: dict[str, Any] = {
        "name": tool.name,
        "description": shorten(tool.description, DESCRIPTION_LIMIT),
        "flags": flags(tool),
        "scopes": list(tool.scopes),
        "origin": tool.origin,
        "parameters": [],
        "fault": None,
    }
    try:
        data["parameters"] = parameter_data(tool)
    except AgtoolsError as error:
        data["fault"] = str(error)
    return data
