"""What state, artifacts, memory and the journal cost, in memory and in a file."""

from __future__ import annotations

import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from agtools_nb import ToolCall, ToolContext, ToolRunner
from agtools_nb.context import Store
from agtools_nb.run import Journal
from benchmarks.table import Row, awaited, medians

EACH = 500
NOTES = 10_000


def worked(steps: int) -> int:
    """Work that takes about 0.1 ms: what a tool does between two of 10,000 writes a second."""
    value = 1
    for _ in range(steps):
        value = value * 31 % 1_000_003
    return value


async def nothing() -> None:
    return None


@contextmanager
def _stores() -> Iterator[tuple[Store, sqlite3.Connection, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        plain = sqlite3.connect(Path(folder) / "plain.db", isolation_level=None)
        for setting in ("locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=NORMAL"):
            plain.execute(f"PRAGMA {setting}")
        plain.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, key TEXT, value TEXT)")
        try:
            with Store.open(Path(folder) / "work.db") as store:
                yield store, plain, Path(folder)
        finally:
            plain.close()


def rows(rounds: int) -> list[Row]:
    """All comparisons of what lasts; ``rounds`` is how often each is taken."""
    with _stores() as (store, plain, _):
        return [
            *_state_rows(store, plain, rounds),
            *_other_rows(store, plain, rounds),
            *_journal_rows(store, rounds),
        ]


def _state_rows(store: Store, plain: sqlite3.Connection, rounds: int) -> list[Row]:
    lock, values, memory = threading.Lock(), {}, ToolContext()
    lasting = ToolContext(store=store)
    steps = _steps()

    def locked() -> None:
        with lock:
            values["k"] = 1

    def with_write(context: ToolContext) -> Callable[[], None]:
        def turn() -> None:
            context.set_state("k", worked(steps))

        return turn

    def inserted() -> None:
        plain.execute("INSERT INTO t (key, value) VALUES (?, ?)", ("k", "1"))

    small, large = {"n": 1, "tags": ["a", "b"]}, list(range(1_000))
    work = lambda: worked(steps)  # noqa: E731
    found = []
    for name, ours, yardstick, theirs, reach in (
        ("a state write in memory", _set(memory, 1), "a locked dict", locked, None),
        ("a state write in a file", _set(lasting, 1), "a bare INSERT", inserted, None),
        ("... of a dict", _set(lasting, small), "a bare INSERT", inserted, None),
        ("... of 1,000 numbers", _set(lasting, large), "a bare INSERT", inserted, None),
        ("0.1 ms of work and a write", with_write(memory), "the work", work, 1.05),
        ("0.1 ms of work and a write in a file", with_write(lasting), "the work", work, None),
    ):
        each = EACH if "1,000" not in name else EACH // 10
        mine, yours = medians([ours, theirs], rounds, each)
        found.append(Row(name, yardstick, mine, yours, reach))
    return found


def _set(context: ToolContext, value: Any) -> Callable[[], None]:
    return lambda: context.set_state("k", value)


def _steps() -> int:
    [taken] = medians([lambda: worked(1_000)], 9)
    return max(round(100 / taken * 1_000), 1)


def _other_rows(store: Store, plain: sqlite3.Connection, rounds: int) -> list[Row]:
    plain.execute("CREATE TABLE blobs (n INTEGER PRIMARY KEY, data BLOB)")
    data, numbers = b"x" * 20_000, count()

    def blob() -> None:
        plain.execute("INSERT INTO blobs (data) VALUES (?)", (data,))

    def note() -> None:
        n = next(numbers)
        store.memory.add(f"note {n} on rivers, hills and place {n % 97}")

    saved, written = medians([lambda: store.artifacts.save("a", data), blob], rounds, 20)
    [noted] = medians([note], rounds, 50)
    with store.database.transaction():
        while len(store.memory) < NOTES:
            note()
    rare, common = medians(
        [lambda: store.memory.search("number 4711"), lambda: store.memory.search("rivers")], rounds
    )
    return [
        Row("saving an artifact of 20 KB", "a bare INSERT of it", saved, written),
        Row("remembering a text", "saving an artifact", noted, saved),
        Row("finding 1 text of 10,000", "remembering one", rare, noted),
        Row("finding 10 of 10,000 that fit", "remembering one", common, noted),
    ]


def _journal_rows(store: Store, rounds: int) -> list[Row]:
    recorded, free = ToolRunner([nothing]), ToolRunner([nothing])
    Journal.of(store.database).record(recorded)
    calls = [ToolCall("nothing", {}, f"c{n}") for n in range(200)]
    ours, theirs = awaited(
        [lambda: recorded.process_tool_calls(calls), lambda: free.process_tool_calls(calls)], rounds
    )
    return [Row("a call that is written down", "one that is not", ours / 200, theirs / 200)]
