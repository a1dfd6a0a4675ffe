"""The state that tools share: thread-safe, atomic, every write recorded."""

from __future__ import annotations

import inspect
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from agtools_nb.context.history import HISTORY_LIMIT, History
from agtools_nb.context.snapshots import Snapshot, frozen
from agtools_nb.context.writes import ABSENT, WHOLE, Operation, StateWrite, copied
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr

__all__ = ["ABSENT", "HISTORY_LIMIT", "StateStore", "StateWrite", "copied"]

_log = logging.getLogger("agtools_nb")


class StateStore:
    """Values under text keys, safe to use from any thread or task.

    Dicts and lists are copied on the way in and out, so a change reaches the
    store only through a write. The last 10,000 writes are kept.

    A store with a parent shows the parent's values under its own: what it does not have is
    read from there, and what it writes is its own. Deleting a key or everything in it hides
    nothing of the parent's. Its history, snapshots and watchers are of its own writes alone.

    Args:
        parent: The store to read through to. Default: none.
    """

    def __init__(self, parent: StateStore | None = None) -> None:
        self._parent = parent
        # One lock for a family: an update that reads the parent's value is atomic, too.
        self._lock: AbstractContextManager[Any] = (
            threading.RLock() if parent is None else parent._lock
        )
        self._values: dict[str, Any] = {}
        self._history = History()
        self._snapshots: dict[str, Snapshot] = {}
        self._watchers: list[Callable[[StateWrite], None]] = []

    @contextmanager
    def lock(self) -> Iterator[StateStore]:
        """Hold the store: no other thread reads or writes until the block ends."""
        with self._lock:
            yield self

    # -- values -----------------------------------------------------------------------------

    def get(self, key: str, default: Any = None) -> Any:
        """Return a copy of the value under ``key``, or ``default``.

        Raises:
            TypeError: ``key`` is not text.
            StoreError: The store's file was closed: what is in it may have changed since.
                :meth:`snapshot` and the history still show how it was then.
        """
        with self._lock:
            self._check_open()
            return copied(self._read(_checked(key), default))

    def set(
        self, key: str, value: Any, *, call_id: str | None = None, tool_name: str | None = None
    ) -> None:
        """Store ``value`` under ``key``.

        Raises:
            TypeError: ``key`` is not text.
        """
        with self._lock:
            self._put(_checked(key), value, "set", call_id, tool_name)

    def update(
        self,
        key: str,
        updater: Callable[[Any], Any],
        default: Any = None,
        *,
        call_id: str | None = None,
        tool_name: str | None = None,
    ) -> Any:
        """Replace the value under ``key`` by ``updater(value)`` in one step.

        Args:
            key: Where to write.
            updater: Gets a copy of the value (``default`` if there is none) and
                returns the new one. It runs under the lock, so it must not wait
                for another call. If it raises, nothing changes.
            default: What the updater gets when the key is absent.
            call_id: Recorded with the write.
            tool_name: Recorded with the write.

        Returns:
            The new value.

        Raises:
            TypeError: ``key`` is not text, or the updater is a coroutine function.
        """
        with self._lock:
            self._check_open()
            value = updater(copied(self._read(_checked(key), default)))
            if inspect.iscoroutine(value):
                value.close()
                raise TypeError(
                    f"update_state({key!r}): the updater must be a plain function, because it "
                    "runs under the store's lock; await first, then call update_state"
                )
            self._put(key, value, "update", call_id, tool_name)
            return value

    def delete(self, key: str, *, call_id: str | None = None, tool_name: str | None = None) -> None:
        """Remove ``key``; nothing happens if this store has none of its own.

        Raises:
            TypeError: ``key`` is not text.
        """
        with self._lock:
            self._check_open()
            if _checked(key) in self._values:
                self._write(key, ABSENT, "delete", call_id, tool_name)

    def reset(self) -> None:
        """Remove every key. The history stays and shows the reset."""
        with self._lock:
            self._write("", {}, "reset", None, None)

    def snapshot(self) -> dict[str, Any]:
        """Return a copy of everything, in the order in which the keys came, the parent's first.

        It does not wait for :meth:`lock`: whoever only looks on must not stand
        still because a tool holds the store. It may then see the middle of what
        the holder does.
        """
        above = {} if self._parent is None else self._parent.snapshot()
        # Copying a dict of text keys is one step, whatever other threads do.
        return above | {key: copied(value) for key, value in self._values.copy().items()}

    def __contains__(self, key: object) -> bool:
        with self._lock:
            self._check_open()
            if not isinstance(key, str):
                return False
            return key in self._values or (self._parent is not None and key in self._parent)

    def __len__(self) -> int:
        with self._lock:
            self._check_open()
            return len(self._values) if self._parent is None else len(self._keys())

    def __repr__(self) -> str:
        keys, more = list(self._values)[:5], len(self._values) - 5
        listed = ", ".join(map(brief_repr, keys)) + (f", and {more} more" if more > 0 else "")
        return f"<{type(self).__name__}: {listed or 'no keys'}>"

    # -- history and snapshots --------------------------------------------------------------

    @property
    def history(self) -> tuple[StateWrite, ...]:
        """The writes so far, oldest first, at most 10,000. Does not wait for :meth:`lock`."""
        return self._history.writes

    def at(self, seq: int) -> dict[str, Any]:
        """Return the store's own values as they were after write ``seq``; 0 is before the first.

        Does not wait for :meth:`lock`.

        Raises:
            UsageError: There was no such write, or it is no longer kept.
        """
        return self._history.at(seq)

    def save(self, name: str) -> Snapshot:
        """Keep the store's own values as they are now under ``name``, in place of an older one.

        Raises:
            UsageError: ``name`` is no text, or empty.
        """
        with self._lock:
            _check_name(name)
            taken = Snapshot(name, self._history.last, time.time(), frozen(self._values))
            self._keep_snapshot(taken)
            self._snapshots = {
                **{key: one for key, one in self._snapshots.items() if key != name},
                name: taken,
            }
        return taken

    def load(
        self,
        snapshot: str | Snapshot,
        *,
        call_id: str | None = None,
        tool_name: str | None = None,
    ) -> Snapshot:
        """Bring back the values of a snapshot; recorded as one write.

        Args:
            snapshot: It, or its name.
            call_id: Recorded with the write.
            tool_name: Recorded with the write.

        Returns:
            The snapshot.

        Raises:
            UsageError: There is none of that name, or it is no text.
        """
        with self._lock:
            found = snapshot if isinstance(snapshot, Snapshot) else self._snapshot(snapshot)
            values = {key: self._kept(key, value) for key, value in found.values.items()}
            self._write("", values, "load", call_id, tool_name)
        return found

    def forget(self, name: str) -> None:
        """Remove a snapshot.

        Raises:
            UsageError: There is none of that name, or it is no text.
        """
        with self._lock:
            self._snapshot(name)
            self._drop_snapshot(name)
            self._snapshots = {key: one for key, one in self._snapshots.items() if key != name}

    @property
    def snapshots(self) -> tuple[Snapshot, ...]:
        """The snapshots that were saved, the latest last."""
        return tuple(self._snapshots.values())

    def watch(self, watcher: Callable[[StateWrite], None]) -> Callable[[], None]:
        """Call ``watcher`` after each write, on the thread that wrote.

        It runs under the lock, so that writes arrive in order: hand over and
        return. Returns a function that ends it.
        """
        with self._lock:
            self._watchers.append(watcher)

        def stop() -> None:
            with self._lock:
                if watcher in self._watchers:
                    self._watchers.remove(watcher)

        return stop

    # -- what a store that lasts does otherwise ---------------------------------------------

    def _check_open(self) -> None:
        """Make sure that what is known here is what was stored."""

    def _kept(self, key: str, value: Any) -> Any:
        """A copy of a value, as the store will hold it."""
        return copied(value)

    def _commit(self, write: StateWrite, value: Any) -> None:
        """Carry out a write; what is stored is ``value``, the history has a copy of its own."""
        if write.operation in WHOLE:
            self._values = value
        elif value is ABSENT:
            del self._values[write.key]
        else:
            self._values[write.key] = value
        self._history.add(write)

    def _tell(self, write: StateWrite) -> None:
        self._tell_each(write, self._watchers[:])

    def _tell_each(self, write: StateWrite, watchers: list[Callable[[StateWrite], None]]) -> None:
        """Tell watchers, and take each from the list: called again, nobody hears it twice."""
        while watchers:
            watcher = watchers[0]
            del watchers[0]
            try:
                watcher(write)
            except Exception:  # the write has happened; one who looks on cannot undo it
                _log.exception("a watcher of the state failed")

    def _keep_snapshot(self, snapshot: Snapshot) -> None:
        """Put a snapshot where it lasts."""

    def _drop_snapshot(self, name: str) -> None:
        """Remove it from there."""

    # -- inside -----------------------------------------------------------------------------

    def _read(self, key: str, default: Any) -> Any:
        if key in self._values or self._parent is None:
            return self._values.get(key, default)
        return self._parent._read(key, default)

    def _keys(self) -> frozenset[str]:
        above = frozenset() if self._parent is None else self._parent._keys()
        return above.union(self._values)

    def _put(
        self,
        key: str,
        value: Any,
        operation: Operation,
        call_id: str | None,
        tool_name: str | None,
    ) -> None:
        if value is ABSENT:
            raise TypeError(f"ABSENT is no value; to remove {key!r}, call delete({key!r})")
        self._write(key, self._kept(key, value), operation, call_id, tool_name)

    def _write(
        self,
        key: str,
        value: Any,
        operation: Operation,
        call_id: str | None,
        tool_name: str | None,
    ) -> None:
        is_whole = operation in WHOLE
        before = self._values if is_whole else self._values.get(key, ABSENT)
        write = StateWrite(
            self._history.last + 1,
            key,
            before,
            copied(value),
            operation,
            call_id,
            tool_name,
            time.time(),
        )
        self._commit(write, value)
        self._tell(write)

    def _snapshot(self, name: str) -> Snapshot:
        _check_name(name)
        if name not in self._snapshots:
            known = ", ".join(map(repr, self._snapshots)) or "none"
            raise UsageError(f"there is no snapshot {brief_repr(name)}; saved: {known}")
        return self._snapshots[name]


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name:
        raise UsageError(f"a snapshot's name is text, not {brief_repr(name)}")


def _checked(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a state key must be text, not {type(key).__name__}: {key!r}")
    return key
