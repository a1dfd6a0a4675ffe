"""The short way through a call: an async function, plain arguments that fit, nobody who looks on.

It gives what :meth:`Attempt.run` gives, in one step instead of five. In a batch of a
thousand small calls those steps are most of the time.
"""

from __future__ import annotations

import time

from agtools_nb.arguments import Prepared, Validate, plan_of
from agtools_nb.calls import ToolResult
from agtools_nb.define import Tool
from agtools_nb.run.attempt import Attempt
from agtools_nb.run.capture import current_output
from agtools_nb.run.invoke import PLAIN
from agtools_nb.run.setting import Setting
from agtools_nb.run.work import Turn


def is_bare(setting: Setting) -> bool:
    """Whether calls are only validated and run, so that they may take the short way."""
    if setting.background is not None or setting.gate is not None:
        return False
    asks = (setting.before, setting.after, setting.check_results, setting.timeout)
    return setting.validate and not any(asks)


def short_way(tool: Tool | None) -> Validate | None:
    """The validator of a tool, if nothing but it stands between arguments and function."""
    if tool is None or not tool.is_async or tool.outlives_call:
        return None
    if tool.scopes or tool.turn is not None or tool.timeout is not None:
        return None
    if tool.path_of is not None:
        return None
    plan = plan_of(tool)
    return plan.direct if plan.is_by_name and not plan.shares and not plan.defaults else None


async def run_quickly(attempt: Attempt, turn: Turn, tool: Tool, direct: Validate) -> ToolResult:
    """Run a call to its result; if its arguments need more than a look, on the long way.

    Args:
        attempt: A call with plain arguments and no time limit of its own.
        turn: As for :meth:`Attempt.run`.
        tool: Its tool.
        direct: What :func:`short_way` found for the tool.

    Raises:
        asyncio.CancelledError: The waiting task was cancelled.
    """
    arguments, asked, output = attempt.args, attempt.asked, attempt.output
    try:
        values = direct(arguments)
    except ValueError:  # pydantic's ValidationError is one
        return await attempt.run(turn)
    started_at, clock = time.time(), time.perf_counter()
    current_output.set(output)
    try:
        value = await tool.fn(**values)
        if type(value) not in PLAIN:
            value = await attempt.opened(tool, value)
    except BaseException as error:  # as in Attempt.run
        attempt.begun(started_at, clock, Prepared(arguments, values))
        return attempt.outcome_of(error)
    stdout, stderr, warned = output.texts()
    output.is_over = True
    return ToolResult(
        asked.name, attempt.id, asked.step_id, value, None, None, tool.server_name, "ok",
        arguments, (), (), stdout, stderr, started_at, time.perf_counter() - clock,
        attempt.notes, attempt.media, warned, attempt.index,
    )  # fmt: skip
