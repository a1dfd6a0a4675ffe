"""The one file: transactions, one object a file, one process a file."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agtools_nb.context.database import Database
from agtools_nb.errors import StoreError, StoreInUseError, UsageError

TABLE = "CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY)"


@pytest.fixture
def database(tmp_path: Path):
    opened = Database.open(tmp_path / "work.db")
    opened.create(TABLE)
    yield opened
    opened.close()


def numbers(database: Database) -> list[int]:
    return [n for (n,) in database.execute("SELECT n FROM t ORDER BY n")]


def put(database: Database, n: int) -> None:
    database.execute("INSERT INTO t VALUES (?)", (n,))


def fail_after(
    database: Database, *steps: Callable[[], Any], error: type[BaseException] = ValueError
) -> None:
    """A transaction that does all these things, and then fails."""

    def fail() -> None:
        with database.transaction():
            for step in steps:
                step()
            raise error

    with pytest.raises(error):
        fail()


def test_what_was_written_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    for n in (1, 2, 3):
        database = Database.open(tmp_path / "work.db")
        database.create(TABLE)
        put(database, n)
        database.close()
    database = Database.open(tmp_path / "work.db")
    assert numbers(database) == [1, 2, 3]
    database.close()
    database.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["work.db"]


def test_one_file_is_one_object_whatever_its_name(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    database = Database.open("work.db")
    (tmp_path / "link.db").symlink_to(tmp_path / "work.db")
    os.link(tmp_path / "work.db", tmp_path / "hard.db")
    names = (tmp_path / "work.db", "./work.db", "link.db", str(tmp_path / "hard.db"))
    assert all(Database.open(name) is database for name in names)
    database.close()
    again = Database.open("work.db")
    assert again is not database
    again.close()


def test_memory_is_each_time_another() -> None:
    first, second = Database.open(), Database.open(":memory:")
    first.create(TABLE)
    second.create(TABLE)
    put(first, 1)
    assert (numbers(first), numbers(second)) == ([1], [])


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "work.db")
    database.close()
    for use in (lambda: database.execute("SELECT 1"), lambda: database.transaction().__enter__()):
        with pytest.raises(
            StoreError, match=r"was closed; open it again with Store.open\('work"
        ) as e:
            use()
        assert e.value.reason == "closed"


def test_who_asked_hears_that_it_was_closed(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "work.db")
    heard: list[str] = []
    database.on_close(lambda: 1 / 0)
    database.on_close(lambda: heard.append(f"open: {database.is_open}"))
    stop = database.on_close(lambda: heard.append("stopped"))
    stop()
    stop()
    assert heard == []
    database.close()
    database.close()
    assert heard == ["open: False"]
    database.on_close(lambda: heard.append("late"))()
    assert heard == ["open: False", "late"]


def test_a_transaction_is_all_or_nothing(database: Database) -> None:
    seen: list[list[int]] = []
    fail_after(database, lambda: put(database, 1), lambda: seen.append(numbers(database)))
    assert (seen, numbers(database)) == ([[1]], [])
    with database.transaction():
        put(database, 1)
        put(database, 2)
    assert numbers(database) == [1, 2]


def test_a_failing_inner_transaction_undoes_its_own_part(database: Database) -> None:
    undone = []
    with database.transaction():
        put(database, 1)
        database.on_rollback(lambda: undone.append("outer"))
        fail_after(
            database,
            lambda: put(database, 2),
            lambda: database.on_rollback(lambda: undone.append(numbers(database))),
        )
        put(database, 3)
    assert numbers(database) == [1, 3]
    assert undone == [[1]]


def test_what_is_kept_beside_the_file_is_told(database: Database) -> None:
    heard: list[str] = []

    def note() -> None:
        heard.append("same")

    fail_after(
        database,
        lambda: database.on_rollback(lambda: heard.append("first")),
        lambda: database.on_rollback(note),
        lambda: database.on_rollback(note),
        lambda: database.on_commit(lambda: heard.append("kept")),
    )
    assert heard == ["same", "first"]
    heard.clear()
    with database.transaction():
        with database.transaction():
            database.on_rollback(note)
            database.on_commit(lambda: heard.append("inner"))
        database.on_commit(lambda: heard.append("outer"))
        assert heard == []
    database.on_commit(lambda: heard.append("at once"))
    assert heard == ["inner", "outer", "at once"]


def test_who_fails_to_hear_costs_nothing(database: Database) -> None:
    heard = []
    with database.transaction():
        put(database, 1)
        database.on_commit(lambda: 1 / 0)
        database.on_commit(lambda: heard.append(1))
    assert (numbers(database), heard) == ([1], [1])


def test_a_statement_that_fails_changes_nothing_and_says_so(database: Database) -> None:
    put(database, 1)
    with pytest.raises(StoreError, match="did not do what it was asked: UNIQUE") as e:
        put(database, 1)
    assert isinstance(e.value.__cause__, sqlite3.IntegrityError)
    with pytest.raises(StoreError, match="no such table"):
        database.create("CREATE TABLE IF NOT EXISTS u (n)", "INSERT INTO nowhere VALUES (1)")
    with pytest.raises(StoreError, match="no such table: u"):
        database.execute("SELECT * FROM u")


def test_a_transaction_that_sqlite_gave_up_is_not_gone_on_with(database: Database) -> None:
    def go_on() -> None:
        with database.transaction():
            put(database, 1)
            with pytest.raises(StoreError, match="UNIQUE"):
                database.execute("INSERT OR ROLLBACK INTO t VALUES (1)")
            put(database, 2)

    with pytest.raises(StoreError, match="undone by an error before"):
        go_on()
    assert numbers(database) == []
    put(database, 3)
    assert numbers(database) == [3]


def test_an_interrupt_leaves_no_transaction_open(database: Database) -> None:
    # As if Ctrl-C came right after BEGIN, before anything could note it.
    database._connection.execute("BEGIN")
    database._connection.execute("INSERT INTO t VALUES (1)")
    fail_after(database, lambda: put(database, 2), error=KeyboardInterrupt)
    assert numbers(database) == []


def test_it_is_not_closed_inside_of_a_transaction(database: Database) -> None:
    with database.transaction(), pytest.raises(UsageError, match="cannot be closed inside"):
        database.close()
    assert database.is_open


def test_threads_write_beside_each_other(database: Database) -> None:
    def write(first: int) -> None:
        for n in range(first, first + 50):
            with database.transaction():
                put(database, n)

    threads = [threading.Thread(target=write, args=(k * 50,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert numbers(database) == list(range(400))


def test_a_part_is_built_once(database: Database) -> None:
    built = [database.part("inbox", list) for _ in range(3)]
    assert built[0] is built[1] is built[2]


@pytest.mark.parametrize("path", ["", 3, b"work.db", "a\x00b", []])
def test_what_is_no_path(path: Any) -> None:
    with pytest.raises(UsageError, match=r"a store's path is text such as 'work.db', not"):
        Database.open(path)


def test_places_where_no_store_can_be(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, words in {
        "folder": "is not a file",
        "pipe": "is not a file",
        "none/work.db": "the folder .*none of the store work.db does not exist; make it first",
    }.items():
        with pytest.raises(StoreError, match=words) as e:
            Database.open(tmp_path / name)
        assert e.value.reason == "unreachable"


def test_a_path_is_a_path_and_no_address(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    name = "file:x?mode=memory%20#1.db"
    database = Database.open(name)
    database.close()
    database = Database.open(name)
    database.close()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_file_that_was_taken_away_starts_anew(tmp_path: Path, caplog: Any) -> None:
    old = Database.open(tmp_path / "work.db")
    old.create(TABLE)
    put(old, 1)
    (tmp_path / "work.db").unlink()
    new = Database.open(tmp_path / "work.db")
    new.create(TABLE)
    assert (old.is_open, numbers(new)) == (False, [])
    assert "was taken away" in caplog.text
    put(new, 2)
    new.close()
    assert [path.name for path in tmp_path.iterdir()] == ["work.db"]


def test_a_file_that_was_moved_keeps_all_of_it_and_the_next_gets_none(tmp_path: Path) -> None:
    backup = Database.open(tmp_path / "backup.db")
    backup.create(TABLE)
    put(backup, 7)
    backup.close()
    old = Database.open(tmp_path / "work.db")
    old.create(TABLE)
    put(old, 1)
    (tmp_path / "work.db").rename(tmp_path / "moved.db")
    (tmp_path / "backup.db").rename(tmp_path / "work.db")
    found = [Database.open(tmp_path / name) for name in ("work.db", "moved.db")]
    assert [numbers(database) for database in found] == [[7], [1]]
    for database in found:
        database.close()


def test_a_log_whose_file_is_gone_is_no_new_store(tmp_path: Path) -> None:
    (tmp_path / "work.db-wal").write_bytes(b"x")
    with pytest.raises(StoreError, match=r"it is gone, but not work\.db-wal that goes") as e:
        Database.open(tmp_path / "work.db")
    assert e.value.reason == "damaged"
    assert [path.name for path in tmp_path.iterdir()] == ["work.db-wal"]


OTHER = """
import sys
from agtools_nb.context.database import Database
from agtools_nb.errors import StoreInUseError
try:
    Database.open(sys.argv[1])
except StoreInUseError as error:
    print(error)
else:
    print("opened")
"""


def elsewhere(path: Path) -> str:
    """What another process says when it opens the file."""
    done = subprocess.run(
        [sys.executable, "-c", OTHER, str(path)], capture_output=True, text=True, check=True
    )
    return done.stdout


def test_another_process_is_told_who_has_it(database: Database) -> None:
    path = database.path
    assert path is not None
    said = elsewhere(path)
    assert f"another process ({os.getpid()}) has the store {path} open" in said
    assert "shut down the kernel that uses it" in said
    # POSIX drops SQLite's own locks when anything here closes a handle on the file.
    path.read_bytes()
    assert "has the store" in elsewhere(path)
    put(database, 1)
    assert numbers(database) == [1]
    database.close()
    assert elsewhere(path) == "opened\n"


def test_another_program_that_reads_it_keeps_us_out(database: Database) -> None:
    path = database.path
    assert path is not None
    database.close()
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "c.execute('BEGIN'); c.execute('SELECT * FROM t').fetchall(); print('.'); input()"
    )
    reader = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with reader:
        assert reader.stdout is not None
        reader.stdout.readline()
        with pytest.raises(StoreInUseError, match="another process has the store"):
            Database.open(path)
        reader.communicate(b"\n")
    Database.open(path).close()


FORKED = """
import os, sys
from agtools_nb.context.database import Database
from agtools_nb.errors import StoreInUseError
database = Database.open(sys.argv[1])
database.create("CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY)")
database.execute("INSERT INTO t VALUES (1)")
child = os.fork()
if child == 0:
    for use in (lambda: database.execute("SELECT 1"), lambda: Database.open(sys.argv[1])):
        try:
            use()
        except StoreInUseError:
            print("refused", flush=True)
    sys.exit(0)
os.waitpid(child, 0)
assert os.path.getsize(sys.argv[1] + "-wal") > 0
database.execute("INSERT INTO t VALUES (2)")
print(database.execute("SELECT n FROM t"), flush=True)
os._exit(0)
"""


FORKED_MEANWHILE = """
import faulthandler, os, sys, threading
from agtools_nb.context import Store, database
from agtools_nb.errors import StoreInUseError
store = Store.open(sys.argv[1])
store.state.set("a", 1)
held, done = threading.Event(), threading.Event()
def hold():
    with store.state.lock(), database._opening:
        held.set()
        done.wait()
threading.Thread(target=hold).start()
held.wait()
child = os.fork()
if child == 0:
    faulthandler.dump_traceback_later(20, exit=True)
    for use in (
        lambda: store.state.get("a"),
        lambda: store.state.set("a", 2),
        lambda: Store.open(sys.argv[1]),
    ):
        try:
            use()
        except StoreInUseError:
            print("refused", flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1])
done.set()
store.state.set("a", 3)
print(store.state.snapshot())
"""


def test_a_child_forked_while_another_thread_has_the_store_is_told(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKED_MEANWHILE, str(tmp_path / "work.db")],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split("\n")[:5] == ["refused"] * 3 + ["0", "{'a': 3}"]


def test_a_store_is_opened_while_another_that_is_held_gets_closed(tmp_path: Path) -> None:
    code = """
import sys, threading
from agtools_nb.context import Store
first = Store.open(sys.argv[1] + "/first.db")
closing = threading.Thread(target=first.close, daemon=True)
def use():
    with first.state.lock():
        closing.start()
        closing.join(0.2)
        Store.open(sys.argv[1] + "/second.db")
        print("opened", flush=True)
using = threading.Thread(target=use, daemon=True)
using.start()
for thread in (using, closing):
    thread.join(10)
    print(thread.is_alive(), flush=True)
import os
os._exit(0)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.split() == ["opened", "False", "False"]


def test_whoever_opens_a_file_that_is_being_closed_waits_for_that(tmp_path: Path) -> None:
    path = tmp_path / "work.db"

    def use() -> None:
        for _ in range(40):
            try:
                database = Database.open(path)
                database.create(TABLE)
                database.close()
            except StoreError as error:  # another thread closed it in between
                reasons.append(error.reason)

    reasons: list[Any] = []
    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(reasons) <= {"closed"}
    database = Database.open(path)
    assert numbers(database) == []
    database.close()
    assert [path.name for path in tmp_path.iterdir()] == ["work.db"]


def test_a_forked_child_leaves_the_file_to_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    done = subprocess.run(
        [sys.executable, "-c", FORKED, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:3] == ["refused", "refused", "[(1,), (2,)]"]
    database = Database.open(path)
    assert numbers(database) == [1, 2]
    database.close()


def test_the_end_of_the_process_closes_it(tmp_path: Path) -> None:
    assert elsewhere(tmp_path / "work.db") == "opened\n"
    assert [path.name for path in tmp_path.iterdir()] == ["work.db"]
