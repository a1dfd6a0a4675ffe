"""Many calls at once: started together, stopped together, answered in call order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, Protocol

from agtools_nb.arguments import Prepared, Validate
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context import Progress, ProgressChannel
from agtools_nb.define import Tool
from agtools_nb.run.attempt import Attempt
from agtools_nb.run.bounds import checked_concurrency
from agtools_nb.run.capture import kept_routed, routed_output
from agtools_nb.run.gate import Passage, Round
from agtools_nb.run.quick import is_bare, run_quickly, short_way
from agtools_nb.run.strategy import Strategy, runs_beside_others
from agtools_nb.run.threads import MAX_THREADS
from agtools_nb.run.workers import Workers

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


class ProgressObserver(Observer, Protocol):
    """Is told of progress, too. Without one in its batch, nothing is queued."""

    def call_progress(self, index: int, progress: Progress) -> None:
        """Call ``index`` reports progress: after its start, before its result, in order."""


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
        self._observers: tuple[Observer, ...] = ()
        self._followers: tuple[Callable[[int, Progress], None], ...] = ()
        self._channel: ProgressChannel | None = None
        for observer in observers:
            self.watch(observer)
        self._max_concurrency = checked_concurrency(max_concurrency)
        self._strategy = strategy
        self._turn: asyncio.Semaphore | None = None
        self._workers: Workers | None = None
        self._round: Round | None = None
        self._is_bare = False
        self._short: dict[Tool | None, Validate | None] = {}
        self._is_stopped = False
        self._cut_short: list[int] = []

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls, each with its id."""
        return tuple(attempt.call for attempt in self.attempts)

    @property
    def group_id(self) -> str | None:
        """The same for all that these calls bring later; ``None`` without calls."""
        return self.attempts[0].group_id if self.attempts else None

    def watch(self, observer: Observer) -> None:
        """Tell one more observer, from now on; of progress, that of calls that begin later."""
        self._observers = (*self._observers, observer)
        follower = getattr(observer, "call_progress", None)
        if follower is not None:
            self._followers = (*self._followers, follower)

    async def run(self) -> list[ToolResult]:
        """Run all calls and return their results in call order.

        Raises:
            asyncio.CancelledError: The waiting task was cancelled; every call was
                stopped first, and :attr:`results` says what became of each.
        """
        self._turn = asyncio.Semaphore(MAX_THREADS)
        self._is_bare = (
            not self._observers and bool(self.attempts) and is_bare(self.attempts[0].setting)
        )
        with routed_output():
            cancelled = await self._begun()
            for indices in self._rounds():
                workers = self._workers = Workers(
                    indices, self._member, self._settle, self._max_concurrency
                )
                workers.start()
                cancelled = await self._ended(workers) or cancelled
                self._settle_rest(indices, workers)
        for index, result in enumerate(self.results):
            if result is None:
                self._settle(index, None)
        if self._channel is not None:
            self._channel.close()
        await self._tell_of_stopped()
        results = [result for result in self.results if result is not None]
        if self._round is not None:
            await self._round.ended(results, stopped=self._is_stopped)
        if cancelled:
            raise asyncio.CancelledError
        return results

    async def _begun(self) -> bool:
        """Tell the gate that the calls begin; whether the wait for that was cancelled."""
        gate = self.attempts[0].setting.gate if self.attempts else None
        if gate is None:
            return False
        self._round = gate.round()
        for attempt in self.attempts:
            attempt.passage = Passage(self._round.visit())
        try:
            await self._round.began(self.calls)
        except asyncio.CancelledError:
            self.stop()
            return True
        return False

    async def _tell_of_stopped(self) -> None:
        """Hooks hear of calls that were stopped, too: they may have done half their work."""
        for index in self._cut_short:
            result = self.results[index]
            if result is not None:
                self.results[index] = await self.attempts[index].told(result)

    def stop(self) -> None:
        """Cancel every call that has no result yet. Call it on the loop's thread.

        A second stop does nothing: it would cut short what the first one has clean up.
        """
        if self._is_stopped:
            return
        self._is_stopped = True
        if self._workers is not None:
            self._workers.cancel()

    def _rounds(self) -> Iterator[Sequence[int]]:
        """The calls that are started together, round by round, until the batch is stopped."""
        for indices in self._all_rounds():
            if not self._is_stopped:
                yield indices

    def _all_rounds(self) -> list[Sequence[int]]:
        every = range(len(self.attempts))
        if self._strategy is Strategy.PARALLEL:
            return [every]
        if self._strategy is Strategy.SEQUENTIAL:
            return [[index] for index in every]
        beside = [index for index in every if runs_beside_others(self.attempts[index].tool)]
        alone = [[index] for index in every if not runs_beside_others(self.attempts[index].tool)]
        return [beside, *alone]

    async def _ended(self, workers: Workers) -> bool:
        """Wait for the calls of a round; from a stop on, only as long as the grace period.

        Returns whether the wait itself was cancelled. However often that happens,
        the calls are stopped first and waited for.
        """
        cancelled = False
        stopped_at: float | None = None
        loop = asyncio.get_running_loop()
        while not workers.is_done:
            try:
                await workers.ended(HEARTBEAT_SECONDS)
            except asyncio.CancelledError:
                cancelled = True
                self.stop()
            if self._is_stopped:
                stopped_at = stopped_at or loop.time()
                if loop.time() - stopped_at > GRACE_SECONDS:
                    break
        return cancelled

    def _member(self, index: int) -> Coroutine[Any, Any, ToolResult]:
        assert self._turn is not None
        if self._followers:
            if self._channel is None:  # an empty one is false
                self._channel = ProgressChannel(self._pass_on)
            self.attempts[index].report_to(self._channel)
        attempt = self.attempts[index]
        if self._is_bare and attempt.is_plain and attempt.refusal is None:
            tool = attempt.tool
            if tool not in self._short:
                self._short[tool] = short_way(tool)
            direct = self._short[tool]
            if tool is not None and direct is not None and attempt.asked.timeout is None:
                return run_quickly(attempt, self._turn, tool, direct)
        if attempt.passage is not None and self._workers is not None:
            attempt.passage.aside = self._workers.aside
        return attempt.run(self._turn, self._on_start(index))

    def _settle_rest(self, indices: Sequence[int], workers: Workers) -> None:
        """Answer for calls of a stopped round that are left to their cleaning up."""
        late = f"It was still cleaning up after {GRACE_SECONDS:g} s and was left to it."
        for index in indices if self._is_stopped else ():
            if (task := workers.waiting.get(index)) is not None:
                task.add_done_callback(kept_routed())
                self._settle(index, None, late)

    def _on_start(self, index: int) -> Callable[[Attempt], None] | None:
        if not self._observers:
            return None

        def started(attempt: Attempt) -> None:
            prepared = attempt.prepared
            if prepared is not None:
                for observer in self._observers:
                    tell(observer.call_started, index, attempt.call, prepared)

        return started

    def _settle(self, index: int, result: ToolResult | None, note: str = "") -> None:
        """Note the result of a call; ``None`` makes it one that was stopped."""
        if self.results[index] is not None:
            return
        if result is None:
            result = self.attempts[index].stopped(note)
            self._cut_short.append(index)
        self.results[index] = result
        if self._channel is not None:
            self.attempts[index].end_progress()
            if len(self._channel):
                self._pass_on()
        if self.attempts[index].is_interrupted:
            self.stop()
        for observer in self._observers:
            tell(observer.call_finished, index, result)

    def _pass_on(self) -> None:
        """Tell of the progress that has come so far."""
        assert self._channel is not None
        for _ in range(len(self._channel)):
            progress = self._channel.take()
            for follower in self._followers:
                tell(follower, progress.index, progress)


def tell(listener: Callable[..., None], *event: object) -> None:
    """A broken observer must not cost the batch its results."""
    try:
        listener(*event)
    except Exception:
        _log.exception("an observer of a batch failed")
