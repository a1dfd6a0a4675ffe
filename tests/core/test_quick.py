"""The short way through a call gives what the long way gives."""

from __future__ import annotations

import asyncio
import sys
import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb import Media, ToolCall, ToolError, ToolResult, ToolRunner, tool
from agtools_nb.run.quick import short_way


@tool
async def act(kind: str, number: int, ratio: float = 1.0) -> Any:
    """Do what the kind says."""
    await asyncio.sleep(0 if number % 2 else 0.0001)
    return acts()[kind](number)


@tool
async def act_at_once(kind: str, number: int) -> Any:
    """Do what the kind says, without waiting."""
    return acts()[kind](number)


def fail(error: BaseException) -> Any:
    raise error


def acts() -> dict[str, Any]:
    return {
        "return": lambda n: n,
        "print": lambda n: (print("out", n), print("err", file=sys.stderr))[0],
        "warn": lambda n: warnings.warn(f"careful {n}", stacklevel=1),
        "nest": lambda n: {"numbers": [n, n]},
        "media": lambda n: ["drawn", Media("image/png", b"png")],
        "generate": lambda n: (i for i in range(3)),
        "raise": lambda n: fail(ValueError(f"no {n}")),
        "tell": lambda n: fail(ToolError("bad", "Not this.", hint="Another.")),
        "exit": lambda n: fail(SystemExit(n)),
        "cancel": lambda n: fail(asyncio.CancelledError()),
        "stop": lambda n: fail(StopAsyncIteration()),
    }


class Onlooker:
    """One who looks on makes calls take the long way."""

    def call_started(self, index: int, call: ToolCall, prepared: Any) -> None:
        """Look on."""

    def call_finished(self, index: int, result: ToolResult) -> None:
        """Look on."""


def told(result: ToolResult) -> dict[str, Any]:
    """All of a result but its times."""
    left_out = ("started_at", "duration", "exception")
    found = {name: getattr(result, name) for name in result.__slots__ if name not in left_out}
    return {**found, "cause": repr(getattr(result.exception, "__cause__", None))}


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["act", "act_at_once", "nobody"]),
        st.fixed_dictionaries(
            {"kind": st.sampled_from([*acts(), "no such"]), "number": st.sampled_from([1, 2, "3"])},
            optional={"extra": st.none(), "ratio": st.sampled_from([0.5, "0.5", "x"])},
        ),
    ),
    max_size=8,
)


@given(CALLS)
def test_law_both_ways_tell_the_same(calls: list[Any]) -> None:
    runner = ToolRunner([act, act_at_once])
    given = [ToolCall(name, args, f"c{n}") for n, (name, args) in enumerate(calls)]

    async def both() -> tuple[list[ToolResult], list[ToolResult]]:
        return await runner.batch(given).run(), await runner.batch(
            given, observers=[Onlooker()]
        ).run()

    quick, long = asyncio.run(both())
    assert [told(one) for one in quick] == [told(one) for one in long]


def test_which_tools_take_the_short_way() -> None:
    assert short_way(act_at_once) is not None
    assert short_way(act) is None, "defaults are filled in on the long way"

    def blocking() -> None:
        """Block."""

    for one in (
        tool(blocking),
        tool(timeout=1)(act_at_once.fn),
        tool(scopes=["x"])(act_at_once.fn),
    ):
        assert short_way(one) is None


@pytest.mark.parametrize("look_on", [False, True])
def test_a_stopped_call_keeps_its_arguments(look_on: bool) -> None:
    @tool
    async def wait(number: int) -> None:
        """Wait."""
        print("waiting")
        await asyncio.Event().wait()

    async def main() -> ToolResult:
        observers = [Onlooker()] if look_on else []
        batch = ToolRunner([wait]).batch([("wait", {"number": 1})], observers=observers)
        running = asyncio.create_task(batch.run())
        await asyncio.sleep(0.01)
        batch.stop()
        return (await running)[0]

    result = asyncio.run(main())
    assert (result.status, result.arguments, result.stdout) == (
        "cancelled", {"number": 1}, "waiting\n",
    )  # fmt: skip
    assert result.duration > 0
