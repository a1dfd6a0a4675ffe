"""A model's message, whole or streamed, as calls; and calls written into a history."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb.arguments.parse import parse_arguments
from agtools_nb.calls import ToolCall
from agtools_nb.define.wire import CallAssembler, call_message, read_calls
from agtools_nb.errors import ArgumentsError
from tests.core.schemas import JSON
from tests.core.wire_shapes import adapter, fits

ALL = ("openai", "openai-responses", "anthropic", "gemini", "mcp", "ollama")

ARGS = {"n": 1, "text": "ü"}
TEXT = json.dumps(ARGS)
CHAT = {
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [
        {
            "index": 0, "finish_reason": "tool_calls", "logprobs": None,
            "message": {
                "role": "assistant", "content": None, "refusal": None,
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "ok", "arguments": TEXT}},
                    {"id": "c2", "type": "function", "function": {"name": "ping", "arguments": ""}},
                ],
            },
        }
    ],
}  # fmt: skip
RESPONSE = {
    "id": "resp-1", "object": "response", "created_at": 1.0, "model": "m", "tools": [],
    "parallel_tool_calls": True, "tool_choice": "auto",
    "output": [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "ok", "arguments": TEXT},
        {"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "ping", "arguments": "{}"},
    ],
}  # fmt: skip
MESSAGE = {
    "id": "msg-1", "type": "message", "role": "assistant", "model": "m",
    "stop_reason": "tool_use", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    "content": [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "c1", "name": "ok", "input": ARGS},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {"type": "tool_use", "id": "c2", "name": "ping", "input": {}},
    ],
}  # fmt: skip
GENERATED = {
    "responseId": "gem-1",
    "candidates": [
        {
            "content": {
                "role": "model",
                "parts": [
                    {"text": "I look."},
                    {"functionCall": {"id": "c1", "name": "ok", "args": ARGS}},
                    {"functionCall": {"id": "c2", "name": "ping"}},
                ],
            }
        }
    ],
}  # fmt: skip
EXPECTED = [("ok", "c1", ARGS), ("ping", "c2", {})]


def told(calls: Any) -> list[Any]:
    return [(call.name, call.id, parse_arguments(call.args)) for call in calls]


FORMS = {
    "chat": (CHAT, "openai.types.chat:ChatCompletion", "chatcmpl-1"),
    "responses": (RESPONSE, "openai.types.responses:Response", "resp-1"),
    "anthropic": (MESSAGE, "anthropic.types:Message", "msg-1"),
    "gemini": (GENERATED, "google.genai.types:GenerateContentResponse", "gem-1"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_whole_response(form: str) -> None:
    sent, dotted, step = FORMS[form]
    for message in (sent, adapter(dotted).validate_python(sent)):
        calls = read_calls(message)
        assert told(calls) == EXPECTED
        assert {call.step_id for call in calls} == {step}


def test_parts_of_a_response() -> None:
    chat = adapter("openai.types.chat:ChatCompletion").validate_python(CHAT)
    for message in (
        CHAT["choices"][0]["message"],
        CHAT["choices"][0]["message"]["tool_calls"],
        chat.choices[0].message,
        chat.choices[0].message.tool_calls,
        RESPONSE["output"],
        MESSAGE["content"],
        GENERATED["candidates"][0]["content"],
        GENERATED["candidates"][0]["content"]["parts"],
        [RESPONSE["output"][1], MESSAGE["content"][3]],
    ):
        assert told(read_calls(message)) == EXPECTED


def test_other_forms() -> None:
    assert told(
        read_calls({"method": "tools/call", "id": 7, "params": {"name": "ok", "arguments": ARGS}})
    ) == [("ok", "7", ARGS)]
    request = adapter("mcp.types:CallToolRequest").validate_python(
        {"method": "tools/call", "params": {"name": "ok", "arguments": ARGS}}
    )
    assert told(read_calls(request)) == [("ok", None, ARGS)]
    assert told(read_calls(request.params)) == [("ok", None, ARGS)]
    ollama = {
        "model": "m",
        "message": {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "ok", "arguments": ARGS}}],
        },
        "done": True,
    }
    assert told(read_calls(ollama)) == [("ok", None, ARGS)]
    assert told(
        read_calls({"role": "assistant", "function_call": {"name": "ok", "arguments": TEXT}})
    ) == [("ok", None, ARGS)]


@pytest.mark.parametrize("arguments", [{"a": 1}, '{"a": 1}', '"{\\"a\\": 1}"'])
def test_arguments_as_object_and_as_text(arguments: Any) -> None:
    """Case wire-07 and wire-04."""
    (call,) = read_calls({"function": {"name": "add", "arguments": arguments}})
    assert told([call]) == [("add", None, {"a": 1})]


@pytest.mark.parametrize("arguments", ["{", "[1]", '{"a": 1}{"a": 1}', [1], 5, True])
def test_malformed_arguments_are_left_to_the_runner(arguments: Any) -> None:
    (call,) = read_calls([{"function": {"name": "add", "arguments": arguments}, "id": "c1"}])
    assert (call.name, call.id) == ("add", "c1")
    with pytest.raises(ArgumentsError):
        parse_arguments(call.args)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"tool_calls": [{"id": "c1"}, 3, None, {"id": "c2", "function": {"name": 3}}]}, [("", "c1", {}), ("", "c2", {})]),
        ({"tool_calls": [{"id": 5, "function": {"name": "ok"}}]}, [("ok", None, {})]),
        ({"tool_calls": [{"id": "c", "type": "custom", "custom": {"name": "x", "input": "y"}}]}, [("", "c", {})]),
        ({"content": "only text", "role": "assistant", "tool_calls": None}, []),
        ({"choices": []}, []),
        ({"candidates": [{"content": None}]}, []),
        ({"output": [{"type": "mcp_call", "name": "x", "arguments": "{}"}]}, []),
        ({"content": [{"type": "server_tool_use", "name": "x", "input": {}}]}, []),
    ],
)  # fmt: skip
def test_odd_messages(sent: Any, expected: Any) -> None:
    assert told(read_calls(sent)) == expected


class Broken:
    def model_dump(self, **_: Any) -> Any:
        raise RuntimeError("no")


ODD = st.recursive(
    JSON | st.sampled_from([Broken(), object(), b"x", float("nan")]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "delta", "tool_calls", "function", "name", "arguments", "id",
                 "index", "type", "content", "parts", "functionCall", "function_call", "args",
                 "output", "item", "item_id", "content_block", "candidates", "method", "params"]
            ),
            inner | st.sampled_from(
                ["function_call", "tool_use", "tools/call", "content_block_start",
                 "content_block_delta", "content_block_stop", "message_start",
                 "response.output_item.added", "response.output_item.done",
                 "response.function_call_arguments.delta", "response.completed", 0]
            ),
            max_size=5,
        )
    ),
    max_leaves=15,
)  # fmt: skip


@given(ODD, st.lists(ODD, max_size=4))
def test_law_nothing_that_comes_raises(message: Any, chunks: list[Any]) -> None:
    assembler = CallAssembler()
    early = [call for chunk in chunks for call in assembler.feed(chunk)]
    whole = assembler.finish()
    assert len(early) <= len(whole)
    for call in [*read_calls(message), *whole]:
        assert type(call.name) is str
        assert call.id is None or type(call.id) is str
        assert isinstance(call.args, (dict, str))


def test_depth_is_survived() -> None:
    deep: Any = {}
    for _ in range(10_000):
        deep = {"content": [deep]}
    assert read_calls(deep) == []
    assert CallAssembler().feed(deep) == ()


# -- written into a history, and read back -----------------------------------------------------

IDS = st.text("abcXYZ019_-", min_size=1, max_size=8)
CALLS = st.lists(
    st.builds(ToolCall, IDS, st.dictionaries(st.text(max_size=4), JSON, max_size=3), IDS),
    min_size=1,
    max_size=3,
)
TURNS = {
    "openai": "openai.types.chat:ChatCompletionAssistantMessageParam",
    "openai-responses": "openai.types.responses:ResponseInputItemParam",
    "anthropic": "anthropic.types:MessageParam",
    "mcp": "mcp.types:CallToolRequest",
}


@pytest.mark.parametrize("provider", ALL)
@given(calls=CALLS, text=st.sampled_from(["", "I look."]))
def test_law_calls_written_and_read_are_the_same(
    provider: Any, calls: list[ToolCall], text: str
) -> None:
    messages = call_message(calls, provider, text=text)
    keeps_ids = provider not in ("mcp", "ollama")
    expected = [
        (call.name, call.id if keeps_ids else None, parse_arguments(call.args)) for call in calls
    ]
    assert told(read_calls(messages)) == expected
    if provider in TURNS:
        for message in messages:
            fits(TURNS[provider], message)
    if provider == "gemini":
        content = adapter("google.genai.types:Content").validate_python(messages[0])
        assert told(read_calls(content)) == expected


def test_each_provider_gets_the_arguments_in_its_own_form() -> None:
    call = [ToolCall("add", '{"a": 1}', "c1")]
    assert call_message(call, "openai")[0]["tool_calls"][0]["function"]["arguments"] == '{"a": 1}'
    assert call_message(call, "openai-responses")[0]["arguments"] == '{"a": 1}'
    assert call_message(call, "ollama")[0]["tool_calls"][0]["function"]["arguments"] == {"a": 1}
    assert call_message(call, "anthropic")[0]["content"][0]["input"] == {"a": 1}
    assert call_message(call, "gemini")[0]["parts"][0]["functionCall"]["args"] == {"a": 1}
    (broken,) = call_message([ToolCall("add", "{oops", "c1")], "anthropic")[0]["content"]
    assert broken["input"] == {"unreadable_arguments": "{oops"}
    assert call_message([], "openai") == []


# -- streams -----------------------------------------------------------------------------------


def assembled(chunks: Any) -> list[Any]:
    assembler = CallAssembler()
    for chunk in chunks:
        assembler.feed(chunk)
    return told(assembler.finish())


def delta(
    index: int | None = None,
    call_id: str | None = None,
    name: str | None = None,
    arguments: str | None = None,
) -> Any:
    piece = {
        "index": index,
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }
    return {
        "id": "x",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"tool_calls": [piece]}, "finish_reason": None}],
    }


END = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


def test_a_delta_without_an_index_continues_the_last_call() -> None:
    """Case stream-01."""
    flat = [
        {"index": None, "id": "c1", "name": "glob", "arguments": '{"p":'},
        {"index": None, "arguments": '"a"}'},
    ]
    expected = [("glob", "c1", {"p": "a"})]
    assert assembled(flat) == expected
    assert (
        assembled([delta(None, "c1", "glob", '{"p":'), delta(None, None, None, '"a"}'), END])
        == expected
    )


def test_other_ids_under_one_index_are_other_calls() -> None:
    """Case stream-02."""
    flat = [
        {"index": 0, "id": "c1", "name": "glob", "arguments": '{"p":"a"}'},
        {"index": 0, "id": "c2", "name": "glob", "arguments": '{"p":"b"}'},
    ]
    expected = [("glob", "c1", {"p": "a"}), ("glob", "c2", {"p": "b"})]
    assert assembled(flat) == expected
    chunks = [
        delta(0, "c1", "glob", '{"p":'),
        delta(0, None, None, '"a"}'),
        delta(0, "c2", "glob", '{"p":'),
        delta(0, None, None, '"b"}'),
        END,
    ]
    assert assembled(chunks) == expected


@pytest.mark.parametrize(
    ("deltas", "expected"),
    [
        # The id and the name with every piece.
        ([(0, "c1", "w", '{"a"'), (0, "c1", "w", ": 1}"), (0, "c1", "w", "")], [("w", "c1", {"a": 1})]),
        # One id for two calls, told apart by their places.
        ([(0, "c1", "w", '{"a": 1}'), (1, "c1", "w", '{"a": 2}')], [("w", "c1", {"a": 1}), ("w", "c1", {"a": 2})]),
        # Pieces that interleave.
        ([(0, "c1", "w", ""), (1, "c2", "v", ""), (0, None, None, '{"a": 1}'), (1, None, None, '{"b": 2}')], [("w", "c1", {"a": 1}), ("v", "c2", {"b": 2})]),
        # Whole calls without ids or places.
        ([(None, None, "w", '{"a": 1}'), (None, None, "w", '{"a": 2}'), (None, None, "v", "{}")], [("w", None, {"a": 1}), ("w", None, {"a": 2}), ("v", None, {})]),
        # Without ids, all under one place.
        ([(0, None, "w", '{"a": 1}'), (0, "", "w", '{"a": 2}')], [("w", None, {"a": 1}), ("w", None, {"a": 2})]),
        # The id after the first piece.
        ([(0, None, "w", ""), (0, "c1", None, '{"a": 1}')], [("w", "c1", {"a": 1})]),
        # A call without arguments, then another.
        ([(None, "c1", "ping", None), (None, "c2", "ping", "")], [("ping", "c1", {}), ("ping", "c2", {})]),
    ],
)  # fmt: skip
def test_servers_differ(deltas: Any, expected: Any) -> None:
    assert assembled([*(delta(*one) for one in deltas), END]) == expected


def test_argument_text_sent_twice_is_malformed() -> None:
    """Case wire-05."""
    assembler = CallAssembler()
    for one in (delta(0, "c1", "w", '{"city": "S"}'), delta(0, None, None, '{"city": "S"}'), END):
        assembler.feed(one)
    (call,) = assembler.finish()
    with pytest.raises(ArgumentsError, match="more than one JSON value"):
        parse_arguments(call.args)


def test_calls_are_told_once_and_when_they_are_whole() -> None:
    assembler = CallAssembler()
    assert assembler.feed(delta(0, "c1", "w", "{}")) == ()
    assert told(assembler.feed(END)) == [("w", "c1", {})]
    assert assembler.feed(END) == ()
    assert assembler.feed(delta(0, None, None, "late")) == ()
    assert told(assembler.finish()) == [("w", "c1", {})]


CUTS = st.lists(st.integers(0, 60), max_size=6)


def pieces(text: str, cuts: list[int]) -> list[str]:
    at = [0, *sorted({cut for cut in cuts if cut < len(text)}), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(at)] or [""]


PAIRS = st.tuples(
    st.dictionaries(st.text(max_size=3), JSON, max_size=3),
    st.dictionaries(st.text(max_size=3), JSON, max_size=3),
)


@given(PAIRS, CUTS, st.randoms(use_true_random=False))
def test_law_chat_streams(args: Any, cuts: list[int], random: Any) -> None:
    """However the text is cut, and however two calls interleave."""
    queues = [
        [delta(n, f"c{n}", "w", "")]
        + [delta(n, None, None, one) for one in pieces(json.dumps(arg), cuts)]
        for n, arg in enumerate(args)
    ]
    chunks = [queues[0].pop(0), queues[1].pop(0)]
    while any(queues):
        chunks.append(random.choice([queue for queue in queues if queue]).pop(0))
    expected = [("w", "c0", args[0]), ("w", "c1", args[1])]
    assert assembled([*chunks, END]) == expected
    chunk = adapter("openai.types.chat:ChatCompletionChunk")
    head = {"created": 1, "model": "m", "object": "chat.completion.chunk", "id": "x"}
    assert assembled([chunk.validate_python({**head, **one}) for one in [*chunks, END]]) == expected


def anthropic_events(args: Any, cuts: list[int]) -> list[Any]:
    events: list[Any] = [{"type": "message_start", "message": {**MESSAGE, "content": []}}]
    events.append(
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "text", "text": "", "citations": None},
        }
    )
    events.append(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "{"}}
    )
    events.append({"type": "content_block_stop", "index": 0})
    for n, arg in enumerate(args, 1):
        block = {"type": "tool_use", "id": f"c{n}", "name": "w", "input": {}}
        events.append({"type": "content_block_start", "index": n, "content_block": block})
        events += [
            {
                "type": "content_block_delta",
                "index": n,
                "delta": {"type": "input_json_delta", "partial_json": one},
            }
            for one in ["", *(pieces(json.dumps(arg), cuts) if arg else [])]
        ]
        events.append({"type": "content_block_stop", "index": n})
    return [*events, {"type": "message_stop"}]


@given(PAIRS, CUTS)
def test_law_anthropic_streams(args: Any, cuts: list[int]) -> None:
    expected = [("w", "c1", args[0]), ("w", "c2", args[1])]
    events = anthropic_events(args, cuts)
    sdk = [adapter("anthropic.types:RawMessageStreamEvent").validate_python(one) for one in events]
    for stream in (events, sdk):
        assembler = CallAssembler()
        early = [call for event in stream for call in assembler.feed(event)]
        assert told(early) == told(assembler.finish()) == expected


def response_events(args: Any, cuts: list[int]) -> list[Any]:
    events: list[Any] = []
    items = []
    for n, arg in enumerate(args):
        item = {
            "type": "function_call",
            "id": f"fc{n}",
            "call_id": f"c{n}",
            "name": "w",
            "arguments": "",
        }
        place = {"output_index": n, "item_id": f"fc{n}"}
        text = json.dumps(arg)
        events.append({"type": "response.output_item.added", "output_index": n, "item": item})
        events += [
            {"type": "response.function_call_arguments.delta", **place, "delta": one}
            for one in pieces(text, cuts)
        ]
        events.append(
            {
                "type": "response.function_call_arguments.done",
                **place,
                "arguments": text,
                "name": "w",
            }
        )
        items.append({**item, "arguments": text})
        events.append({"type": "response.output_item.done", "output_index": n, "item": items[-1]})
    events.append({"type": "response.completed", "response": {**RESPONSE, "output": items}})
    return [{**event, "sequence_number": n} for n, event in enumerate(events)]


@given(PAIRS, CUTS, st.sets(st.integers(0, 30)))
def test_law_responses_streams(args: Any, cuts: list[int], lost: set[int]) -> None:
    """Also when events are lost, as long as the last one comes."""
    expected = [("w", "c0", args[0]), ("w", "c1", args[1])]
    events = response_events(args, cuts)
    assert assembled(events) == expected
    sdk = [
        adapter("openai.types.responses:ResponseStreamEvent").validate_python(one) for one in events
    ]
    assembler = CallAssembler()
    early = [call for event in sdk for call in assembler.feed(event)]
    assert told(early) == told(assembler.finish()) == expected
    left = [event for n, event in enumerate(events[:-1]) if n not in lost]
    assert sorted(assembled([*left, events[-1]]), key=repr) == sorted(expected, key=repr)


def test_streams_of_whole_calls() -> None:
    text = {"candidates": [{"content": {"parts": [{"text": "x"}]}}]}
    assembler = CallAssembler()
    assert assembler.feed(text) == ()
    assert told(assembler.feed(GENERATED)) == EXPECTED
    again = {
        "candidates": [{"content": {"parts": [{"function_call": {"name": "ok", "args": {}}}]}}]
    }
    assert told(assembler.feed(again)) == [("ok", None, {})]
    assert len(assembler.finish()) == 3
    ollama = {
        "message": {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "ok", "arguments": ARGS}}],
        },
        "done": False,
    }
    assert assembled([ollama, ollama]) == [("ok", None, ARGS)] * 2


def test_a_long_stream_takes_linear_time() -> None:
    assembler = CallAssembler()
    assembler.feed(delta(0, "c1", "w", '{"a": "'))
    for _ in range(100_000):
        assembler.feed(delta(0, None, None, "xxxxxxxxxx"))
    assembler.feed(delta(0, None, None, '"}'))
    (call,) = assembler.finish()
    assert len(parse_arguments(call.args)["a"]) == 1_000_000
