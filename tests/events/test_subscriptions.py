"""Subscriptions: first value, events, the end; closing them; generators that misbehave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agtools_nb import (
    Background,
    Event,
    SubscriptionEvent,
    ToolCall,
    ToolContext,
    ToolError,
    ToolRunner,
    UsageError,
    reply,
    tool,
)
from agtools_nb.context.database import Database
from agtools_nb.events.subscriptions import MOST_WAITING


def run(main: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(main())  # type: ignore[arg-type]


closed: list[str] = []


@tool
async def count(to: int, fail_at: int | None = None) -> AsyncIterator[int]:
    """Count."""
    try:
        for number in range(to):
            if number == fail_at:
                raise ValueError(f"cannot count to {number}")
            yield number
    finally:
        closed.append("count")


@tool
async def forever(first: str) -> AsyncIterator[str]:
    """Send one value and wait."""
    try:
        yield first
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)  # cleaning up may wait for something
        closed.append(first)


async def silent() -> AsyncIterator[int]:
    """Say nothing."""
    try:
        await asyncio.Event().wait()
        yield 1
    finally:
        closed.append("silent")


async def started(tools: list[Any], call: ToolCall) -> tuple[Background, ToolRunner, Any]:
    background = Background()
    runner = ToolRunner(tools, background=background)
    (result,) = await runner.process_tool_calls([call])
    return background, runner, result


async def all_of(background: Background) -> list[Event]:
    """The events up to the final one."""
    events = [await background.inbox.receive(10)]
    while not events[-1].final:
        events.append(await background.inbox.receive(10))
    return events


def test_the_first_value_is_the_result_and_later_ones_are_events() -> None:
    async def main() -> None:
        background, _, result = await started([count], ToolCall("count", {"to": "3"}, "c1"))
        assert result.ok
        assert result.result == 0
        assert result.subscription == "c1"
        events = await all_of(background)
        assert [(e.kind, e.content, e.dedup_id, e.final) for e in events] == [
            ("event", 1, "c1:1", False),
            ("event", 2, "c1:2", False),
            ("event", {"subscription": "ended"}, "c1:end", True),
        ]
        assert {(e.call_id, e.tool_name, e.associative) for e in events} == {("c1", "count", False)}
        (record,) = background.subscriptions
        assert (record.status, record.events, record.arguments) == (
            "ended", 2, {"to": 3, "fail_at": None},
        )  # fmt: skip

    run(main)


def test_a_model_is_told_how_to_end_it() -> None:
    async def main() -> None:
        background, _, result = await started([forever], ToolCall("forever", {"first": "a"}, "c1"))
        (message,) = reply([result], "openai")
        assert message["content"] == '{"subscription": true, "subscription_id": "c1", "value": "a"}'
        await background.close()

    run(main)


@pytest.mark.parametrize("is_associative", [True, False])
def test_events_say_whether_they_enter_the_thread(is_associative: bool) -> None:
    async def main() -> None:
        chosen = tool(associative=is_associative)(count.fn)
        background, *_ = await started([chosen], ToolCall("count", {"to": 2}))
        assert {one.associative for one in await all_of(background)} == {is_associative}

    run(main)


def test_a_failure_before_the_first_value_is_the_calls_own() -> None:
    async def main() -> None:
        background, _, result = await started([count], ToolCall("count", {"to": 1, "fail_at": 0}))
        assert result.status == "error"
        assert "cannot count to 0" in result.error
        assert background.subscriptions[0].status == "failed"
        assert len(background.inbox) == 0, "there is nothing to add to it"

    run(main)


def test_a_failure_after_it_is_told_by_the_final_event() -> None:
    async def main() -> None:
        background, *_ = await started([count], ToolCall("count", {"to": 9, "fail_at": 2}))
        events = await all_of(background)
        assert [one.content for one in events] == [1, {"subscription": "failed"}]
        assert "cannot count to 2" in (events[-1].error or "")
        assert background.subscriptions[0].error == events[-1].error

    run(main)


@pytest.mark.parametrize("raised", [SystemExit(1), KeyboardInterrupt(), StopAsyncIteration()])
def test_whatever_it_raises_ends_only_itself(raised: BaseException) -> None:
    @tool
    async def leave(late: bool) -> AsyncIterator[int]:
        """Raise it."""
        if late:
            yield 1
        raise raised

    async def main() -> None:
        background, _, result = await started([leave], ToolCall("leave", {"late": False}))
        # Ctrl-C that hits a function on the loop's thread stops its batch.
        assert result.status == ("cancelled" if type(raised) is KeyboardInterrupt else "error")
        background, _, result = await started([leave], ToolCall("leave", {"late": True}))
        assert result.result == 1
        assert (await all_of(background))[-1].error is not None

    run(main)


def test_a_generator_that_yields_nothing_and_ends() -> None:
    async def main() -> None:
        background, _, result = await started([count], ToolCall("count", {"to": 0}))
        assert result.ok
        assert result.result is None
        assert [one.content for one in await all_of(background)] == [{"subscription": "ended"}]

    run(main)


def test_a_generator_that_never_yields_is_closed_when_its_time_is_over() -> None:
    async def main() -> None:
        closed.clear()
        background, _, result = await started([tool(timeout=0.01)(silent)], ToolCall("silent"))
        assert result.status == "error"
        assert "no first value within 0.01 s" in result.error
        assert closed == ["silent"]
        assert background.subscriptions[0].status == "cancelled"
        assert len(background.inbox) == 0

    run(main)


def test_a_timeout_of_the_tool_itself_is_not_taken_for_ours() -> None:
    @tool(timeout=10)
    async def late() -> AsyncIterator[int]:
        """Fail."""
        raise TimeoutError("the server did not answer")
        yield 1

    async def main() -> None:
        _, _, result = await started([late], ToolCall("late"))
        assert "the server did not answer" in result.error

    run(main)


def test_a_stopped_batch_closes_a_generator_that_has_sent_nothing() -> None:
    async def main() -> None:
        closed.clear()
        background = Background()
        batch = ToolRunner([tool(silent)], background=background).batch([("silent", {})])
        running = asyncio.create_task(batch.run())
        while not background.subscriptions:
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        batch.stop()
        (result,) = await running
        assert result.status == "cancelled"
        assert closed == ["silent"]
        assert not background.inbox.held

    run(main)


def test_cancelling_closes_it_and_runs_its_finally_and_is_safe_twice() -> None:
    async def main() -> None:
        closed.clear()
        background, *_ = await started([forever], ToolCall("forever", {"first": "a"}, "c1"))
        assert [one.id for one in background.subscriptions if one.is_open] == ["c1"]
        both = await asyncio.gather(*(background.cancel_subscription("c1") for _ in range(2)))
        assert closed == ["a"]
        assert {one.status for one in both} == {"cancelled"}
        again = await background.cancel_subscription("c1")
        assert again.status == "cancelled"
        (event,) = await all_of(background)
        assert event.content == {"subscription": "cancelled"}

    run(main)


def test_cancelling_what_nobody_knows_tells_what_there_is() -> None:
    async def main() -> None:
        background, *_ = await started([forever], ToolCall("forever", {"first": "a"}, "c1"))
        with pytest.raises(ToolError) as caught:
            await background.cancel_subscription("c2")
        assert "c1" in (caught.value.hint or "")
        await background.close()

    run(main)


def test_closing_ends_all_of_them() -> None:
    async def main() -> None:
        closed.clear()
        background = Background()
        runner = ToolRunner([forever], background=background)
        await runner.process_tool_calls([("forever", {"first": str(n)}) for n in range(5)])
        await background.close()
        assert sorted(closed) == list("01234")
        assert {one.status for one in background.subscriptions} == {"interrupted"}

    run(main)


def test_a_generator_that_holds_on_to_its_cancellation() -> None:
    @tool
    async def stubborn() -> AsyncIterator[int]:
        """Go on."""
        number = 0
        while True:
            number += 1
            try:
                yield number
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue

    async def main() -> None:
        background, *_ = await started([stubborn], ToolCall("stubborn", {}, "c1"))
        await asyncio.sleep(0)
        assert (await background.cancel_subscription("c1")).status in ("cancelled", "failed")
        (event,) = await all_of(background)
        assert event.final, "it sends nothing any more"

    run(main)


def test_own_dedup_ids_and_an_own_final_event() -> None:
    @tool
    async def mail(newest: int) -> AsyncIterator[Any]:
        """Letters, known by the server's own numbers."""
        yield "connected"
        for number in range(newest):
            yield SubscriptionEvent(f"letter {number}", dedup_id=f"mail:{number}")
        yield SubscriptionEvent("bye", final=True)
        raise AssertionError("nobody asks for more")

    async def main() -> None:
        background = Background()
        runner = ToolRunner([mail], background=background)
        await runner.process_tool_calls([ToolCall("mail", {"newest": 2}, "c1")])
        first = await all_of(background)
        await runner.process_tool_calls([ToolCall("mail", {"newest": 3}, "c2")])
        second = await all_of(background)
        assert [(e.content, e.dedup_id) for e in first] == [
            ("letter 0", "mail:0"), ("letter 1", "mail:1"), ("bye", "c1:3"),
        ]  # fmt: skip
        assert [one.content for one in second] == ["letter 2", "bye"], "those known are dropped"
        assert background.subscriptions[0].status == "ended"

    run(main)


def test_nobody_who_reads_makes_the_generator_wait() -> None:
    async def main() -> None:
        background, *_ = await started([count], ToolCall("count", {"to": 2_000}, "c1"))
        for _ in range(1_000):
            await asyncio.sleep(0)
        assert background.inbox.waiting_of("c1") == MOST_WAITING
        seen = await all_of(background)
        assert [one.content for one in seen[:-1]] == list(range(1, 2_000)), "none is lost"

    run(main)


def test_an_id_that_was_used_gets_another_for_its_events() -> None:
    """Small models send the same id each turn. The reply keeps it; the events have their own."""

    @tool(mode="dispatched")
    async def answer(number: int) -> int:
        """Answer."""
        return number

    async def main() -> None:
        background, runner, _ = await started([count, answer], ToolCall("count", {"to": 2}, "c1"))
        results = []
        for call in (
            ToolCall("answer", {"number": 7}, "c1"),
            ToolCall("count", {"to": 2}, "c1"),
        ):
            results += await runner.process_tool_calls([call])
        assert [one.id for one in results] == ["c1", "c1"]
        assert results[0].result["call_id"] == "c1#2"
        assert results[1].subscription == "c1#3"
        (message,) = reply([results[1]], "openai")
        assert '"subscription_id": "c1#3"' in message["content"]
        while background.tasks[0].is_open or any(one.is_open for one in background.subscriptions):
            await asyncio.sleep(0)
        events = [(one.call_id, one.content) for one in background.inbox.items]
        ended = {"subscription": "ended"}
        assert sorted(events, key=str) == sorted(
            [("c1", 1), ("c1", ended), ("c1#2", 7), ("c1#3", 1), ("c1#3", ended)], key=str
        )

    run(main)


def test_what_is_reported_before_the_first_value_is_progress_of_the_call() -> None:
    @tool(capture="progress")
    async def steps(ctx: ToolContext) -> AsyncIterator[int]:
        """Report, and send a value."""
        ctx.report_progress(1, 3)
        yield 1
        ctx.report_progress(2, 3)

    async def main() -> None:
        background = Background()
        runner = ToolRunner([steps], context=ToolContext(), background=background)
        seen = [item async for item in runner.stream([("steps", {})], progress=True)]
        assert [getattr(item, "done", None) for item in seen] == [1, None]
        await all_of(background)

    run(main)


@pytest.mark.parametrize("bad", ["", "x" * 501, "\ud800", 5, ["a"]])
def test_a_dedup_id_is_text(bad: Any) -> None:
    with pytest.raises(UsageError, match="dedup_id="):
        SubscriptionEvent(1, dedup_id=bad)


def test_after_a_restart_it_is_interrupted_and_says_so(tmp_path: Path) -> None:
    async def main() -> None:
        database = Database.open(tmp_path / "work.db")
        runner = ToolRunner([forever], background=Background(database))
        await runner.process_tool_calls([ToolCall("forever", {"first": "a"}, "c1")])
        database.close()  # as if the kernel were gone

        database = Database.open(tmp_path / "work.db")
        background = Background(database)
        (event,) = await all_of(background)
        assert event.content == {"subscription": "interrupted"}
        assert background.subscriptions[0].status == "interrupted"
        database.close()

    run(main)


def test_results_are_checked_when_asked() -> None:
    @tool
    async def wrong() -> AsyncIterator[int]:
        """Not a number."""
        yield "no number"  # type: ignore[misc]

    async def main() -> None:
        background = Background()
        runner = ToolRunner([wrong, count], background=background, check_results=True)
        bad, good = await runner.process_tool_calls([("wrong", {}), ("count", {"to": 1})])
        assert "does not fit its response schema" in bad.error
        assert good.result == 0
        await background.close()

    run(main)
