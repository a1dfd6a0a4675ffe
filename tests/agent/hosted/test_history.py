"""Conversations as they may be: cut off, forked, imported, with signed thoughts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from agent.hosted import shapes
from agent.hosted.cases import (
    ANTHROPIC,
    CASES,
    GEMINI,
    GEMINI_3,
    OPENAI,
    SERVER,
    Case,
    add,
    asking,
    parts,
    talk,
)
from agent.hosted.server import Answer, serving

from agtools_nb import ToolCall, ToolResult
from agtools_nb.agent import ModelMessage, ResultsMessage, UserMessage

each = pytest.mark.parametrize("case", CASES, ids=str)
CALL = ToolCall("add", {"a": 1, "b": 2}, "c1")


async def sent(case: Case, *messages: Any) -> Any:
    async with serving(case.answer("Hi.")) as server:
        await parts(case.model(server), asking("And now?", *messages, tools=(add,)))
        return server.last


def turns(case: Case, body: Any) -> list[str]:
    """Who speaks, in order."""
    if case is GEMINI:
        return [one["role"] for one in body["contents"]]
    if "messages" in body:
        return [one["role"] for one in body["messages"]]
    return [one.get("role", one.get("type")) for one in body["input"]]


@each
async def test_an_answer_of_nothing_is_left_out(case: Case) -> None:
    """A stream that broke off, or was stopped, before its first word."""
    broken = ModelMessage("", (), "broken", error="it broke off")
    body = await sent(case, UserMessage("Hi"), broken)
    assert set(turns(case, body)) == {"user"}
    text = json.dumps(body)
    assert text.index('"Hi"') < text.index('"And now?"')


@each
async def test_a_call_without_a_result_is_answered(case: Case) -> None:
    """A fork at the model's message, or an event that is handled while a call runs."""
    body = json.dumps(await sent(case, UserMessage("Add"), ModelMessage("", (CALL,), "calls")))
    assert body.count('"c1"') == 2
    assert "There is no result of this call yet." in body


@each
async def test_a_call_without_a_result_is_answered_before_the_model_speaks_again(
    case: Case,
) -> None:
    said = [ModelMessage("", (CALL,), "calls"), ModelMessage("Never mind.")]
    body = json.dumps(await sent(case, UserMessage("Add"), *said))
    assert body.count('"c1"') == 2
    assert body.index("There is no result of this call yet.") < body.index("Never mind.")


@each
async def test_a_result_without_its_call_becomes_text(case: Case) -> None:
    lost = ResultsMessage((ToolResult("add", "c9", result=3),))
    body = await sent(case, UserMessage("Add"), ModelMessage("I did."), lost)
    assert "[result of add (c9)] 3" in json.dumps(body)
    assert "tool" not in turns(case, body)


@each
async def test_results_in_another_order_are_paired_by_id(case: Case) -> None:
    calls = (CALL, ToolCall("add", {"a": 3, "b": 4}, "c2"))
    results = (ToolResult("add", "c2", result=7), ToolResult("add", "c1", result=3))
    messages = [UserMessage("Add"), ModelMessage("", calls, "calls"), ResultsMessage(results)]
    body = json.dumps(await sent(case, *messages))
    assert body.count('"c1"') == body.count('"c2"') == 2
    assert "no result" not in body


@each
async def test_a_conversation_that_begins_with_the_model(case: Case) -> None:
    body = await sent(case, ModelMessage("Welcome."))
    assert turns(case, body)[0] == "user"


@each
async def test_an_event_after_results(case: Case) -> None:
    messages = [
        UserMessage("Add"),
        ModelMessage("", (CALL,), "calls"),
        ResultsMessage((ToolResult("add", "c1", result=3),)),
        UserMessage("[event of clock (c7)] noon", event="event", call_id="c7"),
    ]
    body = await sent(case, *messages)
    text = json.dumps(body)
    assert text.index("noon") < text.index("And now?")
    if case is ANTHROPIC:
        assert [one["type"] for one in body["messages"][-1]["content"]] == [
            "tool_result", "text", "text",
        ]  # fmt: skip


@each
async def test_an_exported_conversation_goes_on(case: Case) -> None:
    calls = [("c1", "add", '{"a": 1, "b": 2}')]
    async with serving(case.answer(calls=calls), case.answer("3."), case.answer("Yes.")) as server:
        session = talk(case.model(server))
        await session.chat("Add 1 and 2.")
        again = talk(case.model(server), messages=json.dumps(session.export()))
        reply = await again.chat("Sure?")
        body = json.dumps(server.last)
    assert reply.text == "Yes."
    assert body.count('"c1"') >= 2


@each
async def test_lone_surrogates_and_controls_do_not_stop_a_request(case: Case) -> None:
    odd = "a\ud800b\x00c"
    messages = [
        UserMessage("Add"),
        ModelMessage(odd, (ToolCall("add", odd, "c1"),), "calls"),
        ResultsMessage((ToolResult("add", "c1", result={odd: odd}),)),
    ]
    assert "And now?" in json.dumps(await sent(case, *messages))


@each
async def test_a_result_that_is_too_long_is_cut_with_a_note(case: Case) -> None:
    messages = [
        UserMessage("Add"),
        ModelMessage("", (CALL,), "calls"),
        ResultsMessage((ToolResult("add", "c1", result="x" * 300_000),)),
    ]
    body = json.dumps(await sent(case, *messages))
    assert "first 100,000 of 300,000 characters" in body
    assert len(body) < 150_000


def thinking(*, signed: str = "c2lnbmVk") -> Answer:
    start = {"type": "thinking", "thinking": "", "signature": ""}
    deltas = [
        {"type": "thinking_delta", "thinking": "I should add."},
        {"type": "signature_delta", "signature": signed},
    ]
    events = [shapes.message_start(), *shapes.block(0, start, *deltas)]
    events += shapes.text_block(1, "Let me see.")
    events += shapes.call_block(2, "c1", "add", '{"a": 1, "b": 2}')
    return Answer(events + shapes.message_end("tool_use"))


async def test_anthropics_signed_thoughts_go_back_with_the_results() -> None:
    async with serving(thinking(), ANTHROPIC.answer("3.")) as server:
        session = talk(ANTHROPIC.model(server))
        reply = await session.chat("Add.")
        [_, said, results] = server.last["messages"]
    assert reply.text == "3."
    assert session.messages[1].text == "Let me see."
    assert [one["type"] for one in said["content"]] == ["thinking", "text", "tool_use"]
    assert said["content"][0]["signature"] == "c2lnbmVk"
    assert results["content"][0]["tool_use_id"] == "c1"
    assert "signed" not in json.dumps(session.export())


async def test_geminis_signed_thoughts_go_back_with_the_results() -> None:
    call = {"name": "add", "args": {"a": 1, "b": 2}}
    first = Answer([
        shapes.gemini_chunk({"text": "Hm.", "thought": True}),
        shapes.gemini_chunk({"functionCall": call, "thoughtSignature": "c2lnbmVk"}, finish="STOP"),
    ])  # fmt: skip
    async with serving(first, GEMINI_3.answer("3.")) as server:
        session = talk(GEMINI_3.model(server))
        reply = await session.chat("Add.")
        said = server.last["contents"][1]
    assert reply.text == "3."
    signatures = [one.get("thoughtSignature") for one in said["parts"] if "functionCall" in one]
    assert signatures == ["c2lnbmVk"]


async def test_another_model_goes_on_without_the_thoughts_of_the_first() -> None:
    async with serving(thinking(), OPENAI.answer("3.")) as server:
        first = talk(ANTHROPIC.model(server), max_turns=1)
        await first.chat("Add.")
        second = talk(OPENAI.model(server), messages=first.messages)
        reply = await second.chat("And?")
        body = json.dumps(server.last)
    assert reply.text == "3."
    assert "I should add." not in body
    assert "signed" not in body


async def test_a_message_that_was_changed_is_sent_as_it_is_now() -> None:
    async with serving(thinking(), ANTHROPIC.answer("3."), ANTHROPIC.answer("4.")) as server:
        model = ANTHROPIC.model(server)
        session = talk(model)
        await session.chat("Add.")
        user, said, *rest = session.messages
        changed = ModelMessage("I will see.", said.calls, "calls")
        await parts(model, asking("And?", user, changed, *rest, tools=(add,)))
        text = json.dumps(server.last)
    assert "I will see." in text
    assert "I should add." not in text


async def test_reasoning_of_a_compatible_server_goes_back_with_the_results() -> None:
    events = [
        shapes.chat_chunk({"reasoning_content": "I should add."}),
        shapes.chat_chunk({"tool_calls": [shapes.chat_call(0, "c1", "add", '{"a":1,"b":2}')]}),
        shapes.chat_chunk({}, "tool_calls"),
        "[DONE]",
    ]
    async with serving(Answer(events), SERVER.answer("3.")) as server:
        await talk(SERVER.model(server)).chat("Add.")
        [_, said, _] = server.last["messages"]
    assert said["reasoning_content"] == "I should add."
