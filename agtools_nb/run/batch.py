"""Many calls at once: started together, stopped together, answered in call order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from agtools_nb.arguments import Prepared
from agtools_nb.calls import ToolCall, ToolResult
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
    """

    def __init__(
        self,
        attempts: Sequence[Attempt],
        threads: WorkerThreads,
        observers: Sequence[Observer] = (),
        max_concurrency: int | None = None,
    ) -> None:
        self.attempts = tuple(attempts)
        self.results: list[ToolResult | None] = [None] * len(self.attempts)
        self._threads = threads
        self._observers = tuple(observers)
        self._max_concurrency = max_concurrency
        self._tasks: list[asyncio.Task[None]] = []
        self._interrupt: KeyboardInterrupt | None = None
        self._stopping: asyncio.Event | None = None

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
            KeyboardInterrupt: The same, by an interrupt inside an async tool.
        """
        self._stopping = asyncio.Event()
        with routed_output():
            turn = asyncio.Semaphore(MAX_THREADS)
            gate = asyncio.Semaphore(self._max_concurrency) if self._max_concurrency else None
            self._tasks = [
                asyncio.create_task(self._member(index, turn, gate), name=f"call {attempt.call.id}")
                for index, attempt in enumerate(self.attempts)
            ]
            try:
                await self._all_done()
            except asyncio.CancelledError:
                self.stop()
                await self._all_done()
                raise
        if self._interrupt is not None:
            raise self._interrupt
        return [result for result in self.results if result is not None]

    def stop(self) -> None:
        """Cancel every call that has no result yet. Call it on the loop's thread."""
        if self._stopping is not None:
            self._stopping.set()
        for task in self._tasks:
            task.cancel()

    async def _all_done(self) -> None:
        """Wait for every call; from a stop on, only as long as the grace period."""
        stopped_at: float | None = None
        loop = asyncio.get_running_loop()
        pending = {task for task in self._tasks if not task.done()}
        while pending:
            _, pending = await asyncio.wait(pending, timeout=HEARTBEAT_SECONDS)
            if self._stopping is not None and self._stopping.is_set():
                stopped_at = stopped_at or loop.time()
                if loop.time() - stopped_at > GRACE_SECONDS:
                    self._give_up()
                    return

    async def _member(
        self, index: int, turn: asyncio.Semaphore, gate: asyncio.Semaphore | None
    ) -> None:
        attempt = self.attempts[index]
        try:
            if gate is None:
                result = await attempt.run(self._threads, turn, self._on_start(index))
            else:
                async with gate:
                    result = await attempt.run(self._threads, turn, self._on_start(index))
        except asyncio.CancelledError:
            result = attempt.stopped()
        except KeyboardInterrupt as error:
            # Let through, it would end the loop with the siblings half done.
            self._interrupt = error
            result = attempt.stopped()
            self.stop()
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

    def _give_up(self) -> None:
        for index, task in enumerate(self._tasks):
            if not task.done():
                note = f"It was still cleaning up after {GRACE_SECONDS:g} s and was left to it."
                self._settle(index, self.attempts[index].stopped(note))


def _tell(listener: Callable[..., None], *event: object) -> None:
    """A broken observer must not cost the batch its results."""
    try:
        listener(*event)
    except Exception:
        _log.exception("an observer of a batch failed")
