"""Anthropic: declarations, calls and replies of the Messages API."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from agtools_nb.calls import ToolCall
from agtools_nb.define.tool import Tool
from agtools_nb.define.wire.arguments import as_object
from agtools_nb.define.wire.content import (
    IMAGES,
    PDF,
    Content,
    bare_type,
    base64_text,
    described,
    is_web,
)
from agtools_nb.media import Media


def declare(tool: Tool) -> dict[str, Any]:
    """``{"name", "description", "input_schema"}``."""
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
    }


def call_message(calls: Sequence[ToolCall], text: str) -> list[dict[str, Any]]:
    """The assistant's turn: text, then ``tool_use`` blocks. ``input`` is an object."""
    said = [{"type": "text", "text": text}] if text.strip() else []
    asked = [
        {
            "type": "tool_use",
            "id": tool_use_id(call.id or ""),
            "name": call.name,
            "input": as_object(call),
        }
        for call in calls
    ]
    return [{"role": "assistant", "content": [*said, *asked]}]


def replies(contents: Sequence[Content]) -> list[dict[str, Any]]:
    """One user message with a ``tool_result`` block a result; images and documents nested."""
    return [{"role": "user", "content": [_block(content) for content in contents]}]


def tool_use_id(call_id: str) -> str:
    """The id with only the characters that the API takes; ``"c1#2"`` becomes ``"c1_2"``."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", call_id) or "_"


def _block(content: Content) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": tool_use_id(content.id)}
    text = content.full_text
    if content.media:
        # The API refuses blank text blocks.
        said = [{"type": "text", "text": text}] if text.strip() else []
        parts = [_part(number, media) for number, media in enumerate(content.media, 1)]
        block["content"] = [*said, *parts]
    else:
        block["content"] = text
    return {**block, "is_error": True} if content.is_error else block


def _part(number: int, media: Media) -> dict[str, Any]:
    kind = bare_type(media)
    if kind in (*IMAGES, PDF) and (media.data is not None or is_web(media)):
        shape = "document" if kind == PDF else "image"
        return {"type": shape, "source": _source(kind, media)}
    return {"type": "text", "text": described(number, media)}


def _source(kind: str, media: Media) -> dict[str, Any]:
    if media.data is None:
        return {"type": "url", "url": media.uri}
    return {"type": "base64", "media_type": kind, "data": base64_text(media)}
