"""One call that is run by itself, not in a batch."""

from __future__ import annotations

import asyncio
import contextlib

from agtools_nb.calls import ToolResult
from agtools_nb.run.attempt import Attempt


async def run_alone(attempt: Attempt) -> ToolResult:
    """Run a call to its result.

    Raises:
        asyncio.CancelledError: The waiting task was cancelled; hooks were told.
    """
    gate = attempt.setting.gate
    if gate is None:
        return await _run(attempt)
    round_ = gate.round()
    attempt.visit = round_.visit()
    results: tuple[ToolResult, ...] = ()
    await round_.began((attempt.call,))
    try:
        results = (await _run(attempt),)
    finally:
        await round_.ended(results, stopped=not results)
    return results[0]


async def _run(attempt: Attempt) -> ToolResult:
    try:
        return await attempt.run(contextlib.nullcontext(), own_task=False)
    except asyncio.CancelledError:
        await attempt.told(attempt.stopped())
        raise
