"""Who is told of changes, and who waits for them, from any thread and on any loop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

_log = logging.getLogger("agtools_nb")


class Watchers:
    """Those who are told after each change of something.

    Args:
        of: What it is, for the log.
    """

    def __init__(self, of: str) -> None:
        self._of = of
        self._listeners: list[Callable[[], None]] = []

    def __len__(self) -> int:
        """How many are told."""
        return len(self._listeners)

    def add(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` after each change, on the thread that made it.

        Returns a function that ends it.
        """
        self._listeners.append(listener)

        def stop() -> None:
            with contextlib.suppress(ValueError):
                self._listeners.remove(listener)

        return stop

    def tell(self) -> None:
        """Something has changed."""
        for listener in tuple(self._listeners):
            try:
                listener()
            except Exception:  # one who looks on cannot undo it
                _log.exception("a watcher of %s failed", self._of)

    @contextmanager
    def changes(self) -> Iterator[Callable[[], Awaitable[None]]]:
        """Give what waits for the next change; one since the last wait is not missed."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # its loop is closed: nobody waits
                loop.call_soon_threadsafe(changed.set)

        async def change() -> None:
            await changed.wait()
            changed.clear()

        stop = self.add(wake)
        try:
            yield change
        finally:
            stop()

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until ``is_so()``, which is asked after each change."""
        with self.changes() as change:
            while not is_so():
                await change()
