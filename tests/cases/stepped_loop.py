"""An event loop whose clock jumps to the next timer instead of waiting for it."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any


class _Selector(selectors.DefaultSelector):
    """Waits for real events only where there is no timer to jump to."""

    loop: SteppedLoop

    def select(self, timeout: float | None = None) -> list[Any]:
        """Ready events; if there are none, time has passed at once."""
        if timeout is None:
            return super().select(None)
        ready = super().select(0)
        if not ready and timeout > 0:
            self.loop.now += timeout
        return ready


class SteppedLoop(asyncio.SelectorEventLoop):
    """Seconds of this loop cost none of ours. ``now`` is its clock."""

    def __init__(self) -> None:
        selector = _Selector()
        selector.loop = self
        self.now = 1_000.0
        super().__init__(selector)

    def time(self) -> float:
        """The clock, in seconds."""
        return self.now


def run_stepped(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run to the end on a loop with a jumping clock."""
    with asyncio.Runner(loop_factory=SteppedLoop) as runner:
        return runner.run(coroutine)
