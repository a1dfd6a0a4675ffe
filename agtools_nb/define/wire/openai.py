"""OpenAI: declarations, calls and replies of chat completions and of the Responses API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agtools_nb.calls import ToolCall
from agtools_nb.define.tool import Tool
from agtools_nb.define.wire.arguments import as_text
from agtools_nb.define.wire.content import (
    IMAGES,
    PDF,
    Content,
    bare_type,
    data_uri,
    described,
    is_web,
)
from agtools_nb.define.wire.strict import NotStrictError, strict_schema
from agtools_nb.media import Media


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


def call_message(calls: Sequence[ToolCall], text: str) -> list[dict[str, Any]]:
    """The assistant's turn in chat completions: arguments are text."""
    asked = [
        {
            "id": call.id or "",
            "type": "function",
            "function": {"name": call.name, "arguments": as_text(call)},
        }
        for call in calls
    ]
    return [{"role": "assistant", "content": text or None, "tool_calls": asked}]


def call_items(calls: Sequence[ToolCall], text: str) -> list[dict[str, Any]]:
    """The assistant's turn in the Responses API: one item a call."""
    said = [{"role": "assistant", "content": text}] if text else []
    return said + [
        {
            "type": "function_call",
            "call_id": call.id or "",
            "name": call.name,
            "arguments": as_text(call),
        }
        for call in calls
    ]


def replies(contents: Sequence[Content]) -> list[dict[str, Any]]:
    """Chat completions: one ``tool`` message a result. It holds text only."""
    return [
        {"role": "tool", "tool_call_id": content.id, "content": _all_in_words(content)}
        for content in contents
    ]


def _all_in_words(content: Content) -> str:
    parts = [described(number, media) for number, media in enumerate(content.media, 1)]
    return "\n".join([content.full_text, *parts])


def reply_items(contents: Sequence[Content]) -> list[dict[str, Any]]:
    """Responses: one ``function_call_output`` a result, images and PDFs nested in it."""
    return [
        {
            "type": "function_call_output",
            "call_id": content.id,
            "output": _output(content) if content.media else content.full_text,
        }
        for content in contents
    ]


def _output(content: Content) -> list[dict[str, Any]]:
    parts = [_part(number, media) for number, media in enumerate(content.media, 1)]
    return [{"type": "input_text", "text": content.full_text}, *parts]


def _part(number: int, media: Media) -> dict[str, Any]:
    kind = bare_type(media)
    if kind in IMAGES and (media.data is not None or is_web(media)):
        return {"type": "input_image", "image_url": media.uri or data_uri(media)}
    if kind == PDF and media.data is not None:
        name = media.name or f"part-{number}.pdf"
        return {"type": "input_file", "filename": name, "file_data": data_uri(media)}
    if kind == PDF and is_web(media):
        return {"type": "input_file", "file_url": media.uri}
    return {"type": "input_text", "text": described(number, media)}
