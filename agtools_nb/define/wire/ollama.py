"""Ollama's own API: OpenAI's declarations, but arguments are objects and calls have no ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agtools_nb.calls import ToolCall
from agtools_nb.define.wire.arguments import as_object
from agtools_nb.define.wire.content import IMAGES, Content, bare_type, base64_text, described


def call_message(calls: Sequence[ToolCall], text: str) -> list[dict[str, Any]]:
    """The assistant's turn of ``/api/chat``."""
    asked = [{"function": {"name": call.name, "arguments": as_object(call)}} for call in calls]
    return [{"role": "assistant", "content": text, "tool_calls": asked}]


def replies(contents: Sequence[Content]) -> list[dict[str, Any]]:
    """One ``tool`` message a result, images beside its text."""
    return [_reply(content) for content in contents]


def _reply(content: Content) -> dict[str, Any]:
    images = []
    lines = [content.full_text]
    for number, media in enumerate(content.media, 1):
        if media.data is not None and bare_type(media) in IMAGES:
            images.append(base64_text(media))
        else:
            lines.append(described(number, media))
    reply: dict[str, Any] = {
        "role": "tool",
        "tool_name": content.name,
        "content": "\n".join(lines),
    }
    return {**reply, "images": images} if images else reply
