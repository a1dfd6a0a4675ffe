"""Dispatched and long-running calls: started, waited for by nobody, answered in the end."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from agtools_nb.calls import ToolResult
from agtools_nb.context import Progress, copied
from agtools_nb.context.database import Database
from agtools_nb.errors import StoreError, ToolError
from agtools_nb.events.ending import Unkept, stopped
from agtools_nb.events.event import Event, as_content, fresh_id
from agtools_nb.events.inbox import Inbox
from agtools_nb.events.records import BackgroundTask, Records, TaskStatus
from agtools_nb.jsonable import clean_text, shorten
from agtools_nb.run.threads import MAX_THREADS
from agtools_nb.run.work import Work

LONGEST_LINE = 200

KEPT_RESULTS = 100
"""Results of long-running tasks kept as they are in Python; of older ones there is the JSON."""


_log = logging.getLogger("agtools_nb")


class Tasks:
    """Runs what outlives its call, but for subscriptions.

    Args:
        database: Where the tasks are kept.
        inbox: Where results of dispatched calls go.
        changed: Called after each change.
    """

    def __init__(self, database: Database, inbox: Inbox, changed: Callable[[], None]) -> None:
        self._database = database
        self._inbox = inbox
        self._changed = changed
        self._records = Records(database, BackgroundTask)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._results: OrderedDict[str, ToolResult] = OrderedDict()
        # One a loop: blocking functions of all tasks together take so many threads.
        self._turns: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]
        self._turns = weakref.WeakKeyDictionary()
        self._unkept = Unkept()
        self._lines: dict[str, dict[str, str]] = {}
        for record in self._records.all:
            if record.is_open:
                self._end(record.interrupted())

    @property
    def all(self) -> tuple[BackgroundTask, ...]:
        """The tasks, oldest first."""
        return self._records.all

    def get(self, task_id: str) -> BackgroundTask | None:
        """The task of that id."""
        found: BackgroundTask | None = self._records.get(task_id)
        return found

    def result(self, task_id: str) -> Any:
        """What a task returned, as it is in Python where it ran in this process."""
        result = self._results.get(task_id)
        record = self.get(task_id)
        return result.result if result is not None else record and record.result

    def start(self, work: Work, task_id: str) -> dict[str, Any]:
        """Start it, and return what the call answers with."""
        self._end_lost()
        if work.tool.long_running:
            return self._start_long(work)
        self._begin(self._record(work, task_id, "dispatched"), work)
        return {"status": "dispatched", "call_id": task_id}

    def _start_long(self, work: Work) -> dict[str, Any]:
        pending = self._pending(work.tool.name, work.arguments)
        if pending is not None:
            return {
                "task_id": pending.task_id,
                "status": "pending",
                "note": "The same call is running already; this is its task.",
            }
        record = self._record(work, fresh_id("task"), "long_running")
        self._begin(record, work)
        return {"task_id": record.task_id, "status": "pending"}

    def _pending(self, tool_name: str, arguments: Mapping[str, Any]) -> BackgroundTask | None:
        """The pending task of an identical call."""
        wanted = _canonical(arguments)
        for record in self.all:
            if (
                record.is_open
                and record.tool_name == tool_name
                and record.kind == "long_running"
                and _canonical(record.arguments) == wanted
            ):
                return record
        return None

    def _record(self, work: Work, task_id: str, kind: Any) -> BackgroundTask:
        return BackgroundTask(
            task_id,
            work.call.id or task_id,
            work.group_id,
            work.tool.name,
            kind,
            arguments=copied(work.arguments),
        )

    def _begin(self, record: BackgroundTask, work: Work) -> None:
        self._records.put(record)
        task = asyncio.get_running_loop().create_task(
            self._run(record, work), name=f"{record.kind} {record.task_id}"
        )
        self._running[record.task_id] = task
        task.add_done_callback(lambda _: self._running.pop(record.task_id, None))
        self._changed()

    async def _run(self, record: BackgroundTask, work: Work) -> None:
        try:
            result = await work.run(self._turn(), partial(self._follow, record.task_id))
        except BaseException as error:  # a failure after the start becomes a result, never silence
            _log.exception("task %s failed in the package itself", record.task_id)
            result = ToolResult(record.tool_name, record.call_id, error=str(error), status="error")
        self._finish(record, result)

    def _turn(self) -> asyncio.Semaphore:
        return self._turns.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(MAX_THREADS))

    def _follow(self, task_id: str, progress: Progress) -> None:
        current = self.get(task_id)
        if current is None or not current.is_open:
            return
        lines = self._lines.setdefault(task_id, {})
        if progress.done is not None:
            current = replace(current, done=progress.done, total=progress.total)
            lines["bar"] = bar_line(progress)
        elif last := last_line(progress.chunk):
            lines["text"] = last
        text = " · ".join(lines[kind] for kind in ("bar", "text") if kind in lines)
        # In memory only: a task may report a thousand times a second.
        self._records.note(replace(current, progress=text))
        self._changed()

    def _finish(self, record: BackgroundTask, result: ToolResult) -> None:
        self._lines.pop(record.task_id, None)
        kept = self._records.get(record.task_id)
        if kept is not None and not kept.is_open:
            return  # answered for before: the session was closed
        content, error = _outcome(result)
        ended = replace(
            kept or record,
            status=status_of(result),
            ended_at=time.time(),
            result=content,
            error=error,
        )
        if record.kind == "long_running":
            self._results[record.task_id] = result
            while len(self._results) > KEPT_RESULTS:
                self._results.popitem(last=False)
        self._keep_end(ended)

    def _keep_end(self, record: BackgroundTask) -> None:
        """Keep that it ended; if the store cannot now, as soon as it can."""
        try:
            self._end(record)
        except StoreError:
            _log.exception("the end of task %s could not be kept yet", record.task_id)
            self._records.note(record)
            self._unkept.retry(partial(self._end, record))
            self._changed()

    def _end(self, record: BackgroundTask) -> None:
        """Keep that it ended, and deliver the result of a dispatched call, both or neither."""
        with self._database.transaction():
            self._records.put(record)
            if record.kind == "dispatched":
                self._inbox.put(self._event(record))
        self._changed()

    @staticmethod
    def _event(record: BackgroundTask) -> Event:
        error = record.error
        if record.status == "interrupted":
            error = (
                f"{record.tool_name} was not done: {error}. Call it again if its result is still "
                "wanted."
            )
        return Event(
            "result",
            record.result,
            record.task_id,
            call_id=record.task_id,
            group_id=record.group_id,
            tool_name=record.tool_name,
            final=True,
            error=error,
        )

    async def cancel(self, task_id: str) -> BackgroundTask:
        """Stop a task and wait until it has cleaned up, at most 5 seconds. Twice does no harm.

        Raises:
            ToolError: There is no task of that id.
        """
        record = self.get(task_id)
        if record is None:
            raise unknown("task", task_id, [one.task_id for one in self.all if one.is_open])
        await stopped(self._running.get(task_id))
        self._end_lost()
        return self.get(task_id) or record

    def _end_lost(self) -> None:
        """End what ran on a loop that was closed under it: it never goes on."""
        for task_id, task in list(self._running.items()):
            record = self.get(task_id)
            if task.get_loop().is_closed() and record is not None and record.is_open:
                del self._running[task_id]
                self._keep_end(record.interrupted())

    async def close(self) -> None:
        """Stop all tasks; they count as interrupted."""
        for task_id in tuple(self._running):
            record = self.get(task_id)
            if record is not None and record.is_open:
                self._keep_end(record.interrupted())
        await asyncio.gather(*map(stopped, self._running.values()))
        self._unkept.close()


def last_line(chunk: str) -> str:
    """The last line of a piece of text that says something; ``""`` if none does."""
    lines = clean_text(chunk).strip().splitlines()
    return shorten(lines[-1], LONGEST_LINE) if lines else ""


def bar_line(progress: Progress) -> str:
    """Where a bar stands, in one line: ``"3 of 10 files"``."""
    of = "" if progress.total is None else f" of {progress.total:g}"
    return f"{progress.done:g}{of} {last_line(progress.chunk)}".strip()


def status_of(result: ToolResult) -> TaskStatus:
    """What a task is that ended with this result."""
    if result.ok:
        return "done"
    return "cancelled" if result.status == "cancelled" else "failed"


def _outcome(result: ToolResult) -> tuple[Any, str | None]:
    """Content and error of a result."""
    if result.ok:
        return as_content(result.result), None
    return None, result.error or result.status


def _canonical(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, sort_keys=True, default=str)


def unknown(what: str, given: Any, open_ids: list[str]) -> ToolError:
    """The error that tells a model of an id that nobody has."""
    listed = ", ".join(open_ids[:20]) or "none"
    return ToolError(
        "not_found",
        f"There is no {what} {str(given)[:80]!r}.",
        category="background",
        hint=f"Open ones: {listed}.",
    )
