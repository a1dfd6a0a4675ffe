"""A tool's function run where it belongs: on the loop, in a thread, on an executor, in time."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from agtools_nb.define import Tool
from agtools_nb.errors import CallTimeoutError
from agtools_nb.run.capture import CallOutput, kept_routed
from agtools_nb.run.executors import SentCall
from agtools_nb.run.setting import Setting
from agtools_nb.run.threads import Outcome

_log = logging.getLogger("agtools_nb")

# Results that hold nothing to wait for, look into or take media out of.
PLAIN = frozenset((type(None), bool, int, float, str))

_SHORTEST_WAIT = 0.02  # or the last moment before a question would be looked at all the time


class RaisedElsewhereError(Exception):
    """Carries what a thread raised; ``StopIteration`` cannot pass through a coroutine as itself."""

    def __init__(self, original: BaseException) -> None:
        super().__init__()
        self.original = original


class Invocation:
    """The running of one tool's function.

    Args:
        tool: The tool.
        setting: Where it runs.
        args: Positional arguments.
        kwargs: Keyword arguments.
        output: Takes what was printed in another process.
        asking_seconds: How long it has waited for people so far. Default: not at all.
    """

    def __init__(
        self,
        tool: Tool,
        setting: Setting,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        output: CallOutput | None = None,
        asking_seconds: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.tool = tool
        self.is_stopped = False
        self._setting = setting
        self._args = args
        self._kwargs = kwargs
        self._output = CallOutput() if output is None else output
        self._asking_seconds = asking_seconds
        self._begun: Callable[[], None] | None = None
        self._has_begun = False
        self._lock = threading.Lock()
        self._is_in_thread = False
        self._release: Callable[[], None] | None = None
        self._unroute: Callable[..., None] | None = None

    async def value(self, seconds: float | None, begun: Callable[[], None] | None = None) -> Any:
        """Run it and return its value: awaited, and a generator's items as a list.

        Args:
            seconds: How long it may take, waiting for its turn included; ``None`` is no limit.
            begun: Told when it has its turn.

        Raises:
            CallTimeoutError: It took longer. An async function was cancelled, and cleans up
                on its own; a thread runs on.
            RaisedElsewhereError: The function raised in a thread or process.
        """
        self._begun = begun
        if seconds is None:
            return await self._in_turn()
        return await self._timed(seconds)

    async def _timed(self, seconds: float) -> Any:
        task = asyncio.create_task(self._in_turn(), name=f"{self.tool.name} with a timeout")
        try:
            await self._done_in_time(task, seconds)
        except asyncio.CancelledError:
            self.stop()
            task.cancel()
            await asyncio.wait({task})
            raise
        if task.done():
            return task.result()
        self.stop()
        task.cancel()
        task.add_done_callback(kept_routed())
        task.add_done_callback(self._cleaned_up)
        raise CallTimeoutError(self._too_slow(seconds))

    async def _done_in_time(self, task: asyncio.Task[Any], seconds: float) -> None:
        """Wait for a task. While a person is asked, its time stands still."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.wait({task}, timeout=seconds)
        while not task.done() and (asking := self._asking_seconds()):
            left = seconds + asking - (loop.time() - began)
            if left <= 0:
                return
            await asyncio.wait({task}, timeout=max(left, _SHORTEST_WAIT))

    def _cleaned_up(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            if isinstance(error, RaisedElsewhereError):
                error = error.original
            _log.error(
                "tool %s raised while it cleaned up after its timeout", self.tool.name,
                exc_info=error,
            )  # fmt: skip

    def _too_slow(self, seconds: float) -> str:
        if not self._has_begun:
            return (
                f"{self.tool.name} was not run: other calls kept what it works on for "
                f"{seconds:g} s. Try again later."
            )
        text = f"{self.tool.name} did not finish within {seconds:g} s and was stopped."
        if not self.tool.is_async:
            text = (
                f"{self.tool.name} did not finish within {seconds:g} s. It cannot be stopped from "
                "outside and may still be running; its result is dropped."
            )
        return f"{text} Ask for less at once, or go on without it."

    def stop(self) -> None:
        """Drop what comes of it. The turn goes on as soon as nothing runs any more."""
        with self._lock:
            self.is_stopped = True
            if self._is_in_thread:
                self._unroute = self._unroute or kept_routed()
                return
        self._end_turn()

    async def _in_turn(self) -> Any:
        turn = self.tool.turn
        if turn is None:
            return await self.settled(await self._run())
        await turn.acquire()
        with self._lock:
            self._release = turn.release
        try:
            return await self.settled(await self._run())
        except BaseException:
            self.is_stopped = True
            raise
        finally:
            with self._lock:
                is_over = not self._is_in_thread
            if is_over:
                self._end_turn()

    def _end_turn(self) -> None:
        with self._lock:
            release, self._release = self._release, None
        if release is not None:
            release()

    async def _run(self) -> Any:
        self._has_begun = True
        if self._begun is not None:
            self._begun()
        if self.tool.is_async:
            return await self.tool.fn(*self._args, **self._kwargs)
        return await self._blocking(partial(self.tool.fn, *self._args, **self._kwargs))

    async def _blocking(self, function: Callable[[], Any]) -> Any:
        job = partial(self._in_thread, function)
        executor = self._setting.executor_for(self.tool)
        if executor is None:
            outcome = await self._setting.threads.run(job)
        else:
            outcome = await self._sent(executor, job)
        if outcome.error is not None:
            raise RaisedElsewhereError(outcome.error)
        return outcome.value

    def _in_thread(self, function: Callable[[], Any]) -> Any:
        with self._lock:
            if self.is_stopped:
                return None  # before it began: nobody waits for it
            self._is_in_thread = True
        try:
            value = function()
            return self._drained(value) if inspect.isgenerator(value) else value
        finally:
            self._leave_thread()

    def _leave_thread(self) -> None:
        with self._lock:
            self._is_in_thread = False
            nobody_waits = self.is_stopped
            unroute, self._unroute = self._unroute, None
        if unroute is not None:
            unroute()
        if nobody_waits:
            self._end_turn()

    async def _sent(self, executor: Any, job: Callable[[], Any]) -> Outcome:
        call = SentCall(executor, self.tool, job, self._args, self._kwargs, self._output)
        return await call.outcome()

    async def settled(self, value: Any) -> Any:
        """Await what turned out to be awaitable; collect what turned out to be a generator."""
        if type(value) in PLAIN:
            return value
        if inspect.isawaitable(value):
            value = await value
        if inspect.isasyncgen(value):
            return [item async for item in value]
        if inspect.isgenerator(value):
            return await self._blocking(partial(self._drained, value))
        return value

    def _drained(self, generator: Any) -> list[Any]:
        """What a generator yields, up to its end or until the call is stopped."""
        items = []
        for item in generator:
            if self.is_stopped:
                break
            items.append(item)
        return items


async def maybe_await(value: Any) -> Any:
    """Await a value that is awaitable, and return any other."""
    return await value if inspect.isawaitable(value) else value
