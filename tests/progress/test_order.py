"""Progress from every kind of tool, in one ordered stream with the results."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import aclosing
from typing import Any

import pytest

from agtools_nb import ToolContext, ToolResult, ToolRunner, tool
from agtools_nb.context import Progress, ProgressChannel
from progress.following import (
    Follower,
    chunks,
    followed,
    markers,
    progress_of,
    results_of,
    streamed,
)


@tool
async def walk(ctx: ToolContext, steps: int = 3) -> int:
    for step in range(steps):
        await ctx.emit_progress("log", f"step {step}")
    return steps


@tool
def climb(ctx: ToolContext, steps: int = 3) -> int:
    for step in range(steps):
        ctx.emit_progress("log", f"step {step}")
    return steps


@tool(capture="progress")
def shout() -> str:
    print("loud")
    return "done"


@pytest.mark.parametrize("made", [walk, climb], ids=["async", "thread"])
def test_the_progress_of_a_call_comes_before_its_result_and_in_order(made: Any) -> None:
    before = time.time()
    items = followed(made)
    assert isinstance(items[-1], ToolResult)
    assert items[-1].result == 3
    found = progress_of(items)
    assert [(p.stream, p.chunk, p.seq) for p in found] == [
        ("log", "step 0", 0), ("log", "step 1", 1), ("log", "step 2", 2)
    ]  # fmt: skip
    assert {(p.call_id, p.tool_name, p.index) for p in found} == {(items[-1].id, made.name, 0)}
    assert all(before <= p.at <= time.time() for p in found)
    assert not any(p.is_marker or p.done is not None or p.total is not None for p in found)


def test_many_calls_share_one_stream_and_each_keeps_its_order() -> None:
    calls = [("walk" if n % 2 else "climb", {"steps": n % 5}) for n in range(60)]
    items = followed(walk, climb, calls=calls)
    ended: set[int] = set()
    seen: dict[int, list[int]] = {n: [] for n in range(60)}
    for item in items:
        assert item.index not in ended
        if isinstance(item, Progress):
            seen[item.index].append(item.seq)
        else:
            ended.add(item.index)
    assert len(ended) == 60
    assert seen == {n: list(range(n % 5)) for n in range(60)}


def test_without_asking_a_stream_yields_results_only() -> None:
    async def main() -> list[Any]:
        runner = ToolRunner([walk, climb], context=ToolContext())
        return [item async for item in runner.stream([("walk", {}), ("climb", {})])]

    assert [type(item) for item in asyncio.run(main())] == [ToolResult, ToolResult]


@pytest.mark.parametrize("made", [walk, climb], ids=["async", "thread"])
def test_observers_of_a_batch_are_told_between_start_and_result(made: Any) -> None:
    follower, threads = Follower(), set()

    class Where(Follower):
        def call_progress(self, index: int, progress: Progress) -> None:
            threads.add(threading.get_ident())

    runner = ToolRunner([made], context=ToolContext())
    batch = runner.batch([(made.name, {})], observers=[follower, Where()])
    asyncio.run(batch.run())
    first, *told, last = follower.items
    assert first == ("started", 0)
    assert [p.chunk for p in told] == ["step 0", "step 1", "step 2"]
    assert isinstance(last, ToolResult)
    assert threads == {threading.get_ident()}


def test_an_observer_that_wants_no_progress_has_nothing_queued(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Old:
        def call_started(self, index: int, call: Any, prepared: Any) -> None: ...

        def call_finished(self, index: int, result: ToolResult) -> None: ...

    made = []
    monkeypatch.setattr("agtools_nb.run.batch.ProgressChannel", lambda *_: made.append(1))
    runner = ToolRunner([walk, climb], context=ToolContext())
    batch = runner.batch([("walk", {}), ("climb", {})], observers=[Old()])
    assert [result.result for result in asyncio.run(batch.run())] == [3, 3]
    assert made == []


def test_a_broken_follower_costs_nobody_anything(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(Follower):
        def call_progress(self, index: int, progress: Progress) -> None:
            raise ValueError("broken")

    follower = Follower()
    runner = ToolRunner([walk], context=ToolContext())
    batch = runner.batch([("walk", {})], observers=[Broken(), follower])
    [result] = asyncio.run(batch.run())
    assert result.ok
    assert len(progress_of(follower.items)) == 3
    assert "an observer of a batch failed" in caplog.text


def test_what_a_follower_prints_does_not_land_in_the_call(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Printing(Follower):
        def call_progress(self, index: int, progress: Progress) -> None:
            print("followed", progress.chunk)

    runner = ToolRunner([walk], context=ToolContext())
    batch = runner.batch([("walk", {"steps": 1})], observers=[Printing()])
    [result] = asyncio.run(batch.run())
    assert result.stdout == ""
    assert capsys.readouterr().out == "followed step 0\n"


def test_one_who_comes_later_hears_of_the_calls_that_begin_later() -> None:
    follower = Follower()

    async def main() -> None:
        runner = ToolRunner([walk], context=ToolContext(), strategy="sequential")
        batch = runner.batch([("walk", {}), ("walk", {})])

        class Joins:
            def call_started(self, index: int, call: Any, prepared: Any) -> None: ...

            def call_finished(self, index: int, result: ToolResult) -> None:
                if index == 0:
                    batch.watch(follower)

        batch.watch(Joins())
        await batch.run()

    asyncio.run(main())
    assert [p.index for p in progress_of(follower.items)] == [1, 1, 1]


def test_threads_that_a_tool_starts_itself_report_through_its_context() -> None:
    @tool
    def spread(ctx: ToolContext) -> None:
        workers = [
            threading.Thread(target=ctx.emit_progress, args=("log", str(n))) for n in range(8)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    items = followed(spread)
    assert sorted(chunks(items)) == [str(n) for n in range(8)]
    assert [p.seq for p in progress_of(items)] == list(range(8))


def test_another_loop_in_a_thread_may_await_it() -> None:
    @tool
    def own_loop(ctx: ToolContext) -> None:
        async def inner() -> None:
            for n in range(300):
                await ctx.emit_progress("log", str(n))

        asyncio.run(inner())

    items = followed(own_loop)
    assert chunks(items) == [str(n) for n in range(300)]


def test_a_thread_pool_shares_this_process() -> None:
    with ThreadPoolExecutor(2) as pool:
        items = followed(climb, executor=pool)
    assert chunks(items) == ["step 0", "step 1", "step 2"]


def test_another_process_takes_no_context_and_says_so() -> None:
    with ProcessPoolExecutor(1) as pool:
        [result] = followed(climb, executor=pool)
    assert isinstance(result, ToolResult)
    assert result.status == "error"
    assert "asks for a ToolContext, which cannot leave this process" in (result.error or "")


def test_what_is_printed_in_another_process_comes_when_it_is_done() -> None:
    with ProcessPoolExecutor(1) as pool:
        items = followed(shout, executor=pool)
    assert [(p.stream, p.chunk) for p in progress_of(items)] == [("stdout", "loud\n")]
    assert results_of(items)[0].stdout == "loud\n"


def test_outside_of_a_runner_nothing_happens() -> None:
    ctx = ToolContext()
    ctx.emit_progress("log", "nobody listens")
    ctx.report_progress(1, 2)

    async def main() -> None:
        await ctx.emit_progress("log", "nobody listens")
        await ctx.report_progress(1, 2)
        assert await walk(ctx) == 3

    asyncio.run(main())


def test_execute_has_no_followers() -> None:
    runner = ToolRunner([walk, climb], context=ToolContext())
    assert asyncio.run(runner.execute("walk")) == 3
    assert asyncio.run(runner.execute("climb")) == 3


def test_awaiting_it_lets_the_loop_do_other_things() -> None:
    """An async tool that only reports can be seen, and stopped."""
    begun = []

    @tool
    async def endless(ctx: ToolContext) -> None:
        begun.append(1)
        while True:
            await ctx.emit_progress("log", "on and on")

    async def main(follow: bool) -> str:
        runner = ToolRunner([endless], context=ToolContext())
        batch = runner.batch([("endless", {})], observers=[Follower()] if follow else [])
        asyncio.get_running_loop().call_later(0.02, batch.stop)
        [result] = await batch.run()
        return result.status

    assert asyncio.run(main(follow=True)) == "cancelled"
    assert asyncio.run(main(follow=False)) == "cancelled"
    assert len(begun) == 2


def test_what_is_reported_after_the_result_is_dropped() -> None:
    released = threading.Event()
    threads: list[threading.Thread] = []

    @tool
    def leaves(ctx: ToolContext) -> str:
        def late() -> None:
            released.wait(10)
            ctx.emit_progress("log", "late")
            ctx.report_progress(1)

        threads.append(threading.Thread(target=late))
        threads[0].start()
        ctx.emit_progress("log", "in time")
        return "done"

    async def main() -> list[Any]:
        items = []
        runner = ToolRunner([leaves, walk], context=ToolContext())
        async with aclosing(
            runner.stream([("leaves", {}), ("walk", {})], progress=True, max_concurrency=1)
        ) as stream:
            async for item in stream:
                items.append(item)
                if isinstance(item, ToolResult) and item.name == "leaves":
                    released.set()
                    await asyncio.to_thread(threads[0].join)
        return items

    items = asyncio.run(main())
    assert chunks(items) == ["in time", "step 0", "step 1", "step 2"]


def test_a_call_that_took_too_long_reports_no_more() -> None:
    go_on = threading.Event()

    @tool
    def slow(ctx: ToolContext) -> None:
        ctx.emit_progress("log", "begun")
        while not ctx.cancelled:
            go_on.wait(0.005)
        ctx.emit_progress("log", "late")
        go_on.set()

    async def main() -> list[Any]:
        runner = ToolRunner([slow, walk], context=ToolContext(), max_concurrency=1)
        items = []
        calls = [{"name": "slow", "timeout": 0.05}, {"name": "walk"}]
        calls = [_call(**call) for call in calls]
        async with aclosing(runner.stream(calls, progress=True)) as stream:
            async for item in stream:
                items.append(item)
                if isinstance(item, ToolResult) and item.name == "slow":
                    await asyncio.to_thread(go_on.wait, 10)
        return items

    items = asyncio.run(main())
    assert chunks(items) == ["begun", "step 0", "step 1", "step 2"]
    assert results_of(items)[0].status == "error"
    assert go_on.is_set()


def _call(name: str, timeout: float | None = None) -> Any:
    from agtools_nb import ToolCall

    return ToolCall(name, {}, timeout=timeout)


def test_a_stopped_call_has_its_progress_and_then_its_result() -> None:
    @tool
    async def stubborn(ctx: ToolContext) -> None:
        await ctx.emit_progress("log", "begun")
        try:
            await asyncio.Event().wait()
        finally:
            await ctx.emit_progress("log", "cleaning up")

    async def main() -> list[Any]:
        follower = Follower()
        runner = ToolRunner([stubborn], context=ToolContext())
        batch = runner.batch([("stubborn", {})], observers=[follower])
        running = asyncio.create_task(batch.run())
        while not progress_of(follower.items):
            await asyncio.sleep(0)
        batch.stop()
        await running
        return follower.items

    items = asyncio.run(main())
    assert [p.chunk for p in progress_of(items)] == ["begun", "cleaning up"]
    assert items[-1].status == "cancelled"


def test_leaving_the_stream_early_frees_whoever_waits() -> None:
    """Nobody is left behind: a blocking tool that waits for room goes on at once."""
    ended = threading.Event()

    @tool
    def flood(ctx: ToolContext) -> None:
        for _ in range(2_000):
            ctx.emit_progress("log", "x")
        ended.set()

    async def main() -> None:
        runner = ToolRunner([flood], context=ToolContext())
        async with aclosing(runner.stream([("flood", {})], progress=True)) as stream:
            async for item in stream:
                assert isinstance(item, Progress)
                break
        assert await asyncio.to_thread(ended.wait, 10)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


def test_a_loop_that_was_closed_is_not_waited_for() -> None:
    reports: list[Any] = []
    done = threading.Event()

    @tool
    def outlives(ctx: ToolContext) -> None:
        reports.append(ctx)
        done.wait(10)

    async def main() -> None:
        runner = ToolRunner([outlives], context=ToolContext())
        batch = runner.batch([("outlives", {})], observers=[Follower()])
        running = asyncio.create_task(batch.run())
        while not reports:
            await asyncio.sleep(0.001)
        batch.stop()
        await running

    asyncio.run(main())
    reports[0].emit_progress("log", "anybody?")
    done.set()


def test_a_closed_loop_closes_the_channel() -> None:
    channels = []

    async def main() -> None:
        channels.append(ProgressChannel(lambda: None))

    asyncio.run(main())
    channels[0].add("anything")
    assert channels[0].is_closed
    assert len(channels[0]) == 0


def test_a_tool_sees_its_own_context_variables_when_it_reports() -> None:
    word: contextvars.ContextVar[str] = contextvars.ContextVar("word", default="none")
    seen = []

    class Sees(Follower):
        def call_progress(self, index: int, progress: Progress) -> None:
            seen.append(word.get())

    @tool
    async def sets(ctx: ToolContext) -> str:
        word.set("inside")
        await ctx.emit_progress("log", "x")
        return word.get()

    async def main() -> Any:
        word.set("outside")
        runner = ToolRunner([sets], context=ToolContext())
        return await runner.batch([("sets", {})], observers=[Sees()]).run()

    assert asyncio.run(main())[0].result == "inside"
    assert seen == ["outside"]


@pytest.mark.parametrize("made", [walk, climb], ids=["async", "thread"])
def test_hooks_after_a_call_come_when_its_progress_was_taken_in(made: Any) -> None:
    runner = ToolRunner([made], context=ToolContext())
    runner.after(lambda call, result: ToolResult(call.name, result="changed"))
    items = asyncio.run(streamed(runner, [(made.name, {})]))
    assert len(progress_of(items)) == 3
    assert results_of(items)[0].result == "changed"
    assert markers(items) == []


def test_a_hundred_streams_leave_nothing_behind() -> None:
    before = sys.stdout
    for _ in range(100):
        assert len(followed(walk)) == 4
    assert sys.stdout is before
