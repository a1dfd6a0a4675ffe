"""Gemini: declarations, calls and replies of ``generateContent``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agtools_nb.calls import ToolCall
from agtools_nb.define.tool import Tool
from agtools_nb.define.wire.arguments import as_object
from agtools_nb.define.wire.content import Content, base64_text, is_made
from agtools_nb.define.wire.gemini_schema import gemini_schema
from agtools_nb.media import Media


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


def call_message(calls: Sequence[ToolCall], text: str) -> list[dict[str, Any]]:
    """The model's turn: text, then ``functionCall`` parts. Ids that were made up stay out."""
    said: list[dict[str, Any]] = [{"text": text}] if text else []
    asked = [
        {"functionCall": {**_id(call.id or ""), "name": call.name, "args": as_object(call)}}
        for call in calls
    ]
    return [{"role": "model", "parts": [*said, *asked]}]


def replies(contents: Sequence[Content]) -> list[dict[str, Any]]:
    """One user content with a ``functionResponse`` part a result, its media nested in it.

    ``response`` is ``{"output": ...}`` or ``{"error": text}``, the two keys that the API knows.
    """
    return [{"role": "user", "parts": [_part(content) for content in contents]}]


def _part(content: Content) -> dict[str, Any]:
    response: dict[str, Any]
    if content.is_error:
        response = {"error": content.text}
    else:
        response = {"output": content.text if content.is_cut else content.value}
    if content.notes:
        response["notes"] = list(content.notes)
    told: dict[str, Any] = {**_id(content.id), "name": content.name, "response": response}
    if content.media:
        told["parts"] = [_media(media) for media in content.media]
    return {"functionResponse": told}


def _id(call_id: str) -> dict[str, str]:
    # The API pairs by name and order where a call had no id; one it never gave fits nothing.
    return {} if is_made(call_id) else {"id": call_id}


def _media(media: Media) -> dict[str, Any]:
    if media.data is None:
        return {"fileData": {"mimeType": media.mime_type, "fileUri": media.uri}}
    return {"inlineData": {"mimeType": media.mime_type, "data": base64_text(media)}}
