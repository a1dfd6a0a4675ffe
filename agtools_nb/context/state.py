"""The state that tools share: thread-safe, atomic, every write recorded."""

from __future__ import annotations

import copy
import inspect
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

HISTORY_LIMIT = 10_000

_log = logging.getLogger("agtools_nb")

Operation = Literal["set", "update", "delete", "reset"]


@dataclass(frozen=True, slots=True)
class StateWrite:
    """One write to a :class:`StateStore`.

    Attributes:
        seq: Counts every write of this store from 1.
        key: The key written; ``""`` for a reset of the whole store.
        before: Value before; :data:`ABSENT` if there was none.
        after: Value after; :data:`ABSENT` when deleted.
        operation: ``"set"``, ``"update"``, ``"delete"`` or ``"reset"``.
        call_id: Id of the call that wrote, ``None`` when no tool did.
        tool_name: Name of the tool that wrote, ``None`` when no tool did.
        at: Unix time in seconds.
    """

    seq: int
    key: str
    before: Any
    after: Any
    operation: Operation
    call_id: str | None
    tool_name: str | None
    at: float


class _Absent:
    """The value of a key that is not there."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()


def copied(value: Any, memo: dict[int, Any] | None = None) -> Any:
    """Copy containers all the way down, and keep every other value as it is.

    A tool that mutates a list it read must not change the store behind the
    lock; a data frame or a connection cannot be copied on each read. A container
    that stands in several places, or in itself, does so in the copy too.
    """
    if not isinstance(value, (dict, list, set, tuple)):
        return value
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)]
    if type(value) is tuple:
        return tuple(copied(item, memo) for item in value)
    new = memo[id(value)] = copy.copy(value)
    if isinstance(new, dict):
        for key, item in new.items():
            new[key] = copied(item, memo)
    elif isinstance(new, list):
        new[:] = [copied(item, memo) for item in new]
    return new


class StateStore:
    """Values under text keys, safe to use from any thread or task.

    Dicts and lists are copied on the way in and out, so a change reaches the
    store only through a write. The last 10,000 writes are kept.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._values: dict[str, Any] = {}
        self._history: deque[StateWrite] = deque(maxlen=HISTORY_LIMIT)
        self._seq = 0
        self._watchers: list[Callable[[StateWrite], None]] = []

    @contextmanager
    def lock(self) -> Iterator[StateStore]:
        """Hold the store: no other thread reads or writes until the block ends."""
        with self._lock:
            yield self

    def get(self, key: str, default: Any = None) -> Any:
        """Return a copy of the value under ``key``, or ``default``."""
        with self._lock:
            return copied(self._values.get(key, default))

    def set(
        self, key: str, value: Any, *, call_id: str | None = None, tool_name: str | None = None
    ) -> None:
        """Store ``value`` under ``key``.

        Raises:
            TypeError: ``key`` is not text.
        """
        with self._lock:
            self._write(_checked(key), copied(value), "set", call_id, tool_name)

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
            value = updater(copied(self._values.get(_checked(key), default)))
            if inspect.iscoroutine(value):
                value.close()
                raise TypeError(
                    f"update_state({key!r}): the updater must be a plain function, because it "
                    "runs under the store's lock; await first, then call update_state"
                )
            self._write(key, copied(value), "update", call_id, tool_name)
            return value

    def delete(self, key: str, *, call_id: str | None = None, tool_name: str | None = None) -> None:
        """Remove ``key``; nothing happens if it is absent."""
        with self._lock:
            if key in self._values:
                self._write(key, ABSENT, "delete", call_id, tool_name)

    def reset(self) -> None:
        """Remove every key. The history stays and shows the reset."""
        with self._lock:
            before = self._values
            self._values = {}
            self._record("", copied(before), {}, "reset", None, None)

    def snapshot(self) -> dict[str, Any]:
        """Return a copy of everything, in the order in which the keys came.

        It does not wait for :meth:`lock`: whoever only looks on must not stand
        still because a tool holds the store. It may then see the middle of what
        the holder does.
        """
        # Each write makes a new dict, so this one does not change under us.
        return {key: copied(value) for key, value in self._values.items()}

    @property
    def history(self) -> tuple[StateWrite, ...]:
        """The writes so far, oldest first, at most 10,000. Does not wait for :meth:`lock`."""
        while True:
            try:
                return tuple(self._history)
            except RuntimeError:  # a write came in between
                continue

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

    def __contains__(self, key: object) -> bool:
        with self._lock:
            return key in self._values

    def __len__(self) -> int:
        with self._lock:
            return len(self._values)

    def _write(
        self,
        key: str,
        value: Any,
        operation: Operation,
        call_id: str | None,
        tool_name: str | None,
    ) -> None:
        before = self._values.get(key, ABSENT)
        if operation == "delete":
            self._values = {name: kept for name, kept in self._values.items() if name != key}
        elif value is ABSENT:
            raise TypeError(f"ABSENT is no value; to remove {key!r}, call delete({key!r})")
        else:
            self._values = {**self._values, key: value}
        self._record(key, before, copied(value), operation, call_id, tool_name)

    def _record(
        self,
        key: str,
        before: Any,
        after: Any,
        operation: Operation,
        call_id: str | None,
        tool_name: str | None,
    ) -> None:
        self._seq += 1
        write = StateWrite(
            self._seq, key, before, after, operation, call_id, tool_name, time.time()
        )
        self._history.append(write)
        for watcher in tuple(self._watchers):
            try:
                watcher(write)
            except Exception:  # the write has happened; one who looks on cannot undo it
                _log.exception("a watcher of the state failed")


def _checked(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a state key must be text, not {type(key).__name__}: {key!r}")
    return key
