"""Answers in the shapes that the providers document, written by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agent.hosted.server import Answer

# -- OpenAI, chat completions -----------------------------------------------------------------------


def chat_chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_760_000_000,
        "model": "gpt-test-2025",
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
    }


def chat_usage(sent: int = 21, written: int = 9) -> dict[str, Any]:
    usage = {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}
    return {**chat_chunk({}), "choices": [], "usage": usage}


def chat_call(index: int | None, call_id: str | None, name: str | None, arguments: str) -> Any:
    call: dict[str, Any] = {"function": {"arguments": arguments}}
    if index is not None:
        call["index"] = index
    if call_id is not None:
        call |= {"id": call_id, "type": "function"}
    if name is not None:
        call["function"]["name"] = name
    return call


def chat(
    *texts: str, calls: Sequence[tuple[str, str, str]] = (), finish: str | None = None
) -> Answer:
    """Text, then calls ``(id, name, arguments)`` whose arguments come in two pieces."""
    events = [chat_chunk({"role": "assistant", "content": ""})]
    events += [chat_chunk({"content": text}) for text in texts]
    for index, (call_id, name, arguments) in enumerate(calls):
        half = len(arguments) // 2
        events += [
            chat_chunk({"tool_calls": [chat_call(index, call_id, name, "")]}),
            chat_chunk({"tool_calls": [chat_call(index, None, None, arguments[:half])]}),
            chat_chunk({"tool_calls": [chat_call(index, None, None, arguments[half:])]}),
        ]
    events.append(chat_chunk({}, finish or ("tool_calls" if calls else "stop")))
    return Answer([*events, chat_usage(), "[DONE]"])


# -- Anthropic, messages ------------------------------------------------------------------------


def message_start() -> dict[str, Any]:
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 21, "output_tokens": 1},
    }
    return {"type": "message_start", "message": message}


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text_block(index: int, *texts: str) -> list[dict[str, Any]]:
    deltas = [{"type": "text_delta", "text": text} for text in texts]
    return block(index, {"type": "text", "text": ""}, *deltas)


def call_block(index: int, call_id: str, name: str, arguments: str) -> list[dict[str, Any]]:
    half = len(arguments) // 2
    pieces = ["", arguments[:half], arguments[half:]]
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return block(index, {"type": "tool_use", "id": call_id, "name": name, "input": {}}, *deltas)


def message_end(stop: str) -> list[dict[str, Any]]:
    return [
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": {"output_tokens": 9},
        },
        {"type": "message_stop"},
    ]


def claude(
    *texts: str, calls: Sequence[tuple[str, str, str]] = (), finish: str | None = None
) -> Answer:
    events: list[Any] = [message_start(), {"type": "ping"}]
    events += text_block(0, *texts) if texts else []
    for index, (call_id, name, arguments) in enumerate(calls, 1 if texts else 0):
        events += call_block(index, call_id, name, arguments)
    return Answer(events + message_end(finish or ("tool_use" if calls else "end_turn")))


# -- Gemini, streamGenerateContent ------------------------------------------------------------------


def gemini_chunk(*parts: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    usage = {"promptTokenCount": 21, "candidatesTokenCount": 9, "totalTokenCount": 30}
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": "gemini-test",
        "responseId": "r1",
        **more,
    }


def gemini(
    *texts: str, calls: Sequence[tuple[str, str, str]] = (), finish: str | None = None
) -> Answer:
    """Gemini's arguments are an object, so these must be JSON; an id of ``""`` is left out."""
    events = [gemini_chunk({"text": text}) for text in texts]
    parts = []
    for call_id, name, arguments in calls:
        own = {"id": call_id} if call_id else {}
        parts.append({"functionCall": {**own, "name": name, "args": json.loads(arguments)}})
    return Answer([*events, gemini_chunk(*parts, finish=finish or "STOP")])


# -- OpenAI, responses --------------------------------------------------------------------------------


def response_object(status: str, output: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_760_000_000,
        "status": status,
        "model": "gpt-test",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        **more,
    }


def responses(*texts: str, calls: Sequence[tuple[str, str, str]] = (), finish: str = "") -> Answer:
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": response_object("in_progress", [])}
    ]
    output: list[Any] = []
    if texts:
        item = {"type": "message", "id": "m1", "role": "assistant", "status": "in_progress"}
        events += [
            {
                "type": "response.output_item.added",
                "output_index": 0,
                "item": {**item, "content": []},
            },
            {
                "type": "response.content_part.added",
                "item_id": "m1",
                "output_index": 0,
                "content_index": 0,
                "part": {"type": "output_text", "text": "", "annotations": []},
            },
        ]
        place = {"item_id": "m1", "output_index": 0, "content_index": 0}
        events += [{"type": "response.output_text.delta", **place, "delta": t} for t in texts]
        whole = {"type": "output_text", "text": "".join(texts), "annotations": []}
        done = {**item, "status": "completed", "content": [whole]}
        events.append({"type": "response.output_item.done", "output_index": 0, "item": done})
        output.append(done)
    for index, (call_id, name, arguments) in enumerate(calls, len(output)):
        item_id = f"fc_{index}"
        call = {"type": "function_call", "id": item_id, "call_id": call_id, "name": name}
        place = {"item_id": item_id, "output_index": index}
        begun = {**call, "arguments": "", "status": "in_progress"}
        done = {**call, "arguments": arguments, "status": "completed"}
        events += [
            {"type": "response.output_item.added", "output_index": index, "item": begun},
            {"type": "response.function_call_arguments.delta", **place, "delta": arguments},
            {"type": "response.function_call_arguments.done", **place, "arguments": arguments},
            {"type": "response.output_item.done", "output_index": index, "item": done},
        ]
        output.append(done)
    usage = {
        "input_tokens": 21,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 30,
    }
    status = "incomplete" if finish else "completed"
    why = {"incomplete_details": {"reason": finish}} if finish else {}
    whole_answer = response_object(status, output, usage=usage, **why)
    events.append({"type": f"response.{status}", "response": whole_answer})
    return Answer([{**event, "sequence_number": n} for n, event in enumerate(events)])
