"""Batches in which something is wrong: each call has its own outcome, in call order."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from agtools_nb import DefinitionError, DuplicateToolError, Tool, ToolRunner, declaration, tool
from cases.calling import batch, call, made_by_exec, run, value


@tool
async def ok(n: int) -> str:
    return f"ok{n}"


class TestUnknownNames:
    """dispatch-01: a name that is none is that call's own result."""

    @pytest.mark.parametrize(
        "name",
        ["okk", "OK", "ok ", "", "ok\n", "functions.ok", "default_api:ok", "x" * 10_000, "\ud800"],
    )
    def test_the_sibling_runs(self, name: str) -> None:
        calls = [
            {"id": "c1", "name": name, "args": {"n": 1}},
            {"id": "c2", "name": "ok", "args": {"n": 2}},
        ]
        first, second = batch([ok], calls)
        assert (first.status, first.id) == ("invalid", "c1")
        assert "Tools: ok" in str(first.error)
        assert len(str(first.error).encode()) < 1_000
        assert (second.result, second.id) == ("ok2", "c2")

    def test_with_no_tools_at_all(self) -> None:
        [result] = batch([], [("ok", {"n": 1})])
        assert "Tools: none" in str(result.error)


def raises(error: BaseException) -> Any:
    raise error


FAILURES: list[BaseException] = [
    ValueError("bad"),
    asyncio.CancelledError("by the tool"),
    SystemExit(3),
    GeneratorExit(),
    StopIteration(1),
    StopAsyncIteration(),
    TimeoutError(),
    RecursionError(),
    MemoryError(),
    BaseExceptionGroup("several", [SystemExit(1), ValueError("x")]),
]


class TestFailures:
    """dispatch-02: whatever a tool raises, its siblings end and are in order."""

    @pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
    @pytest.mark.parametrize("kind", ["task", "thread", "awaitable"])
    def test_one_failure(self, error: BaseException, kind: str) -> None:
        others = asyncio.Event()

        async def failing(n: int):
            others.set()
            raise error

        def blocking(n: int):
            raise error

        def wrapped(n: int):
            return failing(n)

        async def sibling(n: int) -> str:
            if kind != "thread":
                await others.wait()
            return f"ok{n}"

        bad = {"task": failing, "thread": blocking, "awaitable": wrapped}[kind]
        first, second = batch([bad, sibling], [(bad.__name__, {"n": 1}), ("sibling", {"n": 2})])
        assert first.status == "error"
        assert type(error).__name__ in str(first.error)
        assert first.exception is not None
        # Python itself makes another error of a StopIteration that leaves a coroutine (PEP 479).
        causes = [first.exception.__cause__, getattr(first.exception.__cause__, "__cause__", None)]
        assert error in causes
        assert second.result == "ok2"

    def test_only_cancelling_the_batch_cancels_all(self) -> None:
        @tool
        async def hang():
            await asyncio.Event().wait()

        async def main() -> list[str]:
            made = ToolRunner([hang, ok]).batch([("hang",), ("ok", {"n": 1}), ("hang",)])
            task = asyncio.create_task(made.run())
            while made.results[1] is None:
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return [result.status for result in made.results if result is not None]

        assert run(main()) == ["cancelled", "ok", "cancelled"]

    def test_a_failure_of_every_call_at_once(self) -> None:
        gate = threading.Barrier(10)

        def bad(n: int):
            gate.wait(30)
            raise SystemExit(n)

        results = batch([bad], [("bad", {"n": n}) for n in range(10)])
        assert [result.error for result in results] == [f"SystemExit: {n}" for n in range(10)]


def test_functions_without_source_text() -> None:
    """notebook-10: nothing about a tool needs the text that it was made from."""
    f = made_by_exec(
        'def f(x: int, y: "int" = 2) -> int:\n    "Sum.\\n\\nArgs:\\n    x: One."\n    return x + y'
    )
    made = Tool.from_function(f)
    assert made.description == "Sum."
    assert made.input_schema["properties"]["x"] == {"type": "integer", "description": "One."}
    assert value(made, {"x": "3"}) == 5
    assert "line 1" in made.origin
    assert repr(made)
    builtin = Tool.from_function(len)
    assert builtin.name == "len"


class TestDefiningAgain:
    """notebook-11: what the core does of it: replacing is said, a clash is refused, old ones do not linger."""

    def test_replaced_in_place_and_used_from_then_on(self) -> None:
        def version(text: str) -> Tool:
            return Tool.from_function(made_by_exec(f"def f(x: int): return {text!r}"), name="g")

        runner = ToolRunner([version("v1"), ok])
        runner.replace(version("v2"))
        assert runner.tool_names == ("g", "ok")
        assert run(runner.execute("g", x=1)) == "v2"

    def test_a_second_of_the_name_is_an_error_that_says_where_the_first_is(self) -> None:
        runner = ToolRunner([ok])
        with pytest.raises(
            DuplicateToolError, match=r"'ok' is taken by the tool defined in .*line \d+"
        ):
            runner.register(made_by_exec("def f(): ..."), name="ok")

    def test_a_class_defined_anew_is_the_one_that_is_meant(self) -> None:
        source = "from pydantic import BaseModel\nclass P(BaseModel):\n    {}: int\ndef f(p: 'P'): return p\n"
        for field in ("x", "y"):
            assert (
                getattr(value(made_by_exec(source.format(field)), {"p": {field: "1"}}), field) == 1
            )


class TestNames:
    """mcp-02: a name that a provider would refuse later is refused now."""

    @pytest.mark.parametrize(
        "name",
        [
            *("bad name.é", "a b", "a.b", "a/b", "a:b", "é", "名", "", "x" * 65, "<lambda>", "a\n"),
            *("a\x00", "\ud800", "a;", "ａ"),
        ],
    )
    def test_are_checked_where_the_tool_is_made_and_where_it_is_renamed(self, name: str) -> None:
        with pytest.raises(DefinitionError, match=r"name"):
            Tool.from_function(lambda n: n, name=name)
        with pytest.raises(DefinitionError, match=r"name"):
            ToolRunner().register(ok, name=name)

    def test_a_lambda_needs_a_name(self) -> None:
        with pytest.raises(DefinitionError, match=r"give one: name="):
            Tool.from_function(lambda n: n)
        assert call(Tool.from_function(lambda n: n, name="same"), {"n": 1}).result == 1

    @pytest.mark.parametrize("name", ["a", "A-b_9", "x" * 64, "_", "-", "0"])
    def test_what_is_taken_reaches_every_provider_as_it_is(self, name: str) -> None:
        made = Tool.from_function(lambda n: n, name=name)
        assert declaration(made, "openai")["function"]["name"] == name
        for provider in ("anthropic", "gemini", "mcp"):
            assert declaration(made, provider)["name"] == name  # type: ignore[arg-type]


HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "{0.__class__}",
    "%s%n",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_came_from_outside_stays_text(text: str) -> None:
    """security-01: as far as the core goes: no format string, no markup of its own, no path."""

    def echo(a: str):
        raise ValueError(a)

    def take(n: int): ...

    assert call(echo, {"a": text}).error == f"ValueError: {text}"
    error = str(call(take, {"n": text}).error)
    assert text in error
    assert text.replace("/", "~1") in str(call(take, {text: 1}).error)
    [unknown] = batch([take], [(text, {})])
    assert repr(text) in str(unknown.error)
