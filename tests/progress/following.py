"""What the tests of progress share: following a batch or a stream to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from agtools_nb import ToolContext, ToolResult, ToolRunner
from agtools_nb.context import Progress

Item = Progress | ToolResult


async def streamed(runner: ToolRunner, calls: Any, **options: Any) -> list[Item]:
    async with aclosing(runner.stream(calls, progress=True, **options)) as stream:
        return [item async for item in stream]


def followed(*tools: Any, calls: Any = None, **options: Any) -> list[Item]:
    """Everything that a stream of these calls yields; by default one call of each tool."""
    runner = ToolRunner(tools, context=ToolContext(), **options)
    names = [(name, {}) for name in runner.tool_names]
    return asyncio.run(streamed(runner, names if calls is None else calls))


def progress_of(items: Sequence[Item]) -> list[Progress]:
    return [item for item in items if isinstance(item, Progress)]


def results_of(items: Sequence[Item]) -> list[ToolResult]:
    return [item for item in items if isinstance(item, ToolResult)]


def chunks(items: Sequence[Item]) -> list[str]:
    return [item.chunk for item in progress_of(items)]


def markers(items: Sequence[Item]) -> list[Progress]:
    return [item for item in progress_of(items) if item.is_marker]


class Follower:
    """An observer of a batch that keeps what it is told, in order."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def call_started(self, index: int, call: Any, prepared: Any) -> None:
        self.items.append(("started", index))

    def call_progress(self, index: int, progress: Progress) -> None:
        assert progress.index == index
        self.items.append(progress)

    def call_finished(self, index: int, result: ToolResult) -> None:
        self.items.append(result)
