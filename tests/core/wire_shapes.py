"""Checks of wire forms against the providers' own SDK types, strict about unknown keys."""

from __future__ import annotations

import functools
import json
from types import SimpleNamespace
from typing import Any

from pydantic import TypeAdapter


def made_tool(schema: Any, name: str = "tool", **more: Any) -> Any:
    """What ``declaration`` reads of a tool, for any input schema."""
    known = {
        "description": "What it does.",
        "response_schema": None,
        "read_only": False,
        "outlives_call": False,
    }
    return SimpleNamespace(**{"name": name, "input_schema": schema, **known, **more})


@functools.cache
def adapter(dotted: str) -> TypeAdapter[Any]:
    """The validator of an SDK's type: ``"openai.types.chat:ChatCompletionMessageParam"``."""
    module, _, name = dotted.partition(":")
    return TypeAdapter(getattr(__import__(module, fromlist=[name]), name))


def fits(dotted: str, value: Any) -> None:
    """The SDK's type takes ``value``, and drops or changes nothing of it.

    A ``TypedDict`` ignores keys that it does not know; they are missing from what it returns.
    """
    json.dumps(value, allow_nan=False).encode()
    read = adapter(dotted).validate_python(value)
    if hasattr(read, "model_dump"):
        read = read.model_dump(by_alias=True, exclude_unset=True, mode="json")
    assert thawed(read) == value


def thawed(value: Any) -> Any:
    """Pydantic validates an ``Iterable`` lazily; this runs it."""
    if hasattr(value, "model_dump"):
        return value.model_dump(by_alias=True, exclude_unset=True, mode="json")
    if isinstance(value, dict):
        return {key: thawed(item) for key, item in value.items()}
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        return value
    return [thawed(item) for item in value]


DECLARATIONS = {
    "openai": "openai.types.chat:ChatCompletionFunctionToolParam",
    "openai-responses": "openai.types.responses:FunctionToolParam",
    "anthropic": "anthropic.types:ToolParam",
    "gemini": "google.genai.types:FunctionDeclaration",
    "mcp": "mcp.types:Tool",
}
