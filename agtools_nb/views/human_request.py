"""A request as the person who plays the model reads it, and how long its parts are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agtools_nb.agent.messages import Message, ModelMessage, ResultsMessage, UserMessage
from agtools_nb.agent.model import ModelRequest
from agtools_nb.agent.wire_form import ChatProvider
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.define import Tool
from agtools_nb.define.wire import declaration
from agtools_nb.define.wire.content import content_of
from agtools_nb.jsonable import json_text, shorten
from agtools_nb.views.media import about
from agtools_nb.views.result import STATUS_WORDS, arguments_text
from agtools_nb.views.values import cut_text, preview

MESSAGES_SHOWN = 30
"""Messages that are shown to be read; the JSON has all of them."""

TEXT_LIMIT = 20_000
TOOL_LIMIT = 20_000

CHARACTERS_A_TOKEN = 4
"""A person does not count tokens, and no tokenizer is everybody's: four characters are one."""


def request_wire(request: ModelRequest, provider: ChatProvider) -> dict[str, Any]:
    """What the page shows of a request, JSON-safe."""
    shown = request.messages[-MESSAGES_SHOWN:]
    return {
        "system": cut_text(request.system, TEXT_LIMIT).text,
        "earlier": len(request.messages) - len(shown),
        "messages": [part for message in shown for part in _parts(message)],
        "tools": [tool_wire(tool, provider) for tool in request.tools],
        "must_call": request.must_call,
        "tokens": tokens_of(request, provider),
    }


def tool_wire(tool: Tool, provider: ChatProvider) -> dict[str, Any]:
    """A tool: its name, what it says of itself, and its declaration as ``provider`` has it."""
    declared = declaration(tool, provider)
    return {
        "name": tool.name,
        "about": shorten(tool.description.strip().partition("\n\n")[0], 300),
        "json": preview(declared, TOOL_LIMIT).text,
        "tokens": _tokens(len(json_text(declared))),
    }


def tokens_of(request: ModelRequest, provider: ChatProvider) -> dict[str, int]:
    """About how many tokens the parts of a request take."""
    system = _tokens(len(request.system))
    tools = sum(_tokens(len(json_text(declaration(tool, provider)))) for tool in request.tools)
    messages = _tokens(sum(_length(message) for message in request.messages))
    return {
        "system": system,
        "tools": tools,
        "messages": messages,
        "total": system + tools + messages,
    }


def call_words(call: ToolCall) -> str:
    """A call in one line: ``forecast {"city": "Oslo"}``."""
    return f"{call.name} {arguments_text(call.args, 200).text}"


def _parts(message: Message) -> Iterator[dict[str, Any]]:
    if isinstance(message, UserMessage):
        media = "".join(f"\n[{about(n, one)}]" for n, one in enumerate(message.media, 1))
        yield _part("user", message.text + media, event=message.event or "")
    elif isinstance(message, ModelMessage):
        if message.text:
            yield _part("model", message.text)
        for call in message.calls:
            text = arguments_text(call.args, TEXT_LIMIT)
            yield _part("call", text.text, name=call.name)
    else:
        yield from (_result(result) for result in message.results)


def _result(result: ToolResult) -> dict[str, Any]:
    content = content_of(result, TEXT_LIMIT)
    media = "".join(f"\n[{about(n, one)}]" for n, one in enumerate(content.media, 1))
    status = STATUS_WORDS.get(result.status, result.status)
    return _part("result", content.full_text + media, name=result.name, status=status)


def _part(role: str, text: str, **more: str) -> dict[str, Any]:
    return {"role": role, "text": cut_text(text, TEXT_LIMIT).text, **more}


def _length(message: Message) -> int:
    if isinstance(message, UserMessage):
        return len(message.text)
    if isinstance(message, ResultsMessage):
        return sum(len(content_of(result, None).full_text) for result in message.results)
    calls = sum(
        len(call.name) + len(arguments_text(call.args, 10**7).text) for call in message.calls
    )
    return len(message.text) + calls


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_A_TOKEN)
