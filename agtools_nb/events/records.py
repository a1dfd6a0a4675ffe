"""What is known of work that outlives its call, kept over restarts."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeVar

from agtools_nb.context.database import Database

TaskStatus = Literal["pending", "done", "failed", "cancelled", "interrupted"]
TaskKind = Literal["dispatched", "long_running"]
SubscriptionStatus = Literal["active", "ended", "failed", "cancelled", "interrupted"]

KEPT = 1_000
"""Tasks, and subscriptions, that are remembered once they have ended."""

INTERRUPTED = "the kernel or program that ran it ended before it did"


@dataclass(frozen=True, slots=True)
class BackgroundTask:
    """A call of a ``dispatched`` or ``long_running`` tool.

    Attributes:
        task_id: Its id; that of the call for a dispatched one.
        call_id: Id of the call that started it.
        group_id: The same for all calls of one batch.
        tool_name: The tool.
        kind: ``"dispatched"`` or ``"long_running"``.
        status: ``"pending"``, ``"done"``, ``"failed"``, ``"cancelled"``, or
            ``"interrupted"`` if the process that ran it ended before.
        arguments: Its arguments as the tool got them, as JSON.
        started_at: Unix time in seconds.
        ended_at: The same of its end; ``None`` while it is pending.
        result: What it returned, as JSON; ``None`` unless it is done.
        error: Why it failed; ``None`` unless it did.
        progress: What it reported last, in one line: ``"3 of 10 · linking"``; ``""`` if nothing.
        done: How much is done, as it reported; ``None`` if it did not.
        total: How much there is to do; ``None`` if it did not say.
    """

    task_id: str
    call_id: str
    group_id: str
    tool_name: str
    kind: TaskKind
    status: TaskStatus = "pending"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    started_at: float = field(default_factory=time.time)
    ended_at: float | None = None
    result: Any = None
    error: str | None = None
    progress: str = ""
    done: float | None = None
    total: float | None = None

    @property
    def id(self) -> str:
        """The same as :attr:`task_id`."""
        return self.task_id

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.status == "pending"

    def interrupted(self) -> BackgroundTask:
        """The same, its process gone."""
        return replace(self, status="interrupted", ended_at=time.time(), error=INTERRUPTED)


@dataclass(frozen=True, slots=True)
class Subscription:
    """A call of an async generator tool.

    Attributes:
        id: Its id, by which it is cancelled; that of the call.
        call_id: Id of the call that started it.
        group_id: The same for all calls of one batch.
        tool_name: The tool.
        status: ``"active"``, ``"ended"`` by itself, ``"failed"``, ``"cancelled"``, or
            ``"interrupted"`` if the process that ran it ended before.
        arguments: Its arguments as the tool got them, as JSON.
        started_at: Unix time in seconds.
        last_at: The same of its last event; ``None`` before the first.
        events: How many events it has sent, its first value not counted.
        associative: Whether they enter the thread that subscribed.
        error: Why it failed; ``None`` unless it did.
    """

    id: str
    call_id: str
    group_id: str
    tool_name: str
    status: SubscriptionStatus = "active"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    started_at: float = field(default_factory=time.time)
    last_at: float | None = None
    events: int = 0
    associative: bool = False
    error: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self.status == "active"

    def interrupted(self) -> Subscription:
        """The same, its process gone."""
        return replace(self, status="interrupted", error=INTERRUPTED)


Record = TypeVar("Record", BackgroundTask, Subscription)


class Records:
    """The tasks or the subscriptions of a session, in the order in which they began.

    Args:
        database: Where they are kept.
        kind: Which of the two.
    """

    def __init__(self, database: Database, kind: type[BackgroundTask | Subscription]) -> None:
        self._database = database
        self._kind = kind
        self._table = "tasks" if kind is BackgroundTask else "subscriptions"
        self._known: dict[str, Any] = {}
        database.create(
            f"CREATE TABLE IF NOT EXISTS {self._table} "
            "(seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body TEXT NOT NULL)"
        )
        for (body,) in database.execute(f"SELECT body FROM {self._table} ORDER BY seq"):  # noqa: S608
            record = kind(**json.loads(body))
            self._known[record.id] = record

    @property
    def all(self) -> tuple[Any, ...]:
        """All of them, oldest first."""
        with self._database.lock:
            return tuple(self._known.values())

    def get(self, record_id: str) -> Any:
        """The one of that id, or ``None``."""
        return self._known.get(record_id)

    def put(self, record: BackgroundTask | Subscription) -> None:
        """Keep a new record, or a change of one.

        Raises:
            StoreError: It could not be written; what was known stays.
        """
        with self._database.transaction():
            self._database.execute(
                f"INSERT INTO {self._table} (id, body) VALUES (?, ?) "  # noqa: S608
                "ON CONFLICT (id) DO UPDATE SET body = excluded.body",
                (record.id, json.dumps(asdict(record))),
            )
            self._database.on_commit(lambda: self._keep(record))

    def note(self, record: BackgroundTask | Subscription) -> None:
        """Change what is known of a record that is kept already, in memory only."""
        self._known[record.id] = record

    def _keep(self, record: BackgroundTask | Subscription) -> None:
        self._known[record.id] = record
        if len(self._known) > KEPT + 100:
            self._forget()

    def _forget(self) -> None:
        ended = [one.id for one in self._known.values() if not one.is_open]
        for record_id in ended[: len(self._known) - KEPT]:
            del self._known[record_id]
            self._database.execute(f"DELETE FROM {self._table} WHERE id = ?", (record_id,))  # noqa: S608
