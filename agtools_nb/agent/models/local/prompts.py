"""What the model is sent: the conversation, the functions, and the results of calls."""

from __future__ import annotations

import json
from collections.abc import Sequence

from agtools_nb.agent.messages import Message, ModelMessage, ResultsMessage, UserMessage
from agtools_nb.agent.model import ModelRequest
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.define import Tool
from agtools_nb.define.wire.content import content_of
from agtools_nb.jsonable import json_text

LONGEST_RESULT = 400
"""Characters of one result that a guided model repeats."""

_LONGEST_SHOWN = 4_000

Chat = list[dict[str, str]]


def conversation(request: ModelRequest, dropped: int = 0) -> Chat:
    """The whole request as chat messages, for a model that picks and writes calls by itself.

    Args:
        request: The request.
        dropped: How many of the oldest messages are left out.
    """
    system = "\n\n".join(part for part in (request.system, _functions(request)) if part)
    said = [_message(message) for message in request.messages[dropped:]]
    return _in_turns(([{"role": "system", "content": system}] if system else []) + said)


def conversation_in_words(request: ModelRequest, dropped: int = 0) -> Chat:
    """The conversation without functions and calls, for a small model's text answers."""
    system = request.system or "You are a helpful assistant. Answer in one or two sentences."
    said = [{"role": "system", "content": system}]
    for message in request.messages[dropped:]:
        if isinstance(message, UserMessage) and message.event != "reminder":
            said.append({"role": "user", "content": message.text})
        elif isinstance(message, ModelMessage) and message.text:
            said.append({"role": "assistant", "content": message.text})
    return _in_turns(said)


def about_results(request: ModelRequest, results: Sequence[ToolResult]) -> Chat:
    """What a small model is asked after calls: to answer the request from their results."""
    told = "".join(results_in_words(results))
    return [
        {"role": "user", "content": asked(request.messages)},
        {"role": "assistant", "content": "Let me look that up."},
        {"role": "user", "content": f"This came back: {told}. Say it in one sentence."},
    ]


def results_in_words(results: Sequence[ToolResult]) -> list[str]:
    """Each result as it is told, one after the other."""
    said = []
    for result in results:
        found = content_of(result, LONGEST_RESULT)
        text = " ".join(found.text.split())
        said.append(f"{result.name} failed: {text}" if found.is_error else text)
    return [text if at == 0 else f"; {text}" for at, text in enumerate(said)]


def asked(messages: Sequence[Message]) -> str:
    """What is to be answered: the last thing that a person said, or that arrived."""
    for message in reversed(messages):
        if isinstance(message, UserMessage) and message.event != "reminder":
            return message.text
    return ""


def results_to_answer(messages: Sequence[Message]) -> tuple[ToolResult, ...]:
    """The results since the last thing that was said, if the last message is one of results."""
    found: list[ToolResult] = []
    if messages and isinstance(messages[-1], ResultsMessage):
        for message in reversed(messages):
            if isinstance(message, UserMessage):
                break
            found[:0] = message.results if isinstance(message, ResultsMessage) else ()
    return tuple(found)


def call_text(name: str, arguments: object) -> str:
    """A call as the model writes it."""
    return f'{{"name": {json.dumps(name)}, "arguments": {json.dumps(arguments)}}}'


def _functions(request: ModelRequest) -> str:
    if not request.tools:
        return ""
    listed = "\n".join(json_text(_declared(tool)) for tool in request.tools)
    how = 'Call one with JSON: {"name": ..., "arguments": {...}}'
    rest = "" if request.must_call else " If none of them helps, answer with text."
    return f"You have these functions:\n{listed}\n{how}.{rest}"


def _declared(tool: Tool) -> dict[str, object]:
    schema = dict(tool.input_schema)
    return {"name": tool.name, "description": tool.description, "parameters": schema}


def _message(message: Message) -> dict[str, str]:
    if isinstance(message, UserMessage):
        return {"role": "user", "content": message.text}
    if isinstance(message, ModelMessage):
        calls = [_call(call) for call in message.calls]
        return {"role": "assistant", "content": "\n".join([message.text, *calls]).strip()}
    told = "\n".join(_told(result) for result in message.results)
    return {"role": "user", "content": f"Result:\n{told}"}


def _call(call: ToolCall) -> str:
    return call.args if isinstance(call.args, str) else call_text(call.name, dict(call.args))


def _told(result: ToolResult) -> str:
    found = content_of(result, _LONGEST_SHOWN)
    return f"{result.name}: {'failed: ' if found.is_error else ''}{found.text}"


def _in_turns(said: Chat) -> Chat:
    """Neighbours of one role joined: many chat templates want the roles in turns."""
    joined: Chat = []
    for message in said:
        if joined and joined[-1]["role"] == message["role"]:
            joined[-1]["content"] += "\n" + message["content"]
        else:
            joined.append(dict(message))
    return joined
