"""The context: found by annotation alone, never the model's to give; and the state behind it."""

from __future__ import annotations

import threading
from typing import Annotated, Any

import pytest

from agtools_nb import StateStore, ToolContext, coerce, tool
from cases.calling import batch, call, refused, schema_of, value


class MyContext(ToolContext):
    """A context of one's own."""


def _keyword(*, ctx: ToolContext, query: str):
    return query, type(ctx).__name__


def _last(query: str, ctx: ToolContext):
    return query, type(ctx).__name__


def _first(ctx: ToolContext, query: str):
    return query, type(ctx).__name__


def _position(query: str, ctx: ToolContext, /):
    return query, type(ctx).__name__


def _text(query: str, ctx: ToolContext | None = None):
    return query, type(ctx).__name__


def _optional(query: str, ctx: ToolContext | None = None):
    return query, type(ctx).__name__


def _annotated(query: str, ctx: Annotated[ToolContext, "mine"]):
    return query, type(ctx).__name__


def _other_name(query: str, whatever: ToolContext):
    return query, type(whatever).__name__


def _defaulted(ctx: ToolContext = None, query: str = "q"):
    return query, type(ctx).__name__  # type: ignore[assignment]


async def _awaited(query: str, *, ctx: ToolContext | None = None):
    return query, type(ctx).__name__


def _two(a: ToolContext, query: str, b: ToolContext):
    return query, type(b if a is not None else a).__name__


FORMS = [
    *(_keyword, _last, _first, _position, _text, _optional, _annotated, _other_name, _defaulted),
    *(_awaited, _two),
]


@pytest.mark.parametrize("function", FORMS, ids=lambda function: function.__name__)
def test_it_is_injected_in_any_place_and_kind(function: Any) -> None:
    """context-01: out of the schema, into the call."""
    assert list(schema_of(function)["properties"]) == ["query"]
    assert value(function, {"query": "a"}, context=ToolContext()) == ("a", "ToolContext")


def test_a_method_and_a_subclass() -> None:
    """context-01: for bound methods and for contexts of one's own too."""

    class Service:
        def look(self, ctx: MyContext, query: str):
            return query, type(ctx).__name__

    look = Service().look
    look.__func__.__annotations__["ctx"] = MyContext
    assert list(schema_of(look)["properties"]) == ["query"]
    assert value(look, {"query": "a"}, context=MyContext()) == ("a", "MyContext")


NAMES = [
    "config",
    "ctx",
    "context",
    "tool_context",
    "run_context",
    "wrapper",
    "state",
    "callbacks",
    "self",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_injects_nothing(name: str) -> None:
    """context-02: only the annotation decides."""
    namespace: dict[str, Any] = {}
    exec(f"def f({name}: str, n: int = 1): return {name}", namespace)
    assert list(schema_of(namespace["f"])["properties"]) == [name, "n"]
    assert value(namespace["f"], {name: "a.toml"}, context=ToolContext()) == "a.toml"


class TestValuesForTheContext:
    """context-03: what a model sends for it never takes its place."""

    @pytest.mark.parametrize("evil", ["evil", None, {}, {"user_id": "root"}, True], ids=repr)
    def test_are_unknown_arguments(self, evil: Any) -> None:
        def f(q: str, ctx: ToolContext | None = None):
            return type(ctx).__name__

        assert refused(f, {"q": "a", "ctx": evil}) == ["/ctx"]

    def test_not_even_where_any_name_is_taken(self) -> None:
        def f(q: str, ctx: ToolContext, **more: Any):
            return type(ctx).__name__, more

        result = call(f, {"q": "a", "ctx": "evil", "x": 1}, context=ToolContext())
        assert result.status == "invalid" or result.result == ("ToolContext", {"x": 1})

    def test_not_without_validation(self) -> None:
        from agtools_nb import ToolRunner
        from cases.calling import run

        @tool
        def f(q: str, ctx: ToolContext):
            return type(ctx).__name__

        runner = ToolRunner([f], context=ToolContext(), validate=False)
        assert run(runner.execute("f", q="a", ctx="evil")) == "ToolContext"

    def test_the_schema_never_names_it(self) -> None:
        @tool
        def f(q: str, ctx: ToolContext):
            """Ask.

            Args:
                q: The question.
                ctx: The secret context.
            """

        assert "ctx" not in str(f.input_schema)
        assert "secret" not in f.description
        assert coerce({"ctx": "1"}, f.input_schema).value == {"ctx": "1"}


class TestLostUpdates:
    """state-01: get and set can race; one atomic step, or the lock, cannot."""

    def test_an_atomic_update(self) -> None:
        barrier = threading.Barrier(30)

        @tool
        def inc(ctx: ToolContext):
            barrier.wait(30)
            return ctx.update_state("k", lambda old: old + 1, 0)

        context = ToolContext()
        results = batch([inc], [("inc",)] * 30, context=context)
        assert sorted(result.result for result in results) == list(range(1, 31))
        assert context.get_state("k") == 30

    def test_the_lock(self) -> None:
        barrier = threading.Barrier(30)

        @tool
        def inc(ctx: ToolContext):
            barrier.wait(30)
            with ctx:
                ctx.set_state("k", ctx.get_state("k", 0) + 1)

        context = ToolContext()
        batch([inc], [("inc",)] * 30, context=context)
        assert context.get_state("k") == 30

    def test_the_race_is_said_where_it_is(self) -> None:
        assert "lose" in str(ToolContext.get_state.__doc__)


class TestOneStore:
    """state-02: siblings see each other's writes at once; none is merged over another."""

    def test_no_item_is_lost(self) -> None:
        barrier = threading.Barrier(8)

        @tool
        def add(ctx: ToolContext, item: str):
            barrier.wait(30)
            ctx.update_state("items", lambda old: [*(old or []), item])

        context = ToolContext()
        batch([add], [("add", {"item": item}) for item in "abcdefgh"], context=context)
        assert sorted(context.get_state("items")) == list("abcdefgh")

    def test_a_write_is_seen_while_the_other_call_runs(self) -> None:
        written, seen = threading.Event(), []

        @tool
        def write(ctx: ToolContext):
            ctx.set_state("k", "v")
            written.set()

        @tool
        def read(ctx: ToolContext):
            assert written.wait(30)
            seen.append(ctx.get_state("k"))

        batch([read, write], [("read",), ("write",)], context=ToolContext())
        assert seen == ["v"]

    def test_a_mutated_copy_changes_nothing(self) -> None:
        store = StateStore()
        context = ToolContext(state=store)
        context.set_state("items", [])
        context.get_state("items").append("lost on purpose")
        assert store.get("items") == []

    def test_other_sessions_see_nothing(self) -> None:
        one, other = ToolContext(), ToolContext()
        one.set_state("k", 1)
        assert other.get_state("k") is None
