"""The kernel's main loop, taken once: every callback, task and blocking call goes through it."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from agtools_nb.errors import UsageError

T = TypeVar("T")


class KernelLoop:
    """The event loop that cells run on, reachable from any thread.

    Widget messages come on the main thread or on a subshell's (ipykernel 7.0 to
    7.3), so nothing here asks for "the current loop" in a callback. Outside a
    kernel it takes the loop that runs when it is first needed.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._tasks: set[asyncio.Task[Any]] = set()  # asyncio itself holds tasks only weakly
        self._take()

    def soon(self, fn: Callable[[], None], /) -> None:
        """Run ``fn`` on the loop, soon; at once if there is none."""
        loop = self._take()
        if loop is None:
            fn()
        else:
            loop.call_soon_threadsafe(fn)

    def later(self, seconds: float, fn: Callable[[], None], /) -> None:
        """Run ``fn`` on the loop after ``seconds``; at once if there is no loop."""
        loop = self._take()
        if loop is None:
            fn()
        else:
            loop.call_soon_threadsafe(loop.call_later, seconds, fn)

    def spawn(self, coro: Coroutine[Any, Any, None], /) -> None:
        """Start ``coro`` as a task of the loop; run it to its end if there is none."""
        loop = self._take()
        if loop is None:
            asyncio.run(coro)
        elif self._is_here():
            self._keep(loop.create_task(coro))
        else:
            asyncio.run_coroutine_threadsafe(coro, loop)

    def start(self, coro: Coroutine[Any, Any, T], /) -> asyncio.Task[T]:
        """Start ``coro`` as a task and return the task. Only on the loop's own thread.

        Raises:
            UsageError: No loop runs here.
        """
        loop = self._take()
        if loop is None or not self._is_here():
            coro.close()
            raise UsageError(
                "there is no running event loop in this thread; use the blocking twin "
                "(call_sync, run_sync), or await inside asyncio.run(...)"
            )
        return self._keep(loop.create_task(coro))

    def block_on(self, coro: Coroutine[Any, Any, T], stop: Callable[[], None]) -> T:
        """Run ``coro`` to its end while the caller waits.

        In a cell this re-enters the running loop with nest-asyncio2, which patches
        asyncio the first time.

        Raises:
            KeyboardInterrupt: The kernel was interrupted; ``stop`` was called first,
                and ``coro`` has ended.
        """
        loop = self._take()
        if loop is None:
            return asyncio.run(coro)
        if not self._is_here():
            return asyncio.run_coroutine_threadsafe(coro, loop).result()
        _make_reentrant(loop)
        with _round_kept(loop), _interrupts(loop, stop) as was_interrupted:
            value: T = loop.run_until_complete(loop.create_task(coro))
        if was_interrupted():
            raise KeyboardInterrupt
        return value

    def finish(self, coro: Coroutine[Any, Any, None], seconds: float) -> None:
        """Run ``coro`` once the loop has stopped for good, but no longer than that.

        For what is left to be done when the kernel ends. Nothing is done if the loop runs,
        or was closed.
        """
        loop = self._loop
        if loop is None or loop.is_closed() or loop.is_running():
            coro.close()
            return
        task = loop.create_task(coro)

        def stop(_: asyncio.Task[None]) -> None:
            loop.stop()

        task.add_done_callback(stop)
        deadline = time.monotonic() + seconds
        # Again and again: an order to stop that the kernel gave may only be heard here.
        while not task.done() and (left := deadline - time.monotonic()) > 0:
            alarm = loop.call_later(left, loop.stop)
            loop.run_forever()
            alarm.cancel()
        task.remove_done_callback(stop)

    def _take(self) -> asyncio.AbstractEventLoop | None:
        """The loop taken before, unless it has ended; else the one that runs in this thread."""
        if self._loop is not None and not self._loop.is_closed() and self._loop.is_running():
            return self._loop
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            return None
        self._thread = threading.get_ident()
        return self._loop

    def _is_here(self) -> bool:
        return threading.get_ident() == self._thread

    def _keep(self, task: asyncio.Task[T]) -> asyncio.Task[T]:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


@contextmanager
def _round_kept(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Leave the round of the loop in which this is called as many handles as it counts on.

    A round of asyncio's own counts the handles that are ready, then takes that many; the
    patched one looks each time. The round in which the patch is made is still asyncio's
    own. The nested loop runs the handles that it has counted, so it would pop from an empty
    queue, which ends the loop and with it the kernel.
    """
    counted = len(getattr(loop, "_ready", ()))
    try:
        yield
    finally:
        for _ in range(counted):
            loop.call_soon(_nothing)


def _nothing() -> None:
    """Stand in for a handle that has been run."""


@contextmanager
def _interrupts(
    loop: asyncio.AbstractEventLoop, stop: Callable[[], None]
) -> Iterator[Callable[[], bool]]:
    """Have a first interrupt call ``stop`` on the loop, and a second one break in as ever.

    Raised wherever the loop happens to be, ``KeyboardInterrupt`` would land in one of
    the tools, or end the loop with the others half done.
    """
    interrupts: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.getsignal(signal.SIGINT)

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        interrupts.append(number)
        if len(interrupts) > 1:
            raise KeyboardInterrupt
        loop.call_soon_threadsafe(stop)

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield lambda: bool(interrupts)
    finally:
        signal.signal(signal.SIGINT, before)


def _make_reentrant(loop: asyncio.AbstractEventLoop) -> None:
    import nest_asyncio2

    if getattr(asyncio.run, "__module__", "") == "nest_asyncio" and "nest_asyncio" in sys.modules:
        warnings.warn(
            "this notebook applied the old nest_asyncio, with which a cell queued behind a "
            "blocking call can be lost; remove nest_asyncio.apply() and restart the kernel, "
            "agtools_nb uses nest-asyncio2 by itself",
            stacklevel=4,
        )
    nest_asyncio2.apply(loop)
