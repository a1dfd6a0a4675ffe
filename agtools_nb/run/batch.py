"""Many calls at once: started together, stopped together, answered in call order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from agtools_nb.arguments import Prepared
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.errors import UsageError
from agtools_nb.run.attempt import Attempt
from agtools_nb.run.capture import routed_output
from agtools_nb.run.strategy import Strategy, runs_beside_others
from agtools_nb.run.threads import MAX_THREADS

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
        observers: Who is told of it.
        max_concurrency: Most calls that run at once. Default: all, of them at
            most 256 blocking ones.
        strategy: Which calls run beside each other. Default: all.

    Raises:
        UsageError: ``max_concurrency`` is less than 1.
    """

    def __init__(
        self,
        attempts: Sequence[Attempt],
        observers: Sequence[Observer] = (),
        max_concurrency: int | None = None,
        strategy: Strategy = Strategy.PARALLEL,
    ) -> None:
        self.attempts = tuple(attempts)
        self.results: list[ToolResult | None] = [None] * len(self.attempts)
        self._observers = tuple(observers)
        self._max_concurrency = checked_concurrency(max_concurrency)
        self._strategy = strategy
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._is_stopped = False
        self._open = 0
        self._all_ended: asyncio.Future[None] | None = None

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
        cancelled = False
        with routed_output():
            turn = asyncio.Semaphore(MAX_THREADS)
            limit = self._max_concurrency
            gate = asyncio.Semaphore(limit) if limit and limit < len(self.attempts) else None
            for indices in self._rounds():
                for index in indices:
                    self._start(index, turn, gate)
                cancelled = await self._round_done(indices)
                if self._is_stopped:
                    break
        for index, attempt in enumerate(self.attempts):
            # A task that was cancelled before its first step, or is left to its cleaning up.
            if self.results[index] is None:
                late = f"It was still cleaning up after {GRACE_SECONDS:g} s and was left to it."
                task = self._tasks.get(index)
                busy = task is not None and not task.done()
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
        for task in self._tasks.values():
            task.cancel()

    def _rounds(self) -> list[Sequence[int]]:
        """The calls that are started together, round by round."""
        every = range(len(self.attempts))
        if self._strategy is Strategy.PARALLEL:
            return [every]
        if self._strategy is Strategy.SEQUENTIAL:
            return [[index] for index in every]
        beside = [index for index in every if runs_beside_others(self.attempts[index].tool)]
        alone = [[index] for index in every if not runs_beside_others(self.attempts[index].tool)]
        return [beside, *alone]

    def _start(
        self, index: int, turn: asyncio.Semaphore, gate: AbstractAsyncContextManager[None] | None
    ) -> None:
        name = f"call {self.attempts[index].call.id}"
        self._tasks[index] = asyncio.create_task(self._member(index, turn, gate), name=name)

    async def _round_done(self, indices: Sequence[int]) -> bool:
        """Wait for the calls of a round; from a stop on, only as long as the grace period.

        Returns whether the wait itself was cancelled. However often that happens,
        the calls are stopped first and waited for.
        """
        cancelled = False
        stopped_at: float | None = None
        loop = asyncio.get_running_loop()
        tasks = [self._tasks[index] for index in indices]
        while not all(task.done() for task in tasks):
            try:
                await self._next_end(loop)
            except asyncio.CancelledError:
                cancelled = True
                self.stop()
            if self._is_stopped:
                stopped_at = stopped_at or loop.time()
                if loop.time() - stopped_at > GRACE_SECONDS:
                    break
        return cancelled

    async def _next_end(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wait until no call is under way, or for one heartbeat."""
        if not self._open:
            # What is left ended before its first step, or is about to end.
            await asyncio.sleep(0)
            return
        ended = self._all_ended = loop.create_future()
        beat = loop.call_later(HEARTBEAT_SECONDS, _wake, ended)
        try:
            await ended
        finally:
            beat.cancel()
            self._all_ended = None

    async def _member(
        self,
        index: int,
        turn: asyncio.Semaphore,
        gate: AbstractAsyncContextManager[None] | None,
    ) -> None:
        attempt = self.attempts[index]
        started = self._on_start(index)
        self._open += 1
        try:
            if self._is_stopped:
                result = attempt.stopped()
            elif gate is None:
                result = await attempt.run(turn, started)
            else:
                async with gate:
                    result = await attempt.run(turn, started)
        except asyncio.CancelledError:
            result = attempt.stopped()
        finally:
            self._open -= 1
            if not self._open and self._all_ended is not None:
                _wake(self._all_ended)
        self._settle(index, result)

    def _on_start(self, index: int) -> Callable[[Attempt], None] | None:
        if not self._observers:
            return None

        def started(attempt: Attempt) -> None:
            prepared = attempt.prepared
            if prepared is not None:
                for observer in self._observers:
                    tell(observer.call_started, index, attempt.call, prepared)

        return started

    def _settle(self, index: int, result: ToolResult) -> None:
        if self.results[index] is not None:
            return
        self.results[index] = result
        for observer in self._observers:
            tell(observer.call_finished, index, result)


def tell(listener: Callable[..., None], *event: object) -> None:
    """A broken observer must not cost the batch its results."""
    try:
        listener(*event)
    except Exception:
        _log.exception("an observer of a batch failed")


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def checked_concurrency(limit: int | None) -> int | None:
    """A limit of calls at once, as given.

    Raises:
        UsageError: It is less than 1.
    """
    if limit is not None and limit < 1:
        raise UsageError(f"max_concurrency must be at least 1, not {limit}; None is no limit")
    return limit
