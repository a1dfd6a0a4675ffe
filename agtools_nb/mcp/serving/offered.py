"""Which tools a runner offers to MCP clients, and how one of their calls is run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, Literal

from agtools_nb import ToolRunner
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context import Progress
from agtools_nb.define import Tool, ToolWithSchema
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr


def runner_of(tools: Any) -> ToolRunner:
    """The runner of whatever holds tools: a runner, a toolkit, or an iterable of tools.

    Raises:
        UsageError: It holds none.
    """
    runner = getattr(tools, "runner", tools)
    if isinstance(runner, ToolRunner):
        return runner
    if isinstance(tools, (list, tuple)):
        return ToolRunner(tools)
    raise UsageError(
        f"serve() takes a Toolkit, a ToolRunner or a list of tools, not {brief_repr(tools)}"
    )


class Offered:
    """The tools of a runner as clients see them, which may change while they are served.

    A client has no inbox: a ``dispatched`` tool is run to its end, and the call answers with
    what it returns. Subscriptions, whose values come later, are not offered.

    Args:
        runner: Holds the tools.
    """

    def __init__(self, runner: ToolRunner) -> None:
        self._runner = runner

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, in their order."""
        left_out = self.left_out
        return self._without(left_out).tools if left_out else self._runner.tools

    @property
    def left_out(self) -> list[str]:
        """Names of the tools that are not offered."""
        return [tool.name for tool in self._runner.tools if tool.is_subscription]

    async def happenings(
        self, name: str, arguments: Mapping[str, Any], *, progress: bool
    ) -> AsyncIterator[Progress | ToolResult]:
        """Run a call: its progress if that is asked for, and its result at the end.

        Leaving the loop stops the call.
        """
        runner = self._runner_for(name)
        call = ToolCall(name, dict(arguments))
        async with aclosing(runner.stream([call], progress=progress)) as happenings:
            async for happening in happenings:
                yield happening

    def _runner_for(self, name: str) -> ToolRunner:
        """The runner, or one in which the tool is run while its call waits."""
        left_out = self.left_out
        runner = self._without(left_out) if left_out else self._runner
        tool = {tool.name: tool for tool in runner.tools}.get(name)
        if tool is None or tool.mode != "dispatched":
            return runner
        twin = runner.twin(runner.context, runner.background)
        twin.replace(_inline(tool))
        return twin

    def _without(self, names: list[str]) -> ToolRunner:
        """A runner in which there are no such names, nor what came with them."""
        twin = self._runner.twin(self._runner.context, self._runner.background)
        for name in names:
            twin.unregister(name)
        return twin


def _inline(tool: Tool) -> Tool:
    """The same tool, waited for."""
    mode: Literal["inline"] = "inline"
    if isinstance(tool, ToolWithSchema):
        return ToolWithSchema(tool, tool.input_schema, mode=mode)
    return Tool(tool, mode=mode)


async def in_a_task(work: Any) -> Any:
    """Run a coroutine as a task of its own, ended before who waits for it is.

    The SDK cancels in the way of anyio, which is to cancel at each ``await`` again: what a call
    does to end its tools would be cut off.
    """
    import anyio

    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        with anyio.move_on_after(_END_SECONDS, shield=True):
            await asyncio.wait({task})
        raise
    return task.result()


_END_SECONDS = 5.0
