"""The inbox of a session: events in order, each handled once, over restarts too."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Literal

from agtools_nb.context.database import Database
from agtools_nb.errors import UsageError
from agtools_nb.events.event import Event
from agtools_nb.events.watchers import Watchers

Delivery = Literal["kept", "duplicate", "late"]

SHOWN_HANDLED = 200
"""Handled events that are kept for people to look at."""

_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS events (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        dedup_id TEXT NOT NULL UNIQUE,
        call_id TEXT,
        final INTEGER NOT NULL,
        is_handled INTEGER NOT NULL DEFAULT 0,
        body TEXT
    )
    """,
    "CREATE INDEX IF NOT EXISTS events_of_calls ON events (call_id, final)",
    "CREATE INDEX IF NOT EXISTS events_to_handle ON events (seq) WHERE NOT is_handled",
    "CREATE INDEX IF NOT EXISTS events_to_show ON events (seq) WHERE is_handled AND body NOT NULL",
)

_log = logging.getLogger("agtools_nb")


class Inbox:
    """Events of a session, to be handled one after another.

    An event is known by its dedup id: a second one with the same id is dropped, also
    after the first has been handled and after a restart. Events of one call are handed
    out in their order: the next only once the one before has been settled. While a call
    is waited for (:attr:`held`), only messages are handed out.

    Safe to use from any thread. What :meth:`put` took in is on disk, if the database is.

    Args:
        database: Where it is kept. Default: in memory.
    """

    def __init__(self, database: Database | None = None) -> None:
        self._database = Database.open(None) if database is None else database
        # One lock for both: with two, a thread that writes state and one that puts an event
        # in could wait for each other.
        self._lock = self._database.lock
        self._database.create(*_TABLES)
        self._open: dict[int, Event] = {}
        self._taken_seqs: set[int] = set()
        self._seqs_of: dict[str | None, set[int]] = {}
        self._handled: dict[int, Event] = {}
        self._holds = 0
        self._holds_lock = threading.Lock()
        self._watchers = Watchers("the inbox")
        self._load()
        self._database.on_close(self._watchers.tell)

    def _load(self) -> None:
        rows = self._database.execute(
            "SELECT seq, body FROM events WHERE NOT is_handled ORDER BY seq"
        )
        self._open = {seq: Event.from_json(body, seq, "waiting") for seq, body in rows}
        for seq, event in self._open.items():
            self._seqs_of.setdefault(event.call_id, set()).add(seq)
        rows = self._database.execute(
            "SELECT seq, body FROM events WHERE is_handled AND body IS NOT NULL "
            "ORDER BY seq DESC LIMIT ?",
            (SHOWN_HANDLED,),
        )
        self._handled = {seq: Event.from_json(body, seq, "handled") for seq, body in rows[::-1]}

    @property
    def items(self) -> tuple[Event, ...]:
        """The events, oldest first: all that are to be handled, and of the others the last 200."""
        with self._lock:
            found = {**self._handled, **self._open}.values()
        return tuple(sorted(found, key=lambda event: event.seq))

    @property
    def has_waiting(self) -> bool:
        """Whether an event is there that nobody has taken, held back or not."""
        return len(self._open) > len(self._taken_seqs)

    @property
    def held(self) -> bool:
        """Whether a call that is not passive is waited for, so that events wait too."""
        return self._holds > 0

    def __len__(self) -> int:
        """How many events are to be handled."""
        return len(self._open)

    def __repr__(self) -> str:
        held = ", held until no call is waited for" if self.held and len(self) else ""
        return f"<Inbox: {len(self):,} events to handle{held}>"

    def waiting_of(self, call_id: str) -> int:
        """How many events of one call are to be handled."""
        return len(self._seqs_of.get(call_id, ()))

    def count_of(self, call_id: str) -> int:
        """How many events of one call have ever been put in, its final one left out."""
        ((count,),) = self._database.execute(
            "SELECT count(*) FROM events WHERE call_id = ? AND NOT final", (call_id,)
        )
        return int(count)

    def knows(self, dedup_id: str) -> bool:
        """Whether an event with that id has ever been put in."""
        return bool(self._database.execute("SELECT 1 FROM events WHERE dedup_id = ?", (dedup_id,)))

    def knows_call(self, call_id: str) -> bool:
        """Whether an event of that call has ever been put in."""
        return bool(self._database.execute("SELECT 1 FROM events WHERE call_id = ?", (call_id,)))

    def put(self, event: Event) -> Delivery:
        """Take an event in.

        Returns:
            ``"kept"``; ``"duplicate"`` if there has been one with its dedup id, ``"late"`` if
            its call has sent its final event before: such an event is dropped.

        Raises:
            StoreError: It could not be written; the inbox is as it was.
        """
        with self._database.transaction():
            if self.knows(event.dedup_id):
                return "duplicate"
            if event.call_id is not None and self._is_over(event.call_id):
                _log.warning(
                    "an event of %s came after its final one and was dropped", event.call_id
                )
                return "late"
            ((seq,),) = self._database.execute(
                "INSERT INTO events (dedup_id, call_id, final, body) VALUES (?, ?, ?, ?) "
                "RETURNING seq",
                (event.dedup_id, event.call_id, event.final, event.to_json()),
            )
            kept = replace(event, seq=seq, status="waiting")
            self._database.on_commit(lambda: self._show(kept))
        return "kept"

    def _show(self, event: Event) -> None:
        # An interrupt may have this called again: by then it may have been taken.
        if event.seq not in self._open:
            self._seqs_of.setdefault(event.call_id, set()).add(event.seq)
            self._open[event.seq] = event
        self._watchers.tell()

    def _is_over(self, call_id: str) -> bool:
        return bool(
            self._database.execute("SELECT 1 FROM events WHERE call_id = ? AND final", (call_id,))
        )

    def take(self) -> Event | None:
        """Return the next event that may be handled, ``None`` if there is none now.

        It is given to nobody else until it is settled or released. After a restart it
        comes again if it was not settled.
        """
        with self._lock:
            busy = {self._open[seq].call_id for seq in self._taken_seqs}
            for seq, event in self._open.items():
                may_pass = not self.held or event.kind == "message"
                is_next = event.call_id is None or event.call_id not in busy
                if event.status == "waiting" and may_pass and is_next:
                    taken = self._open[seq] = replace(event, status="taken")
                    self._taken_seqs.add(seq)
                    break
            else:
                return None
        self._watchers.tell()
        return taken

    async def get(self, timeout: float | None = None) -> Event:  # noqa: ASYNC109
        """Wait for the next event that may be handled, and take it. See :meth:`take`.

        Args:
            timeout: Seconds to wait. Default: as long as it takes.

        Raises:
            TimeoutError: None came in time.
            StoreError: The store was closed, so that none will come.
        """
        async with asyncio.timeout(timeout):
            with self._watchers.changes() as change:
                while (event := self.take()) is None:
                    self._database.execute("SELECT 1")  # a closed one says so, for good
                    await change()
        return event

    async def receive(self, timeout: float | None = None) -> Event:  # noqa: ASYNC109
        """Wait for the next event and settle it at once: it is handled at most once.

        Args:
            timeout: Seconds to wait. Default: as long as it takes.

        Raises:
            TimeoutError: None came in time.
        """
        event = await self.get(timeout)
        self.settle(event)
        return event

    def __aiter__(self) -> AsyncIterator[Event]:
        """Events as they come, each settled as it is given; it never ends by itself."""
        return self

    async def __anext__(self) -> Event:
        return await self.receive()

    def settle(self, event: Event) -> None:
        """The event has been handled: it never comes again. Twice does no harm.

        Raises:
            UsageError: It is not one that was taken here.
            StoreError: It could not be written; the event stays taken.
        """
        with self._database.transaction():
            kept = self._taken(event)
            if kept is None:
                return
            self._database.execute("UPDATE events SET is_handled = 1 WHERE seq = ?", (kept.seq,))
            self._forget_bodies(kept.seq)
            self._database.on_commit(lambda: self._put_away(kept))

    def _put_away(self, event: Event) -> None:
        # An interrupt may have this called again: each step may be taken twice.
        self._taken_seqs.discard(event.seq)
        seqs = self._seqs_of.get(event.call_id, set())
        seqs.discard(event.seq)
        if not seqs:
            self._seqs_of.pop(event.call_id, None)
        self._handled[event.seq] = replace(event, status="handled")
        while len(self._handled) > SHOWN_HANDLED:
            del self._handled[next(iter(self._handled))]
        self._open.pop(event.seq, None)
        self._watchers.tell()

    def _forget_bodies(self, seq: int) -> None:
        # The dedup ids stay for good; what was said is kept as long as people may look at it.
        self._database.execute(
            "UPDATE events SET body = NULL WHERE is_handled AND body IS NOT NULL AND seq < ?",
            (seq - 5 * SHOWN_HANDLED,),
        )

    def release(self, event: Event) -> None:
        """Give an event back: handling it failed, and it comes again.

        Raises:
            UsageError: It is not one that was taken here.
        """
        with self._lock:
            kept = self._taken(event)
            if kept is not None:
                self._open[kept.seq] = replace(kept, status="waiting")
                self._taken_seqs.discard(kept.seq)
        self._watchers.tell()

    @contextmanager
    def handling(self, event: Event) -> Iterator[Event]:
        """Handle a taken event exactly once: ``with inbox.handling(event): ...``.

        What the block writes to the same store (state, artifacts, memory, other events) and
        that the event was handled become true together, or, if it raises or the process
        is killed, not at all; then the event comes again. Do not ``await`` inside, nor run
        calls with a blocking twin: the store is held meanwhile, and what they write is part
        of the block.

        Raises:
            UsageError: The event is not one that was taken here.
            StoreError: It could not be written.
        """
        try:
            with self._database.transaction():
                yield event
                self.settle(event)
        except BaseException:
            with contextlib.suppress(UsageError):
                self.release(event)
            raise

    def _taken(self, event: Event) -> Event | None:
        """The event as it is here; ``None`` if it has been handled."""
        kept = self._open.get(event.seq)
        if kept is not None and kept.id == event.id and kept.status == "taken":
            return kept
        if kept is None and event.seq > 0 and self.knows(event.dedup_id):
            return None
        raise UsageError(
            f"event {event.id} was not taken from this inbox; take it first: "
            "event = await inbox.get()"
        )

    def hold(self) -> None:
        """Keep events back, until :meth:`let_go` was called as often. Messages get through."""
        with self._holds_lock:
            self._holds += 1
            is_first = self._holds == 1
        if is_first:
            self._watchers.tell()

    def let_go(self) -> None:
        """Take one :meth:`hold` back."""
        with self._holds_lock:
            self._holds -= 1
            is_last = self._holds == 0
        if is_last:
            self._watchers.tell()

    def watch(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` after each change, on the thread that made it.

        Returns a function that ends it.
        """
        return self._watchers.add(listener)

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait until ``is_so()``, which is asked after each change."""
        await self._watchers.until(is_so)

    async def room(self, call_id: str, most: int) -> None:
        """Wait until fewer than ``most`` events of a call are to be handled."""
        await self.until(lambda: self.waiting_of(call_id) < most)
