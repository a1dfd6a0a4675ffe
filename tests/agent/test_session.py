"""Conversations: messages, answers, calls, and what becomes of a model that misbehaves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from agtools_nb import Background, ToolContext, ToolRunner, UsageError, tool
from agtools_nb.agent import (
    Added,
    CallAnswered,
    CallAsked,
    CallPart,
    CallProgress,
    CallStarted,
    EndPart,
    Happening,
    ModelEvent,
    ModelMessage,
    ModelRequest,
    Reply,
    ResultsMessage,
    ScriptedModel,
    Session,
    TextPart,
    TextPiece,
    Turn,
    Usage,
    UserMessage,
)
from agtools_nb.errors import ModelError


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
async def measure(ctx: ToolContext) -> str:
    """Measure, in steps."""
    await ctx.report_progress(1, 2)
    await ctx.report_progress(2, 2)
    return "done"


def talk(turns: Any, *tools: Any, **options: Any) -> Session:
    return Session(ScriptedModel(turns), ToolRunner(tools or [add, measure]), **options)


async def followed(session: Session, text: str) -> list[Happening]:
    return [happening async for happening in session.stream(text)]


async def test_a_call_is_run_and_its_result_goes_back_to_the_model() -> None:
    session = talk(
        [("add", {"a": 1, "b": "2"}), lambda r: f"It is {r.messages[-1].results[0].result}."]
    )
    reply = await session.chat("What is 1 + 2?")
    assert (reply.text, reply.reason, reply.ok) == ("It is 3.", "answered", True)
    asked, called, answered, said = session.messages
    assert asked == reply.messages[0]
    assert isinstance(asked, UserMessage)
    assert isinstance(called, ModelMessage)
    assert called.stop == "calls"
    assert isinstance(answered, ResultsMessage)
    assert answered.group_id
    assert [c.id for c in called.calls] == [r.id for r in answered.results]
    assert called.calls[0].step_id == called.id
    assert answered.results[0].coercions[0].pointer == "/b"
    assert isinstance(said, ModelMessage)
    assert said.text == "It is 3."


async def test_a_model_is_sent_the_system_text_the_messages_and_the_tools() -> None:
    model = ScriptedModel(["Hello."])
    session = Session(model, ToolRunner([add]), system_instructions="Be brief.")
    await session.chat("Hi")
    [request] = model.requests
    assert request.system == "Be brief."
    assert request.tools == (add,)
    assert [message.text for message in request.messages if isinstance(message, UserMessage)] == [
        "Hi"
    ]
    assert request.conversation_id == session.conversation_id


async def test_everything_is_told_in_one_order() -> None:
    session = talk([Turn("Let me see.", [("measure", {})]), "Ready."])
    told = await followed(session, "Go")
    kinds = [type(one).__name__ for one in told]
    assert kinds == [
        "Added", "TextPiece", "TextPiece", "TextPiece", "CallAsked", "Added", "CallStarted",
        "CallProgress", "CallProgress", "CallAnswered", "Added", "TextPiece", "Added", "Reply",
    ]  # fmt: skip
    assert "".join(one.text for one in told[1:4] if isinstance(one, TextPiece)) == "Let me see."
    assert isinstance(told[-1], Reply)
    assert told[-1].text == "Ready."


async def test_who_stops_following_stops_the_answer() -> None:
    started = asyncio.Event()

    @tool
    async def wait() -> None:
        """Wait."""
        started.set()
        await asyncio.Event().wait()

    session = talk([("wait", {}), "never said"], wait)
    stream = session.stream("Go")
    async for happening in stream:
        if isinstance(happening, CallStarted):
            await started.wait()
            break
    await stream.aclose()
    assert session.is_idle
    last = session.messages[-1]
    assert isinstance(last, ResultsMessage)
    assert last.results[0].status == "cancelled"


async def test_cancel_stops_the_calls_and_leaves_the_session_usable() -> None:
    started = asyncio.Event()

    @tool
    async def wait() -> None:
        """Wait."""
        started.set()
        await asyncio.Event().wait()

    session = talk([("wait", {}), "Good again."], wait)
    chat = asyncio.ensure_future(session.chat("Go"))
    await started.wait()
    assert not session.is_idle
    await session.cancel()
    reply = await chat
    assert (reply.reason, reply.ok) == ("cancelled", False)
    assert reply.results[0].status == "cancelled"
    assert (await session.chat("Again")).text == "Good again."
    await session.cancel()


async def test_a_waiting_task_that_is_cancelled_raises_and_the_answer_is_stopped() -> None:
    class Endless:
        async def respond(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            yield TextPart("Once ")
            await asyncio.Event().wait()

    session = Session(Endless())
    chat = asyncio.ensure_future(session.chat("Go"))
    while not session.messages:
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    chat.cancel()
    with pytest.raises(asyncio.CancelledError):
        await chat
    assert session.is_idle
    said = session.messages[-1]
    assert isinstance(said, ModelMessage)
    assert (said.text, said.stop) == ("Once ", "cancelled")


async def test_messages_are_answered_one_at_a_time_in_their_order() -> None:
    session = talk(lambda request: f"to {request.messages[-1].text}")
    replies = await asyncio.gather(*(session.chat(word) for word in ("a", "b", "c")))
    assert [reply.text for reply in replies] == ["to a", "to b", "to c"]
    assert [getattr(m, "text", "") for m in session.messages] == [
        "a",
        "to a",
        "b",
        "to b",
        "c",
        "to c",
    ]


# -- models that misbehave ----------------------------------------------------------------------


async def test_a_call_that_does_not_fit_goes_back_with_what_repairs_it() -> None:
    session = talk([("add", {"a": "one"}), ("add", {"a": 1, "b": 2}), "Three."])
    told = await followed(session, "Go")
    answered = [one for one in told if isinstance(one, CallAnswered)]
    assert [(one.repair, one.of, one.result.status) for one in answered] == [
        (1, 3, "invalid"),
        (0, 0, "ok"),
    ]
    assert "/b" in (answered[0].result.error or "")
    assert isinstance(told[-1], Reply)
    assert told[-1].ok


@pytest.mark.parametrize(
    "call",
    [("nope", {}), ("add", '{"a": 1, "b'), ("add", "[1, 2]"), ("add", {"a": 1})],
    ids=["unknown", "cut off", "no object", "missing"],
)
async def test_repairs_are_bounded(call: Any) -> None:
    session = talk(lambda request: call, max_repairs=2)
    reply = await session.chat("Go")
    assert (reply.reason, len(reply.results)) == ("repairs", 3)
    assert "3 answers in a row" in reply.detail
    assert call[0] in reply.detail
    session.model = ScriptedModel(["Still here."])
    assert (await session.chat("And?")).text == "Still here."


async def test_repairs_are_counted_anew_after_a_call_that_fits() -> None:
    wrong, right = ("add", {}), ("add", {"a": 1, "b": 1})
    session = talk([wrong, wrong, right, wrong, wrong, "Done."], max_repairs=2)
    assert (await session.chat("Go")).ok


async def test_the_same_call_for_ever_ends_at_max_turns() -> None:
    session = talk(lambda request: ("add", {"a": 1, "b": 1}), max_turns=50)
    reply = await session.chat("Go")
    assert (reply.reason, len(reply.results)) == ("max_turns", 50)
    assert "max_turns=50" in reply.detail
    assert isinstance(session.messages[-1], ResultsMessage)


async def test_fifty_calls_in_one_answer_run_together() -> None:
    session = talk([[("add", {"a": n, "b": 1}) for n in range(50)], "Done."])
    reply = await session.chat("Go")
    assert [result.result for result in reply.results] == list(range(1, 51))


async def test_missing_and_doubled_ids_are_given_new_ones_and_said_so() -> None:
    calls = [CallPart("add", {"a": 1, "b": n}, "same") for n in range(2)]
    session = talk([[*calls, CallPart("add", {"a": 1, "b": 2})], [calls[0]], "Done."])
    await session.chat("Go")
    first, second = (m for m in session.messages if isinstance(m, ModelMessage) and m.calls)
    ids = [call.id for message in (first, second) for call in message.calls]
    assert ids[0] == "same"
    assert len(set(ids)) == 4
    assert all(ids)
    assert len(first.notes) == 2
    assert "'same' was used before" in first.notes[0]
    assert "had no id" in first.notes[1]
    assert "'same' was used before" in second.notes[0]
    answered = [r.id for m in session.messages if isinstance(m, ResultsMessage) for r in m.results]
    assert answered == ids


async def test_a_stream_that_breaks_is_told_and_its_calls_are_not_run() -> None:
    ran: list[int] = []

    @tool
    def note(n: int) -> None:
        """Note."""
        ran.append(n)

    class Breaking:
        name = "breaking"

        async def respond(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            yield TextPart("Half a sen")
            yield CallPart("note", {"n": 1})
            raise ConnectionResetError("gone")

    session = Session(Breaking(), ToolRunner([note]))
    reply = await session.chat("Go")
    assert (reply.reason, reply.text, ran) == ("model_error", "Half a sen", [])
    assert "gone" in reply.detail
    assert "breaking" in reply.detail
    said = session.messages[-1]
    assert isinstance(said, ModelMessage)
    assert said.stop == "broken"
    assert not said.calls
    session.model = ScriptedModel(["Here."])
    assert (await session.chat("Are you there?")).ok


@pytest.mark.parametrize(
    "broken",
    [ModelError("no more turns"), SystemExit(2), StopAsyncIteration(), asyncio.CancelledError()],
    ids=lambda error: type(error).__name__,
)
async def test_whatever_a_model_raises_is_the_end_of_its_answer_only(broken: BaseException) -> None:
    class Raising:
        async def respond(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            raise broken
            yield

    session = Session(Raising())
    assert (await session.chat("Go")).reason == "model_error"
    assert session.is_idle


async def test_what_is_no_answer_at_all_is_said_so() -> None:
    class Coroutine:
        async def respond(self, request: ModelRequest) -> list[ModelEvent]:
            return [TextPart("no stream")]

    class Odd:
        async def respond(self, request: ModelRequest) -> AsyncGenerator[Any, None]:
            yield "bare text"

    session = Session(Coroutine())  # type: ignore[arg-type]
    assert "async generator" in (await session.chat("Go")).detail
    session = Session(Odd())
    assert "no part of an answer" in (await session.chat("Go")).detail


async def test_a_model_that_never_stops_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    class Chatter:
        closed = False

        async def respond(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            try:
                while True:
                    yield TextPart("and so on " * 10_000)
            finally:
                self.closed = True

    model = Chatter()
    session = Session(model)
    reply = await session.chat("Go")
    assert (reply.reason, len(reply.text), model.closed) == ("length", 1_000_000, True)
    assert "1,000,000" in session.messages[-1].notes[0]  # type: ignore[union-attr]


async def test_an_answer_at_its_limit_is_said_to_be_cut_off() -> None:
    session = talk([[TextPart("Long"), EndPart("length")]])
    reply = await session.chat("Go")
    assert (reply.reason, reply.text) == ("length", "Long")
    assert "cut off" in reply.detail


async def test_the_token_budget_is_of_the_whole_conversation() -> None:
    used = Usage(40, 10)
    session = talk([Turn("One.", usage=used), Turn("Two.", usage=used), "Three."], token_budget=100)
    assert (await session.chat("a")).usage == used
    assert (await session.chat("b")).ok
    reply = await session.chat("c")
    assert (reply.reason, reply.usage.total, session.usage.total) == ("token_budget", 0, 100)
    assert "100 tokens" in reply.detail
    assert "about" not in reply.detail


async def test_tokens_that_nobody_counted_are_estimated_and_said_to_be() -> None:
    session = talk(["Twelve chars"], token_budget=1)
    assert (await session.chat("x" * 400)).usage.is_estimate
    assert session.usage.output == 3
    assert session.usage.input >= 100
    assert "about" in (await session.chat("more")).detail


async def test_the_time_budget_stops_the_calls_that_run() -> None:
    @tool
    async def wait() -> None:
        """Wait."""
        await asyncio.Event().wait()

    session = talk([("wait", {})], wait, time_budget=0.05)
    reply = await session.chat("Go")
    assert (reply.reason, reply.results[0].status) == ("time_budget", "cancelled")
    assert "0.05 s" in reply.detail
    assert session.is_idle


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_turns": 0}, "max_turns=0"),
        ({"max_turns": True}, "max_turns=True"),
        ({"token_budget": 0}, "token_budget=0"),
        ({"time_budget": float("nan")}, "time_budget=nan"),
        ({"time_budget": -1}, "time_budget=-1"),
        ({"max_repairs": -1}, "max_repairs=-1"),
    ],
)
def test_bounds_out_of_range_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        talk(["x"], **options)


@pytest.mark.parametrize("model", [None, ScriptedModel, object()])
def test_what_is_no_model_is_refused(model: Any) -> None:
    with pytest.raises(UsageError, match="no model"):
        Session(model)


def test_a_name_that_is_no_models_is_refused() -> None:
    with pytest.raises(UsageError, match="openai:"):
        Session("gpt-x")


async def test_nothing_to_say_is_refused_and_changes_nothing() -> None:
    session = talk(["x"])
    for nothing in ("", "  \n", None, 3):
        with pytest.raises(UsageError, match="nothing to say"):
            await session.chat(nothing)  # type: ignore[arg-type]
    assert session.messages == ()
    assert session.is_idle


# -- the conversation as a thing -----------------------------------------------------------------


async def test_what_is_exported_can_be_read_back_and_goes_on() -> None:
    session = talk([("add", {"a": 1, "b": 2}), "Three."])
    await session.chat("1 + 2?")
    text = json.dumps(session.export())
    again = Session(ScriptedModel(["Four."]), messages=text)
    assert json.dumps(again.export()["messages"]) == json.dumps(session.export()["messages"])
    assert again.usage == session.usage
    assert (await again.chat("And one more?")).text == "Four."


@pytest.mark.parametrize(
    "wrong",
    [
        "{",
        "[]",
        {"format": "agtools_nb conversation", "version": 99, "messages": []},
        {"format": "agtools_nb conversation", "version": 1, "messages": [{"role": "robot"}]},
        {"format": "agtools_nb conversation", "version": 1, "messages": [{"role": "user"}]},
        {"format": "agtools_nb conversation", "version": 1},
    ],
)
def test_what_is_no_conversation_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError):
        Session(ScriptedModel(["x"]), messages=wrong)


async def test_calls_without_their_results_are_refused() -> None:
    session = talk([("add", {"a": 1, "b": 2}), "Three."])
    await session.chat("Go")
    written = session.export()
    for keep in ([0, 1], [0, 1, 3], [0, 2, 3]):
        cut = {**written, "messages": [written["messages"][at] for at in keep]}
        if keep == [0, 1]:
            again = Session(ScriptedModel(["x"]), messages=cut)
            assert again.messages[-1].results[0].status == "cancelled"  # type: ignore[union-attr]
        else:
            with pytest.raises(UsageError, match="each call needs its result"):
                Session(ScriptedModel(["x"]), messages=cut)


async def test_a_fork_goes_on_differently_and_leaves_the_first_alone() -> None:
    runner = ToolRunner([add], context=ToolContext(), background=Background())
    session = Session(ScriptedModel(["One.", "Two."]), runner)
    assert runner.context is not None
    runner.context.state.set("n", 1)
    await session.chat("a")
    await session.chat("b")
    before = session.messages
    other = session.fork(before[2].id, included=False)
    assert other.messages == before[:2]
    other.model = ScriptedModel(["Different."])
    assert (await other.chat("c")).text == "Different."
    assert other.runner.context is not None
    other.runner.context.state.set("n", 2)
    assert session.messages == before
    assert runner.context.state.get("n") == 1
    assert other.conversation_id != session.conversation_id
    with pytest.raises(UsageError, match="no message"):
        session.fork("nobody")


async def test_a_fork_keeps_calls_and_their_results_together() -> None:
    session = talk([("add", {"a": 1, "b": 2}), "Three."])
    await session.chat("Go")
    assert session.fork(session.messages[1].id).messages == session.messages[:3]
    assert session.fork(session.messages[1].id, included=False).messages == session.messages[:1]
    assert session.fork().messages == session.messages


async def test_a_closed_session_says_so() -> None:
    session = talk(["x"])
    async with session:
        pass
    await session.close()
    assert session.conversation_id is None
    for use in (session.chat("a"), anext(session.stream("a"))):
        with pytest.raises(UsageError, match="closed"):
            await use
    with pytest.raises(UsageError, match="closed"):
        session.send("a")


async def test_a_context_knows_its_session() -> None:
    @tool
    def where(ctx: ToolContext) -> str | None:
        """Tell the conversation."""
        assert ctx.is_idle is False
        return ctx.conversation_id

    session = talk([("where", {}), "Done."], where)
    reply = await session.chat("Go")
    assert reply.results[0].result == session.conversation_id


async def test_watchers_are_told_until_they_leave_and_cannot_break_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    session = talk(["One.", "Two."])
    told: list[Happening] = []

    def broken(happening: Happening) -> None:
        raise RuntimeError("a view that fails")

    leave = session.watch(told.append)
    session.watch(broken)
    await session.chat("a")
    leave()
    leave()
    await session.chat("b")
    assert [one.text for one in told if isinstance(one, Reply)] == ["One."]
    assert "a watcher of the conversation failed" in caplog.text
    assert any(isinstance(one, Added) for one in told)
    assert not any(isinstance(one, (CallAsked, CallProgress)) for one in told)


async def test_a_tool_cannot_wait_for_its_own_conversation() -> None:
    @tool
    async def again() -> str:
        """Ask again."""
        return (await session.chat("Me too")).text

    session = talk([("again", {}), lambda r: r.messages[-1].results[0].error], again)
    reply = await session.chat("Go")
    assert "use ctx.send" in reply.text
    assert session.is_idle


async def test_a_tool_may_talk_to_another_conversation() -> None:
    other = talk(["From the other."])

    @tool
    async def elsewhere() -> str:
        """Ask somebody else."""
        return (await other.chat("You?")).text

    session = talk([("elsewhere", {}), lambda r: r.messages[-1].results[0].result], elsewhere)
    assert (await session.chat("Go")).text == "From the other."
