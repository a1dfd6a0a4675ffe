"""Tools that take too long: answered in time, cleaned up in the background, no late result."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import pytest

from agtools_nb import ToolCall, ToolResult, ToolRunner, UsageError, tool
from cases.calling import run
from cases.stepped_loop import run_stepped

TICK = 0.06  # seconds by which a heartbeat may be late


async def timed(work: Any) -> tuple[Any, float]:
    """What it gave, and how long it took by the loop's clock."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    return await work, loop.time() - start


class TestCoroutines:
    """async-04: the answer comes when the time is up, not when the tool has cleaned up."""

    @pytest.mark.parametrize("how", ["tool", "call", "batch", "runner"])
    def test_cleaning_up_goes_on_behind_the_answer(self, how: str) -> None:
        cleaned = []

        async def slow(n: int = 0):
            try:
                await asyncio.sleep(10)
            finally:
                await asyncio.sleep(2)
                cleaned.append(n)

        made = tool(timeout=0.2)(slow) if how == "tool" else tool(slow)
        runner = ToolRunner([made], timeout=0.2 if how == "runner" else None)
        call = ToolCall("slow", {"n": 1}, timeout=0.2 if how == "call" else None)

        async def main() -> None:
            batch = runner.process_tool_calls([call], timeout=0.2 if how == "batch" else None)
            [result], took = await timed(batch)
            assert result.status == "error"
            assert "0.2 s" in str(result.error)
            assert 0.199 < took < 0.2 + TICK
            assert cleaned == []
            await asyncio.sleep(2.5)
            assert cleaned == [1]

        run_stepped(main())

    def test_a_failure_while_cleaning_up_is_reported(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        @tool(timeout=0.2)
        async def slow():
            try:
                await asyncio.sleep(10)
            finally:
                raise ValueError("while cleaning up")

        async def main() -> list[ToolResult]:
            results = await ToolRunner([slow]).process_tool_calls([("slow",)])
            await asyncio.sleep(1)
            return results

        with caplog.at_level(logging.WARNING, "agtools_nb"):
            [result] = run_stepped(main())
        assert result.status == "error"
        told = f"{caplog.text} {result.error} {result.notes}"
        assert "while cleaning up" in told

    def test_one_that_will_not_end_holds_up_nobody(self) -> None:
        release = []

        @tool(timeout=0.2)
        async def stubborn():
            while not release:
                try:
                    await asyncio.sleep(1)
                except asyncio.CancelledError:
                    continue

        @tool
        async def quick(n: int) -> int:
            return n

        async def main() -> None:
            calls = [("stubborn",), ("quick", {"n": 1})]
            results, took = await timed(ToolRunner([stubborn, quick]).process_tool_calls(calls))
            assert [result.status for result in results] == ["error", "ok"]
            assert took < 0.2 + TICK
            release.append(True)
            await asyncio.sleep(2)

        run_stepped(main())

    def test_one_that_is_in_time_is_not_touched(self) -> None:
        @tool(timeout=5)
        async def nearly() -> str:
            await asyncio.sleep(4.9)
            return "done"

        async def main() -> Any:
            return await timed(ToolRunner([nearly]).process_tool_calls([("nearly",)]))

        [result], took = run_stepped(main())
        assert result.result == "done"
        assert took == pytest.approx(4.9, abs=TICK)

    def test_each_call_has_its_own_time(self) -> None:
        @tool
        async def wait(seconds: float) -> float:
            await asyncio.sleep(seconds)
            return seconds

        calls = [ToolCall("wait", {"seconds": s}, timeout=1.0) for s in (0.5, 1.5, 0.9, 30)]

        async def main() -> Any:
            return await timed(ToolRunner([wait]).process_tool_calls(calls))

        results, took = run_stepped(main())
        assert [result.status for result in results] == ["ok", "error", "ok", "error"]
        assert took < 1 + TICK

    def test_a_timeout_that_the_tool_raises_is_its_own_failure(self) -> None:
        @tool(timeout=5)
        async def impatient():
            async with asyncio.timeout(0.1):
                await asyncio.sleep(1)

        [result] = run_stepped(ToolRunner([impatient]).process_tool_calls([("impatient",)]))
        assert result.status == "error"
        assert str(result.error).startswith("TimeoutError")

    @pytest.mark.parametrize("seconds", [0, -1, float("nan"), "1"], ids=repr)
    def test_no_time_at_all_is_refused(self, seconds: Any) -> None:
        with pytest.raises((UsageError, TypeError)):
            ToolRunner([]).batch([], timeout=seconds)


class TestThreads:
    """async-05: a thread cannot be ended; it is said so, its result dropped, nobody starved."""

    def test_the_answer_says_that_it_may_still_be_running(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        release, ended = threading.Event(), threading.Event()

        @tool(timeout=0.2)
        def slow() -> str:
            release.wait(30)
            print("late")
            ended.set()
            return "late"

        try:
            [result] = run(ToolRunner([slow]).process_tool_calls([("slow",)]))
        finally:
            release.set()
        assert result.status == "error"
        assert "still" in f"{result.error} {' '.join(result.notes)}"
        assert result.duration < 20
        assert ended.wait(30)
        assert (result.result, result.stdout) == (None, "")
        # Its call has been answered, and whatever cell runs now has not printed this.
        assert capsys.readouterr().out == ""

    def test_stuck_workers_starve_nobody(self) -> None:
        release = threading.Event()

        @tool(timeout=0.2)
        def stuck():
            release.wait(30)

        @tool
        def quick(n: int) -> int:
            return n

        runner = ToolRunner([stuck, quick])

        async def main() -> Any:
            first = await runner.process_tool_calls([("stuck",)] * 40)
            second = await runner.process_tool_calls([("quick", {"n": n}) for n in range(40)])
            return first, second

        try:
            first, second = run(main())
        finally:
            release.set()
        assert {result.status for result in first} == {"error"}
        assert [result.result for result in second] == list(range(40))

    def test_execute_too(self) -> None:
        release = threading.Event()

        @tool(timeout=0.1)
        def slow():
            release.wait(30)

        try:
            with pytest.raises(Exception, match=r"0\.1 s"):
                run(ToolRunner([slow]).execute("slow"))
        finally:
            release.set()
