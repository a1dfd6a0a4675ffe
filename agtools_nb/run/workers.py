"""Many coroutines run in as few tasks as that takes.

A worker is a task that runs one call after another for as long as they end without
waiting for anything. A call that waits keeps the worker for itself to its end, and
others go on with the rest. So each call sees one task from its first step to its
last, as ``asyncio.timeout`` and task groups need, and a thousand calls that never
wait need one task instead of a thousand. Each call has a copy of the context
variables of its own.
"""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from agtools_nb.calls import ToolResult

Run = Callable[[int], Coroutine[Any, Any, ToolResult]]

# A worker lets the loop do other things after this long: answer a Stop button, draw.
_SLICE_SECONDS = 0.01


class Workers:
    """Runs ``run(index)`` for each index.

    Args:
        indices: In the order in which they are started.
        run: Makes the coroutine of one index. It must not raise, but for
            ``CancelledError`` when its task was cancelled.
        settle: Takes index and result; the result is ``None`` if it was cancelled.
        limit: Most that are under way at once; ``None`` is no limit.
    """

    def __init__(
        self,
        indices: Sequence[int],
        run: Run,
        settle: Callable[[int, ToolResult | None], None],
        limit: int | None,
    ) -> None:
        self._left: Iterator[int] = iter(indices)
        self._count_left = len(indices)
        self._run = run
        self._settle = settle
        self._limit = len(indices) if limit is None else limit
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended: asyncio.Future[None] | None = None
        self._aside = 0
        self._back: deque[asyncio.Future[None]] = deque()
        self.waiting: dict[int, asyncio.Task[Any]] = {}

    @property
    def is_done(self) -> bool:
        """Whether nothing runs any more."""
        return not self._tasks

    def start(self) -> None:
        """Start the first worker."""
        self._add()

    def cancel(self) -> None:
        """Cancel what is under way; what has not begun never will."""
        self._count_left = 0
        self._left = iter(())
        for task in self._tasks:
            task.cancel()

    async def ended(self, seconds: float) -> None:
        """Wait until nothing runs any more, but no longer than that."""
        if not self._tasks:
            return
        loop = asyncio.get_running_loop()
        ended = self._ended = loop.create_future()
        timer = loop.call_later(seconds, _wake, ended)
        try:
            await ended
        finally:
            timer.cancel()
            self._ended = None

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[None]:
        """Within it a call does not count as under way: others take its place meanwhile.

        Raises:
            asyncio.CancelledError: The call was stopped, there or while it waited for a place.
        """
        self._aside += 1
        self._add()
        try:
            yield
        finally:
            self._aside -= 1
        if len(self._tasks) - self._aside > self._limit:
            await self._wait_for_place()

    async def _wait_for_place(self) -> None:
        self._aside += 1
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._back.append(place)
        try:
            await place
        except BaseException:
            if place.cancelled():  # it was never given: the task ends, and counts as before
                self._aside -= 1
                with suppress(ValueError):
                    self._back.remove(place)
            raise

    def _give_place(self) -> None:
        """Let those go on that were aside, first come first served."""
        while self._back and len(self._tasks) - self._aside < self._limit:
            place = self._back.popleft()
            if not place.done():
                self._aside -= 1
                place.set_result(None)

    def _add(self) -> None:
        if self._count_left and len(self._tasks) - self._aside < self._limit:
            # Not create_task: an eager task factory would run the worker here, within another.
            loop = asyncio.get_running_loop()
            task = asyncio.Task(self._work(), loop=loop, name="calls of a batch")
            self._tasks.add(task)
            task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._give_place()
        self._add()  # if it stopped early, because somebody cancelled its call
        if not self._tasks and self._ended is not None:
            _wake(self._ended)

    async def _work(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        until = time.perf_counter() + _SLICE_SECONDS
        for index in self._left:
            self._count_left -= 1
            coroutine = self._run(index)
            context = contextvars.copy_context()
            try:
                waits_for = context.run(coroutine.send, None)
            except StopIteration as ended:
                self._settle(index, ended.value)
                # Not by a function of its own: this is most of the time of a call that is short.
                if task.cancelling() or getattr(task, "_must_cancel", False):
                    return
                if self._back:
                    return
                if time.perf_counter() > until:
                    await asyncio.sleep(0)
                    until = time.perf_counter() + _SLICE_SECONDS
                continue
            except asyncio.CancelledError:
                self._settle(index, None)
                raise
            # Two, so that a thousand calls that wait are all begun after ten rounds of the loop.
            self._add()
            self._add()
            self.waiting[index] = task
            try:
                self._settle(index, await _Rest(coroutine, context, waits_for))
            except asyncio.CancelledError:
                self._settle(index, None)
                raise
            finally:
                del self.waiting[index]
            if _is_marked(task) or self._back:
                return
            until = time.perf_counter() + _SLICE_SECONDS


def _is_marked(task: asyncio.Task[Any]) -> bool:
    """Whether somebody cancelled the task, which would hit its next call.

    Up to Python 3.12, ``uncancel()`` does not take back what is about to be thrown.
    """
    return task.cancelling() > 0 or getattr(task, "_must_cancel", False)


class _Rest:
    """The rest of a coroutine that has been begun, in the context it was begun in."""

    __slots__ = ("_context", "_coroutine", "_waits_for")

    def __init__(
        self,
        coroutine: Coroutine[Any, Any, ToolResult],
        context: contextvars.Context,
        waits_for: Any,
    ) -> None:
        self._coroutine = coroutine
        self._context = context
        self._waits_for = waits_for

    def __await__(self) -> Generator[Any, Any, ToolResult]:
        run, waits_for = self._context.run, self._waits_for
        while True:
            thrown = None
            try:
                sent = yield waits_for
            except BaseException as error:  # what was thrown in is for the coroutine to see
                thrown = error
            try:
                if thrown is None:
                    waits_for = run(self._coroutine.send, sent)
                else:
                    waits_for = run(self._coroutine.throw, thrown)
            except StopIteration as ended:
                return ended.value  # type: ignore[no-any-return]


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
