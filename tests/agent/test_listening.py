"""Listening to a model: one that will not stop, that is interrupted, or that gives what is none."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any, cast

import pytest

from agtools_nb import ScriptedModel, Session, ToolRunner, tool
from agtools_nb.agent import (
    CallPart,
    EndPart,
    ModelMessage,
    ModelRequest,
    TextPart,
    TextPiece,
    Usage,
    UsagePart,
)

Respond = Callable[[], AsyncGenerator[Any, None]]


class Own:
    """A model whose answer is that of a function."""

    name = "own"

    def __init__(self, respond: Respond) -> None:
        self._respond = respond

    def respond(self, request: ModelRequest) -> AsyncGenerator[Any, None]:
        return self._respond()


def giving(*parts: Any) -> Own:
    """A model that gives these parts, and raises those that are exceptions."""

    async def respond() -> AsyncGenerator[Any, None]:
        for part in parts:
            if isinstance(part, BaseException):
                raise part
            yield part

    return Own(respond)


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


CALL = CallPart("add", {"a": 1, "b": 2})


def said(session: Session) -> ModelMessage:
    found = [one for one in session.messages if isinstance(one, ModelMessage)]
    return found[-1]


# -- a model that will not stop ------------------------------------------------------------------


async def goes_on() -> AsyncGenerator[Any, None]:
    for number in range(500):
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0.01)
        yield TextPart(f"{number} ")


async def ends_instead() -> AsyncGenerator[Any, None]:
    yield TextPart("0 ")
    yield CALL
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(20)


async def fails_instead() -> AsyncGenerator[Any, None]:
    yield TextPart("0 ")
    try:
        await asyncio.sleep(20)
    except asyncio.CancelledError:
        raise ValueError("what is this?") from None


async def will_not_be_closed() -> AsyncGenerator[Any, None]:
    closed = 0
    for number in range(500):
        try:
            await asyncio.sleep(0.01)
            yield TextPart(f"{number} ")
        except asyncio.CancelledError:
            pass
        except GeneratorExit:
            closed += 1
            if closed > 1:  # once is enough; Python itself complains of one that never does
                raise


STUBBORN = [goes_on, ends_instead, fails_instead, will_not_be_closed]
each = pytest.mark.parametrize("respond", STUBBORN)


async def begun(session: Session) -> asyncio.Task[Any]:
    """A message whose answer has begun."""
    begins = asyncio.Event()
    stop = session.watch(lambda one: begins.set() if isinstance(one, TextPiece) else None)
    task = asyncio.create_task(session.chat("Hi"))
    await begins.wait()
    stop()
    return task


async def usable(session: Session) -> None:
    """It goes on, and what it exports can be read."""
    session.model = ScriptedModel(["Fine."])
    assert (await session.chat("Still there?")).text == "Fine."
    written = session.export()
    assert Session(ScriptedModel([]), messages=written).export()["messages"] == written["messages"]


@each
async def test_cancel_stops_a_model_that_catches_it(respond: Respond) -> None:
    session = Session(Own(respond), ToolRunner([add]))
    task = await begun(session)
    began = time.monotonic()
    await session.cancel()
    assert time.monotonic() - began < 3
    assert (await task).reason == "cancelled"
    assert said(session).stop == "cancelled"
    assert said(session).text.startswith("0 ")
    assert said(session).calls == ()
    await usable(session)


@each
async def test_close_stops_it(respond: Respond) -> None:
    session = Session(Own(respond))
    task = await begun(session)
    async with asyncio.timeout(5):
        await session.close()
    assert (await task).reason == "cancelled"


@each
async def test_a_time_budget_holds_for_it(respond: Respond) -> None:
    session = Session(Own(respond), time_budget=0.1)
    began = time.monotonic()
    assert (await session.chat("Hi")).reason == "time_budget"
    assert time.monotonic() - began < 3
    await usable(session)


@each
async def test_a_timeout_of_the_caller_holds_for_it(respond: Respond) -> None:
    session = Session(Own(respond))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await session.chat("Hi")
    assert said(session).stop == "cancelled"
    await usable(session)


async def test_what_comes_after_the_stop_is_not_told() -> None:
    session = Session(Own(goes_on))
    task = await begun(session)
    late: list[Any] = []
    session.watch(lambda one: late.append(one) if isinstance(one, TextPiece) else None)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.05)
    assert late == []


async def test_a_model_that_never_gives_way_is_left_behind() -> None:
    free = asyncio.Event()

    async def stuck() -> AsyncGenerator[Any, None]:
        yield TextPart("0 ")
        while not free.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await free.wait()
        yield TextPart("late")

    session = Session(Own(stuck))
    task = await begun(session)
    began = time.monotonic()
    await session.cancel()
    assert 0.9 < time.monotonic() - began < 5
    assert (await task).reason == "cancelled"
    assert said(session).notes == (
        "the model was still at work 1 s after it was stopped, and was left to it",
    )
    await usable(session)
    free.set()
    await asyncio.sleep(0.05)
    assert "late" not in repr(session.messages)


async def test_a_model_may_clean_up_within_the_grace_period() -> None:
    cleaned: list[str] = []

    async def slowly() -> AsyncGenerator[Any, None]:
        try:
            yield TextPart("0 ")
            await asyncio.sleep(20)
        finally:
            await asyncio.sleep(0.1)
            cleaned.append("done")

    session = Session(Own(slowly))
    task = await begun(session)
    # A second stop does not cut it short.
    await asyncio.gather(session.cancel(), session.cancel())
    await task
    assert cleaned == ["done"]
    assert said(session).notes == ()


async def test_a_model_that_cancels_itself_broke_off() -> None:
    session = Session(giving(TextPart("Well"), asyncio.CancelledError()))
    reply = await session.chat("Hi")
    assert (reply.reason, said(session).stop) == ("model_error", "broken")
    assert "cancelled from within" in reply.detail


# -- an interrupt inside a model -----------------------------------------------------------------


class OwnInterrupt(BaseException):
    """Of a library that has one of its own."""


async def test_an_interrupt_inside_a_model_leaves_no_call_without_a_result() -> None:
    session = Session(giving(TextPart("Let me "), CALL, OwnInterrupt()), ToolRunner([add]))
    with pytest.raises(OwnInterrupt):
        await session.chat("Hi")
    assert (said(session).stop, said(session).calls) == ("broken", ())
    assert said(session).error == "it was interrupted (OwnInterrupt)"
    assert said(session).text == "Let me "
    await usable(session)


def test_so_does_a_person_who_presses_ctrl_c() -> None:
    session = Session(giving(TextPart("Let me "), CALL, KeyboardInterrupt()), ToolRunner([add]))
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(session.chat("Hi"))
    assert (said(session).stop, said(session).calls) == ("broken", ())
    asyncio.run(usable(session))


async def test_a_model_that_ends_the_process_broke_off() -> None:
    session = Session(giving(CALL, SystemExit(3)), ToolRunner([add]))
    reply = await session.chat("Hi")
    assert reply.reason == "model_error"
    assert "SystemExit: 3" in reply.detail
    await usable(session)


# -- parts that are none -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "word", ["end", "stop", "STOP", "end_turn", "stop_sequence", "tool_calls", "tool_use"]
)
async def test_the_providers_words_for_the_end_are_understood(word: Any) -> None:
    answers = [giving(TextPart("Let me."), CALL, EndPart(word)), giving(TextPart("3"))]
    session = Session(Own(lambda: answers.pop(0).respond(None)), ToolRunner([add]))  # type: ignore[arg-type]
    reply = await session.chat("Hi")
    assert (reply.reason, reply.text) == ("answered", "3")
    assert [one.result for one in reply.results] == [3]
    await usable(session)


@pytest.mark.parametrize("word", ["length", "max_tokens", "MAX_TOKENS", "max_output_tokens"])
async def test_and_those_for_the_longest(word: Any) -> None:
    session = Session(giving(TextPart("Well"), EndPart(word)))
    assert (await session.chat("Hi")).reason == "length"
    assert said(session).stop == "length"
    await usable(session)


@pytest.mark.parametrize("word", ["content_filter", "", "done?", None, 3, ["end"], "x" * 9_000])
async def test_any_other_word_breaks_the_answer_and_says_so(word: Any) -> None:
    session = Session(giving(TextPart("Well"), CALL, EndPart(word)), ToolRunner([add]))
    reply = await session.chat("Hi")
    assert reply.reason == "model_error"
    assert "the model gave EndPart(" in reply.detail
    assert "its reason is 'end' or 'length'" in reply.detail
    assert len(reply.detail) < 500
    assert (said(session).text, said(session).stop) == ("Well", "broken")
    assert said(session).notes[-1] == "1 call of the broken answer was not run"
    await usable(session)


BAD_COUNTS: list[Any] = [None, -1, float("nan"), float("inf"), 1.5, "3", True, 10**400]


@pytest.mark.parametrize(
    "usage",
    [
        *("x", None, {"input": 1}, (1, 2), Usage),
        *(Usage(count, 1) for count in BAD_COUNTS),
        *(Usage(1, count) for count in BAD_COUNTS),
    ],
)
async def test_a_usage_that_is_none_breaks_the_answer_and_says_so(usage: Any) -> None:
    session = Session(giving(TextPart("Well"), UsagePart(usage)))
    reply = await session.chat("Hi")
    assert reply.reason == "model_error"
    assert "the model gave Usage" in reply.detail
    assert (said(session).text, said(session).stop) == ("Well", "broken")
    assert session.usage.total >= 0
    await usable(session)


async def test_a_number_of_a_library_is_a_count() -> None:
    class Number:
        def __index__(self) -> int:
            return 7

    session = Session(giving(TextPart("Well"), UsagePart(Usage(Number(), 0))))  # type: ignore[arg-type]
    assert (await session.chat("Hi")).usage == Usage(7, 0)
    await usable(session)


def nested(levels: int, *, lists: bool = False) -> dict[str, Any]:
    found: Any = 1
    for _ in range(levels - 1):
        found = [found] if lists else {"a": found}
    return {"a": found}


def itself() -> dict[str, Any]:
    found: dict[str, Any] = {}
    found["a"] = found
    return found


@pytest.mark.parametrize(
    "arguments",
    [nested(65), nested(3_000), nested(100_000), nested(3_000, lists=True), itself()],
    ids=["65", "3,000", "100,000", "lists", "itself"],
)
async def test_arguments_that_are_nested_too_deeply_are_an_invalid_call(arguments: Any) -> None:
    answers = [giving(CallPart("add", arguments)), giving(TextPart("I see."))]
    session = Session(Own(lambda: answers.pop(0).respond(None)), ToolRunner([add]))  # type: ignore[arg-type]
    reply = await session.chat("Hi")
    assert (reply.reason, reply.text) == ("answered", "I see.")
    [result] = reply.results
    assert result.status == "invalid"
    assert "nested more than 64 levels deep" in str(result.error)
    await usable(session)


async def test_arguments_of_64_levels_come_as_they_are() -> None:
    @tool
    def depth(a: dict[str, Any]) -> int:
        """Count levels."""
        count, inner = 1, cast("Any", a)
        while isinstance(inner, dict):
            count, inner = count + 1, inner["a"]
        return count

    answers = [giving(CallPart("depth", nested(64))), giving(TextPart("I see."))]
    session = Session(Own(lambda: answers.pop(0).respond(None)), ToolRunner([depth]))  # type: ignore[arg-type]
    reply = await session.chat("Hi")
    assert [one.result for one in reply.results] == [64]
    await usable(session)
