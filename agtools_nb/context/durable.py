"""``DurableState``: a state whose writes are in a file by the time they return."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from agtools_nb.context.database import Database
from agtools_nb.context.database_errors import damaged
from agtools_nb.context.history import History
from agtools_nb.context.kept import dumped, json_copy
from agtools_nb.context.snapshots import Snapshot, frozen
from agtools_nb.context.state import StateStore
from agtools_nb.context.writes import ABSENT, WHOLE, StateWrite, copied
from agtools_nb.errors import StoreError
from agtools_nb.jsonable import clean_text

HISTORY_BYTES = 32_000_000
"""Most that the kept writes of one state may take in the file, as JSON."""

_log = logging.getLogger("agtools_nb")

_TABLES = (
    # What the values were before the oldest write that is kept, in the order of the keys.
    """CREATE TABLE IF NOT EXISTS state_base (
        number INTEGER PRIMARY KEY, scope TEXT NOT NULL, key TEXT NOT NULL,
        value TEXT NOT NULL, UNIQUE (scope, key))""",
    # The writes since; `after` is NULL where a key was deleted. Keys are JSON texts, too:
    # any Python text can be written so.
    """CREATE TABLE IF NOT EXISTS state_writes (
        scope TEXT NOT NULL, seq INTEGER NOT NULL, key TEXT NOT NULL, after TEXT,
        operation TEXT NOT NULL, call_id TEXT, tool_name TEXT, at REAL NOT NULL,
        PRIMARY KEY (scope, seq)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS state_snapshots (
        number INTEGER PRIMARY KEY, scope TEXT NOT NULL, name TEXT NOT NULL,
        seq INTEGER NOT NULL, at REAL NOT NULL, state TEXT NOT NULL, UNIQUE (scope, name))""",
)


class DurableState(StateStore):
    """A :class:`StateStore` that is there again when its database is opened again.

    It keeps JSON values only, checked when they are written, so that what is read is what
    will be read after a restart: a tuple comes back as a list at once. A write that fails
    changes neither memory nor file. About the last 10,000 writes are kept, of at most 32 MB.

    The writes themselves are what stands in the file: a write is one row, and opening plays
    them back onto the values that were there before the oldest.

    Args:
        database: Where it lasts. Its lock is this store's, and its transactions hold for this
            store as well.
        scope: Tells the states of one database apart. Default ``""``: the session's.
        parent: The state of the same database to read through to.
    """

    def __init__(
        self, database: Database, scope: str = "", parent: DurableState | None = None
    ) -> None:
        super().__init__(parent)
        self._lock = database.lock
        self._database = database
        self._scope = scope
        # The last write that the file no longer has, and what the others take, in characters.
        self._given_up = 0
        self._size = 0
        database.create(*_TABLES)
        self._read_again()

    def _kept(self, key: str, value: Any) -> Any:
        return json_copy(key, value)

    def _commit(self, write: StateWrite, value: Any) -> None:
        after = None if value is ABSENT else dumped(value)
        # First of all: an interrupt may come at any point, and the transaction be undone.
        self._database.on_rollback(self._read_after_a_fault)
        try:
            self._database.execute(
                "INSERT INTO state_writes VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    self._scope,
                    write.seq,
                    dumped(write.key),
                    after,
                    write.operation,
                    _clean(write.call_id),
                    _clean(write.tool_name),
                    write.at,
                ),
            )
            super()._commit(write, value)
            self._size += len(after or "")
            self._give_up_oldest()
        except BaseException:
            # An interrupt may have come between the file and the memory: the file is right.
            self._database.surely(self._read_after_a_fault)
            raise

    def _tell(self, write: StateWrite) -> None:
        if self._watchers:
            self._database.on_commit(partial(self._tell_each, write, self._watchers[:]))

    def _check_open(self) -> None:
        self._database.check()

    def save(self, name: str) -> Snapshot:  # noqa: D102 -- as it is above
        with self._alike():
            return super().save(name)

    def forget(self, name: str) -> None:  # noqa: D102 -- as it is above
        with self._alike():
            super().forget(name)

    @contextmanager
    def _alike(self) -> Iterator[None]:
        """An interrupt between the file and the memory leaves them alike."""
        try:
            yield
        except Exception:
            raise  # nothing was written, or the transaction has seen to it
        except BaseException:
            self._database.surely(self._read_after_a_fault)
            raise

    def _keep_snapshot(self, snapshot: Snapshot) -> None:
        row = (self._scope, dumped(snapshot.name), snapshot.seq, snapshot.at)
        with self._database.transaction():
            self._drop_snapshot(snapshot.name)  # and be told if it is undone
            self._database.execute(
                "INSERT INTO state_snapshots (scope, name, seq, at, state) VALUES (?, ?, ?, ?, ?)",
                (*row, dumped(dict(snapshot.values))),
            )

    def _drop_snapshot(self, name: str) -> None:
        self._database.on_rollback(self._read_after_a_fault)
        self._database.execute(
            "DELETE FROM state_snapshots WHERE scope = ? AND name = ?", (self._scope, dumped(name))
        )

    # -- reading ----------------------------------------------------------------------------

    def _read_after_a_fault(self) -> None:
        try:
            self._read_again()
        except StoreError:  # the error on the way out says what is wrong with the file
            _log.debug("the state could not be read again", exc_info=True)

    def _read_again(self) -> None:
        try:
            base = self._base()
            values, writes = self._played_back(base)
            snapshots = self._saved()
        except (ValueError, TypeError, AttributeError) as error:
            raise damaged(self._database.path, f"its state is unreadable: {error}") from error
        self._given_up = writes[0].seq - 1 if writes else 0
        self._history = History(base, self._given_up, writes)
        self._values = {key: copied(value) for key, value in values.items()}
        self._snapshots = snapshots
        self._size = self._taken()

    def _base(self) -> dict[str, Any]:
        rows = self._database.execute(
            "SELECT key, value FROM state_base WHERE scope = ? ORDER BY number", (self._scope,)
        )
        return {json.loads(key): json.loads(value) for key, value in rows}

    def _played_back(self, base: dict[str, Any]) -> tuple[dict[str, Any], list[StateWrite]]:
        """The values after all writes, and the writes."""
        rows = self._database.execute(
            "SELECT seq, key, after, operation, call_id, tool_name, at FROM state_writes "
            "WHERE scope = ? ORDER BY seq",
            (self._scope,),
        )
        values, writes = dict(base), []
        for seq, key, text, operation, *rest in rows:
            key = json.loads(key)
            before = dict(values) if operation in WHOLE else values.get(key, ABSENT)
            after = ABSENT if text is None else json.loads(text)
            writes.append(StateWrite(seq, key, before, after, operation, *rest))
            writes[-1].apply(values)
        return values, writes

    def _saved(self) -> dict[str, Snapshot]:
        rows = self._database.execute(
            "SELECT name, seq, at, state FROM state_snapshots WHERE scope = ? ORDER BY number",
            (self._scope,),
        )
        found = [
            Snapshot(json.loads(name), seq, at, frozen(json.loads(state)))
            for name, seq, at, state in rows
        ]
        return {one.name: one for one in found}

    def _taken(self) -> int:
        [(size,)] = self._database.execute(
            "SELECT total(length(after)) FROM state_writes WHERE scope = ?", (self._scope,)
        )
        return int(size)

    # -- giving up old writes ---------------------------------------------------------------

    def _give_up_oldest(self) -> None:
        """Give up in the file what memory has given up, and more if the writes are large."""
        if self._size > HISTORY_BYTES:
            self._history.give_up(self._count_of_older_half())
        given_up = self._history.given_up
        if given_up == self._given_up:
            return
        try:
            self._fold(given_up)
            self._size = self._taken()
        except StoreError:  # the write itself is kept; the file will hold some more than it need
            _log.warning("old writes of the state could not be given up", exc_info=True)
        self._given_up = given_up

    def _count_of_older_half(self) -> int:
        sizes = self._database.execute(
            "SELECT length(after) FROM state_writes WHERE scope = ? ORDER BY seq", (self._scope,)
        )
        left, count = self._size, 0
        while left > HISTORY_BYTES / 2 and count < len(sizes) - 1:
            left -= sizes[count][0] or 0
            count += 1
        return count

    def _fold(self, seq: int) -> None:
        """Make the values after write ``seq`` the base in the file, and drop the writes to it."""
        with self._database.transaction():
            for key, value in self._base_changes(seq).items():
                self._database.execute(
                    "INSERT INTO state_base (scope, key, value) VALUES (?, ?, ?) "
                    "ON CONFLICT (scope, key) DO UPDATE SET value = excluded.value",
                    (self._scope, key, value),
                )
            self._database.execute(
                "DELETE FROM state_writes WHERE scope = ? AND seq <= ?", (self._scope, seq)
            )

    def _base_changes(self, seq: int) -> dict[str, str]:
        """Delete from the base what the writes to ``seq`` deleted; return what they set."""
        rows = self._database.execute(
            "SELECT key, after, operation FROM state_writes WHERE scope = ? AND seq <= ? "
            "ORDER BY seq",
            (self._scope, seq),
        )
        changes: dict[str, str] = {}
        for key, after, operation in rows:
            if operation in WHOLE:
                self._database.execute("DELETE FROM state_base WHERE scope = ?", (self._scope,))
                whole = json.loads(after)
                changes = {dumped(name): dumped(value) for name, value in whole.items()}
            elif after is None:
                changes.pop(key, None)
                self._database.execute(
                    "DELETE FROM state_base WHERE scope = ? AND key = ?", (self._scope, key)
                )
            else:
                changes[key] = after
        return changes


def _clean(text: str | None) -> str | None:
    return None if text is None else clean_text(text)
