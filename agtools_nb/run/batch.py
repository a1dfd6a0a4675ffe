"""Many calls at once: started together, stopped together, answered in call order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from agtools_nb.arguments import Prepared
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.errors import UsageError
from agtools_nb.run.attempt import Attempt
from agtools_nb.run.capture import routed_output
from agtools_nb.run.threads import MAX_THREADS, WorkerThreads

# How long a stopped call may clean up before the batch answers without it.
GRACE_SECONDS = 1.0
# ipykernel 7.4 does not wake a sleeping loop on interrupt; the loop wakes this often by itself.
HEARTBEAT_SECONDS = 0.05

_log = logging.getLogger("agtools_nb")


class Observer(Protocol):
    """Is told what happens in a batch, on the loop's thread, while it happens."""

    def call_started(self, index: int, call: ToolCall, prepared: Prepared) -> None:
        """The function of call ``index`` begins, with these arguments."""

    def call_finished(self, index: int, result: ToolResult) -> None:
        """Call ``index`` has its result."""


class Batch:
    """A batch of calls that can be watched and stopped.

    Args:
        attempts: The calls, in order.
        threads: Where blocking functions run.
        observers: Who is told of it.
        max_concurrency: Most calls that run at once. Default: all, of them at
            most 256 blocking ones.

    Raises:
        UsageError: ``max_concurrency`` is less than 1.
    """

    def __init__(
        self,
        attempts: Sequence[Attempt],
        threads: WorkerThreads,
        observers: Sequence[Observer] = (),
        max_concurrency: int | None = None,
    ) -> None:
        if max_concurrency is not None and max_concurrency < 1:
            raise UsageError(
                f"max_concurrency must be at least 1, not {max_concurrency}; None is no limit"
            )
        self.attempts = tuple(attempts)
        self.results: list[ToolResult | None] = [None] * len(self.attempts)
        self._threads = threads
        self._observers = tuple(observers)
        self._max_concurrency = max_concurrency
        self._tasks: list[asyncio.Task[None]] = []
        self._is_stopped = False

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls, each with its id."""
        return tuple(attempt.call for attempt in self.attempts)

    def watch(self, observer: Observer) -> None:
        """Tell one more observer, from now on."""
        self._observers = (*self._observers, observer)

    async def run(self) -> list[ToolResult]:
        """Run all calls and return their results in call order.

        Raises:
            asyncio.CancelledError: The waiting task was cancelled; every call was
                stopped first, and :attr:`results` says what became of each.
        """
        with routed_output():
            turn = asyncio.Semaphore(MAX_THREADS)
            gate = asyncio.Semaphore(self._max_concurrency) if self._max_concurrency else None
            self._tasks = [
                asyncio.create_task(self._member(index, turn, gate), name=f"call {attempt.call.id}")
                for index, attempt in enumerate(self.attempts)
            ]
            cancelled = await self._all_done()
        for index, attempt in enumerate(self.attempts):
            # A task that was cancelled before its first step, or is left to its cleaning up.
            if self.results[index] is None:
                late = f"It was still cleaning up after {GRACE_SECONDS:g} s and was left to it."
                busy = not self._tasks[index].done()
                self._settle(index, attempt.stopped(late if busy else ""))
        if cancelled:
            raise asyncio.CancelledError
        return [result for result in self.results if result is not None]

    def stop(self) -> None:
        """Cancel every call that has no result yet. Call it on the loop's thread.

        A second stop does nothing: it would cut short what the first one has clean up.
        """
        if self._is_stopped:
            return
        self._is_stopped = True
        for task in self._tasks:
            task.cancel()

    async def _all_done(self) -> bool:
        """Wait for every call; from a stop on, only as long as the grace period.

        Returns whether the wait itself was cancelled. However often that happens,
        the calls are stopped first and waited for.
        """
        cancelled = False
        stopped_at: float | None = None
        loop = asyncio.get_running_loop()
        pending = {task for task in self._tasks if not task.done()}
        while pending:
            try:
                _, pending = await asyncio.wait(pending, timeout=HEARTBEAT_SECONDS)
            except asyncio.CancelledError:
                cancelled = True
                self.stop()
                pending = {task for task in pending if not task.done()}
            if self._is_stopped:
                stopped_at = stopped_at or loop.time()
                if loop.time() - stopped_at > GRACE_SECONDS:
                    break
        return cancelled

    async def _member(
        self, index: int, turn: asyncio.Semaphore, gate: asyncio.Semaphore | None
    ) -> None:
        attempt = self.attempts[index]
        started = self._on_start(index)
        try:
            if self._is_stopped:
                result = attempt.stopped()
            elif gate is None:
                result = await attempt.run(self._threads, turn, started)
            else:
                async with gate:
                    result = await attempt.run(self._threads, turn, started)
        except asyncio.CancelledError:
            result = attempt.stopped()
        self._settle(index, result)

    def _on_start(self, index: int) -> Callable[[Attempt], None] | None:
        if not self._observers:
            return None

        def started(attempt: Attempt) -> None:
            prepared = attempt.prepared
            if prepared is not None:
                for observer in self._observers:
                    _tell(observer.call_started, index, attempt.call, prepared)

        return started

    def _settle(self, index: int, result: ToolResult) -> None:
        if self.results[index] is not None:
            return
        self.results[index] = result
        for observer in self._observers:
            _tell(observer.call_finished, index, result)


def _tell(listener: Callable[..., None], *event: object) -> None:
    """A broken observer must not cost the batch its results."""
    try:
        listener(*event)
    except Exception:
        _log.exception("an observer of a batch failed")
