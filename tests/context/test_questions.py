"""What tools ask people, who answers, and what counts as an answer."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb import (
    SimpleToolContext,
    Tool,
    ToolContext,
    ToolError,
    ToolResult,
    ToolRunner,
    UsageError,
)
from agtools_nb.context import Question, answered

COLOURS = ("red", "green", "blue")


def asked(question: Question, handler: Any) -> Any:
    return asyncio.run(answered(question, handler))


def test_a_question_says_all_that_a_person_must_know() -> None:
    plain = Question("Which?")
    assert (plain.options, plain.multiple, plain.allow_text) == ((), False, True)
    chosen = Question("Which?", ["red", "blue"], tool_name="paint", call_id="c1")
    assert chosen.options == ("red", "blue")
    assert not chosen.allow_text
    assert Question("Which?", COLOURS, allow_text=True).allow_text
    assert chosen == Question("Which?", ("red", "blue"), tool_name="paint", call_id="c1")
    assert {chosen: 1}[chosen] == 1
    with pytest.raises(AttributeError):
        chosen.text = "no"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"text": " \n"}, "text that is not blank"),
        ({"text": 3}, "text that is not blank"),
        ({"text": "?", "options": "red"}, r"write options=\[\.\.\.\]"),
        ({"text": "?", "options": ["red", " "]}, "an option is text that is not blank"),
        ({"text": "?", "options": ["red", 1]}, "an option is text that is not blank"),
        ({"text": "?", "options": ["red", "red"]}, "'red' is there twice"),
        ({"text": "?", "multiple": True}, r"needs options=\[\.\.\.\]"),
        ({"text": "?", "allow_text": False}, r"needs options=\[\.\.\.\]"),
    ],
)
def test_what_cannot_be_answered_is_no_question(arguments: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Question(**arguments)


@pytest.mark.parametrize(
    ("question", "answer", "read"),
    [
        (Question("?"), "words", "words"),
        (Question("?"), ["words"], "words"),
        (Question("?"), "", ""),
        (Question("?"), None, None),
        (Question("?", COLOURS), "red", "red"),
        (Question("?", COLOURS, allow_text=True), "Red", "Red"),
        (Question("?", COLOURS, True), "red", ("red",)),
        (Question("?", COLOURS, True), ["blue", "red", "blue"], ("red", "blue")),
        (Question("?", COLOURS, True), [], ()),
        (Question("?", COLOURS, True), {"blue"}, ("blue",)),
        (Question("?", COLOURS, True), None, None),
        (Question("?", COLOURS, True, True), ["pink", "blue"], ("blue", "pink")),
    ],
)
def test_answers_have_one_form(question: Question, answer: Any, read: Any) -> None:
    assert question.fault(answer) is None
    assert asked(question, lambda one: answer) == read


@pytest.mark.parametrize(
    ("question", "answer", "words"),
    [
        (Question("?", COLOURS), "Red", "'Red' is none of the options 'red', 'green', 'blue'"),
        (Question("?", COLOURS), ["red", "blue"], "are 2 answers"),
        (Question("?", COLOURS), [], "are 0 answers"),
        (Question("?", COLOURS, True), ["red", "pink"], "'pink' is none of the options"),
        (Question("?"), True, "True is neither text"),
        (Question("?"), 0, "0 is neither text"),
        (Question("?", COLOURS, True), [1], "is neither text"),
        (Question("?"), {"a": 1}, "is neither text"),
    ],
)
def test_what_answers_something_else_is_refused(question: Any, answer: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        asked(question, lambda one: answer)


@given(
    st.lists(st.text(min_size=1).filter(str.strip), unique=True, min_size=1, max_size=6),
    st.data(),
)
def test_what_is_chosen_comes_back_in_the_order_of_the_options(
    options: list[str], data: Any
) -> None:
    question = Question("?", options, True)
    chosen = data.draw(st.lists(st.sampled_from(options)))
    assert question.read(chosen) == tuple(one for one in options if one in chosen)
    assert question.read(question.read(chosen)) == question.read(chosen)


def test_handlers_are_sync_or_async_and_are_given_the_question() -> None:
    seen: list[Question] = []

    async def handler(question: Question) -> list[str]:
        seen.append(question)
        await asyncio.sleep(0)
        return ["b"]

    async def main() -> None:
        context = SimpleToolContext("me", answer=handler).for_call("c7", "paint")
        assert await context.ask("Which?", ["a", "b"]) == "b"
        assert await context.ask("Which?", ["a", "b"], multiple=True) == ("b",)
        context.answer_with(lambda question: question.text.upper())
        assert await context.ask("why") == "WHY"

    asyncio.run(main())
    assert seen[0] == Question("Which?", ["a", "b"], tool_name="paint", call_id="c7")
    assert seen[1].multiple


def test_without_anybody_there_the_tool_is_told_how_to_go_on() -> None:
    with pytest.raises(ToolError, match=r"can give answer=") as caught:
        asyncio.run(ToolContext().ask("Which?"))
    assert caught.value.code == "nobody_to_ask"
    assert "say what you assumed" in (caught.value.hint or "")


def test_a_handler_that_fails_says_so_and_one_that_refuses_is_heard() -> None:
    def breaks(question: Question) -> str:
        raise ZeroDivisionError("by zero")

    def refuses(question: Question) -> str:
        raise ToolError("headless", "nobody looks at this notebook")

    with pytest.raises(UsageError, match="failed: ZeroDivisionError: by zero"):
        asked(Question("?"), breaks)
    with pytest.raises(ToolError, match="nobody looks"):
        asked(Question("?"), refuses)


def test_a_question_that_is_cancelled_ends_its_handler() -> None:
    ended = []

    async def handler(question: Question) -> str:
        try:
            await asyncio.sleep(600)
        finally:
            ended.append(question.text)
        return ""

    async def main() -> None:
        asking = asyncio.create_task(answered(Question("?"), handler))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(main())
    assert ended == ["?"]


# -- in calls ----------------------------------------------------------------------------------


async def thinks(question: Question) -> str:
    """A person who takes longer than the tool may."""
    await asyncio.sleep(0.25)
    return "yes"


def call(fn: Any, answer: Any, **options: Any) -> ToolResult:
    async def main() -> ToolResult:
        runner = ToolRunner([Tool(fn, **options)], context=ToolContext(), answer=answer)
        (result,) = await runner.process_tool_calls([(fn.__name__, {})])
        return result

    return asyncio.run(main())


def test_a_persons_time_is_not_the_tools() -> None:
    async def paint(ctx: ToolContext) -> Any:
        return await ctx.ask("Which?"), ctx.asking_seconds

    def paint_blocking(ctx: ToolContext) -> Any:
        return ctx.ask_blocking("Which?"), ctx.asking_seconds

    for fn in (paint, paint_blocking):
        result = call(fn, thinks, timeout=0.15)
        assert result.ok, result.error
        answer, seconds = result.result
        assert answer == "yes"
        assert 0.2 < seconds < 10
        assert result.duration < seconds


def test_what_a_tool_takes_itself_still_counts() -> None:
    async def paint(ctx: ToolContext) -> None:
        await ctx.ask("Which?")
        await asyncio.sleep(600)

    result = call(paint, thinks, timeout=0.15)
    assert "did not finish within 0.15 s" in (result.error or "")


def test_two_questions_at_once_take_the_time_of_one() -> None:
    async def paint(ctx: ToolContext) -> float:
        await asyncio.gather(ctx.ask("This?"), ctx.ask("That?"))
        return ctx.asking_seconds

    assert call(paint, thinks).result < 0.45


def test_a_blocking_tool_asks_without_await() -> None:
    def paint(ctx: ToolContext) -> Any:
        one = ctx.ask_blocking("Which?", ["a", "b"])
        return one, ctx.ask_blocking("Which?", ["a", "b"], multiple=True)

    assert call(paint, lambda question: "b").result == ("b", ("b",))

    def wrong(ctx: ToolContext) -> Any:
        return "deleted" if ctx.ask("Delete?", ["yes", "no"]) else "kept"

    assert "write: ctx.ask_blocking(...)" in (call(wrong, lambda question: "no").error or "")

    async def blocks(ctx: ToolContext) -> Any:
        return ctx.ask_blocking("Which?")

    assert "write: await ctx.ask(...)" in (call(blocks, lambda question: "no").error or "")

    def fails(question: Question) -> str:
        raise TimeoutError("nobody came")

    assert "failed: TimeoutError: nobody came" in (call(paint, fails).error or "")
    context = SimpleToolContext("me", answer=lambda question: "here")
    assert context.ask_blocking("Outside of a runner?") == "here"


def test_a_stopped_call_takes_back_its_question() -> None:
    ended = threading.Event()

    async def person(question: Question) -> str:
        try:
            await asyncio.sleep(600)
        finally:
            ended.set()
        return ""

    left: list[str] = []

    def paint(ctx: ToolContext) -> None:
        try:
            ctx.ask_blocking("Which?")
        except ToolError as error:
            left.append(error.code)

    async def main() -> None:
        runner = ToolRunner([Tool(paint)], context=ToolContext(), answer=person)
        batch = asyncio.create_task(runner.process_tool_calls([("paint", {})]))
        await asyncio.sleep(0.1)
        batch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await batch
        for _ in range(500):
            if ended.is_set() and left:
                break
            await asyncio.sleep(0.01)

    asyncio.run(main())
    assert ended.is_set()
    assert left == ["stopped"]
