"""What brings the events of an inbox into a conversation, each once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import weakref
from collections.abc import Awaitable, Callable

from agtools_nb.errors import StoreError, UsageError
from agtools_nb.events import Event, Inbox

MOST_AT_ONCE = 64
"""Events that are being answered, or wait for their turn, at one time."""

_log = logging.getLogger("agtools_nb")

# An event is answered once; of two conversations that take, each would see half of them.
_feeding: weakref.WeakKeyDictionary[Inbox, weakref.ref[Pump]] = weakref.WeakKeyDictionary()


class Pump:
    """Takes events out of an inbox as they come and has them answered.

    One pump takes from an inbox: the one that was started last.

    Args:
        inbox: Where they come from.
        answer: Answers one, and settles it.
    """

    def __init__(self, inbox: Inbox, answer: Callable[[Event], Awaitable[None]]) -> None:
        self._inbox = inbox
        self._answer = answer
        self._task: asyncio.Task[None] | None = None
        self._at_work: set[asyncio.Task[None]] = set()

    @property
    def is_running(self) -> bool:
        """Whether events are taken."""
        return self._task is not None and not self._task.done()

    @property
    def is_idle(self) -> bool:
        """Whether no event is being answered, nor will be."""
        return not self._at_work and not (self.is_running and self._inbox.has_waiting)

    def start(self) -> None:
        """Begin, in the place of any other pump. Twice does no harm."""
        known = _feeding.get(self._inbox)
        before = None if known is None else known()
        if before is not None and before is not self:
            before.pause()
        if not self.is_running:
            self._task = asyncio.get_running_loop().create_task(self._run())
        _feeding[self._inbox] = weakref.ref(self)

    def pause(self) -> None:
        """Take no more; what was taken is still answered."""
        if self._task is not None:
            task, self._task = self._task, None
            if not task.get_loop().is_closed():
                task.cancel()

    async def stop(self) -> None:
        """End, and stop what is being answered. Twice does no harm.

        What had not become part of the conversation yet comes again.
        """
        tasks = [task for task in (self._task, *self._at_work) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._task = None

    async def _run(self) -> None:
        room = asyncio.Semaphore(MOST_AT_ONCE)
        while True:
            await room.acquire()
            try:
                event = await self._inbox.get()
            except StoreError as error:  # it was closed: nothing more will come
                _log.info("the inbox feeds no conversation any more: %s", error)
                return
            task = asyncio.get_running_loop().create_task(self._answered(event))
            self._at_work.add(task)
            task.add_done_callback(self._at_work.discard)
            task.add_done_callback(lambda _: room.release())

    async def _answered(self, event: Event) -> None:
        try:
            await self._answer(event)
        except asyncio.CancelledError:
            self._give_back(event)
            raise
        except Exception:
            # Taken again at once it would fail again; it comes back when the store is opened anew.
            _log.exception("event %s was not answered", event.id)

    def _give_back(self, event: Event) -> None:
        with contextlib.suppress(UsageError, StoreError):
            self._inbox.release(event)
