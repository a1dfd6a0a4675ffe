"""Calls share tasks only while they do not wait; each sees one task and a context of its own."""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any

import pytest

from agtools_nb import ToolResult, ToolRunner, tool

variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="fresh")


def process(tools: list[Any], calls: list[Any], **options: Any) -> list[ToolResult]:
    return asyncio.run(ToolRunner(tools).process_tool_calls(calls, **options))


def test_a_thousand_calls_that_never_wait_need_few_tasks() -> None:
    tasks = set()

    @tool
    async def note() -> None:
        tasks.add(asyncio.current_task())

    assert all(result.ok for result in process([note], [("note",)] * 1_000))
    assert len(tasks) < 10


def test_a_call_that_waits_keeps_its_task_to_the_end() -> None:
    @tool
    async def wait(n: int) -> bool:
        first = asyncio.current_task()
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            await asyncio.sleep(0)
        return first is asyncio.current_task()

    results = process([wait], [("wait", {"n": n}) for n in range(300)])
    assert [result.result for result in results] == [True] * 300


def test_each_call_has_a_context_of_its_own_before_and_after_it_waits() -> None:
    @tool
    async def quick(n: int) -> str:
        seen = variable.get()
        variable.set(f"quick {n}")
        return seen

    @tool
    async def slow(n: int) -> tuple[str, str]:
        seen = variable.get()
        variable.set(f"slow {n}")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return seen, variable.get()

    calls = [("slow" if n % 3 else "quick", {"n": n}) for n in range(60)]
    for n, result in enumerate(process([quick, slow], calls)):
        assert result.result == (("fresh", f"slow {n}") if n % 3 else "fresh")


def test_a_time_limit_inside_a_tool_is_its_own() -> None:
    @tool
    async def limited(n: int) -> str:
        try:
            async with asyncio.timeout(0 if n % 2 else 60):
                await asyncio.sleep(0)
                await asyncio.sleep(0)
        except TimeoutError:
            return "late"
        return "in time"

    results = process([limited], [("limited", {"n": n}) for n in range(40)])
    assert [result.result for result in results] == ["in time", "late"] * 20


def test_a_tool_that_cancels_its_own_task_hits_no_other_call() -> None:
    @tool
    async def cancels(how: str) -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        if how == "waits":
            await asyncio.sleep(0)
        return how

    @tool
    async def fine() -> str:
        await asyncio.sleep(0)
        return "fine"

    calls = [
        ("cancels", {"how": "returns"}),
        ("fine",),
        ("cancels", {"how": "waits"}),
        ("fine",),
    ] * 5
    results = process([cancels, fine], calls)
    assert [result.status for result in results] == ["ok", "ok", "cancelled", "ok"] * 5


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_the_limit_counts_calls_that_wait(limit: int) -> None:
    now = most = 0

    @tool
    async def wait(n: int) -> int:
        nonlocal now, most
        now += 1
        most = max(most, now)
        for _ in range(n % 3):
            await asyncio.sleep(0)
        now -= 1
        return n

    results = process([wait], [("wait", {"n": n}) for n in range(50)], max_concurrency=limit)
    assert [result.result for result in results] == list(range(50))
    assert most == limit


def test_a_batch_of_calls_that_never_wait_lets_the_loop_breathe() -> None:
    ticks = 0

    @tool
    def busy() -> None: ...

    @tool
    async def works() -> None:
        for _ in range(100_000):
            pass

    async def main() -> None:
        nonlocal ticks

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        await ToolRunner([works]).process_tool_calls([("works",)] * 100)
        ticking.cancel()

    asyncio.run(main())
    assert ticks > 3


def test_the_loop_may_be_closed_under_a_batch() -> None:
    """What was begun is ended, and nothing is left that would complain of it."""
    ended = []

    @tool
    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(1)

    async def main() -> None:
        asyncio.create_task(ToolRunner([hang]).process_tool_calls([("hang",)] * 3))  # noqa: RUF006
        for _ in range(10):
            await asyncio.sleep(0)

    asyncio.run(main())
    assert ended == [1, 1, 1]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("waits", [True, False])
def test_a_cancel_that_a_tool_takes_back_hits_no_other_call(first: bool, waits: bool) -> None:
    @tool
    async def cancels() -> str:
        if waits:
            await asyncio.sleep(0)
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        task.uncancel()
        return "done"

    @tool
    async def fine() -> str:
        await asyncio.sleep(0)
        return "fine"

    calls = [("cancels",), ("fine",), ("fine",)] if first else [("fine",), ("cancels",), ("fine",)]
    results = process([cancels, fine], calls, max_concurrency=1)
    assert [result.status for result in results] == ["ok"] * 3


def test_an_eager_task_factory_changes_nothing() -> None:
    factory = getattr(asyncio, "eager_task_factory", None)
    now = most = 0

    @tool
    async def wait(n: int) -> int:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        return n

    async def main() -> list[ToolResult]:
        if factory is not None:  # since Python 3.12
            asyncio.get_running_loop().set_task_factory(factory)
        calls = [("wait", {"n": n}) for n in range(2_000)]
        return await ToolRunner([wait]).process_tool_calls(calls, max_concurrency=2)

    assert [result.result for result in asyncio.run(main())] == list(range(2_000))
    assert most == 2
