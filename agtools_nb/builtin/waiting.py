"""``sleep``: how a model waits for events."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Annotated, Any

from pydantic import Field

from agtools_nb.define import Tool
from agtools_nb.events import Background

LONGEST_SLEEP = 3_600.0


def sleep_tool(background: Background | None = None) -> Tool:
    """Make the ``sleep`` tool. It is passive: events get through while it waits.

    Args:
        background: Whose inbox may wake it. Default: none, and it sleeps to the end.
    """

    async def sleep(
        seconds: Annotated[float, Field(ge=0, le=LONGEST_SLEEP, description="How long to wait.")],
        until_event: Annotated[
            bool, Field(description="Wake up as soon as an event or message is there.")
        ] = False,
    ) -> dict[str, Any]:
        """Wait, for example for a task or subscription; events get through meanwhile."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        is_woken = False
        if until_event and background is not None:
            is_woken = await _arrival(background, seconds)
        else:
            await asyncio.sleep(seconds)
        slept = round(loop.time() - began, 3)
        return {"slept": slept, "woken_by_event": is_woken}

    return Tool(sleep, read_only=True, passive=True, display="Wait {seconds} s")


async def _arrival(background: Background, seconds: float) -> bool:
    """Wait until there is an event to handle, but no longer than that."""
    inbox = background.inbox
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await inbox.until(lambda: inbox.has_waiting)
    return inbox.has_waiting
