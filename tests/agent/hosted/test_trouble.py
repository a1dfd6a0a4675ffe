"""What goes wrong on the way: each has a stated outcome, and the session stays usable."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import httpx2
import pytest
from agent.hosted import shapes
from agent.hosted.cases import (
    ANTHROPIC,
    CASES,
    GEMINI,
    OPENAI,
    RESPONSES,
    SERVER,
    Case,
    add,
    answers,
    asking,
    happened,
    parts,
    raws,
    talk,
)
from agent.hosted.server import DROP, Answer, serving

from agtools_nb.agent import TextPiece
from agtools_nb.agent.models.hosted import HostedModel
from agtools_nb.agent.models.hosted.record import Record
from agtools_nb.agent.models.hosted.words import failure_words
from agtools_nb.errors import ModelError

each = pytest.mark.parametrize("case", CASES, ids=str)

TOO_MANY = Answer(
    status=429, headers={"retry-after": "0.02"}, body={"error": {"message": "Slow down."}}
)
FAILED = Answer(status=500, headers={"retry-after": "0.02"}, body={"error": {"message": "Oh no."}})


@each
async def test_too_many_requests_are_sent_again_and_it_says_so(
    case: Case, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(TOO_MANY, TOO_MANY, case.answer("Hi.")) as server:
        session = talk(case.model(server))
        told = await happened(session, "Hi")
        assert len(server.asked) == 3
        assert server.asked[0].body == server.asked[2].body
    assert told[-1].text == "Hi."
    [answer] = answers(session)
    assert answer.notes == (
        "429 Too Many Requests: sent again after 0.02 s (1 of 3)",
        "429 Too Many Requests: sent again after 0.02 s (2 of 3)",
    )
    assert "sent again after 0.02 s (1 of 3)" in caplog.text  # while a person waits
    assert raws(told)[-1].response["notes"] == list(answer.notes)


@each
async def test_it_gives_up_after_so_many_tries(case: Case) -> None:
    async with serving(TOO_MANY, TOO_MANY, TOO_MANY, case.answer("Hi.")) as server:
        session = talk(case.model(server, max_retries=2))
        reply = await session.chat("Hi")
        assert len(server.asked) == 3
        assert reply.reason == "model_error"
        assert "answered 429 Too Many Requests: Slow down." in reply.detail
        assert "(2 of 2)" in reply.detail
        assert (await session.chat("Hi again")).text == "Hi."


async def test_who_asks_for_too_long_a_wait_is_not_waited_for() -> None:
    body = {"error": {"message": "Come back tomorrow."}}
    answer = Answer(status=429, headers={"retry-after": "86400"}, body=body)
    async with serving(answer) as server:
        began = time.monotonic()
        reply = await talk(OPENAI.model(server)).chat("Hi")
    assert time.monotonic() - began < 5
    assert "it asks to wait 86,400 s" in reply.detail


async def test_no_credit_left_is_not_tried_again() -> None:
    body = {"error": {"message": "No credit.", "code": "insufficient_quota"}}
    async with serving(Answer(status=429, body=body)) as server:
        reply = await talk(OPENAI.model(server)).chat("Hi")
        assert len(server.asked) == 1
    assert "No credit." in reply.detail


@each
@pytest.mark.parametrize("status", [500, 503, 529])
async def test_a_failure_of_the_server_is_tried_once_more(case: Case, status: int) -> None:
    failed = Answer(status=status, headers=FAILED.headers, body=FAILED.body)
    async with serving(failed, case.answer("Hi."), failed, failed, case.answer("Yes.")) as server:
        session = talk(case.model(server))
        assert (await session.chat("Hi")).text == "Hi."
        assert "(1 of 1)" in answers(session)[0].notes[0]
        reply = await session.chat("Again")
        assert reply.reason == "model_error"
        assert f"answered {status}" in reply.detail
        assert "Oh no." in reply.detail
        assert len(server.asked) == 4
        assert (await session.chat("Still there?")).text == "Yes."


@each
@pytest.mark.parametrize(
    ("status", "words"),
    [(400, "context is too long"), (401, "Is the key in "), (404, "Are the model's name")],
)
async def test_a_refusal_says_what_the_provider_said(case: Case, status: int, words: str) -> None:
    body = {"error": {"message": "The context is too long.", "type": "invalid_request_error"}}
    async with serving(Answer(status=status, body=body), case.answer("Hi.")) as server:
        session = talk(case.model(server))
        reply = await session.chat("Hi")
        assert reply.reason == "model_error"
        assert "The context is too long." in reply.detail
        assert words in reply.detail
        assert len(server.asked) == 1
        assert (await session.chat("Hi")).text == "Hi."


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>Bad gateway</html>", b"\xff\xfe", b"[]", b'"no"', b'{"error": 3}', b"[" * 3000],
)
async def test_refusals_of_any_kind_are_survived(body: bytes) -> None:
    async with serving(Answer(status=418, body=body)) as server:
        reply = await talk(SERVER.model(server)).chat("Hi")
    assert "answered 418" in reply.detail


def cut_off(case: Case, *, cleanly: bool) -> Answer:
    """An answer whose connection ends after its first text."""
    events = list(case.answer("One. ", "Two.").events)
    at = next(n for n, event in enumerate(events) if "One. " in json.dumps(event))
    return Answer([*events[: at + 1], 0.02, *([] if cleanly else [DROP])])


@each
@pytest.mark.parametrize("cleanly", [False, True], ids=["dropped", "ended early"])
async def test_a_stream_that_breaks_off(case: Case, cleanly: bool) -> None:
    async with serving(cut_off(case, cleanly=cleanly), case.answer("Here.")) as server:
        session = talk(case.model(server))
        told = await happened(session, "Count.")
        reply = told[-1]
        assert [one.text for one in told if isinstance(one, TextPiece)] == ["One. "]
        assert reply.reason == "model_error"
        assert "broke off" in reply.detail
        [answer] = answers(session)
        assert (answer.stop, answer.text) == ("broken", "One. ")
        assert raws(told)[0].response["events"]
        assert (await session.chat("Still there?")).text == "Here."
        assert len(server.asked) == 2


@each
async def test_calls_of_a_stream_that_breaks_off_are_not_run(case: Case) -> None:
    events = list(case.answer(calls=[("c1", "add", '{"a": 1, "b": 2}')]).events)
    keep = 1 if case is GEMINI else len(events) - 2
    if case is GEMINI:
        del events[0]["candidates"][0]["finishReason"]
    elif case in (OPENAI, SERVER):
        keep = len(events) - 3
    async with serving(Answer([*events[:keep], 0.02, DROP]), case.answer("Here.")) as server:
        session = talk(case.model(server))
        reply = await session.chat("Add.")
        assert reply.reason == "model_error"
        assert [one.calls for one in answers(session)] == [()]
        assert (await session.chat("Still there?")).text == "Here."


@each
async def test_stopping_closes_the_stream_at_once(case: Case) -> None:
    events = list(case.answer("One. ", "Two.").events)
    at = next(n for n, event in enumerate(events) if "One. " in json.dumps(event))
    never = asyncio.Event()
    async with serving(Answer([*events[: at + 1], never]), case.answer("Here.")) as server:
        session = talk(case.model(server))
        seen = asyncio.Event()
        session.watch(lambda one: seen.set() if isinstance(one, TextPiece) else None)
        answering = asyncio.ensure_future(session.chat("Count."))
        await seen.wait()
        began = time.monotonic()
        await session.cancel()
        await asyncio.wait_for(server.asked[0].hung_up.wait(), 1)
        assert time.monotonic() - began < 0.5
        assert (await answering).reason == "cancelled"
        assert answers(session)[0].text == "One. "
        assert (await session.chat("Still there?")).text == "Here."


@each
async def test_stopping_before_the_answer_begins(case: Case) -> None:
    never = asyncio.Event()
    async with serving(Answer([never]), case.answer("Here.")) as server:
        session = talk(case.model(server))
        answering = asyncio.ensure_future(session.chat("Count."))
        while not server.asked:
            await asyncio.sleep(0.01)
        await session.cancel()
        await asyncio.wait_for(server.asked[0].hung_up.wait(), 1)
        assert (await answering).reason == "cancelled"
        assert (await session.chat("Still there?")).text == "Here."


async def test_stopping_while_it_waits_to_try_again() -> None:
    answer = Answer(status=429, headers={"retry-after": "50"}, body={})
    async with serving(answer, OPENAI.answer("Here.")) as server:
        session = talk(OPENAI.model(server))
        answering = asyncio.ensure_future(session.chat("Hi"))
        while not server.asked:
            await asyncio.sleep(0.01)
        await session.cancel()
        assert (await answering).reason == "cancelled"
        assert (await session.chat("Still there?")).text == "Here."


async def test_the_time_of_a_conversation_holds_for_waits_too() -> None:
    answer = Answer(status=429, headers={"retry-after": "50"}, body={})
    async with serving(answer) as server:
        reply = await talk(OPENAI.model(server), time_budget=2.0).chat("Hi")
    assert reply.reason == "time_budget"


@pytest.mark.parametrize(
    ("case", "events", "words"),
    [
        (OPENAI, shapes.chat("Well", finish="content_filter").events, "content_filter"),
        (ANTHROPIC, shapes.claude("Well", finish="refusal").events, "refusal"),
        (GEMINI, shapes.gemini("Well", finish="SAFETY").events, "SAFETY"),
        (GEMINI, shapes.gemini(finish="MALFORMED_FUNCTION_CALL").events, "MALFORMED_FUNCTION_CALL"),
        (
            GEMINI,
            [{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "responseId": "r"}],
            "PROHIBITED_CONTENT",
        ),
    ],
    ids=["openai", "anthropic", "gemini", "gemini-malformed", "gemini-prompt"],
)
async def test_an_answer_that_the_provider_stops(case: Case, events: Any, words: str) -> None:
    async with serving(Answer(events), case.answer("Here.")) as server:
        session = talk(case.model(server))
        reply = await session.chat("Something bad.")
        assert reply.reason == "model_error"
        assert f"stopped the answer ({words})" in reply.detail
        assert answers(session)[0].usage.total > 0
        assert (await session.chat("Something good.")).text == "Here."


@pytest.mark.parametrize("case", [OPENAI, SERVER], ids=str)
async def test_a_refusal_in_words_is_the_answer(case: Case) -> None:
    events = [
        shapes.chat_chunk({"role": "assistant", "content": None, "refusal": "I will "}),
        shapes.chat_chunk({"refusal": "not."}),
        shapes.chat_chunk({}, "stop"),
        "[DONE]",
    ]
    async with serving(Answer(events)) as server:
        session = talk(case.model(server))
        reply = await session.chat("Something bad.")
    assert (reply.text, reply.reason) == ("I will not.", "answered")
    assert answers(session)[0].notes == ("the model refused",)


@pytest.mark.parametrize(
    ("case", "event"),
    [
        (OPENAI, {"error": {"message": "The engine stalled.", "type": "server_error"}}),
        (
            ANTHROPIC,
            {
                "type": "error",
                "error": {"type": "overloaded_error", "message": "The engine stalled."},
            },
        ),
        (
            GEMINI,
            {"error": {"code": 503, "message": "The engine stalled.", "status": "UNAVAILABLE"}},
        ),
        (
            RESPONSES,
            {"type": "error", "code": "x", "message": "The engine stalled.", "sequence_number": 9},
        ),
    ],
    ids=str,
)
async def test_an_error_in_the_middle_of_a_stream(case: Case, event: Any) -> None:
    events = list(case.answer("One. ", "Two.").events)
    at = next(n for n, one in enumerate(events) if "One. " in json.dumps(one))
    async with serving(Answer([*events[: at + 1], event]), case.answer("Here.")) as server:
        session = talk(case.model(server))
        reply = await session.chat("Count.")
        assert reply.reason == "model_error"
        assert "The engine stalled." in reply.detail
        assert (await session.chat("Still there?")).text == "Here."


@each
@pytest.mark.parametrize(
    "events",
    [
        [],
        [b"data: {\n\n"],
        [b"data: 3\n\n"],
        [b"\xff\xfe\n\n"],
        [b"data: []\n\n", b"data: null\n\n"],
        [{"choices": [{"delta": {"tool_calls": 3}}]}],
        [{"candidates": [{"content": {"parts": [{"functionCall": 3}]}}]}],
        [{"type": "content_block_delta", "index": 7, "delta": {"type": "input_json_delta"}}],
        [{"type": "response.output_item.added", "output_index": 0, "item": None}],
    ],
    ids=range(9),
)
async def test_streams_of_nonsense_are_answers_that_broke_off(case: Case, events: Any) -> None:
    async with serving(Answer(events), case.answer("Here.")) as server:
        session = talk(case.model(server))
        reply = await session.chat("Hi")
        assert reply.reason == "model_error"
        assert (await session.chat("Still there?")).text == "Here."


async def test_a_page_where_a_stream_should_be() -> None:
    answer = Answer(headers={"content-type": "text/html"}, body=b"<html>Log in</html>")
    async with serving(answer) as server:
        reply = await talk(SERVER.model(server)).chat("Hi")
    assert "answered with text/html, not with a stream of events" in reply.detail


@each
async def test_a_server_that_is_not_there(case: Case) -> None:
    async with serving() as server:
        model = case.model(server)
    with pytest.raises(ModelError, match="was not reached") as caught:
        await parts(model, asking("Hi"))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@each
async def test_a_server_that_falls_silent(case: Case) -> None:
    events = list(case.answer("One. ", "Two.").events)
    at = next(n for n, event in enumerate(events) if "One. " in json.dumps(event))
    silent = [[asyncio.Event()], [*events[: at + 1], asyncio.Event()]]
    async with serving(*(Answer(one) for one in silent), case.answer("Here.")) as server:
        session = talk(case.model(server, timeout=0.3))
        for text in ("", "One. "):
            reply = await session.chat("Count.")
            assert reply.reason == "model_error"
            assert "the answer broke off: nothing came for 0.3 s (timeout=)" in reply.detail
            assert "cancel" not in reply.detail.lower()
            assert answers(session)[-1].text == text
        assert (await session.chat("Still there?")).text == "Here."


@each
async def test_a_server_that_never_answers(case: Case) -> None:
    free = asyncio.Event()

    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await free.wait()
        writer.close()

    listening = await asyncio.start_server(mute, "127.0.0.1", 0)
    async with serving() as server:
        server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        reply = await talk(case.model(server, timeout=0.3)).chat("Hi")
    free.set()
    listening.close()
    await asyncio.sleep(0.02)
    assert reply.reason == "model_error"
    assert "did not answer: nothing came for 0.3 s (timeout=)" in reply.detail
    assert "cancel" not in reply.detail.lower()


def test_a_server_that_takes_no_connection_is_told_from_one_that_is_silent() -> None:
    error = ModelError("Request timed out.")
    error.__cause__ = httpx2.ConnectTimeout("")
    record = Record("openai", lambda _: None)
    record.sent("POST", "http://10.0.0.1/v1", b"{}")
    said = failure_words(error, record, "10.0.0.1", "", 300.0)
    assert said.startswith("10.0.0.1 was not reached within 15 s. Is the address right")


def test_how_a_library_stops_its_own_waiting_is_not_said() -> None:
    error = ValueError("the tunnel fell down")
    error.__context__ = asyncio.CancelledError("Cancelled via cancel scope 7f94f8678d60")
    record = Record("openai", lambda _: None)
    record.sent("POST", "http://10.0.0.1/v1", b"{}")
    said = failure_words(error, record, "10.0.0.1", "", 300.0)
    assert said == "10.0.0.1 was not reached: the tunnel fell down"


async def test_redirects_are_not_followed() -> None:
    async with serving(OPENAI.answer("Stolen.")) as other:
        away = Answer(status=307, headers={"location": f"{other.url}/v1/chat/completions"}, body={})
        async with serving(away) as server:
            reply = await talk(OPENAI.model(server)).chat("Hi")
        assert other.asked == []
    assert "answered 307" in reply.detail


async def test_a_server_that_never_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agtools_nb.agent.models.hosted.wire.LONGEST_ANSWER", 100_000)
    more = [b": still here\n\n" * 1_000] * 50
    async with serving(Answer(more), OPENAI.answer("Here.")) as server:
        session = talk(OPENAI.model(server))
        reply = await session.chat("Hi")
        assert "the answer has more than 100,000 bytes" in reply.detail
        assert (await session.chat("Still there?")).text == "Here."


async def test_a_model_that_goes_on_calling_comes_to_the_end_of_its_turns() -> None:
    calls = [OPENAI.answer(calls=[(f"c{n}", "add", '{"a": 1, "b": 1}')]) for n in range(5)]
    async with serving(*calls) as server:
        reply = await talk(OPENAI.model(server), add, max_turns=5).chat("Add.")
    assert reply.reason == "max_turns"


async def test_an_unknown_setting_is_named() -> None:
    async with serving() as server:
        model: HostedModel = OPENAI.model(server, settings={"temprature": 1})
        with pytest.raises(ModelError, match="no setting 'temprature' of openai:gpt-test"):
            await parts(model, asking("Hi"))
