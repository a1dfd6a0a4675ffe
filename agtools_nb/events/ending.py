"""How background work is ended, from any loop, and how its end is kept when the store cannot."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
from collections.abc import Callable
from typing import Any

from agtools_nb.errors import StoreError

GRACE_SECONDS = 5.0
"""How long what was cancelled may clean up before nobody waits for it any more."""

_FIRST_RETRY, _LAST_RETRY = 1.0, 60.0

_log = logging.getLogger("agtools_nb")


async def stopped(task: asyncio.Task[Any] | None) -> None:
    """Cancel a task and wait for its end, at most 5 seconds; it may run on another loop."""
    if task is None or task.done():
        return
    loop = task.get_loop()
    if loop is asyncio.get_running_loop():
        task.cancel()
        if task is not asyncio.current_task():
            await asyncio.wait({task}, timeout=GRACE_SECONDS)
        return
    ended: concurrent.futures.Future[None] = concurrent.futures.Future()

    def stop() -> None:
        task.add_done_callback(lambda _: ended.set_result(None))
        task.cancel()

    with contextlib.suppress(RuntimeError, TimeoutError):  # its loop is closed: nothing runs
        loop.call_soon_threadsafe(stop)
        await asyncio.wait_for(asyncio.wrap_future(ended), GRACE_SECONDS)


class Unkept:
    """What could not be written, tried again and again: after 1 s, 2 s, ... 60 s."""

    def __init__(self) -> None:
        self._waiting: list[Callable[[], None]] = []
        self._timer: asyncio.TimerHandle | None = None

    def retry(self, write: Callable[[], None]) -> None:
        """Try to write later, on the running loop; without one, when something else ends."""
        self._waiting.append(write)
        if self._timer is None:
            self._schedule(_FIRST_RETRY)

    def close(self) -> None:
        """Try a last time."""
        if self._timer is not None:
            self._timer.cancel()
        self._write()

    def _schedule(self, seconds: float) -> None:
        with contextlib.suppress(RuntimeError):
            self._timer = asyncio.get_running_loop().call_later(seconds, self._again, seconds)

    def _again(self, seconds: float) -> None:
        self._timer = None
        self._write()
        if self._waiting:
            self._schedule(min(2 * seconds, _LAST_RETRY))

    def _write(self) -> None:
        """Write what can be written, oldest first; what cannot stays."""
        while self._waiting:
            try:
                self._waiting[0]()
            except StoreError as error:
                _log.warning("background work cannot be kept yet: %s", error)
                return
            del self._waiting[0]
