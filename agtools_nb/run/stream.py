"""Any number of calls in bounded memory: read as they are taken, answered as they finish."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from agtools_nb.calls import ToolResult
from agtools_nb.context import Progress, ProgressChannel
from agtools_nb.run.attempt import Attempt
from agtools_nb.run.batch import GRACE_SECONDS, HEARTBEAT_SECONDS
from agtools_nb.run.bounds import checked_concurrency
from agtools_nb.run.capture import kept_routed, routed_output
from agtools_nb.run.gate import Round
from agtools_nb.run.strategy import Strategy, runs_beside_others
from agtools_nb.run.threads import MAX_THREADS

MAX_OPEN = 256
"""Calls of a stream that are under way, or whose results have not been taken."""

Calls = Iterable[Any] | AsyncIterable[Any]


def stream_results(
    calls: Calls,
    attempt: Callable[[int, Any], Attempt],
    answered: Callable[[str], None],
    limit: int,
    strategy: Strategy,
    follows: bool = False,
) -> AsyncGenerator[Progress | ToolResult, None]:
    """Yield the results of calls as they finish, and their progress before them if asked to.

    Args:
        calls: The calls, read only as fast as results are taken.
        attempt: Makes a call ready to run.
        answered: Told the id of each call whose result has been taken.
        limit: Most calls under way or with a result not taken.
        strategy: Which calls run beside each other.
        follows: Whether progress is wanted.

    Raises:
        UsageError: ``limit`` is less than 1.
    """
    checked_concurrency(limit)
    return _Stream(calls, attempt, answered, limit, strategy, follows).results()


class _Stream:
    def __init__(
        self,
        calls: Calls,
        attempt: Callable[[int, Any], Attempt],
        answered: Callable[[str], None],
        limit: int,
        strategy: Strategy,
        follows: bool,
    ) -> None:
        self._calls = calls
        self._attempt = attempt
        self._answered = answered
        self._limit = limit
        self._strategy = strategy
        self._follows = follows
        self._channel: ProgressChannel | None = None
        self._done: deque[tuple[str, ToolResult]] = deque()
        self._not_taken = 0
        self._running: dict[asyncio.Task[None], Attempt] = {}
        self._waits: asyncio.Future[None] | None = None
        self._room = asyncio.Event()
        self._is_interrupted = False
        self._aside = 0
        self._round: Round | None = None
        self._stopped = True

    async def results(self) -> AsyncGenerator[Progress | ToolResult, None]:
        self._turn = asyncio.Semaphore(MAX_THREADS)
        if self._follows:
            self._channel = ProgressChannel(self._wake)
        with routed_output():
            feeder = asyncio.create_task(self._feed(), name="reader of a stream of calls")
            feeder.add_done_callback(lambda _: self._wake())
            try:
                while self._count or self._running or not feeder.done():
                    if self._is_interrupted and not self._count:
                        return
                    if not self._count:
                        await self._something()
                        continue
                    yield self._taken()
                # What reading the calls raised, once all that had been read is answered.
                feeder.result()
                self._stopped = False
            finally:
                await self._stop(feeder)
                if self._round is not None:
                    await self._round.ended((), stopped=self._stopped)

    @property
    def _count(self) -> int:
        """How much there is to yield."""
        return len(self._done) if self._channel is None else len(self._channel)

    def _taken(self) -> Progress | ToolResult:
        item = self._done.popleft() if self._channel is None else self._channel.take()
        if isinstance(item, Progress):
            return item
        call_id, result = item
        self._answered(call_id)
        self._not_taken -= 1
        self._room.set()
        return result

    async def _something(self) -> None:
        """Wait until there is something to yield or nothing more to come, or for one heartbeat."""
        loop = asyncio.get_running_loop()
        self._waits = loop.create_future()
        timer = loop.call_later(HEARTBEAT_SECONDS, self._wake)
        try:
            await self._waits
        finally:
            timer.cancel()
            self._waits = None

    def _wake(self) -> None:
        if self._waits is not None and not self._waits.done():
            self._waits.set_result(None)

    async def _feed(self) -> None:
        index = 0
        async for call in _each(self._calls):
            # Its id is looked at when there is room: one that is answered by then is free again.
            await self._until(self._limit - 1)
            attempt = self._attempt(index, call)
            index += 1
            await self._shown_to_gate(attempt)
            by_itself = self._runs_by_itself(attempt)
            if by_itself:
                await self._until_idle()
            task = asyncio.create_task(self._member(attempt), name=f"call {attempt.id}")
            self._running[task] = attempt
            task.add_done_callback(self._ended)
            if by_itself:
                await self._until_idle()

    def _runs_by_itself(self, attempt: Attempt) -> bool:
        if self._strategy is Strategy.AUTO:
            return not runs_beside_others(attempt.tool)
        return self._strategy is Strategy.SEQUENTIAL

    async def _shown_to_gate(self, attempt: Attempt) -> None:
        """Let the gate know of a call, if there is one; all calls of a stream are one round."""
        gate = attempt.setting.gate
        if gate is None:
            return
        if self._round is None:
            self._round = gate.round()
            await self._round.began(())
        attempt.visit, attempt.aside = self._round.visit(), self._put_aside

    @asynccontextmanager
    async def _put_aside(self) -> AsyncIterator[None]:
        """Within it a call takes no place among those under way: a person is asked about it."""
        self._aside += 1
        self._room.set()
        try:
            yield
        finally:
            self._aside -= 1
        while self._under_way > self._limit:
            self._aside += 1
            try:
                self._room.clear()
                await self._room.wait()
            finally:
                self._aside -= 1

    @property
    def _under_way(self) -> int:
        return len(self._running) - self._aside

    async def _until_idle(self) -> None:
        """Wait until no call is under way, or asked about."""
        while self._running:
            self._room.clear()
            await self._room.wait()

    async def _until(self, most: int) -> None:
        """Wait until at most so many calls are under way, results not taken counted but for 0."""
        while self._is_full(most):
            self._room.clear()
            await self._room.wait()

    def _is_full(self, most: int) -> bool:
        # Those that a person is asked about are held in memory, too.
        is_full = len(self._running) >= max(MAX_OPEN, self._limit)
        return is_full or self._under_way + (self._not_taken if most else 0) > most

    async def _member(self, attempt: Attempt) -> None:
        if self._channel is not None:
            attempt.report_to(self._channel)
        try:
            result = await attempt.run(self._turn)
        except asyncio.CancelledError:
            result = attempt.stopped()
        self._is_interrupted |= attempt.is_interrupted
        self._not_taken += 1
        if self._channel is None:
            self._done.append((attempt.id, result))
        else:
            attempt.end_progress()
            self._channel.add((attempt.id, result))

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._running[task]
        self._wake()
        self._room.set()

    async def _stop(self, feeder: asyncio.Task[None]) -> None:
        """Stop what still runs, and wait for its cleaning up as long as the grace period."""
        if self._channel is not None:
            self._channel.close()  # nobody is there to make room for a tool that waits
        feeder.cancel()
        running = dict(self._running)
        for task in running:
            task.cancel()
        _, late = await asyncio.wait({feeder, *running}, timeout=GRACE_SECONDS)
        for task in late & running.keys():
            task.add_done_callback(kept_routed())
            running[task].stopped()


async def _each(calls: Calls) -> AsyncIterator[Any]:
    if isinstance(calls, AsyncIterable):
        async for call in calls:
            yield call
        return
    for call in calls:
        yield call
