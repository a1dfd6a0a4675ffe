"""Ctrl-C at any moment: what the file has and what the memory has stay the same."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from agtools_nb.context import Database, Store
from agtools_nb.context.durable import DurableState

TABLE = "CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY)"


@pytest.fixture
def database():
    opened = Database.open()
    opened.create(TABLE)
    yield opened
    opened.close()


def numbers(database: Database) -> list[int]:
    return [n for (n,) in database.execute("SELECT n FROM t ORDER BY n")]


class Interrupted:
    """SQLite's connection; Ctrl-C comes right after one statement was carried out."""

    def __init__(self, connection: Any, after: str) -> None:
        self._connection = connection
        self._after = after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, sql: str, *rest: Any) -> Any:
        done = self._connection.execute(sql, *rest)
        if sql.startswith(self._after):
            self._after = "nothing more"
            raise KeyboardInterrupt
        return done


def keep(database: Database, known: list[int], n: int) -> None:
    """Put a number in, and into the memory beside it."""
    with database.transaction():
        database.execute("INSERT INTO t VALUES (?)", (n,))
        database.on_rollback(lambda: known.append(-n))
        database.on_commit(lambda: known.append(n))


def interrupted(database: Database, after: str, action: Callable[[], Any]) -> None:
    plain = database._connection
    database._connection = Interrupted(plain, after)  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        action()
    database._connection = plain


def test_what_sqlite_has_committed_is_kept_and_told(database: Database) -> None:
    known: list[int] = []
    interrupted(database, "COMMIT", lambda: keep(database, known, 1))
    assert (numbers(database), known) == ([1], [1])
    keep(database, known, 2)
    assert (numbers(database), known) == ([1, 2], [1, 2])


def test_an_inner_transaction_that_was_released_is_the_outer_ones(database: Database) -> None:
    known: list[int] = []
    with database.transaction():
        interrupted(database, "RELEASE", lambda: keep(database, known, 1))
        keep(database, known, 2)
    assert (numbers(database), known) == ([1, 2], [1, 2])


@pytest.mark.parametrize("after", ["BEGIN", "INSERT"])
def test_what_was_not_committed_is_undone(database: Database, after: str) -> None:
    known: list[int] = []
    interrupted(database, after, lambda: keep(database, known, 1))
    assert (numbers(database), known) == ([], [])
    keep(database, known, 2)
    assert (numbers(database), known) == ([2], [2])


def test_an_interrupt_that_comes_while_it_is_told_loses_nothing(database: Database) -> None:
    heard: list[str] = []

    def hear() -> None:
        heard.append("first")
        if len(heard) == 1:
            raise KeyboardInterrupt

    def write() -> None:
        with database.transaction():
            database.execute("INSERT INTO t VALUES (1)")
            database.on_commit(hear)
            database.on_commit(lambda: heard.append("second"))

    with pytest.raises(KeyboardInterrupt):
        write()
    assert (numbers(database), heard) == ([1], ["first", "first", "second"])


def test_one_that_ends_the_process_each_time_does_not_hold_up_the_others(
    database: Database, caplog: Any
) -> None:
    heard: list[int] = []

    def write() -> None:
        with database.transaction():
            database.on_commit(sys.exit)
            database.on_commit(lambda: heard.append(1))

    with pytest.raises(SystemExit):
        write()
    assert (heard, numbers(database)) == ([1], [])
    assert "failed" in caplog.text


def test_a_watcher_hears_of_a_write_once() -> None:
    store = Store.open()
    state = DurableState(store.database)
    heard: list[str] = []

    def hear(write: Any) -> None:
        heard.append(f"first: {write.seq}")
        if len(heard) == 1:
            raise KeyboardInterrupt

    state.watch(hear)
    state.watch(lambda write: heard.append(f"second: {write.seq}"))
    with pytest.raises(KeyboardInterrupt):
        state.set("a", 1)
    assert heard == ["first: 1", "second: 1"]
    state.set("a", 2)
    assert heard[2:] == ["first: 2", "second: 2"]


def test_an_inner_transaction_that_was_never_left_harms_nothing(database: Database) -> None:
    left: list[Any] = []

    def outer() -> None:
        with database.transaction():
            database.execute("INSERT INTO t VALUES (1)")
            # As if Ctrl-C came before its block began, and the traceback still held it.
            left.append(database.transaction())
            left[0].__enter__()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        outer()
    left.clear()
    assert numbers(database) == []
    keep(database, [], 2)
    assert numbers(database) == [2]


class Ctrl:
    """Raises KeyboardInterrupt at one of the moments at which Python looks for signals.

    These are the beginning of each function, and the return of each that is written in C.
    """

    def __init__(self, moment: int) -> None:
        self.left = moment

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        # A generator that goes on is not called anew: an interrupt would come inside of it.
        is_generator = event == "call" and frame.f_code.co_flags & inspect.CO_GENERATOR
        if event not in ("call", "c_return") or is_generator:
            return
        if not {"agtools_nb", "contextlib.py"} & set(frame.f_code.co_filename.split("/")):
            return
        self.left -= 1
        if self.left == 0:
            sys.setprofile(None)
            raise KeyboardInterrupt


def at_each_moment(action: Callable[[int], None], check: Callable[[], None]) -> None:
    """Do it again and again, each time interrupted a little later, until it gets through."""
    for moment in range(1, 5_000):
        ctrl = Ctrl(moment)
        try:
            sys.setprofile(ctrl)
            action(moment)
        except KeyboardInterrupt:
            pass
        finally:
            sys.setprofile(None)
        check()
        if ctrl.left > 0:
            assert moment > 3
            return
    raise AssertionError("it never got through")


def everything(state: DurableState) -> Any:
    seqs = [write.seq for write in state.history]
    past = [state.at(seq) for seq in seqs[-3:]]
    return state.snapshot(), state.snapshots, state.history, past


def test_at_no_moment_do_file_and_memory_part() -> None:
    database = Database.open()
    state = DurableState(database)
    database.create(TABLE)
    known: set[int] = set()

    def alike() -> None:
        database.check()
        assert set(numbers(database)) == known
        assert everything(state) == everything(DurableState(database))
        assert [write.seq for write in state.history] == list(range(1, len(state.history) + 1))

    def alone(moment: int) -> None:
        state.set("alone", moment)

    def together(moment: int) -> None:
        with database.transaction():
            state.set("together", moment)
            with database.transaction():
                database.execute("INSERT INTO t VALUES (?)", (len(known) + 1,))
                number = len(known) + 1
                database.on_commit(lambda: known.add(number))
            state.delete("together")

    def saved(moment: int) -> None:
        state.save("snapshot")

    def fails(moment: int) -> None:
        with contextlib.suppress(ZeroDivisionError), database.transaction():
            state.set("fails", moment)
            raise ZeroDivisionError

    for action in (alone, together, saved, fails):
        at_each_moment(action, alike)
    assert state.get("alone") is not None
    assert known
    database.close()


def test_old_writes_are_given_up_at_any_moment() -> None:
    database = Database.open()
    state = DurableState(database)

    def write() -> None:
        for _ in range(4):
            state.update("n", lambda n: n + 1, 0)

    def right() -> None:
        assert state.history
        assert all(state.at(one.seq) == {"n": one.after} for one in state.history)
        write()

    write()
    at_each_moment(lambda moment: state._history.give_up(3), right)
    database.close()
