"""What all sessions of one store have in common: its messages, its tokens, and whose turn it is."""

from __future__ import annotations

import asyncio
import weakref
from typing import TYPE_CHECKING, Any

from agtools_nb.agent.budget import Meter
from agtools_nb.agent.history import History
from agtools_nb.agent.messages import Message
from agtools_nb.context.database import Database

if TYPE_CHECKING:
    from agtools_nb.agent.happenings import Reply
    from agtools_nb.agent.session import Session


class Line:
    """The messages of one history: they are answered one after another, whoever says them.

    Attributes:
        open: What is being answered, or waits for it.
        current: What is being answered.
    """

    def __init__(self) -> None:
        self.open: set[asyncio.Task[Reply]] = set()
        self.current: asyncio.Task[Reply] | None = None
        self._lock = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def turn(self) -> asyncio.Lock:
        """Held by what is being answered."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop and (
            self._loop is None or self._loop.is_closed() or not self._lock.locked()
        ):
            # A lock that was waited for on one loop cannot be on another, such as the next
            # asyncio.run of a script.
            self._lock, self._loop = asyncio.Lock(), loop
        return self._lock


class Record:
    """A conversation as it is kept.

    Args:
        history: Its messages.

    Attributes:
        history: Its messages.
        meter: Counts its tokens.
        line: Whose turn it is.
        sessions: Who talks in it.
    """

    def __init__(self, history: History) -> None:
        self.history = history
        self.meter = Meter(history.usage, keep=history.keep_usage)
        self.line = Line()
        self.sessions: weakref.WeakSet[Session] = weakref.WeakSet()

    @classmethod
    def of(cls, database: Database | None, begun: tuple[Message, ...]) -> Record:
        """The record of a database, as long as a session of it is there the same; else a new one.

        A cell that is run again makes another session of the store while the first one may
        still be answering; two that each remember the messages would write over each other.

        Args:
            database: Where it lasts. ``None``: in memory.
            begun: What it begins with.

        Raises:
            UsageError: The database has other messages than those.
            StoreError: It cannot be read.
        """
        if database is None:
            return cls(History(None, begun))
        with database.lock:
            database.check()
            known = _records.get(database)
            found = None if known is None else known()
            if found is None:
                found = cls(History(database, begun))
                _records[database] = weakref.ref(found)
            elif begun and not len(found.history):
                for message in begun:
                    found.history.append(message)
            else:
                found.history.check_begins_with(begun)
        return found


_records: weakref.WeakKeyDictionary[Database, weakref.ref[Any]] = weakref.WeakKeyDictionary()
