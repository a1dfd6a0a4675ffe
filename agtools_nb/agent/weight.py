"""How long a request is, for models that do not count."""

from __future__ import annotations

from agtools_nb.agent.messages import Message, ModelMessage, UserMessage
from agtools_nb.agent.model import ModelRequest
from agtools_nb.define import Tool
from agtools_nb.define.wire.content import LIMIT, content_of
from agtools_nb.jsonable import json_text


def characters_of(request: ModelRequest) -> int:
    """Characters of all that a model is sent, media left out."""
    said = sum(_of_message(message) for message in request.messages)
    return len(request.system) + said + sum(_of_tool(tool) for tool in request.tools)


def _of_message(message: Message) -> int:
    if isinstance(message, UserMessage):
        return len(message.text)
    if isinstance(message, ModelMessage):
        return len(message.text) + sum(len(c.name) + len(str(c.args)) for c in message.calls)
    return sum(len(content_of(result, LIMIT).full_text) for result in message.results)


def _of_tool(tool: Tool) -> int:
    return len(tool.name) + len(tool.description) + len(json_text(tool.input_schema))
