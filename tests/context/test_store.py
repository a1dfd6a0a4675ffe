"""The store as a whole, and the contexts that hand it to tools."""

from __future__ import annotations

import asyncio
import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agtools_nb import StateStore, ToolContext, ToolRunner
from agtools_nb.context import MemoryHit, SimpleToolContext, Store
from agtools_nb.context.durable import DurableState
from agtools_nb.errors import StoreError, UsageError


def test_a_store_is_one_conversation(tmp_path: Path) -> None:
    with Store.open(tmp_path / "work.db") as store:
        assert Store.open(tmp_path / "work.db") is store
        first = store.conversation_id
        assert isinstance(store.state, DurableState)
        assert repr(store) == f"<Store {tmp_path / 'work.db'}>"
    with Store.open(tmp_path / "work.db") as again:
        assert again is not store
        assert again.conversation_id == first
    with Store.open(tmp_path / "other.db") as other:
        assert other.conversation_id != first


def test_a_closed_store_answers_only_who_looks_on(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "work.db")
    store.state.set("a", 1)
    child = store.child_state("c")
    saved = store.state.save("s")
    store.close()
    state = store.state
    for use in (
        lambda: state.get("a"),
        lambda: child.get("a"),
        lambda: "a" in state,
        lambda: len(state),
        lambda: state.set("a", 1),
        lambda: state.update("a", lambda value: pytest.fail("it was run")),
        lambda: state.delete("never was"),
    ):
        with pytest.raises(StoreError, match="was closed"):
            use()
    # What a view shows may be what was there last.
    assert (state.snapshot(), state.at(1), state.snapshots) == ({"a": 1}, {"a": 1}, (saved,))


@pytest.mark.parametrize("name", ["", "\ud800", 5, None, ["a"]])
@pytest.mark.parametrize("is_file", [False, True])
def test_a_childs_name_is_text(tmp_path: Path, name: Any, is_file: bool) -> None:
    with Store.open(tmp_path / "work.db" if is_file else None) as store:
        with pytest.raises(UsageError, match="a child state's name is text such as 'researcher'"):
            store.child_state(name)
        store.state.set("a", 1)
        store.child_state("a\x00 ü").set("a", 2)
        assert store.state.snapshot() == {"a": 1}


@pytest.mark.parametrize("is_file", [False, True])
def test_what_is_no_key_or_name_is_told_so(tmp_path: Path, is_file: bool) -> None:
    with Store.open(tmp_path / "work.db" if is_file else None) as store:
        state: Any = store.state
        for key in (["a"], 3, None):
            for use in (
                state.get,
                state.delete,
                lambda key: state.set(key, 1),
                lambda key: state.update(key, str),
            ):
                with pytest.raises(TypeError, match="a state key must be text, not"):
                    use(key)
            for use in (state.load, state.forget, state.save):
                with pytest.raises(UsageError, match="a snapshot's name is text, not"):
                    use(key)
            assert key not in state
        assert state.history == ()


def test_a_snapshot_can_be_copied_and_pickled() -> None:
    store = Store.open()
    store.state.set("a", {"b": [1]})
    saved = store.state.save("s")
    for again in (copy.deepcopy(saved), copy.copy(saved), pickle.loads(pickle.dumps(saved))):
        assert again == saved
        with pytest.raises(TypeError):
            again.values["a"] = 2
    deep = copy.deepcopy(saved)
    deep.values["a"]["b"].append(2)
    assert saved.values == {"a": {"b": [1]}}
    store.state.set("a", 3)
    store.state.load(pickle.loads(pickle.dumps(saved)))
    assert store.state.get("a") == {"b": [1]}


def test_in_memory_any_value_can_be_kept_and_nothing_is_shared() -> None:
    first, second = Store.open(), Store.open(":memory:")
    thing = object()
    first.state.set("a", thing)
    assert first.state.get("a") is thing
    assert second.state.snapshot() == {}
    assert first.conversation_id != second.conversation_id
    first.artifacts.save("x", "x")
    assert second.artifacts.list() == ()
    child = first.child_state("c")
    assert child.get("a") is thing
    assert child is first.child_state("c")
    assert first.artifacts is first.artifacts


def test_sqlite_is_loaded_when_it_is_needed() -> None:
    code = (
        "import sys; from agtools_nb import ToolContext, ToolRunner; "
        "from agtools_nb.context import Store; store = Store.open(); "
        "ToolRunner(context=ToolContext(store=store)); store.state.set('a', 1); "
        "print('sqlite3' in sys.modules); store.memory; print('sqlite3' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_a_tool_is_given_who_asks_and_what_lasts() -> None:
    store = Store.open()
    store.memory.add("Oslo is cold")
    context = ToolContext(
        store=store, user_id="ada", session_id="s1", agent_name="planner", scopes=["read"]
    )

    def plan(ctx: ToolContext, query: str) -> list[Any]:
        assert ctx.artifacts is not None
        ctx.set_state("asked", query)
        made = ctx.artifacts.save("plan", query)
        hits = [hit.text for hit in ctx.search_memory(query)]
        return [
            ctx.user_id,
            ctx.session_id,
            ctx.agent_name,
            ctx.function_call_id,
            made.version,
            hits,
        ]

    runner = ToolRunner([plan], context=context)
    [result] = asyncio.run(
        runner.process_tool_calls([{"name": "plan", "args": {"query": "oslo"}, "id": "c9"}])
    )
    assert result.unwrap() == ["ada", "s1", "planner", result.id, 1, ["Oslo is cold"]]
    assert store.state.get("asked") == "oslo"
    assert store.state.history[0].call_id == result.id
    assert store.artifacts.load("plan").data == b"oslo"


def test_a_context_without_a_store_has_neither() -> None:
    context = ToolContext()
    assert (context.user_id, context.session_id, context.agent_name) == ("anonymous", "", None)
    assert (context.function_call_id, context.artifacts) == (None, None)
    assert context.search_memory("x") == ()


def test_a_state_of_its_own_goes_before_the_stores() -> None:
    state = StateStore()
    store = Store.open()
    assert ToolContext(store=store, state=state).state is state
    assert ToolContext(store=store).state is store.state


def test_a_simple_context_has_the_documented_defaults() -> None:
    context = SimpleToolContext("harness")
    assert (context.agent_name, context.user_id, context.session_id) == ("harness", "anonymous", "")
    assert context.artifacts is None
    assert context.search_memory("anything") == ()
    assert (context.conversation_id, context.is_idle) == (None, None)
    assert context.function_call_id == context.call_id
    assert context.function_call_id
    other = SimpleToolContext("harness")
    assert other.function_call_id != context.function_call_id
    assert other.invocation_id != context.invocation_id
    with pytest.raises(RuntimeError, match="no running session"):
        context.send("hello")


def test_a_simple_context_takes_what_it_is_given() -> None:
    store = Store.open()
    store.memory.add("a note")
    context = SimpleToolContext(
        "me",
        session_id="s",
        user_id="u",
        function_call_id="f",
        invocation_id="i",
        store=store,
        scopes="read",
    )
    assert (context.session_id, context.user_id) == ("s", "u")
    assert (context.function_call_id, context.invocation_id) == ("f", "i")
    assert context.scopes == {"read"}
    assert context.artifacts is store.artifacts
    [hit] = context.search_memory("note")
    assert isinstance(hit, MemoryHit)


def test_a_tool_is_tried_with_a_simple_context() -> None:
    def count(ctx: ToolContext) -> int:
        return ctx.update_state("n", lambda n: n + 1, 0)

    context = SimpleToolContext("test", function_call_id="f1")
    assert count(context) == 1
    assert context.state.history[0].call_id == "f1"
    runner = ToolRunner([count], context=context)
    assert asyncio.run(runner.execute("count")) == 2
    assert context.state.history[1].tool_name == "count"
    assert context.call_id == "f1"
