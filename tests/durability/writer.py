"""Writes to a store until it is killed, and says so after each write that returned.

Run as a program it takes orders line by line: ``write PATH`` forks a process that writes from
four threads and never ends by itself; ``look PATH close`` (or ``leave``) forks one that says
what it finds, and ends with the file closed, or not.
"""

from __future__ import annotations

import asyncio
import collections
import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from agtools_nb import ToolRunner
from agtools_nb.context import Store
from agtools_nb.run import Journal


def say(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def document(version: int) -> bytes:
    """What stands in a version of an artifact: several pages, different in each."""
    return f"{version:08d}".encode() * 1_500


# Each of these makes the n-th write of its kind.


def write_state(store: Store, n: int) -> None:
    with store.database.transaction():
        store.state.set("left", n)
        store.state.set("right", n)
    store.state.set(f"k{n % 7}", "x" * (n % 900))
    store.state.update("n", lambda old: (old or 0) + 1)


def write_artifact(store: Store, n: int) -> None:
    with store.database.transaction():
        store.artifacts.save("doc", document(n))
        store.state.set("docs", n)


def write_memory(store: Store, n: int) -> None:
    store.memory.add(f"note number{n} about rivers", n=n)


def write_call(store: Store, n: int) -> None:
    async def give(n: int) -> int:
        return n

    runner = ToolRunner([give])
    Journal.of(store.database).record(runner)
    results = asyncio.run(runner.process_tool_calls([("give", {"n": n})]))
    assert results[0].unwrap() == n
    assert results[0].notes == ()


KINDS: dict[str, Callable[[Store, int], None]] = {
    "state": write_state,
    "artifact": write_artifact,
    "memory": write_memory,
    "call": write_call,
}


def written(store: Store) -> dict[str, int]:
    """How many writes of each kind are in the store."""
    ok = [e.result for e in Journal.of(store.database).entries(10_000) if e.status == "ok"]
    return {
        "state": store.state.get("n", 0),
        "artifact": len(store.artifacts.versions("doc")),
        "memory": len(store.memory),
        "call": max(ok, default=0),
    }


def write(path: str) -> None:
    store = Store.open(path)
    # So that some are killed while the log is written into the file.
    store.database.execute("PRAGMA wal_autocheckpoint=25")
    begun = written(store)
    say("opened", 0)

    def work(kind: str) -> None:
        n = begun[kind]
        while True:
            n += 1
            KINDS[kind](store, n)
            say(kind, n)

    threads = [threading.Thread(target=work, args=(kind,)) for kind in KINDS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def look(path: str) -> dict[str, Any]:
    """Everything that can be seen to be wrong, and how many writes there are."""
    store = Store.open(path)
    state, artifacts, memory = store.state, store.artifacts, store.memory
    counts = written(store)
    seqs = [one.seq for one in state.history]
    documents = [artifacts.load("doc", n).data for n in range(1, counts["artifact"] + 1)[-20:]]
    entries = Journal.of(store.database).entries(10_000)
    ok = collections.Counter(e.result for e in entries if e.status == "ok")
    newest = memory.search(f"number{counts['memory']}") if counts["memory"] else ()
    wrong = {
        "halves": state.get("left") != state.get("right"),
        "left behind": abs(state.get("left", 0) - counts["state"]) > 1,
        "history": seqs != list(range(seqs[0], seqs[-1] + 1)) if seqs else False,
        "past": state.at(seqs[-1]) != state.snapshot() if seqs else False,
        "documents": documents != [document(n) for n in range(1, counts["artifact"] + 1)[-20:]],
        "document and state": state.get("docs", 0) != counts["artifact"],
        "memory and its words": [(len(memory),)]
        != store.database.execute("SELECT count(*) FROM memory_words"),
        "memory": counts["memory"] > 0 and counts["memory"] not in [h.labels["n"] for h in newest],
        "calls": ok != collections.Counter(range(1, counts["call"] + 1)),
        "running": any(e.status == "running" for e in entries),
        "sound": store.database.execute("PRAGMA integrity_check") != [("ok",)],
    }
    return {**counts, "wrong": [name for name, is_wrong in wrong.items() if is_wrong]}


def serve() -> None:
    # What a first call imports, the children then have from the start.
    write_call(Store.open(None), 1)
    assert threading.active_count() == 1
    for line in sys.stdin:
        order, path, *how = line.rstrip("\n").split("\t")
        child = os.fork()
        if child == 0:
            try:
                if order == "write":
                    write(path)
                say("found", json.dumps(look(path)))
                if how == ["close"]:
                    Store.open(path).close()
            except BaseException as error:
                say("error", repr(error))
            finally:
                os._exit(1)  # without closing anything
        say("child", child)
        os.waitpid(child, 0)
        say("ended", child)


if __name__ == "__main__":
    serve()
