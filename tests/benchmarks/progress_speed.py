"""What progress costs: calls that report none, reports that nobody or somebody follows, bars."""

from __future__ import annotations

import asyncio
import io
from functools import partial
from typing import Any

from tqdm import tqdm

from agtools_nb import ToolCall, ToolContext, ToolRunner
from benchmarks.table import Row, awaited

PIECES = 1_000
STEPS = 20_000


async def silent(ctx: ToolContext) -> None:
    for _ in range(PIECES):
        await asyncio.sleep(0)


async def reports(ctx: ToolContext) -> None:
    for _ in range(PIECES):
        await ctx.emit_progress("log", "a line of text")


async def nothing() -> None:
    return None


async def bar() -> None:
    for _ in tqdm(range(STEPS)):
        pass


class Follower:
    """Follows everything, and does nothing about it."""

    def call_started(self, index: int, call: Any, prepared: Any) -> None: ...

    def call_progress(self, index: int, progress: Any) -> None: ...

    def call_finished(self, index: int, result: Any) -> None: ...


def rows(rounds: int) -> list[Row]:
    """All comparisons of progress; ``rounds`` is how often each is taken."""
    runner = ToolRunner([silent, reports, nothing, bar], context=ToolContext())
    one = partial(_run, runner)
    calls = [ToolCall("nothing", {}, f"c{n}") for n in range(1_000)]

    async def terminal_bar() -> None:
        for _ in tqdm(range(STEPS), file=io.StringIO()):
            pass

    found = []
    for work, yardstick, ours, theirs, reach in (
        ("1,000 async no-ops that somebody follows", "the same, nobody follows",
         partial(_followed, runner, calls), partial(runner.process_tool_calls, calls), None),
        ("1,000 reports, nobody follows", "1,000 asyncio.sleep(0)",
         partial(one, "reports"), partial(one, "silent"), 3),
        ("1,000 reports in a stream", "asyncio.Queue of as many",
         partial(_streamed, runner), _queued, 5),
        ("20,000 steps of tqdm in a call", "the same tqdm into a StringIO",
         partial(one, "bar"), terminal_bar, 1.2),
    ):  # fmt: skip
        a, b = awaited([ours, theirs], rounds)
        found.append(Row(work, yardstick, a, b, reach))
    return found


async def _run(runner: ToolRunner, name: str) -> None:
    [result] = await runner.process_tool_calls([ToolCall(name)])
    assert result.ok


async def _followed(runner: ToolRunner, calls: list[ToolCall]) -> None:
    await runner.batch(calls, observers=[Follower()]).run()


async def _streamed(runner: ToolRunner) -> None:
    count = 0
    async for _ in runner.stream([ToolCall("reports")], progress=True):
        count += 1
    assert count == PIECES + 1


async def _queued() -> None:
    queue: asyncio.Queue[str | None] = asyncio.Queue(256)

    async def fill() -> None:
        for _ in range(PIECES):
            await queue.put("a line of text")
            await asyncio.sleep(0)
        await queue.put(None)

    filling = asyncio.create_task(fill())
    while await queue.get() is not None:
        pass
    await filling
