"""Threads for blocking tools: as many as a batch needs up to a cap, and none that blocks exit.

``asyncio``'s default executor stops at ``cpu + 4`` threads and is joined at exit,
so one tool that never ends would hold up its siblings and the interpreter.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any

# Most blocking calls of one batch that run at once; further ones wait for their turn.
MAX_THREADS = 256
IDLE_SECONDS = 10.0

Job = tuple[
    contextvars.Context, Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[Outcome]"
]


class Outcome:
    """What a job returned or raised, as plain data: a future cannot hold ``StopIteration``."""

    __slots__ = ("error", "value")

    def __init__(self, value: Any, error: BaseException | None) -> None:
        self.value = value
        self.error = error


class WorkerThreads:
    """Daemon threads that are started on demand and leave after 10 idle seconds.

    There is no limit here: a job whose waiter was cancelled keeps its thread until
    the function returns, and must not starve the others. Whoever hands in jobs
    limits how many it waits for.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0

    async def run(self, job: Callable[[], Any]) -> Outcome:
        """Run ``job()`` in a thread, with the caller's context variables.

        A cancelled wait leaves the thread running; its outcome is dropped.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Outcome] = loop.create_future()
        with self._lock:
            if self._idle:
                self._idle -= 1
            else:
                # Before the job is handed in: a machine may be out of threads.
                threading.Thread(target=self._work, name="agtools_nb-worker", daemon=True).start()
        self._jobs.put((contextvars.copy_context(), job, loop, future))
        return await future

    def _work(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    # A job may have come for this thread between the timeout and here.
                    if not self._idle:
                        continue
                    self._idle -= 1
                    return
            self._do(job)
            # The job holds its caller's context and values; an idle thread must not.
            del job

    def _do(self, job: Job) -> None:
        context, function, loop, future = job
        try:
            outcome = Outcome(context.run(function), None)
        except BaseException as error:  # SystemExit too is this call's own outcome
            outcome = Outcome(None, error)
        with self._lock:
            # Before the outcome is told, or the next job would start another thread.
            self._idle += 1
        try:
            loop.call_soon_threadsafe(_deliver, future, outcome)
        except RuntimeError:
            # The loop was closed while the function ran: nobody is left to tell.
            return


def _deliver(future: asyncio.Future[Outcome], outcome: Outcome) -> None:
    if not future.done():
        future.set_result(outcome)
