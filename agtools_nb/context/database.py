"""``Database``: the one SQLite file that keeps state, artifacts, memory, inbox and calls."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from agtools_nb.context.database_errors import closed, in_use, store_error
from agtools_nb.context.database_file import (
    APPLICATION_ID,
    VERSION,
    StoreFile,
    check_soundness,
    real_path,
)
from agtools_nb.context.due import DueCalls
from agtools_nb.errors import StoreError, UsageError

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

T = TypeVar("T")

_log = logging.getLogger("agtools_nb")
# How long to wait for a process that is just ending.
_PATIENCE_SECONDS = 0.2
_MOST_WAL_BYTES = 16_000_000


class Database:
    """A SQLite database that this process alone has open; safe to use from any thread.

    A write that returned survives the end of the process, however it ends: it stands in the
    file, or in the log beside it (``-wal``). A power cut may take the last moments, never
    soundness.

    Make one with :meth:`open`.

    Attributes:
        path: The file; ``None`` in memory.
        lock: Held by whoever reads or writes. Take it to do several things undisturbed.
    """

    def __init__(self, file: StoreFile | None) -> None:
        self.path = None if file is None else file.path
        self.lock = threading.RLock()
        self._file = file
        # The transactions inside of each other, the outermost first; each an object of its own.
        self._open: list[object] = []
        self._undo: list[Callable[[], object]] = []
        self._news: list[Callable[[], object]] = []
        self._due = DueCalls()
        self._savepoints = 0
        self._was_sent = False
        self._parts: dict[str, Any] = {}
        self._closed_listeners: list[Callable[[], object]] = []
        self._process = os.getpid()
        self._connection: sqlite3.Connection | None = self._connected()

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None = None) -> Database:
        """Open a file, made if it is not there, or a new database in memory.

        The same file opened again in this process, under whatever name, gives the same object
        until that is closed.

        Args:
            path: The file. ``None`` or ``":memory:"``: in memory, gone when it is closed.

        Raises:
            UsageError: ``path`` is no path.
            StoreError: The file is damaged, foreign, of a newer version or out of reach. It is
                left as it was, byte for byte.
            StoreInUseError: Another process has it open.
        """
        if path is None or path == ":memory:":
            return cls(None)
        real = real_path(path)
        while True:
            # Whoever waits for a database's lock must not hold this one: see close().
            with _opening:
                known = _known(real)
                if known is None:
                    _watch_process()
                    known = cls(StoreFile(real))
                    _files.append(known)
                    return known
            if not known.is_open:
                known.close()  # wait until it is
            elif known._file is not None and known._file.is_at(real):
                return known
            else:
                _log.warning("the file of the store %s was taken away; it starts anew", real)
                known._leave_behind()

    @property
    def is_open(self) -> bool:
        """Whether it can be used."""
        return self._connection is not None

    def close(self) -> None:
        """Let other processes open the file. Closing twice is safe.

        Raises:
            UsageError: This thread has a transaction open.
        """
        with self.lock:
            self._close()
        # Without the locks: who hears of it may take others.
        told = DueCalls()
        told.waiting += _taken(self._closed_listeners)
        told.run()

    def on_close(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call ``listener()`` once this is closed; at once, if it is closed already.

        It runs on the thread that closes. Returns a function that ends it.
        """
        with self.lock:
            is_open = self.is_open
            if is_open:
                self._closed_listeners.append(listener)
        if not is_open:
            DueCalls().make(listener)

        def stop() -> None:
            with contextlib.suppress(ValueError):
                self._closed_listeners.remove(listener)

        return stop

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows. What it writes is kept once this returns.

        Inside of :meth:`transaction`, it is kept once the outermost one has ended.

        Args:
            sql: The statement; values that come from outside belong in ``parameters``.
            parameters: For its question marks.

        Raises:
            StoreError: It failed, and changed nothing.
        """
        with self.lock:
            connection = self._usable()
            try:
                return connection.execute(sql, parameters).fetchall()
            except self._sqlite_error as error:
                raise self._told(error) from error

    def create(self, *statements: str) -> None:
        """Make the tables of a component: ``CREATE ... IF NOT EXISTS`` statements, one each.

        Raises:
            StoreError: One failed; none was carried out.
        """
        with self.transaction():
            for statement in statements:
                self.execute(statement)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Do all of the block or nothing of it; other threads wait until it ends.

        An exception undoes what the block did, in the file and in whatever told
        :meth:`on_rollback`, and goes on. Inside of another transaction, a block that fails
        undoes its own part, and the outer one decides about the rest. Do not ``await`` in it.

        Raises:
            StoreError: It could not be kept, and was undone.
        """
        with self.lock:
            connection = self._usable()
            level, undo, news = len(self._open), len(self._undo), len(self._news)
            this, first = object(), len(self._due.waiting)
            mark = self._mark()
            self._step(f"SAVEPOINT {mark}" if level else "BEGIN IMMEDIATE")
            self._open += [this]
            is_ending = False
            interrupt: BaseException | None = None
            try:
                yield
                self._was_sent, is_ending = False, True
                self._step(f"RELEASE {mark}" if level else "COMMIT")
            except BaseException as error:
                was_sent = is_ending and self._was_sent
                if this not in self._open:
                    raise  # an interrupt kept it from ending, and the outer one has ended since
                del self._open[level:]
                if level:
                    self._take_back(mark, undo, news, was_sent)
                    raise
                if not was_sent or connection.in_transaction:
                    self._undo_all()
                    raise
                interrupt = error  # it came after SQLite had committed
            # Python looks for signals at calls only: nothing can come between these.
            del self._open[level:]
            if level == 0:
                self._due.waiting += self._news
                self._news, self._undo = [], []
                self._due.run(first)
            if interrupt is not None:
                try:
                    raise interrupt
                finally:
                    del interrupt  # its traceback holds this frame

    def on_rollback(self, undo: Callable[[], object]) -> None:
        """Call ``undo()`` if the running transaction is undone, after the file was.

        For what is kept in memory beside the file; the latest is called first, equal ones once.
        Outside of a transaction nothing happens: each statement is kept or fails alone.
        """
        with self.lock:
            if self._open:
                self._undo.append(undo)

    def on_commit(self, tell: Callable[[], object]) -> None:
        """Call ``tell()`` once what was written is kept: at once, outside of a transaction.

        It is called again if an interrupt falls into it, so it must bear being called twice.
        """
        with self.lock:
            if self._open:
                self._news.append(tell)
            else:
                self._due.make(tell)

    def surely(self, call: Callable[[], object]) -> None:
        """Call ``call()`` now, and again if an interrupt falls into it."""
        with self.lock:
            self._due.make(call)

    def check(self) -> None:
        """Make sure that it can be used.

        Raises:
            StoreError: It was closed.
            StoreInUseError: This process was forked from the one that has it open.
        """
        with self.lock:
            self._usable()

    def part(self, name: str, build: Callable[[], T]) -> T:
        """Return this database's one component of that name, built when first asked for.

        Two objects that each remember what is in one table would disagree.
        """
        if name not in self._parts:  # who only looks it up need not wait for the lock
            with self.lock:
                if name not in self._parts:
                    self._parts[name] = build()
        found: T = self._parts[name]
        return found

    def has_part(self, name: str) -> bool:
        """Whether the component of that name was built."""
        return name in self._parts

    def __repr__(self) -> str:
        where = "in memory" if self.path is None else str(self.path)
        return f"<Database {where}{'' if self.is_open else ', closed'}>"

    # -- inside -----------------------------------------------------------------------------

    def _connected(self) -> sqlite3.Connection:
        import sqlite3

        self._sqlite_error = sqlite3.Error
        connection: sqlite3.Connection | None = None
        try:
            if self._file is not None and not self._file.is_new:
                check_soundness(self._file)
            connection = sqlite3.connect(
                ":memory:" if self.path is None else str(self.path),
                timeout=_PATIENCE_SECONDS,
                isolation_level=None,  # transactions begin and end here, not by themselves
                check_same_thread=False,
                cached_statements=256,
            )
            _prepare(connection)
        except BaseException as error:
            if connection is not None:
                connection.close()
            if self._file is not None:
                self._file.close()
            if isinstance(error, sqlite3.Error):
                raise self._told(error) from error
            raise
        if self._file is None:
            # The interpreter warns of connections that nobody closed.
            weakref.finalize(self, connection.close)
        else:
            with contextlib.suppress(OSError):  # left by a process that shared the file
                self._file.beside("-shm").unlink()
        return connection

    def _usable(self) -> sqlite3.Connection:
        connection = self._connection
        if connection is None:
            raise in_use(self.path) if self._process != os.getpid() else closed(self.path)
        if self._open:
            if not connection.in_transaction:  # a statement ended it by itself
                raise StoreError("the transaction was undone by an error before; leave it first")
        elif connection.in_transaction or self._undo or self._news:
            self._undo_all()  # an interrupt kept it from being undone
        if self._due.waiting and not self._due.is_running:
            self._due.run()
        return connection

    def _mark(self) -> str:
        """A name for a savepoint that no other of this transaction has."""
        self._savepoints = self._savepoints + 1 if self._open else 0
        return f"mark_{self._savepoints}"

    def _step(self, sql: str) -> None:
        connection = self._usable()
        try:
            self._was_sent = True
            connection.execute(sql)
        except self._sqlite_error as error:
            self._was_sent = False
            raise self._told(error) from error

    def _undo_all(self) -> None:
        """Undo the outermost transaction. What an interrupt leaves of it, the next use does."""
        connection = self._connection
        if connection is not None and connection.in_transaction:  # or SQLite did it itself
            try:
                connection.execute("ROLLBACK")
            except self._sqlite_error:  # the error on the way out says what is wrong
                _log.exception("a transaction of the store could not be undone")
        first, undo = len(self._due.waiting), list(dict.fromkeys(reversed(self._undo)))
        self._due.waiting += undo
        self._undo, self._news = [], []
        self._due.run(first)

    def _take_back(self, mark: str, undo: int, news: int, was_sent: bool) -> None:
        """Undo a transaction inside of another: what was done since the savepoint ``mark``."""
        connection = self._connection
        if connection is not None and connection.in_transaction:
            try:
                connection.execute(f"ROLLBACK TO {mark}")
                connection.execute(f"RELEASE {mark}")
            except self._sqlite_error:
                if was_sent:
                    return  # released before an interrupt came: the outer one decides about it
                _log.exception("a transaction of the store could not be undone")
        first, calls = len(self._due.waiting), list(dict.fromkeys(reversed(self._undo[undo:])))
        self._due.waiting += calls
        del self._undo[undo:], self._news[news:]
        self._due.run(first)

    def _told(self, error: Exception) -> StoreError:
        return store_error(error, self.path)  # type: ignore[arg-type]

    def _close(self, *, is_left: bool = False) -> None:
        """Close it, or finish what an interrupt left of that; the lock is held.

        Args:
            is_left: Its file is elsewhere now, and its log must not get into the next one.
        """
        connection = self._connection
        if connection is not None and self._open:
            raise UsageError("a store cannot be closed inside of a transaction; leave it first")
        self._connection = None
        try:
            if connection is not None:
                connection.close()
        finally:
            if self._file is not None and self in _files:
                self._file.close()
                if is_left:
                    self._file.beside("-wal").unlink(missing_ok=True)
                # Last of all: who opens the file waits until it is not among these.
                with _opening, contextlib.suppress(ValueError):
                    _files.remove(self)

    def _leave_behind(self) -> None:
        """Close a file that another has taken the place of."""
        with self.lock:
            if not self.is_open:
                return  # another thread did
            with contextlib.suppress(StoreError):
                # SQLite does not do this by itself on closing a file that was moved.
                self.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._close(is_left=True)
        self.close()

    def _abandon(self) -> None:
        """In a forked child: leave the parent's file alone, also when the child ends."""
        if self._connection is not None:
            import ctypes

            # Closing it would write the parent's log into the file and remove it.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._connection))
        self._connection = None
        if self._file is not None:
            self._file.close()
        _free(self.lock)


def _taken(calls: list[T]) -> list[T]:
    """Take what stands in a list."""
    taken = calls[:]
    del calls[:]
    return taken


def _prepare(connection: sqlite3.Connection) -> None:
    """Take hold of the file and set it up. What marks it as ours is written first of all."""
    for setting in ("locking_mode=EXCLUSIVE", "trusted_schema=OFF", "cell_size_check=ON"):
        connection.execute(f"PRAGMA {setting}")
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={VERSION}")
        connection.execute("CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
        connection.execute("COMMIT")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute(f"PRAGMA journal_size_limit={_MOST_WAL_BYTES}")
    connection.execute("SELECT count(*) FROM about").fetchall()


# Held to look at the files that are open, or to open one. Who has it waits for no other lock.
_opening = threading.RLock()
_files: list[Database] = []
_is_watching = False


def _known(path: Path) -> Database | None:
    """The database that has the file at ``path`` open, or had it when another was there."""
    for known in _files:
        if known._file is not None and known._file.is_at(path):
            return known
    return next((known for known in _files if known.path == path), None)


def _watch_process() -> None:
    """Close files when the process ends, and leave them to the parent in a forked child."""
    global _is_watching  # noqa: PLW0603 -- once in a process
    if _is_watching:
        return
    _is_watching = True
    atexit.register(_close_all)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_abandon_all)


def _close_all() -> None:
    for database in tuple(_files):
        with contextlib.suppress(Exception):
            database.close()


def _abandon_all() -> None:
    _free(_opening)
    for database in _files:
        database._abandon()
    _files.clear()


def _free(lock: threading.RLock) -> None:
    """In a forked child: free a lock that is held by a thread which is not here."""
    if lock.acquire(blocking=False):
        lock.release()
    else:
        # In its place, as the standard library does it: others know this very lock.
        lock._at_fork_reinit()  # type: ignore[attr-defined]
