"""Conversations with each provider: text as it comes, calls, results, and what they cost."""

from __future__ import annotations

import asyncio
import json
import socket
from urllib.parse import urlsplit

import pytest
from agent.hosted import shapes
from agent.hosted.cases import (
    ANTHROPIC,
    CASES,
    GEMINI,
    OPENAI,
    RESPONSES,
    SERVER,
    TEXT_CASES,
    Case,
    add,
    answers,
    asking,
    happened,
    parts,
    talk,
)
from agent.hosted.server import Answer, serving

from agtools_nb.agent import (
    CallAnswered,
    CallPart,
    EndPart,
    Reply,
    ResultsMessage,
    TextPart,
    TextPiece,
    Usage,
    UsagePart,
)
from agtools_nb.agent.models.hosted import HostedModel

CALLS = [("call-1", "add", '{"a": 1, "b": 2}'), ("call-2", "add", '{"a": 3, "b": 4}')]
each = pytest.mark.parametrize("case", CASES, ids=str)
each_text = pytest.mark.parametrize("case", TEXT_CASES, ids=str)


@each
async def test_a_conversation_with_parallel_calls(case: Case) -> None:
    async with serving(
        case.answer("Let me ", "see.", calls=CALLS), case.answer("It is ", "3 and 7.")
    ) as server:
        session = talk(case.model(server), system_instructions="Be brief.")
        told = await happened(session, "Add 1 and 2, and 3 and 4.")
    reply = told[-1]
    assert isinstance(reply, Reply)
    assert (reply.text, reply.reason) == ("It is 3 and 7.", "answered")
    assert [one.text for one in told if isinstance(one, TextPiece)] == [
        "Let me ", "see.", "It is ", "3 and 7.",
    ]  # fmt: skip
    first, second = answers(session)
    assert [(call.id, call.name) for call in first.calls] == [("call-1", "add"), ("call-2", "add")]
    [results] = [one for one in session.messages if isinstance(one, ResultsMessage)]
    assert [(one.id, one.result) for one in results.results] == [("call-1", 3), ("call-2", 7)]
    assert (first.stop, second.stop) == ("calls", "end")
    assert first.usage == second.usage == Usage(21, 9)
    assert session.usage == Usage(42, 18)
    assert first.notes == second.notes == ()


@each
async def test_text_is_told_while_the_answer_is_still_coming(case: Case) -> None:
    more = asyncio.Event()
    answer = case.answer("One. ", "Two.")
    events = list(answer.events)
    at = next(n for n, event in enumerate(events) if "One. " in json.dumps(event))
    async with serving(Answer([*events[: at + 1], more, *events[at + 1 :]])) as server:
        stream = talk(case.model(server)).stream("Count.")
        async for happening in stream:
            if isinstance(happening, TextPiece):
                assert happening.text == "One. "
                assert not more.is_set()
                break
        more.set()
        rest = [one async for one in stream]
    assert rest[-1].text == "One. Two."


@each_text
@pytest.mark.parametrize(
    "arguments",
    ['{"a": 1, "b"', '{"a": 1, b: 2}', "[1, 2]", "{'a': 1}", '{"a": 1}}', "add 1 and 2", '"'],
)
async def test_malformed_arguments_reach_the_runner_as_the_text_they_were(
    case: Case, arguments: str
) -> None:
    async with serving(
        case.answer(calls=[("c1", "add", arguments)]), case.answer("I give up.")
    ) as server:
        session = talk(case.model(server))
        told = await happened(session, "Add.")
        sent = json.dumps(server.last)
    [call] = answers(session)[0].calls
    assert call.args == arguments
    [answered] = [one for one in told if isinstance(one, CallAnswered)]
    assert answered.result.status == "invalid"
    assert told[-1].reason == "answered"
    # The provider gets an object that holds the text, since it wants JSON in its history.
    assert "unreadable_arguments" in sent
    assert (
        json.dumps(json.dumps(arguments)[1:-1])[1:-1] in sent
        or arguments in sent
        or (json.dumps(arguments)[1:-1] in sent)
    )


LIMIT_WORDS = {
    OPENAI: "length",
    SERVER: "length",
    RESPONSES: "max_output_tokens",
    ANTHROPIC: "max_tokens",
    GEMINI: "MAX_TOKENS",
}


@each
async def test_an_answer_that_came_to_its_limit(case: Case) -> None:
    async with serving(case.answer("Once upon a", finish=LIMIT_WORDS[case])) as server:
        session = talk(case.model(server))
        reply = await session.chat("Tell me a story.")
    assert (reply.reason, reply.text) == ("length", "Once upon a")
    assert answers(session)[0].stop == "length"


@each_text
async def test_a_call_that_was_cut_off_is_answered_so_that_the_model_can_repair_it(
    case: Case,
) -> None:
    finish = LIMIT_WORDS[case]
    async with serving(
        case.answer(calls=[("c1", "add", '{"a": 1, "b"')], finish=finish),
        case.answer(calls=[("c2", "add", '{"a": 1, "b": 2}')]),
        case.answer("3."),
    ) as server:
        session = talk(case.model(server))
        reply = await session.chat("Add.")
    assert (reply.text, reply.reason) == ("3.", "answered")
    assert answers(session)[0].calls[0].args == '{"a": 1, "b"'


@each
async def test_a_failed_call_goes_back_as_an_error(case: Case) -> None:
    async with serving(
        case.answer(calls=[("c1", "fail", '{"reason": "no ink"}')]), case.answer("It failed.")
    ) as server:
        session = talk(case.model(server))
        await session.chat("Fail.")
        sent = server.last
    assert "no ink" in json.dumps(sent)
    if case is ANTHROPIC:
        assert sent["messages"][-1]["content"][0]["is_error"] is True
    elif case is GEMINI:
        response = sent["contents"][-1]["parts"][0]["functionResponse"]["response"]
        assert list(response) == ["error"]


@each
async def test_a_call_that_must_come(case: Case) -> None:
    async with serving(case.answer("No."), case.answer("No."), case.answer("No.")) as server:
        model = case.model(server)
        await parts(model, asking("Hi", tools=(add,), must_call=True))
        forced = server.last
        await parts(model, asking("Hi", tools=(add,)))
        free = server.last
        await parts(model, asking("Hi", must_call=True))
        without_tools = server.last
    if case is GEMINI:
        assert forced["toolConfig"]["functionCallingConfig"]["mode"] == "ANY"
        assert free["toolConfig"]["functionCallingConfig"]["mode"] in ("AUTO", "VALIDATED")
        assert "toolConfig" not in without_tools
    elif case is ANTHROPIC:
        assert forced["tool_choice"] == {"type": "any"}
        assert free.get("tool_choice", {"type": "auto"}) == {"type": "auto"}
        assert "tool_choice" not in without_tools
    else:
        assert forced["tool_choice"] == "required"
        assert free.get("tool_choice", "auto") == "auto"
        assert "tool_choice" not in without_tools


async def test_gemini_gives_no_ids_and_is_answered_all_the_same() -> None:
    calls = [("", "add", '{"a": 1, "b": 2}'), ("", "add", '{"a": 3, "b": 4}')]
    async with serving(GEMINI.answer(calls=calls), GEMINI.answer("Done.")) as server:
        session = talk(GEMINI.model(server))
        reply = await session.chat("Add.")
        contents = server.last["contents"]
    assert reply.reason == "answered"
    first, second = answers(session)[0].calls
    assert first.id
    assert second.id not in (None, "", first.id)
    assert answers(session)[0].notes == ()
    responses = [part["functionResponse"] for part in contents[-1]["parts"]]
    assert [one["response"] for one in responses] == [{"output": 3}, {"output": 7}]
    assert [one["id"] for one in responses] == [first.id, second.id]


@pytest.mark.parametrize("case", [OPENAI, SERVER], ids=str)
async def test_calls_without_ids_are_given_some_and_it_says_so(case: Case) -> None:
    delta = {"tool_calls": [shapes.chat_call(0, None, "add", '{"a": 1, "b": 2}')]}
    events = [shapes.chat_chunk(delta), shapes.chat_chunk({}, "tool_calls"), "[DONE]"]
    async with serving(Answer(events), case.answer("3.")) as server:
        session = talk(case.model(server))
        reply = await session.chat("Add.")
    assert reply.text == "3."
    [first, _] = answers(session)
    assert "had no id" in first.notes[0]
    assert first.calls[0].id in first.notes[0]


@pytest.mark.parametrize("case", [OPENAI, SERVER], ids=str)
@pytest.mark.parametrize("index", [0, None])
async def test_servers_that_count_all_calls_as_the_first(case: Case, index: int | None) -> None:
    """Some servers send every call whole, under one index or none."""
    calls = [
        shapes.chat_call(index, "c1", "add", '{"a": 1, "b": 2}'),
        shapes.chat_call(index, "c2", "add", '{"a": 3, "b": 4}'),
    ]
    events = [
        *(shapes.chat_chunk({"tool_calls": [call]}) for call in calls),
        shapes.chat_chunk({}, "tool_calls"),
        "[DONE]",
    ]
    async with serving(Answer(events), case.answer("3 and 7.")) as server:
        session = talk(case.model(server))
        reply = await session.chat("Add.")
    assert reply.text == "3 and 7."
    assert [(one.id, one.result) for one in session.messages[2].results] == [("c1", 3), ("c2", 7)]


async def test_a_server_that_counts_no_tokens_is_estimated() -> None:
    events = [shapes.chat_chunk({"content": "Hi there."}), shapes.chat_chunk({}, "stop"), "[DONE]"]
    async with serving(Answer(events)) as server:
        session = talk(SERVER.model(server))
        await session.chat("Hi")
    usage = answers(session)[0].usage
    assert usage.is_estimate
    assert usage.output == 3


async def test_a_call_of_an_unknown_tool_is_answered() -> None:
    async with serving(
        OPENAI.answer(calls=[("c1", "ad", "{}")]), OPENAI.answer("Sorry.")
    ) as server:
        reply = await talk(OPENAI.model(server)).chat("Add.")
        assert "add" in server.last["messages"][-1]["content"]
    assert reply.text == "Sorry."


async def test_what_a_model_thinks_is_not_its_answer() -> None:
    events = [
        shapes.chat_chunk({"reasoning_content": "Hm."}),
        shapes.chat_chunk({"content": "Yes."}),
        shapes.chat_chunk({}, "stop"),
        "[DONE]",
    ]
    async with serving(Answer(events)) as server:
        reply = await talk(SERVER.model(server)).chat("Really?")
    assert reply.text == "Yes."


@each
async def test_the_parts_come_in_order(case: Case) -> None:
    async with serving(case.answer("Hi.", calls=CALLS)) as server:
        found = await parts(case.model(server), asking("Hi", tools=(add,)))
    kinds = [type(part) for part in found]
    assert kinds.count(UsagePart) == 1
    shown = [kind for kind in kinds if kind in (TextPart, CallPart, EndPart)]
    assert shown == [TextPart, CallPart, CallPart, EndPart]


@each
async def test_one_model_serves_several_conversations_at_a_time(case: Case) -> None:
    gate = asyncio.Event()
    slow, quick = case.answer("slow"), case.answer("quick")
    async with serving(Answer([gate, *slow.events]), quick) as server:
        model = case.model(server)
        first = asyncio.ensure_future(talk(model).chat("A"))
        while not server.asked:
            await asyncio.sleep(0.01)
        second = await talk(model).chat("B")
        gate.set()
        assert second.text == "quick"
        assert (await first).text == "slow"


async def test_a_connection_is_used_again_and_closed_in_the_end() -> None:
    async with serving(*(OPENAI.answer("Hi.") for _ in range(4))) as server:
        model = OPENAI.model(server)
        for _ in range(3):
            await talk(model).chat("Hi")
        assert server.connections == 1
        await model.aclose()
        await talk(model).chat("Hi")
        assert server.connections == 2
        await model.aclose()


def test_one_model_serves_several_event_loops() -> None:
    """Each test runs in a loop of its own, and so may cells that call ``asyncio.run``."""
    listening = socket.create_server(("127.0.0.1", 0))
    model = HostedModel("qwen3", base_url=f"http://127.0.0.1:{listening.getsockname()[1]}/v1")
    listening.close()

    async def one() -> str:
        async with serving(OPENAI.answer("Hi."), port=urlsplit(model._base_url).port) as server:
            text = (await talk(model).chat("Hi")).text
            assert "authorization" not in server.asked[0].headers
            return text

    assert [asyncio.run(one()) for _ in range(3)] == ["Hi."] * 3


@each_text
async def test_tokens_of_chat_templates_come_back_as_they_were(case: Case) -> None:
    """On some servers such a token in a message would act as one; it is broken on its way there."""
    text = "<|im_start|>system"
    async with serving(case.answer("?")) as server:
        await parts(case.model(server), asking(text))
        [sent] = [
            one for one in strings(server.last) if one.endswith("system") and "im_start" in one
        ]
    assert (sent != text) is (case is SERVER)
    arguments = json.dumps({"reason": sent}, ensure_ascii=False)
    async with serving(
        case.answer(calls=[("c1", "fail", arguments)]), case.answer(f"It said {sent}.")
    ) as server:
        session = talk(case.model(server))
        reply = await session.chat(text)
    assert json.loads(answers(session)[0].calls[0].args) == {"reason": text}
    assert reply.text == f"It said {text}."


def strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in strings(one)]
    if isinstance(value, list):
        return [text for one in value for text in strings(one)]
    return [value] if isinstance(value, str) else []
