"""The inbox: order, dedup, holding, exactly once over restarts and kills."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb import Event, Inbox, StoreError, UsageError
from agtools_nb.context import StateStore
from agtools_nb.context.database import Database


def event(content: str, dedup_id: str, call_id: str | None = None, final: bool = False) -> Event:
    return Event("event", content, dedup_id, call_id=call_id, final=final)


def test_a_second_event_with_the_same_dedup_id_is_dropped() -> None:
    inbox = Inbox()
    assert inbox.put(event("a", "1")) == "kept"
    assert inbox.put(event("other", "1")) == "duplicate"
    taken = inbox.take()
    assert taken is not None
    assert taken.content == "a"
    inbox.settle(taken)
    assert inbox.put(event("again", "1")) == "duplicate", "also once it was handled"
    assert inbox.take() is None


def test_an_event_after_the_final_one_of_its_call_is_dropped() -> None:
    inbox = Inbox()
    assert inbox.put(event("last", "c:1", "c", final=True)) == "kept"
    assert inbox.put(event("late", "c:2", "c")) == "late"
    assert inbox.put(event("other call", "d:1", "d")) == "kept"
    assert [one.content for one in inbox.items] == ["last", "other call"]


def test_events_of_one_call_come_in_order_and_one_at_a_time() -> None:
    inbox = Inbox()
    for number in (1, 2):
        for call in "ab":
            inbox.put(event(f"{call}{number}", f"{call}:{number}", call))
    first, second = inbox.take(), inbox.take()
    assert first is not None
    assert second is not None
    assert (first.content, second.content) == ("a1", "b1")
    assert inbox.take() is None, "a2 waits for a1 to be settled"
    inbox.release(first)
    again = inbox.take()
    assert again is not None
    assert again.content == "a1", "what was given back comes before what follows it"
    inbox.settle(again)
    following = inbox.take()
    assert following is not None
    assert following.content == "a2"


def test_events_wait_while_a_call_is_waited_for_and_messages_do_not() -> None:
    inbox = Inbox()
    inbox.put(event("a", "1"))
    inbox.hold()
    inbox.hold()
    assert inbox.held
    assert inbox.take() is None
    inbox.put(Event("message", "hello"))
    message = inbox.take()
    assert message is not None
    assert message.content == "hello"
    inbox.let_go()
    assert inbox.take() is None
    inbox.let_go()
    taken = inbox.take()
    assert taken is not None
    assert taken.content == "a"


def test_who_waits_is_woken_from_any_thread() -> None:
    async def main() -> list[str]:
        inbox = Inbox()
        thread = threading.Thread(
            target=lambda: [inbox.put(event(str(n), str(n))) for n in range(20)]
        )
        asyncio.get_running_loop().call_soon(thread.start)
        found = [(await inbox.receive(10)).content for _ in range(20)]
        thread.join()
        return found

    assert asyncio.run(main()) == [str(n) for n in range(20)]


def test_waiting_ends_in_time() -> None:
    async def main() -> None:
        await Inbox().get(timeout=0.001)

    with pytest.raises(TimeoutError):
        asyncio.run(main())


def test_who_waits_is_told_that_the_store_was_closed() -> None:
    async def main() -> None:
        database = Database.open(None)
        inbox = Inbox(database)
        waiting = asyncio.create_task(inbox.receive())
        await asyncio.sleep(0)
        database.close()
        with pytest.raises(StoreError, match="closed"):
            await asyncio.wait_for(waiting, 10)

    asyncio.run(main())


def test_two_who_wait_share_the_events() -> None:
    async def main() -> list[list[str]]:
        inbox = Inbox()

        async def some() -> list[str]:
            return [(await inbox.receive(10)).content for _ in range(10)]

        tasks = [asyncio.create_task(some()) for _ in range(2)]
        await asyncio.sleep(0)
        for n in range(20):
            inbox.put(event(str(n), str(n)))
        return await asyncio.gather(*tasks)

    one, other = asyncio.run(main())
    assert sorted(map(int, one + other)) == list(range(20))


def test_what_handling_wrote_and_that_it_was_handled_are_one(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "work.db")
    inbox = Inbox(database)
    inbox.put(event("a", "1"))
    taken = inbox.take()
    assert taken is not None

    def handle_and_fail() -> None:
        with inbox.handling(taken):
            inbox.put(event("made by the handler", "2"))
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        handle_and_fail()
    assert [one.content for one in inbox.items] == ["a"]
    again = inbox.take()
    assert again is not None
    with inbox.handling(again):
        inbox.put(event("made by the handler", "2"))
    assert [(one.content, one.status) for one in inbox.items] == [
        ("a", "handled"),
        ("made by the handler", "waiting"),
    ]
    database.close()


def test_what_was_not_taken_cannot_be_settled() -> None:
    inbox, other = Inbox(), Inbox()
    stray = event("a", "1")
    inbox.put(stray)
    for bad in (stray, inbox.items[0]):
        with pytest.raises(UsageError, match="take it first"):
            inbox.settle(bad)
    taken = inbox.take()
    assert taken is not None
    with pytest.raises(UsageError, match="take it first"):
        other.settle(taken)
    inbox.settle(taken)
    inbox.settle(taken)  # twice does no harm


def test_a_watcher_that_fails_costs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    inbox, seen = Inbox(), []

    def broken() -> None:
        raise ValueError("broken watcher")

    inbox.watch(broken)
    stop = inbox.watch(lambda: seen.append(len(inbox)))
    inbox.put(event("a", "1"))
    assert seen == [1]
    assert "a watcher of the inbox failed" in caplog.text
    stop()
    inbox.put(event("b", "2"))
    assert seen == [1]


def test_an_inbox_is_the_same_after_a_restart(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "work.db")
    inbox = Inbox(database)
    for n in range(4):
        inbox.put(event(f"é{n}", str(n)))
    for _ in range(2):
        taken = inbox.take()
        assert taken is not None
        inbox.settle(taken)
    inbox.take()  # not settled when the process ends
    database.close()

    database = Database.open(tmp_path / "work.db")
    inbox = Inbox(database)
    assert [(one.content, one.status) for one in inbox.items] == [
        ("é0", "handled"), ("é1", "handled"), ("é2", "waiting"), ("é3", "waiting"),
    ]  # fmt: skip
    assert inbox.put(event("x", "0")) == "duplicate"
    database.close()


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("put"), st.integers(0, 8), st.sampled_from(["a", "b", None])),
            st.tuples(st.sampled_from(["take", "settle", "release", "hold", "let go"])),
        ),
        max_size=60,
    )
)
def test_law_each_event_is_handled_once_and_in_the_order_of_its_call(steps: list[tuple]) -> None:  # type: ignore[type-arg]
    one = _Model()
    for name, *arguments in steps:
        getattr(one, name.replace(" ", "_"))(*arguments)
    one.finish()
    assert sorted(int(done.content) for done in one.handled) == sorted(n for n, _ in one.kept)
    for call in ("a", "b"):
        mine = [int(done.content) for done in one.handled if done.call_id == call]
        assert mine == [number for number, of in one.kept if of == call]


class _Model:
    """An inbox, and what must become of what was put in."""

    def __init__(self) -> None:
        self.inbox = Inbox()
        self.kept: list[tuple[int, str | None]] = []
        self.handled: list[Event] = []
        self.taken: list[Event] = []
        self.holds = 0

    def put(self, number: int, call: str | None) -> None:
        if self.inbox.put(event(str(number), str(number), call)) == "kept":
            self.kept.append((number, call))

    def take(self) -> None:
        if (found := self.inbox.take()) is not None:
            assert not self.holds
            self.taken.append(found)

    def settle(self) -> None:
        if self.taken:
            self.handled.append(self.taken.pop(0))
            self.inbox.settle(self.handled[-1])

    def release(self) -> None:
        if self.taken:
            self.inbox.release(self.taken.pop())

    def hold(self) -> None:
        self.inbox.hold()
        self.holds += 1

    def let_go(self) -> None:
        if self.holds:
            self.inbox.let_go()
            self.holds -= 1

    def finish(self) -> None:
        while self.holds:
            self.let_go()
        while self.taken:
            self.release()
        while (found := self.inbox.take()) is not None:
            self.handled.append(found)
            self.inbox.settle(found)


HANDLER = """
import sys, time
from agtools_nb.context.store import Store
from agtools_nb import Event, Inbox

store = Store.open(sys.argv[1])
inbox = Inbox(store.database)
for n in range(200):  # the source sends everything again after each restart
    inbox.put(Event("event", n, f"source:{n}", call_id="source"))
print("ready", flush=True)
while (event := inbox.take()) is not None:
    with inbox.handling(event):
        store.state.update("seen", lambda seen: [*(seen or []), event.content])
print("done", flush=True)
"""


def test_every_event_is_handled_once_although_the_handler_is_killed(tmp_path: Path) -> None:
    """Retries, duplicates, and a kill in between: the effects are those of one run without."""
    from agtools_nb.context.store import Store

    path, kills = tmp_path / "work.db", 0
    for attempt in range(100):
        child = subprocess.Popen(
            [sys.executable, "-c", HANDLER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        if attempt < 12:
            # At another moment each time, somewhere in the handling.
            try:
                child.wait(0.001 * attempt)
            except subprocess.TimeoutExpired:
                os.kill(child.pid, signal.SIGKILL)
                kills += 1
        is_done = child.stdout.read() == "done\n"
        child.wait()
        child.stdout.close()
        if is_done:
            break
    assert kills >= 3
    store = Store.open(path)
    assert store.state.get("seen") == list(range(200))
    assert isinstance(store.state, StateStore)
    store.database.close()
