"""A full disk: an error on the call that found it full, and what was there stays."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agtools_nb import ToolContext, ToolRunner
from agtools_nb.context import Store
from agtools_nb.errors import StoreError
from agtools_nb.run import Journal

BLOCK = "x" * 20_000


def fill(store: Store, most: int = 2_000) -> int:
    """Write until there is no room, and return how many writes there were."""
    for n in range(most):
        before = (store.state.snapshot(), store.state.history)
        try:
            with store.database.transaction():
                store.state.set("n", n)
                store.artifacts.save("block", f"{n} {BLOCK}")
        except StoreError as error:
            full = error
            break
    else:
        pytest.fail("the disk is not full yet")
    assert full.reason == "full", full
    assert "has no room: this was not written" in str(full)
    assert "Free some disk space" in str(full)
    # Memory has not gone on without the file.
    assert (store.state.snapshot(), store.state.history) == before
    return n


def check(store: Store, count: int) -> None:
    """All that was written is there, and nothing else."""
    assert store.state.get("n") == count - 1
    assert len(store.artifacts.versions("block")) == count
    assert store.artifacts.load("block", 1).data == f"0 {BLOCK}".encode()
    assert store.artifacts.load("block").data == f"{count - 1} {BLOCK}".encode()


def every_write_fails(store: Store) -> None:
    """Each kind of write says that there is no room, and changes nothing."""
    before = (store.state.snapshot(), store.artifacts.list(), len(store.memory))
    large = "y" * 300_000
    for write in (
        lambda: store.state.set("large", large),
        lambda: store.state.update("large", lambda old: large),
        lambda: store.artifacts.save("large", large),
        lambda: store.memory.add(large),
    ):
        with pytest.raises(StoreError) as caught:
            write()
        assert caught.value.reason == "full"
    assert (store.state.snapshot(), store.artifacts.list(), len(store.memory)) == before


def test_a_database_that_may_not_grow(tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    with Store.open(path) as store:
        store.database.execute("PRAGMA max_page_count=200")
        count = fill(store)
        every_write_fails(store)
        check(store, count)
        store.database.execute("PRAGMA max_page_count=2000")
        store.state.set("after", 1)
    with Store.open(path) as store:
        check(store, count)
        assert store.state.get("after") == 1


def test_the_call_is_told_and_its_siblings_are_not_hurt(tmp_path: Path) -> None:
    import asyncio

    def keep(ctx: ToolContext, size: int) -> int:
        ctx.set_state("kept", "z" * size)
        return size

    def small(n: int) -> int:
        return n

    with Store.open(tmp_path / "work.db") as store:
        runner = ToolRunner([keep, small], context=ToolContext(store=store))
        store.database.execute("PRAGMA max_page_count=60")
        calls = [("small", {"n": 1}), ("keep", {"size": 10**6}), ("keep", {"size": 10})]
        results = asyncio.run(runner.process_tool_calls(calls, strategy="sequential"))
        assert [r.status for r in results] == ["ok", "error", "ok"]
        assert "StoreError" in results[1].error
        assert "has no room" in results[1].error
        assert store.state.get("kept") == "z" * 10


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip(
            "only root may mount a small disk; the other tests here need no disk of their own"
        )
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def filled_up(disk: Path) -> Path:
    """A file that leaves no room on it."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4_096))
    assert shutil.disk_usage(disk).free == 0
    return filler


def test_a_full_disk(small_disk: Path) -> None:
    path = small_disk / "work.db"
    filler = small_disk / "filler"
    filler.write_bytes(bytes(500_000))
    store = Store.open(path)
    count = fill(store)
    assert count > 5
    every_write_fails(store)
    check(store, count)
    # Room again: it goes on, without being opened again.
    filler.unlink()
    store.state.set("after", 1)
    store.memory.add("room again")
    check(store, count)
    store.close()
    with Store.open(path) as store:
        check(store, count)
        assert store.state.get("after") == 1
        assert len(store.memory) == 1


def test_a_disk_that_is_full_before_the_first_write(small_disk: Path) -> None:
    filler = filled_up(small_disk)
    path = small_disk / "work.db"
    with pytest.raises(StoreError) as caught:
        Store.open(path)
    assert caught.value.reason == "full"
    filler.unlink()
    with Store.open(path) as store:
        store.state.set("a", 1)


def test_a_store_is_read_on_a_full_disk_and_after_a_kill_on_it(small_disk: Path) -> None:
    path = small_disk / "work.db"
    code = (
        "import os, sys; from agtools_nb.context import Store; s = Store.open(sys.argv[1])\n"
        "for n in range(100): s.state.set('n', n)\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    filler = filled_up(small_disk)
    with Store.open(path) as store:
        assert store.state.get("n") == 99
        with pytest.raises(StoreError, match="has no room"):
            store.state.set("large", "y" * 100_000)
    filler.unlink()
    with Store.open(path) as store:
        assert store.state.get("n") == 99
        assert len(Journal.of(store.database)) == 0


LIMITED = """
import json, resource, sys
from agtools_nb.context import Store
from agtools_nb.errors import StoreError
resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
store = Store.open(sys.argv[1])
n = 0
try:
    for n in range(1_000):
        store.artifacts.save("block", "x" * 20_000)
        store.state.set("n", n)
except StoreError as error:
    print(json.dumps([n, error.reason, store.state.get("n"), len(store.artifacts.versions("block"))]))
"""


def test_a_process_whose_files_may_not_grow(tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, check=True
    )
    written, reason, n, versions = json.loads(done.stdout)
    assert (reason, n) == ("full", written - 1)
    assert written > 5
    with Store.open(path) as store:
        assert store.state.get("n") == n
        assert len(store.artifacts.versions("block")) == versions


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    place: Any = tmp_path / "gone"
    place.mkdir()
    path = place / "work.db"
    Store.open(path).close()
    path.unlink()
    place.rmdir()
    with pytest.raises(StoreError, match="make it first") as caught:
        Store.open(path)
    assert caught.value.reason == "unreachable"
