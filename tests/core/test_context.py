"""State: atomic, isolated, every write recorded; and the context that hands it to tools."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import pytest

from agtools_nb import StateStore, ToolContext, ToolRunner
from agtools_nb.context import ABSENT


def test_thirty_concurrent_increments_are_thirty() -> None:
    def increment(ctx: ToolContext):
        ctx.update_state("k", lambda n: n + 1, 0)

    def append(ctx: ToolContext, item: str):
        with ctx:
            items = ctx.get_state("items", [])
            ctx.set_state("items", [*items, item])

    runner = ToolRunner([increment, append], context=ToolContext())
    calls = [("increment",)] * 30 + [("append", {"item": str(n)}) for n in range(30)]
    results = asyncio.run(runner.process_tool_calls(calls))
    assert all(r.ok for r in results)
    assert runner.context is not None
    assert runner.context.get_state("k") == 30
    assert sorted(runner.context.get_state("items"), key=int) == [str(n) for n in range(30)]


def test_a_failing_updater_changes_nothing() -> None:
    store = StateStore()
    store.set("a", [1])

    def fail(value: Any) -> Any:
        value.append(2)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        store.update("a", fail)
    assert store.get("a") == [1]
    assert len(store.history) == 1


def test_an_async_updater_is_refused() -> None:
    async def later(value: Any) -> Any:
        return value

    store = StateStore()
    with pytest.raises(TypeError, match="the updater must be a plain function"):
        store.update("a", later)
    assert "a" not in store


@pytest.mark.parametrize("key", [1, None, ("a",), b"a"])
def test_a_key_must_be_text(key: Any) -> None:
    store = StateStore()
    for write in (lambda: store.set(key, 1), lambda: store.update(key, lambda v: v)):
        with pytest.raises(TypeError, match="a state key must be text, not"):
            write()
    assert store.history == ()


def test_what_is_read_or_was_written_cannot_change_the_store() -> None:
    store = StateStore()
    value = {"list": [1], "nested": {"a": 1}}
    store.set("v", value)
    value["list"].append(2)
    store.get("v")["nested"]["a"] = 5
    store.snapshot()["v"]["list"].clear()
    assert store.get("v") == {"list": [1], "nested": {"a": 1}}
    assert store.history[0].after == {"list": [1], "nested": {"a": 1}}


def test_every_write_is_recorded_with_its_call() -> None:
    context = ToolContext()
    call = context.for_call("c1", "counter")
    call.set_state("a", 1)
    call.update_state("a", lambda n: n + 1)
    context.state.delete("a")
    context.state.delete("a")
    context.state.reset()
    writes = context.state.history
    assert [
        (w.seq, w.key, w.before, w.after, w.operation, w.call_id, w.tool_name) for w in writes
    ] == [
        (1, "a", ABSENT, 1, "set", "c1", "counter"),
        (2, "a", 1, 2, "update", "c1", "counter"),
        (3, "a", 2, ABSENT, "delete", None, None),
        (4, "", {}, {}, "reset", None, None),
    ]
    assert all(w.at > 0 for w in writes)


def test_history_is_bounded() -> None:
    store = StateStore()
    for n in range(10_050):
        store.set("a", n)
    assert len(store.history) == 10_000
    assert store.history[-1].seq == 10_050


def test_watchers_hear_writes_in_order_until_they_stop() -> None:
    store = StateStore()
    heard: list[int] = []
    stop = store.watch(lambda write: heard.append(write.seq))
    threads = [
        threading.Thread(target=lambda: [store.set("a", n) for n in range(50)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stop()
    stop()
    store.set("a", 0)
    assert heard == list(range(1, 201))


def test_the_lock_keeps_other_threads_out() -> None:
    store = StateStore()
    done = threading.Event()
    writer = threading.Thread(target=lambda: (store.set("a", 2), done.set()))
    with store.lock():
        store.set("a", 1)
        writer.start()
        assert not done.wait(0.05)
        assert store.get("a") == 1
    assert done.wait(10)


def test_values_that_cannot_be_copied_are_kept_as_they_are() -> None:
    store = StateStore()
    lock = threading.Lock()
    store.set("lock", lock)
    assert store.get("lock") is lock


class Session:
    conversation_id = "c-1"
    is_idle = True

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def send(self, message: Any) -> None:
        self.sent.append(message)


def test_the_session_is_held_weakly() -> None:
    session = Session()
    context = ToolContext(session).for_call("c", "t")
    context.send("hello")
    assert session.sent == ["hello"]
    assert (context.conversation_id, context.is_idle) == ("c-1", True)
    del session
    gc.collect()
    assert context.conversation_id is None
    assert context.is_idle is None
    with pytest.raises(RuntimeError, match="no running session"):
        context.send("more")


def test_whoever_only_looks_on_does_not_wait_for_the_lock() -> None:
    store = StateStore()
    store.set("a", 1)
    seen: list[Any] = []
    with store.lock():
        looker = threading.Thread(
            target=lambda: seen.append((store.snapshot(), len(store.history)))
        )
        looker.start()
        looker.join(10)
    assert seen == [({"a": 1}, 1)]


def test_a_watcher_that_fails_costs_neither_the_write_nor_the_others() -> None:
    store = StateStore()
    heard = []

    def broken(write: Any) -> None:
        raise RuntimeError("broken")

    store.watch(broken)
    store.watch(lambda write: heard.append(write.key))
    store.set("a", 1)
    assert (store.get("a"), heard) == (1, ["a"])


def test_containers_keep_their_kind_shape_and_cycles() -> None:
    from collections import Counter, defaultdict

    loop: list[Any] = []
    loop.append(loop)
    shared: Any = [1]
    for _ in range(30):
        shared = [shared, shared]
    store = StateStore()
    for key, value in {
        "loop": loop,
        "shared": shared,
        "counter": Counter("aab"),
        "default": defaultdict(list, a=[1]),
    }.items():
        store.set(key, value)
    assert store.get("loop")[0][0] is not loop
    read = store.get("default")
    read["a"].append(2)
    read["new"]
    assert store.get("default") == {"a": [1]}
    assert store.get("counter") == Counter("aab")


def test_absent_is_no_value() -> None:
    store = StateStore()
    store.set("a", 1)
    for write in (lambda: store.set("a", ABSENT), lambda: store.update("a", lambda v: ABSENT)):
        with pytest.raises(TypeError, match="ABSENT is no value"):
            write()
    assert store.get("a") == 1
