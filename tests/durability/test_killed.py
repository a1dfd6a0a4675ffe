"""Killed at any moment: what was acknowledged is there, and nothing is there by half."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agtools_nb.context import Store
from agtools_nb.errors import StoreInUseError

KILLS = 200


class Writer:
    """The program of ``writer.py``, which forks writers and lookers."""

    def __init__(self) -> None:
        self.program = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("writer.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def order(self, *words: object) -> int:
        """Start a child and return its process id."""
        assert self.program.stdin is not None
        self.program.stdin.write("\t".join(map(str, words)) + "\n")
        self.program.stdin.flush()
        # What a quick child says may come before its id.
        self.early: list[list[str]] = []
        while True:
            said = self.read()
            if said[0] == "child":
                return int(said[1])
            self.early.append(said)

    def read(self) -> list[str]:
        assert self.program.stdout is not None
        line = self.program.stdout.readline()
        assert line, "the writer ended"
        return line.rstrip("\n").split(" ", 1)

    def rest(self) -> Iterator[list[str]]:
        """What the child says until it has ended."""
        yield from self.early
        while (said := self.read())[0] != "ended":
            yield said

    def found(self, path: Path, how: str) -> dict[str, Any]:
        self.order("look", path, how)
        [said] = list(self.rest())
        assert said[0] == "found", said
        return json.loads(said[1])

    def close(self) -> None:
        assert self.program.stdin is not None
        self.program.stdin.close()
        self.program.wait(30)
        assert self.program.stdout is not None
        self.program.stdout.close()


@pytest.fixture
def writer():
    running = Writer()
    yield running
    running.close()


def killed_after(writer: Writer, path: Path, seconds: float, *, opened: bool) -> dict[str, int]:
    """Let a child write, kill it, and return the last write of each kind that it acknowledged.

    The seconds are counted from its start, or from when it has opened the file.
    """
    child = writer.order("write", path)
    says = writer.rest()
    assert not opened or next(says) == ["opened", "0"]
    timer = threading.Timer(seconds, os.kill, (child, signal.SIGKILL))
    timer.start()
    acknowledged: dict[str, int] = {}
    for kind, n in says:
        assert kind != "error", n
        acknowledged[kind] = int(n)
    timer.join()
    acknowledged.pop("opened", None)
    return acknowledged


def test_two_hundred_kills_lose_nothing_that_was_acknowledged(
    writer: Writer, tmp_path: Path, figure: Any
) -> None:
    seed = random.randrange(10**9)
    choose = random.Random(seed)
    path = tmp_path / "work.db"
    last = dict.fromkeys(("state", "artifact", "memory", "call"), 0)
    kills = with_writes = with_log = 0
    kinds: Counter[str] = Counter()
    for round_ in range(KILLS):
        opened = round_ % 5 > 0
        seconds = choose.uniform(0.0, 0.1)
        acknowledged = killed_after(writer, path, seconds, opened=opened)
        kills += 1
        with_writes += bool(acknowledged)
        wal = path.with_name("work.db-wal")
        with_log += wal.exists() and wal.stat().st_size > 0
        kinds.update(acknowledged.keys())
        found = writer.found(path, choose.choice(["close", "leave"]))
        assert found.pop("wrong") == [], (seed, round_, last, acknowledged)
        for kind, count in last.items():
            least = acknowledged.get(kind, count)
            # One more may have been written and not acknowledged any more.
            assert least <= found[kind] <= least + 1, (seed, round_, kind, acknowledged)
        last = found
    assert kills == KILLS
    assert with_writes > KILLS / 2
    assert with_log > KILLS / 2
    assert min(kinds.values()) > KILLS / 4, kinds
    assert len(kinds) == 4
    figure("kills", kills)
    figure("writes acknowledged by processes that were killed", sum(last.values()))


def test_killed_while_the_file_is_made(writer: Writer, tmp_path: Path) -> None:
    choose = random.Random(8)
    sizes = Counter[bool]()
    for n in range(60):
        path = tmp_path / f"{n}.db"
        acknowledged = killed_after(writer, path, choose.uniform(0.0, 0.03), opened=False)
        sizes[path.exists() and path.stat().st_size > 0] += 1
        found = writer.found(path, "close")
        assert found.pop("wrong") == []
        assert all(found[kind] >= count for kind, count in acknowledged.items())
    assert sizes[True] > 5


def test_two_processes_on_one_file_lose_nothing(writer: Writer, tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    child = writer.order("write", path)
    says = writer.rest()
    next(says)
    for _ in range(20):
        with pytest.raises(StoreInUseError, match=rf"another process \({child}\) has the store"):
            Store.open(path)
    acknowledged = {kind: int(n) for kind, n in (next(says) for _ in range(100))}
    os.kill(child, signal.SIGKILL)
    acknowledged |= {kind: int(n) for kind, n in says}
    found = writer.found(path, "close")
    assert found.pop("wrong") == []
    assert all(found[kind] >= n for kind, n in acknowledged.items())
    with Store.open(path) as store:
        assert store.state.get("n") == found["state"]


def test_the_lock_of_a_killed_process_is_gone_at_once(writer: Writer, tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    for _ in range(5):
        child = writer.order("write", path)
        next(writer.rest())
        os.kill(child, signal.SIGKILL)
        list(writer.rest())
        begun = time.monotonic()
        Store.open(path).close()
        assert time.monotonic() - begun < 5
