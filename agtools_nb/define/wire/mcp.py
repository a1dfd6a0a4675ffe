"""MCP: a tool as ``tools/list`` has it, ``tools/call`` requests and their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agtools_nb.calls import ToolCall
from agtools_nb.define.tool import Tool
from agtools_nb.define.wire.arguments import as_object
from agtools_nb.define.wire.content import Content, base64_text
from agtools_nb.media import Media


def declare(tool: Tool) -> dict[str, Any]:
    """``inputSchema``, ``outputSchema`` where the result is an object, ``annotations``."""
    declared: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
    }
    # What such a tool answers with at once is not what its function returns in the end.
    output = None if tool.outlives_call else tool.response_schema
    if output is not None and output.get("type") == "object":
        declared["outputSchema"] = output
    if tool.read_only:
        declared["annotations"] = {"readOnlyHint": True}
    return declared


def call_message(calls: Sequence[ToolCall], text: str) -> list[dict[str, Any]]:
    """One ``tools/call`` request a call, without JSON-RPC's own id."""
    return [
        {"method": "tools/call", "params": {"name": call.name, "arguments": as_object(call)}}
        for call in calls
    ]


def replies(contents: Sequence[Content]) -> list[dict[str, Any]]:
    """One ``CallToolResult`` a result.

    An object is ``structuredContent`` too, never cut: it is for programs, which check it
    against ``outputSchema``; its text is for the model.
    """
    return [_result(content) for content in contents]


def _result(content: Content) -> dict[str, Any]:
    text = content.full_text
    said = [{"type": "text", "text": text}] if text or not content.media else []
    parts = [_block(number, media) for number, media in enumerate(content.media, 1)]
    result: dict[str, Any] = {"content": [*said, *parts], "isError": content.is_error}
    if isinstance(content.value, dict):
        result["structuredContent"] = content.value
    return result


def _block(number: int, media: Media) -> dict[str, Any]:
    name = media.name or f"part-{number}"
    family = media.mime_type.partition("/")[0].lower()
    if media.uri is not None:
        return {
            "type": "resource_link",
            "name": name,
            "uri": media.uri,
            "mimeType": media.mime_type,
        }
    if family in ("image", "audio"):
        return {"type": family, "data": base64_text(media), "mimeType": media.mime_type}
    # A resource needs an address; this one says only where it stands in the result.
    resource = {
        "uri": f"attachment:///part-{number}",
        "mimeType": media.mime_type,
        "blob": base64_text(media),
    }
    return {"type": "resource", "resource": resource}
