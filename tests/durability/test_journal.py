"""The journal: what was called, as it began and as it ended; and the toolkit that keeps it."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from agtools_nb import ToolCall, ToolContext, Toolkit, ToolRunner
from agtools_nb.context import Database, Store
from agtools_nb.errors import StoreError, StoreInUseError, ToolError, UsageError
from agtools_nb.run import Journal
from agtools_nb.run import journal as journal_module


def add(a: int, b: int = 2) -> int:
    """Add."""
    return a + b


async def fail(text: str) -> None:
    """Fail."""
    raise ToolError("nope", text)


@pytest.fixture
def database(tmp_path: Path):
    opened = Database.open(tmp_path / "work.db")
    yield opened
    opened.close()


def recorded(database: Database, *tools: Any) -> tuple[ToolRunner, Journal]:
    runner, journal = ToolRunner(tools or (add, fail)), Journal.of(database)
    journal.record(runner)
    return runner, journal


def run(runner: ToolRunner, *calls: Any) -> list[Any]:
    return asyncio.run(runner.process_tool_calls(calls))


def test_every_call_is_written_down_as_it_ended(database: Database) -> None:
    runner, journal = recorded(database)
    before = time.time()
    results = run(
        runner,
        ToolCall("add", {"a": "1"}, id="c1"),
        ToolCall("fail", {"text": "no such city"}, id="c2"),
        ToolCall("add", {"a": "x"}, id="c3"),
        ToolCall("none", {}, id="c4"),
        ToolCall("add", "{broken", id="c5"),
    )
    entries = {entry.call_id: entry for entry in journal.entries()}
    assert [
        (e.call_id, e.name, e.arguments, e.status, e.result)
        for e in sorted(entries.values(), key=lambda e: e.call_id)
    ] == [
        ("c1", "add", {"a": 1, "b": 2}, "ok", 3),
        ("c2", "fail", {"text": "no such city"}, "error", None),
        ("c3", "add", {"a": "x"}, "invalid", None),
        ("c4", "none", {}, "invalid", None),
        ("c5", "add", "{broken", "invalid", None),
    ]
    for result in results:
        entry = entries[result.id]
        assert (entry.error, entry.duration) == (result.error, result.duration)
        assert before <= entry.started_at <= time.time()
    assert len(journal) == 5
    assert repr(journal) == "<Journal of 5 calls>"


def test_it_is_there_again_and_counts_on(database: Database, tmp_path: Path) -> None:
    runner, journal = recorded(database)
    assert Journal.of(database) is journal
    run(runner, ("add", {"a": 1}))
    database.close()
    again = Database.open(tmp_path / "work.db")
    runner, journal = recorded(again)
    run(runner, ("add", {"a": 2}))
    assert [(e.number, e.result) for e in journal.entries()] == [(1, 3), (2, 4)]
    again.close()


def test_an_id_used_twice_is_two_calls(database: Database) -> None:
    runner, journal = recorded(database)
    call = ToolCall("add", {"a": 1}, id="same")
    run(runner, call)
    run(runner, call)
    assert [e.number for e in journal.find("same")] == [1, 2]
    assert journal.find("other") == ()


def test_a_call_is_there_while_it_runs_and_interrupted_if_it_never_ended(
    database: Database, tmp_path: Path
) -> None:
    journal = Journal.of(database)
    seen: list[Any] = []

    def look() -> int:
        seen.extend(journal.entries())
        return 1

    runner, _ = recorded(database, look)
    run(runner, ToolCall("look", {}, id="c1"))
    assert [(e.status, e.duration, e.result) for e in seen] == [("running", None, None)]
    database.execute("UPDATE calls SET status = 'running', duration = NULL")
    database.close()
    again = Database.open(tmp_path / "work.db")
    [entry] = Journal.of(again).entries()
    assert (entry.call_id, entry.status) == ("c1", "interrupted")
    again.close()


def test_a_stopped_call_is_cancelled(database: Database) -> None:
    async def wait() -> None:
        await asyncio.sleep(60)

    runner, journal = recorded(database, wait)

    async def main() -> None:
        batch = runner.batch([("wait", {})])
        running = asyncio.ensure_future(batch.run())
        while not journal.entries():
            await asyncio.sleep(0)
        batch.stop()
        await running

    asyncio.run(main())
    [entry] = journal.entries()
    assert entry.status == "cancelled"
    assert entry.error


def test_any_result_has_a_json_form_and_long_ones_are_cut(
    database: Database, monkeypatch: Any
) -> None:
    monkeypatch.setattr(journal_module, "LONGEST_TEXT", 100)

    def odd() -> Any:
        return {"when": {1, 2}, "what": object}

    def much() -> str:
        return "ü" * 500

    def wrong(text: str) -> None:
        raise ValueError(text)

    runner, journal = recorded(database, odd, much, wrong)
    run(runner, ("odd", {}), ("much", {}), ("wrong", {"text": "y" * 500}))
    entries = {e.name: e for e in journal.entries()}
    assert entries["odd"].result == {"when": [1, 2], "what": "<class 'object'>"}
    assert entries["much"].result == '"' + "ü" * 98 + "…"
    assert len(entries["wrong"].arguments) == 100
    error = entries["wrong"].error
    assert error is not None
    assert len(error) == 100


def test_a_refused_call_is_written_down_too(database: Database) -> None:
    runner, journal = recorded(database)

    @runner.before
    def refuse(call: ToolCall, arguments: Any) -> None:
        raise ToolError("denied", "not today")

    run(runner, ("add", {"a": 1}))
    [entry] = journal.entries()
    assert (entry.status, "not today" in (entry.error or "")) == ("error", True)


def test_a_tool_that_holds_the_database_does_not_hold_up_the_loop(database: Database) -> None:
    let_go = threading.Event()
    held = threading.Event()

    def hold() -> str:
        with database.lock:
            held.set()
            let_go.wait(10)
        return "held"

    async def quick() -> str:
        return "quick"

    runner, journal = recorded(database, hold, quick)

    async def main() -> None:
        holding = asyncio.ensure_future(runner.process_tool_calls([("hold", {})]))
        while not held.is_set():
            await asyncio.sleep(0.001)
        other = asyncio.ensure_future(runner.process_tool_calls([("quick", {})]))
        for _ in range(20):  # the loop goes on meanwhile
            await asyncio.sleep(0.001)
        assert not other.done()
        let_go.set()
        await asyncio.gather(holding, other)

    asyncio.run(main())
    assert sorted((e.name, e.status) for e in journal.entries()) == [
        ("hold", "ok"),
        ("quick", "ok"),
    ]


def test_a_call_that_cannot_be_written_down_is_not_run(
    database: Database, monkeypatch: Any
) -> None:
    ran: list[int] = []

    def act() -> None:
        ran.append(1)

    runner, journal = recorded(database, act)
    real = Database.execute

    def full(self: Database, sql: str, *rest: Any) -> Any:
        if "calls" in sql:
            raise StoreError("the store has no room", "full")
        return real(self, sql, *rest)

    monkeypatch.setattr(Database, "execute", full)
    [result] = run(runner, ("act", {}))
    assert (result.status, ran) == ("error", [])
    assert "the store has no room" in result.error
    assert "could not be written into the journal: the store has no room" in result.notes[-1]
    monkeypatch.undo()
    [result] = run(runner, ("act", {}))
    assert (result.status, ran, len(journal)) == ("ok", [1], 1)


def test_a_result_is_not_lost_when_its_end_cannot_be_written(
    database: Database, monkeypatch: Any
) -> None:
    runner, journal = recorded(database)
    real = Database.execute

    def full(self: Database, sql: str, *rest: Any) -> Any:
        if "REPLACE INTO calls" in sql:
            raise StoreError("the store has no room", "full")
        return real(self, sql, *rest)

    monkeypatch.setattr(Database, "execute", full)
    [result] = run(runner, ("add", {"a": 1}))
    assert (result.status, result.result) == ("ok", 3)
    assert "the store has no room" in result.notes[-1]
    assert journal.entries()[0].status == "running"


@pytest.mark.parametrize("limit", [0, -1, 10_001, True, "1", None])
def test_a_limit_out_of_range(database: Database, limit: Any) -> None:
    with pytest.raises(UsageError, match="limit must be from 1 to 10,000"):
        Journal.of(database).entries(limit)


def test_the_newest_come_last(database: Database) -> None:
    runner, journal = recorded(database)
    for n in range(7):
        run(runner, ("add", {"a": n}))
    assert [e.result for e in journal.entries(3)] == [6, 7, 8]


def test_an_unreadable_entry_is_damage(database: Database) -> None:
    runner, journal = recorded(database)
    run(runner, ("add", {"a": 1}))
    database.execute("UPDATE calls SET arguments = '{'")
    with pytest.raises(StoreError, match="its journal is unreadable"):
        journal.entries()


# -- the toolkit ------------------------------------------------------------------------------


def count(ctx: ToolContext) -> int:
    """Count."""
    assert ctx.artifacts is not None
    ctx.artifacts.save("log", "counted")
    return ctx.update_state("n", lambda n: n + 1, 0)


def used(tk: Toolkit) -> Any:
    if "count" not in tk.tool_names:
        tk.runner.register(count)

    async def call() -> Any:
        return (await tk.runner.process_tool_calls([("count", {})]))[0].unwrap()

    return asyncio.run(call())


def test_a_toolkit_with_a_store_resumes(tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    tk = Toolkit(store=path)
    assert used(tk) == 1
    tk.memory.add("a note")
    conversation = tk.store.conversation_id
    assert tk.context.conversation_id == conversation
    # The cell is run again.
    again = Toolkit(store=str(path))
    assert (again.state, again.journal, again.store) == (tk.state, tk.journal, tk.store)
    assert used(again) == 2
    tk.store.close()
    tk = Toolkit(store=path)
    assert used(tk) == 3
    assert [e.result for e in tk.journal.entries()] == [1, 2, 3]
    assert [w.call_id for w in tk.state.history] == [e.call_id for e in tk.journal.entries()]
    assert len(tk.artifacts.versions("log")) == 3
    assert [hit.text for hit in tk.context.search_memory("note")] == ["a note"]
    assert tk.store.conversation_id == conversation
    tk.store.close()


def test_a_toolkit_without_a_store_keeps_any_value_and_no_journal() -> None:
    tk = Toolkit()
    assert used(tk) == 1
    tk.state.set("thing", object())
    assert tk.artifacts.load("log").data == b"counted"
    assert tk.memory.search("note") == ()
    with pytest.raises(UsageError, match=r"keeps no journal of its calls: Toolkit\(store='work"):
        tk.journal  # noqa: B018
    assert Toolkit().state.snapshot() == {}


def test_a_store_or_a_context(tmp_path: Path) -> None:
    with Store.open(tmp_path / "work.db") as store:
        assert Toolkit(store=store).state is store.state
        tk = Toolkit(context=ToolContext(store=store))
        assert (tk.state, tk.artifacts) == (store.state, store.artifacts)
        assert used(tk) == 1
        assert len(tk.journal) == 1
        with pytest.raises(UsageError, match="either a store or a context"):
            Toolkit(store=store, context=ToolContext())
    context = ToolContext()
    assert Toolkit(context=context).state is context.state


def test_a_toolkit_whose_store_cannot_be_used_says_why(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("these are notes\n" * 20)
    with pytest.raises(StoreError, match=r"notes\.txt is no store of agtools_nb"):
        Toolkit(store=tmp_path / "notes.txt")
    assert issubclass(StoreInUseError, StoreError)
