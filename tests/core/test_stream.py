"""Streams of calls: results as they finish, any number of calls in bounded memory."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

import pytest

from agtools_nb import Strategy, ToolResult, ToolRunner, UsageError, tool


@tool
async def same(n: int) -> int:
    return n


def collect(runner: ToolRunner, calls: Any, **options: Any) -> list[ToolResult]:
    async def main() -> list[ToolResult]:
        return [result async for result in runner.stream(calls, **options)]

    return asyncio.run(main())


def test_each_result_says_which_call_it_answers() -> None:
    calls = [("same", {"n": n}) for n in range(1_000)]
    results = collect(ToolRunner([same]), calls)
    assert sorted(result.index for result in results) == list(range(1_000))
    assert all(result.result == result.index for result in results)


def test_results_come_as_they_finish() -> None:
    gates = [asyncio.Event() for _ in range(3)]

    @tool
    async def wait(n: int) -> int:
        await gates[n].wait()
        return n

    async def main() -> list[int]:
        found = []
        stream = ToolRunner([wait]).stream([("wait", {"n": n}) for n in range(3)])
        for n in (2, 0, 1):
            gates[n].set()
            found.append((await anext(stream)).index)
        assert [result async for result in stream] == []
        return found

    assert asyncio.run(main()) == [2, 0, 1]


def test_calls_are_read_no_faster_than_results_are_taken() -> None:
    read = []

    def calls() -> Iterator[Any]:
        for n in range(10_000):
            read.append(n)
            yield ("same", {"n": n})

    async def main() -> None:
        taken = 0
        async with aclosing(ToolRunner([same]).stream(calls(), max_concurrency=8)) as stream:
            async for _ in stream:
                taken += 1
                # What is open, and the one call that waits for its place.
                assert len(read) <= taken + 9
                if taken == 500:
                    break

    asyncio.run(main())
    assert len(read) < 520


def test_a_hundred_thousand_calls_keep_no_more_than_what_is_open() -> None:
    class Big:
        """A result that can be watched."""

    alive: weakref.WeakSet[Big] = weakref.WeakSet()

    @tool
    async def make() -> Big:
        big = Big()
        alive.add(big)
        return big

    async def main() -> tuple[int, int]:
        count = most = 0
        async for result in ToolRunner([make]).stream(
            (("make",) for _ in range(100_000)), max_concurrency=64
        ):
            assert result.ok
            count += 1
            if count % 10_000 == 0:
                gc.collect()
                most = max(most, len(alive))
        return count, most

    count, most = asyncio.run(main())
    assert count == 100_000
    assert most <= 200


def test_calls_may_come_from_an_async_iterator() -> None:
    async def calls() -> AsyncIterator[Any]:
        for n in range(5):
            await asyncio.sleep(0)
            yield ("same", {"n": n})

    assert sorted(result.result for result in collect(ToolRunner([same]), calls())) == [*range(5)]


def test_what_reading_the_calls_raises_comes_after_the_results() -> None:
    def calls() -> Iterator[Any]:
        yield ("same", {"n": 1})
        raise OSError("the file ended early")

    async def main() -> list[Any]:
        stream = ToolRunner([same]).stream(calls())
        found = [(await anext(stream)).result]
        with pytest.raises(OSError, match="ended early"):
            await anext(stream)
        return found

    assert asyncio.run(main()) == [1]


def test_what_is_no_call_is_a_result_too() -> None:
    results = collect(
        ToolRunner([same]), [5, ("same", {"n": "x"}), ("nobody",), ("same", {"n": 1})]
    )
    by_index = sorted(results, key=lambda result: result.index)
    assert [result.status for result in by_index] == ["invalid", "invalid", "invalid", "ok"]


def test_an_id_may_come_again_once_its_call_is_answered() -> None:
    calls = [{"name": "same", "args": {"n": n}, "id": "one"} for n in range(3)]
    results = collect(ToolRunner([same]), calls, max_concurrency=1)
    assert [result.id for result in results] == ["one"] * 3
    together = collect(ToolRunner([same]), calls)
    assert sorted(result.id or "" for result in together) == ["one", "one#2", "one#3"]


def test_leaving_the_loop_stops_what_runs() -> None:
    ended = []

    @tool
    async def hang(n: int) -> int:
        try:
            if n:
                await asyncio.Event().wait()
            return n
        finally:
            ended.append(n)

    async def main() -> None:
        async with aclosing(
            ToolRunner([hang]).stream(("hang", {"n": n}) for n in range(4))
        ) as stream:
            async for result in stream:
                assert result.result == 0
                break
        assert sorted(ended) == [0, 1, 2, 3]
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


def test_cancelling_the_reader_stops_what_runs() -> None:
    begun, ended = [], []

    @tool
    async def hang(n: int) -> None:
        begun.append(n)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(n)

    async def main() -> None:
        async def read() -> None:
            async for _ in ToolRunner([hang]).stream(("hang", {"n": n}) for n in range(4)):
                pass

        reader = asyncio.create_task(read())
        while len(begun) < 4:
            await asyncio.sleep(0)
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        assert sorted(ended) == [0, 1, 2, 3]
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


def test_strategies_hold_in_a_stream() -> None:
    now, most, alone = set(), [0], []

    @tool(read_only=True)
    async def look(n: int) -> int:
        now.add(n)
        most[0] = max(most[0], len(now))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        now.discard(n)
        return n

    @tool
    async def change(n: int) -> int:
        alone.append(len(now))
        now.add(n)
        await asyncio.sleep(0)
        now.discard(n)
        return n

    calls = [("change" if n % 3 == 2 else "look", {"n": n}) for n in range(12)]
    collect(ToolRunner([look, change], strategy=Strategy.AUTO), calls)
    assert most[0] == 2
    assert alone == [0] * 4
    one_by_one = collect(ToolRunner([look, change], strategy=Strategy.SEQUENTIAL), calls)
    assert [result.index for result in one_by_one] == list(range(12))


def test_bounds_are_checked_at_once() -> None:
    with pytest.raises(UsageError, match="at least 1, not 0"):
        ToolRunner().stream([], max_concurrency=0)
