"""The queue between the tools of a batch, on any thread, and who follows their progress."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

QUEUE_EVENTS = 256
"""Most pieces of progress of one batch that wait to be taken."""

WAIT_SECONDS = 0.1
"""How long a tool waits for room in the queue before its piece is dropped."""


class ProgressChannel:
    """Items in the order in which they came, taken on the loop that made the channel.

    Pieces of progress are counted and limited; results and markers, of which there are
    few, always find room. Once a piece waited in vain, nobody waits again until
    something was taken: a reader who never reads costs 100 ms, not 100 ms a piece.

    Args:
        deliver: Called on the loop, outside of any call, soon after something came.

    Attributes:
        lock: Held for every change. Re-entrant: a finalizer may report in the middle of one.
        is_stalled: Whether the last who waited did so in vain.
        is_closed: Whether nobody follows any more, so that whatever comes is dropped.
    """

    def __init__(self, deliver: Callable[[], None]) -> None:
        self.lock = threading.RLock()
        self.is_stalled = False
        self.is_closed = False
        self._deliver = deliver
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        # A call's own would have what a listener prints caught as the call's output.
        self._context = contextvars.copy_context()
        self._items: deque[tuple[Any, bool]] = deque()
        self._counted = 0
        self._is_scheduled = False
        self._freed = threading.Condition(self.lock)
        self._waiters: set[asyncio.Future[None]] = set()

    def __len__(self) -> int:
        return len(self._items)

    @property
    def has_room(self) -> bool:
        """Whether one more piece of progress may be added."""
        return self._counted < QUEUE_EVENTS

    @property
    def newest(self) -> Any:
        """The item that came last, if it was not taken yet."""
        return self._items[-1][0] if self._items else None

    def add(self, item: Any, *, is_counted: bool = False) -> None:
        """Add an item; it is delivered soon."""
        with self.lock:
            if self.is_closed:
                return
            self._items.append((item, is_counted))
            self._counted += is_counted
            if not self._is_scheduled:
                self._is_scheduled = True
                self._schedule()

    def replace_newest(self, item: Any) -> None:
        """Put an item in the place of the one that came last. Call it with the lock held."""
        self._items[-1] = (item, self._items[-1][1])

    def take(self) -> Any:
        """The oldest item.

        Raises:
            IndexError: There is none.
        """
        with self.lock:
            item, is_counted = self._items.popleft()
            if is_counted:
                self._counted -= 1
                self.is_stalled = False
                self._wake()
            return item

    def close(self) -> None:
        """Nobody follows any more: drop what waits, and whoever waits goes on at once."""
        with self.lock:
            self.is_closed = True
            self._items.clear()
            self._counted = 0
            self._wake()

    def call_later(self, seconds: float, function: Callable[[], None]) -> None:
        """Call a function on the loop after so many seconds, unless that is closed."""
        _call_soon(self._loop, self._context, self._loop.call_later, seconds, function)

    def wait(self) -> None:
        """Block until there is room, for at most 100 ms. Call it with the lock held."""
        until = time.monotonic() + WAIT_SECONDS
        while self._must_wait():
            left = until - time.monotonic()
            if left <= 0:
                self.is_stalled = True
                return
            self._freed.wait(left)

    async def room(self) -> None:
        """Wait until there is room, for at most 100 ms of the running loop's time."""
        loop = asyncio.get_running_loop()
        until = loop.time() + WAIT_SECONDS
        while self._must_wait():
            if loop.time() >= until:
                self.is_stalled = True
                return
            woken: asyncio.Future[None] = loop.create_future()
            timer = loop.call_at(until, _set, woken)
            with self.lock:
                self._waiters.add(woken)
            try:
                await woken
            finally:
                timer.cancel()
                with self.lock:
                    self._waiters.discard(woken)

    def _must_wait(self) -> bool:
        return not (self.has_room or self.is_stalled or self.is_closed)

    def _wake(self) -> None:
        self._freed.notify_all()
        for woken in self._waiters:
            _call_soon(woken.get_loop(), None, _set, woken)

    def _schedule(self) -> None:
        if threading.get_ident() == self._thread and not self._loop.is_closed():
            # The loop is awake, since this runs on it: it need not be woken through its socket.
            self._loop.call_soon(self._delivered, context=self._context)
        elif not _call_soon(self._loop, self._context, self._delivered):
            self.close()

    def _delivered(self) -> None:
        with self.lock:
            self._is_scheduled = False
        self._deliver()


def is_on_a_loop() -> bool:
    """Whether an event loop runs in this thread, so that it must not be blocked."""
    return asyncio._get_running_loop() is not None


def _call_soon(
    loop: asyncio.AbstractEventLoop,
    context: contextvars.Context | None,
    function: Callable[..., object],
    *args: Any,
) -> bool:
    """Have a function called on a loop; ``False`` if that loop is closed."""
    try:
        loop.call_soon_threadsafe(function, *args, context=context)
    except RuntimeError:
        return False
    return True


def _set(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
