"""Functions that block, that return awaitables, that raise what asyncio cannot carry."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from agtools_nb import Tool, ToolRunner, tool
from cases.calling import batch, call, run, value

where = contextvars.ContextVar("where", default="nowhere")


class TestBlockingTools:
    """async-01: they run at the same time, the loop goes on, and context variables are there."""

    @pytest.mark.parametrize("width", [4, 64, 200])
    def test_all_are_inside_at_once(self, width: int) -> None:
        """A barrier as wide as the batch would break if one had to wait for another."""
        barrier = threading.Barrier(width)

        def slow(n: int) -> int:
            barrier.wait(30)
            return n

        results = batch([slow], [("slow", {"n": n}) for n in range(width)])
        assert [result.result for result in results] == list(range(width))

    def test_coroutines_go_on_meanwhile(self) -> None:
        ticks, release = [0], threading.Event()

        def slow(n: int) -> bool:
            return release.wait(30)

        async def main() -> Any:
            work = asyncio.create_task(
                ToolRunner([slow]).process_tool_calls([("slow", {"n": n}) for n in range(4)])
            )
            while ticks[0] < 100:
                ticks[0] += 1
                await asyncio.sleep(0)
            release.set()
            return await work

        assert [result.result for result in run(main())] == [True] * 4

    def test_context_variables_are_seen_and_not_changed_outside(self) -> None:
        def read() -> str:
            found = where.get()
            where.set("changed by the tool")
            return found

        async def aread() -> str:
            return read()

        async def main() -> Any:
            where.set("the cell")
            results = await ToolRunner([read, aread]).process_tool_calls([("read",), ("aread",)])
            return [result.result for result in results], where.get()

        assert run(main()) == (["the cell", "the cell"], "the cell")


async def t(n: int, unit: str = "C") -> str:
    return f"{n}{unit}"


class Obj:
    async def __call__(self, n: int) -> int:
        return n

    async def method(self, n: int) -> int:
        return n

    @classmethod
    async def of_class(cls, n: int) -> int:
        return n

    @staticmethod
    async def static(n: int) -> int:
        return n


def wrap(n: int) -> Awaitable[str]:
    return t(n)


def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return inner


class Later:
    def __init__(self, n: int) -> None:
        self.n = n

    def __await__(self) -> Any:
        yield from asyncio.sleep(0).__await__()
        return self.n


def later(n: int) -> Later:
    return Later(n)


def on_a_future(n: int) -> Any:
    async def make() -> int:
        return n

    return make()


class TestKindsOfCallables:
    """async-02: whatever turns out to be awaitable is awaited, and has a name."""

    @pytest.mark.parametrize(
        ("function", "name", "right"),
        [
            (functools.partial(t, unit="F"), "t", "3F"),
            (functools.partial(functools.partial(t, unit="F")), "t", "3F"),
            (Obj(), "Obj", 3),
            (functools.partial(Obj()), "Obj", 3),
            (Obj().method, "method", 3),
            (functools.partial(Obj().method), "method", 3),
            (Obj.of_class, "of_class", 3),
            (Obj.static, "static", 3),
            (wrap, "wrap", "3C"),
            (decorated(t), "t", "3C"),
            (decorated(Obj().method), "method", 3),
            (later, "later", 3),
            (on_a_future, "on_a_future", 3),
        ],
        ids=lambda value: None if callable(value) else str(value),
    )
    def test_each(self, function: Any, name: str, right: Any) -> None:
        made = Tool.from_function(function)
        assert made.name == name
        assert "partial(" not in made.description
        assert list(made.input_schema["properties"])[0] == "n"
        assert value(made, {"n": "3"}) == right

    def test_a_coroutine_that_is_never_awaited_would_warn_and_so_fail(self) -> None:
        """Warnings are errors here, so an unawaited coroutine could not hide."""
        assert [r.result for r in batch([wrap], [("wrap", {"n": n}) for n in range(5)])] == [
            f"{n}C" for n in range(5)
        ]


class TestStopIteration:
    """async-03: what no future can hold is an error result at once."""

    @pytest.mark.parametrize(
        "error", [StopIteration(), StopIteration(7), StopAsyncIteration()], ids=repr
    )
    @pytest.mark.parametrize("is_async", [False, True])
    def test_raised(self, error: Exception, is_async: bool) -> None:
        def first_match(n: int):
            raise error

        async def afirst_match(n: int):
            raise error

        result = call(afirst_match if is_async else first_match, {"n": 1})
        assert result.status == "error"
        # Python itself makes another error of one that leaves a coroutine (PEP 479).
        assert type(error).__name__ in str(result.error)

    def test_by_next(self) -> None:
        def first_match(n: int):
            return next(iter([]))

        assert call(first_match, {"n": 1}).error == "StopIteration"

    def test_through_execute(self) -> None:
        @tool
        def first_match(n: int):
            return next(iter([]))

        with pytest.raises(Exception, match="StopIteration"):
            run(ToolRunner([first_match]).execute("first_match", n=1))

    def test_out_of_a_generator(self) -> None:
        def many(n: int):
            yield n
            raise StopIteration

        assert "StopIteration" in str(call(many, {"n": 1}).error)
