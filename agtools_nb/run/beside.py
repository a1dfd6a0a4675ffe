"""A call that is answered while its function runs on, beside the conversation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

from agtools_nb.arguments import Prepared
from agtools_nb.calls import ToolResult
from agtools_nb.context import Progress, ProgressChannel
from agtools_nb.define import Tool
from agtools_nb.errors import UsageError
from agtools_nb.run.capture import current_output, routed_output
from agtools_nb.run.clearing import check_path
from agtools_nb.run.work import Started, Turn, Work, in_time

if TYPE_CHECKING:
    from agtools_nb.run.attempt import Attempt


async def handed_over(attempt: Attempt, tool: Tool, prepared: Prepared) -> Started:
    """Have the function of a call run beside the conversation.

    Raises:
        UsageError: The runner has nobody who takes care of that.
        CallTimeoutError: A subscription's first value did not come in time.
    """
    keeper = attempt.setting.background
    if keeper is None:
        raise UsageError(
            f"{tool.name} was not run: it goes on after its call has been answered, and this "
            "runner has nobody to take care of that; give ToolRunner(background=Background())"
        )
    attempt.bound(tool, prepared.values or {})  # what is missing is told now, not to nobody
    twin = attempt.twin()
    group_id = attempt.asked.step_id or attempt.group_id
    work = Work(
        tool, attempt.call, prepared.arguments or {}, group_id, partial(run_on, twin),
        partial(yielded, twin),
    )  # fmt: skip
    if not tool.is_subscription:
        return await keeper.start(work)
    twin.output.progress = attempt.output.progress  # up to the first value, which ends it
    return await in_time(tool, keeper.start(work), attempt.seconds(tool))


async def run_on(attempt: Attempt, turn: Turn, follow: Callable[[Progress], None]) -> ToolResult:
    """Run it beside the conversation, to its result also when it is cancelled.

    Args:
        attempt: The call, admitted before.
        turn: Held while a blocking function runs.
        follow: Told of its progress.
    """

    def pass_on() -> None:
        for _ in range(len(channel)):
            follow(channel.take())

    channel = ProgressChannel(pass_on)
    attempt.report_to(channel)
    with routed_output():
        try:
            return await attempt.run(turn)
        except asyncio.CancelledError:
            return await attempt.told(attempt.stopped())
        finally:
            attempt.end_progress()
            pass_on()


async def yielded(attempt: Attempt) -> AsyncGenerator[Any, None]:
    """What the function of a subscription yields, caught and bound as in any call."""
    tool, prepared = attempt.tool, attempt.prepared
    assert tool is not None
    assert prepared is not None
    attempt.begin()
    current_output.set(attempt.output)
    args, kwargs = attempt.bound(tool, prepared.values or {})
    check_path(attempt, tool)
    async with aclosing(tool.fn(*args, **kwargs)) as values:
        async for value in values:
            yield value
            # What it says after its first value has no call to be shown on.
            attempt.output.is_over = True
            attempt.end_progress()
