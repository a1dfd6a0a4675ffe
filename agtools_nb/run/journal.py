"""``Journal``: every call, written down as it begins and as it ends."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from agtools_nb.calls import Status, ToolCall, ToolResult
from agtools_nb.context import Database
from agtools_nb.context.database_errors import damaged
from agtools_nb.errors import StoreError, UsageError
from agtools_nb.jsonable import brief_repr, clean_text, json_text, shorten
from agtools_nb.run.runner import Runner

LONGEST_TEXT = 100_000
"""Most characters of a call's arguments, result or error that are kept."""

_MOST_ENTRIES = 10_000

_TABLE = """CREATE TABLE IF NOT EXISTS calls (
    number INTEGER PRIMARY KEY, call_id TEXT NOT NULL, name TEXT NOT NULL,
    arguments TEXT NOT NULL, status TEXT NOT NULL, result TEXT, error TEXT,
    started_at REAL NOT NULL, duration REAL)"""
_INDEX = "CREATE INDEX IF NOT EXISTS calls_by_id ON calls (call_id)"
_COLUMNS = "number, call_id, name, arguments, status, result, error, started_at, duration"


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One call as the journal has it.

    Attributes:
        number: Counts the calls from 1, in the order in which they began.
        call_id: Id of the call; a provider may use one twice in a conversation.
        name: Name that was called.
        arguments: As the tool got them, or as they came if they did not fit. As JSON; the
            first 100,000 characters of that as text if it is longer.
        status: That of the result; ``"running"`` until there is one; ``"interrupted"`` if the
            process ended before there was.
        result: What the tool returned, as JSON, cut as :attr:`arguments` are.
        error: What the model was told if the call failed, cut likewise.
        started_at: Unix time in seconds, as the clock had it.
        duration: Seconds it took; ``None`` if it has no result.
    """

    number: int
    call_id: str
    name: str
    arguments: Any
    status: Status | Literal["running", "interrupted"]
    result: Any
    error: str | None
    started_at: float
    duration: float | None


class Journal:
    """The calls of a conversation, in the order in which they began.

    A call is written down before its tool runs, so that one which takes the process with it
    is found as ``"interrupted"`` afterwards; if it cannot be, the tool is not run. A call that
    outlives its answer stands there twice: with its answer, and with what became of it.

    Args:
        database: Where it lasts. What was running when it was last closed is interrupted.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        # Ids of objects: the same call may be made twice at once. Each is kept alive meanwhile.
        self._running: dict[int, tuple[ToolCall, int]] = {}
        database.create(_TABLE, _INDEX)
        database.execute("UPDATE calls SET status = 'interrupted' WHERE status = 'running'")
        [(last,)] = database.execute("SELECT coalesce(max(number), 0) FROM calls")
        self._numbers = itertools.count(last + 1)

    @classmethod
    def of(cls, database: Database) -> Journal:
        """The journal of a database, one in a process."""
        return database.part("journal", lambda: cls(database))

    def record(self, runner: Runner) -> None:
        """Write down what ``runner`` runs from now on."""
        runner.before(self.call_began)
        runner.after(self.call_ended)

    def entries(self, limit: int = 100) -> tuple[JournalEntry, ...]:
        """Return the last calls, newest last.

        Args:
            limit: How many at most, from 1 to 10,000. Default 100.

        Raises:
            UsageError: It is out of range.
        """
        if type(limit) is not int or not 1 <= limit <= _MOST_ENTRIES:
            raise UsageError(f"limit must be from 1 to {_MOST_ENTRIES:,}, not {brief_repr(limit)}")
        return self._found("ORDER BY number DESC LIMIT ?", limit)[::-1]

    def find(self, call_id: str) -> tuple[JournalEntry, ...]:
        """Return the calls of an id, oldest first."""
        return self._found("WHERE call_id = ? ORDER BY number", clean_text(str(call_id)))

    def __len__(self) -> int:
        [(count,)] = self._database.execute("SELECT count(*) FROM calls")
        return int(count)

    def __bool__(self) -> bool:
        return True  # one without calls is one

    def __repr__(self) -> str:
        return f"<Journal of {len(self):,} calls>"

    async def call_began(self, call: ToolCall, arguments: Mapping[str, Any]) -> None:
        """Write down that a call begins.

        Raises:
            StoreError: It could not be written, and the tool is not to run.
        """
        text = _cut(json_text(arguments))
        number = next(self._numbers)
        self._running[id(call)] = call, number
        row = (number, clean_text(str(call.id)), call.name, text, time.time())

        def write() -> None:
            # It may have been stopped, and its end written, while this waited.
            self._database.execute(
                "INSERT OR IGNORE INTO calls (number, call_id, name, arguments, status, started_at)"
                " VALUES (?, ?, ?, ?, 'running', ?)",
                row,
            )

        await self._without_waiting(write)

    async def call_ended(self, call: ToolCall, result: ToolResult) -> ToolResult | None:
        """Write down what became of it; if that cannot be done, the result says so."""
        known = self._running.pop(id(call), None)
        arguments = call.args if result.arguments is None else result.arguments
        row = (
            clean_text(str(result.id)),
            clean_text(str(result.name)),
            _cut(json_text(arguments)),
            result.status,
            None if result.error is not None else _cut(json_text(result.result)),
            None if result.error is None else shorten(clean_text(result.error), LONGEST_TEXT),
            result.started_at,
            result.duration,
        )
        number = next(self._numbers) if known is None else known[1]

        def write() -> None:
            self._database.execute(
                f"INSERT OR REPLACE INTO calls ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                (number, *row),
            )

        try:
            await self._without_waiting(write)
        except StoreError as error:
            note = f"This call could not be written into the journal: {error}"
            return replace(result, notes=(*result.notes, note))
        return None

    async def _without_waiting(self, write: Callable[[], None]) -> None:
        """Write here if nobody holds the database; a tool that does must not hold up the loop."""
        lock = self._database.lock
        if not lock.acquire(blocking=False):
            await asyncio.shield(asyncio.to_thread(write))
            return
        try:
            write()
        finally:
            lock.release()

    def _found(self, which: str, parameter: Any) -> tuple[JournalEntry, ...]:
        rows = self._database.execute(f"SELECT {_COLUMNS} FROM calls {which}", (parameter,))  # noqa: S608
        try:
            return tuple(_entry(*row) for row in rows)
        except ValueError as error:
            raise damaged(self._database.path, f"its journal is unreadable: {error}") from error


def _entry(
    number: int,
    call_id: str,
    name: str,
    arguments: str,
    status: Any,
    result: str | None,
    error: str | None,
    started_at: float,
    duration: float | None,
) -> JournalEntry:
    return JournalEntry(
        number, call_id, name, _read(arguments), status, _read(result), error, started_at, duration
    )


def _cut(text: str) -> str:
    """JSON text as it is kept: if it is too long, its beginning as a JSON text of its own."""
    return text if len(text) <= LONGEST_TEXT else json_text(shorten(text, LONGEST_TEXT))


def _read(text: str | None) -> Any:
    return None if text is None else json.loads(text)
