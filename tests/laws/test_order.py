"""Result order is call order, whatever the order in which calls start, fail, end or are stopped."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agtools_nb import ToolCall, ToolError, ToolRunner, tool

KINDS = ("task", "thread", "instant", "bad arguments", "no such tool", "no call")
ENDS = ("return", "raise", "cancel itself", "exit", "tool error")


@dataclass(frozen=True)
class Plan:
    """One call: what kind it is, how it ends, and how many turns it takes first."""

    kind: str
    end: str
    turns: int


PLANS = st.lists(
    st.builds(Plan, st.sampled_from(KINDS), st.sampled_from(ENDS), st.integers(0, 3)), max_size=8
)


def finish(end: str, number: int) -> int:
    """End as planned."""
    if end == "return":
        return number
    raise {
        "raise": ValueError(number),
        "cancel itself": asyncio.CancelledError(number),
        "exit": SystemExit(number),
        "tool error": ToolError("code", f"ToolError {number}"),
    }[end]


class Stage:
    """Tools whose calls take a step only when the schedule lets them."""

    def __init__(self, plans: list[Plan]) -> None:
        self.plans = plans
        self.steps = [asyncio.Semaphore(0) for _ in plans]
        self.doors = [threading.Semaphore(0) for _ in plans]
        self.runner = ToolRunner([self._task(), self._thread(), self._instant()])

    def _task(self) -> Any:
        @tool
        async def task(n: int):
            for _ in range(self.plans[n].turns):
                await self.steps[n].acquire()
            return finish(self.plans[n].end, n)

        return task

    def _thread(self) -> Any:
        @tool
        def thread(n: int):
            for _ in range(self.plans[n].turns):
                assert self.doors[n].acquire(timeout=30)
            return finish(self.plans[n].end, n)

        return thread

    def _instant(self) -> Any:
        @tool
        async def instant(n: int):
            return finish(self.plans[n].end, n)

        return instant

    def calls(self) -> list[Any]:
        """One call a plan, each with its number for id."""
        forms = {
            "bad arguments": lambda n: ToolCall("task", {"n": "x"}, id=f"c{n}"),
            "no such tool": lambda n: ToolCall("nope", {}, id=f"c{n}"),
            "no call": lambda n: {"id": f"c{n}"},
        }
        return [
            forms.get(
                plan.kind, lambda n, kind=plan.kind: ToolCall(kind, {"n": str(n)}, id=f"c{n}")
            )(n)
            for n, plan in enumerate(self.plans)
        ]

    def let(self, number: int) -> None:
        """Let one call take one step."""
        self.steps[number].release()
        self.doors[number].release()

    def let_all(self) -> None:
        """Let every call run to its end."""
        for number, plan in enumerate(self.plans):
            for _ in range(plan.turns):
                self.let(number)


@st.composite
def scenes(draw: st.DrawFn) -> tuple[list[Plan], list[int], int | None, int | None]:
    """Plans, the order in which steps are let, after how many of them to stop, and a limit."""
    plans = draw(PLANS)
    order = draw(st.permutations([n for n, plan in enumerate(plans) for _ in range(plan.turns)]))
    stop = draw(st.none() | st.integers(0, len(order)))
    limit = draw(st.none() | st.integers(1, 4))
    return plans, list(order), stop, limit


async def played(
    plans: list[Plan], order: list[int], stop: int | None, limit: int | None
) -> list[Any]:
    """Run the batch, letting calls step in the given order, stopped on the way or not."""
    stage = Stage(plans)
    batch = stage.runner.batch(stage.calls(), max_concurrency=limit)
    running = asyncio.create_task(batch.run())
    for count, number in enumerate(order):
        if stop == count:
            batch.stop()
        stage.let(number)
        for _ in range(3):
            await asyncio.sleep(0)
    if stop is not None and stop >= len(order):
        batch.stop()
    stage.let_all()
    return await running


@given(scenes())
def test_whatever_the_interleaving(
    scene: tuple[list[Plan], list[int], int | None, int | None],
) -> None:
    """One result a call, in its place, saying what became of that call."""
    plans, order, stop, limit = scene
    results = asyncio.run(asyncio.wait_for(played(plans, order, stop, limit), 60))
    assert len(results) == len(plans)
    for number, (plan, result) in enumerate(zip(plans, results, strict=True)):
        assert result.id == f"c{number}"
        assert result.index == number
        if result.status == "cancelled":
            assert stop is not None
        elif plan.kind in ("bad arguments", "no such tool", "no call"):
            assert result.status == "invalid"
        elif plan.end == "return":
            assert (result.status, result.result) == ("ok", number)
        else:
            assert result.status == "error"
            assert str(number) in str(result.error)


@given(PLANS, st.integers(0, 6))
def test_a_cancelled_batch_leaves_no_task_and_a_result_for_each(
    plans: list[Plan], turns: int
) -> None:
    """The waiter is cancelled after some turns of the loop; each place is settled all the same."""

    async def main() -> tuple[list[Any], set[asyncio.Task[Any]]]:
        stage = Stage(plans)
        batch = stage.runner.batch(stage.calls())
        running = asyncio.create_task(batch.run())
        for _ in range(turns):
            await asyncio.sleep(0)
        running.cancel()
        stage.let_all()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        return list(batch.results), asyncio.all_tasks() - {asyncio.current_task()}

    async def timed() -> None:
        results, left = await main()
        assert not left - before
        if turns:
            assert [result.id for result in results if result] == [
                f"c{n}" for n in range(len(plans))
            ]

    async def outer() -> None:
        before.update(asyncio.all_tasks())
        await timed()

    before: set[asyncio.Task[Any]] = set()
    asyncio.run(outer())
