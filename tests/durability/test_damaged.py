"""Files that are no sound store: a clear error, and not a byte of them changed."""

from __future__ import annotations

import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agtools_nb.context import Store
from agtools_nb.errors import StoreError
from agtools_nb.run import Journal

PAGE = 4096


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with something of each kind in it, closed."""
    path = tmp_path_factory.mktemp("sound") / "work.db"
    with Store.open(path) as store:
        for n in range(300):
            store.state.set(f"k{n % 20}", {"n": n, "text": "x" * (n % 400)})
            store.memory.add(f"note {n} on rivers and hills", n=n)
        for n in range(10):
            store.artifacts.save(f"a{n}", os.urandom(10_000))
        store.state.save("s")
        assert len(Journal.of(store.database)) == 0
    return path


def garbled(at: Callable[[int], int], length: int = PAGE) -> Callable[[Path], None]:
    """Overwrite a stretch of the file with noise."""

    def damage(path: Path) -> None:
        noise = random.Random(1).randbytes(length)
        with path.open("r+b") as file:
            file.seek(at(path.stat().st_size))
            file.write(noise)

    return damage


def cut(size: Callable[[int], int]) -> Callable[[Path], None]:
    return lambda path: os.truncate(path, size(path.stat().st_size))


def pragma(words: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA {words}")
        connection.close()

    return change


def replaced(content: bytes) -> Callable[[Path], None]:
    return lambda path: (path.unlink(), path.write_bytes(content), None)[-1]  # type: ignore[func-returns-value]


def other_database(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE notes (n)")
    connection.close()


DAMAGE: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "the first bytes": (garbled(lambda size: 0, 16), "foreign", "it is no SQLite database"),
    "the whole header": (garbled(lambda size: 0, 100), "foreign", "it is no SQLite database"),
    "the rest of the first page": (garbled(lambda size: 100, PAGE - 100), "damaged", "is damaged"),
    "a page in the middle": (
        garbled(lambda size: size // 2 // PAGE * PAGE),
        "damaged",
        "is damaged",
    ),
    "half of the pages": (
        garbled(lambda size: size // 2 // PAGE * PAGE, 20 * PAGE),
        "damaged",
        "is damaged",
    ),
    "the last page": (garbled(lambda size: size - PAGE), "damaged", "is damaged"),
    "cut in half": (cut(lambda size: size // 2 // PAGE * PAGE), "damaged", "is damaged"),
    "cut in a page": (cut(lambda size: size // 2 // PAGE * PAGE + 10), "damaged", "is damaged"),
    "cut to one page": (cut(lambda size: PAGE), "damaged", "is damaged"),
    "cut to the header": (cut(lambda size: 100), "damaged", "is damaged"),
    "cut in the header": (cut(lambda size: 50), "damaged", "only 50 bytes are left of it"),
    "cut to a letter": (cut(lambda size: 1), "damaged", "only 1 bytes are left of it"),
    "a text": (replaced(b"Shopping list:\n" * 100), "foreign", "it is no SQLite database"),
    "a short text": (replaced(b"Hi"), "foreign", "it is no SQLite database"),
    "zeros": (replaced(bytes(8 * PAGE)), "foreign", "it is no SQLite database"),
    "a foreign database": (other_database, "foreign", "it is another program's SQLite database"),
    "another program's mark": (pragma("application_id=7"), "foreign", "another program's"),
    "a newer version": (
        pragma("user_version=2"),
        "newer",
        r"is of version 2, .* reads up to 1: update",
    ),
}


def folder(path: Path) -> dict[str, bytes]:
    """All files beside ``path``, byte for byte."""
    return {found.name: found.read_bytes() for found in path.parent.iterdir()}


def refused(path: Path) -> StoreError:
    """The error on opening it, which must leave everything as it was."""
    before = folder(path)
    times = path.stat().st_mtime_ns
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert folder(path) == before
    assert path.stat().st_mtime_ns == times
    return caught.value


@pytest.mark.parametrize("name", DAMAGE)
def test_a_file_that_is_no_sound_store(sound: Path, tmp_path: Path, name: str) -> None:
    damage, reason, words = DAMAGE[name]
    path = tmp_path / "work.db"
    shutil.copy(sound, path)
    damage(path)
    for _ in range(2):  # the same when it is tried again
        error = refused(path)
        assert error.reason == reason
        assert re.search(words, str(error))
        assert str(path) in str(error)
    # A backup put in its place is opened.
    shutil.copy(sound, path)
    with Store.open(path) as store:
        assert store.state.get("k0")["n"] == 280


def killed_copy(path: Path) -> None:
    """A store whose last writes stand in the log: its process was killed."""
    code = (
        "import os, sys; from agtools_nb.context import Store; s = Store.open(sys.argv[1])\n"
        "for n in range(50): s.state.set('late', 'y' * n)\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert path.with_name("work.db-wal").stat().st_size > 0


def test_a_damaged_file_with_a_log_keeps_both(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    shutil.copy(sound, path)
    killed_copy(path)
    garbled(lambda size: size // 2 // PAGE * PAGE)(path)
    assert refused(path).reason == "damaged"
    assert refused(path).reason == "damaged"


def test_an_emptied_file_with_a_log_is_no_new_store(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    shutil.copy(sound, path)
    killed_copy(path)
    os.truncate(path, 0)
    error = refused(path)
    assert error.reason == "damaged"
    assert "it is gone, but not work.db-wal that goes with it" in str(error)


def test_a_damaged_log_costs_what_it_held_and_no_more(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    shutil.copy(sound, path)
    killed_copy(path)
    wal = path.with_name("work.db-wal")
    os.truncate(wal, wal.stat().st_size // 2)
    with Store.open(path) as store:
        late = store.state.get("late")
        assert late == "y" * len(late)
        assert store.state.get("k0")["n"] == 280


def everything(path: Path) -> list[Any]:
    """All that can be read from a store."""
    with Store.open(path) as store:
        return [
            sorted(store.memory.search("note rivers", 1_000), key=lambda hit: hit.id),
            store.state.snapshot(),
            store.state.history,
            [store.state.at(n) for n in (1, 300)],
            [store.artifacts.load(a.name) for a in store.artifacts.list()],
            Journal.of(store.database).entries(),
            store.state.snapshots,
        ]


def fault(use: Callable[[], Any]) -> str | None:
    """Why it fails, if it does. Any error that is not ours fails the test."""
    try:
        use()
    except StoreError as error:
        return error.reason
    return None


def test_noise_anywhere_is_an_error_of_ours_or_does_no_harm(
    sound: Path, tmp_path: Path, figure: Any
) -> None:
    choose = random.Random(4)
    size = sound.stat().st_size
    path = tmp_path / "work.db"
    intact = everything(sound)
    outcomes = {"refused": 0, "an error on reading": 0, "not noticed": 0, "no harm": 0}
    for _ in range(150):
        shutil.copy(sound, path)
        length = choose.choice([1, 16, 300, PAGE])
        with path.open("r+b") as file:
            file.seek(choose.randrange(100, size - length))
            file.write(choose.randbytes(length))
        before = path.read_bytes()
        if (reason := fault(lambda: Store.open(path).close())) is not None:
            assert (reason, path.read_bytes() == before) == ("damaged", True)
            outcomes["refused"] += 1
            continue
        read: list[Any] = []
        if fault(lambda read=read: read.extend(everything(path))) is not None:
            outcomes["an error on reading"] += 1
        else:
            outcomes["no harm" if read == intact else "not noticed"] += 1
    assert outcomes["refused"] > 20
    assert outcomes["an error on reading"] > 5
    for name, count in outcomes.items():
        figure(f"150 noises: {name}", count)


def test_damage_that_comes_while_it_is_open_is_an_error_on_the_call(tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    with Store.open(path) as store:
        for n in range(40):
            store.artifacts.save(f"a{n}", os.urandom(50_000))
    with Store.open(path) as store:
        garbled(lambda size: 10 * PAGE, path.stat().st_size - 10 * PAGE)(path)
        reasons = [fault(lambda n=n: store.artifacts.load(f"a{n}")) for n in range(40)]
        assert reasons.count("damaged") > 20
        assert set(reasons) <= {"damaged", None}
        assert store.state.snapshot() == {}
