"""What rules and conversations add to the calls that they are about."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agtools_nb import ModelRequest, ScriptedModel, Session, ToolCall, ToolRunner, allow, deny, tool
from agtools_nb.agent import UserMessage
from benchmarks.table import Row, awaited

CALLS = 100
EACH = 5


@tool
async def nothing(n: int) -> int:
    """Do nothing."""
    return n


def batch_of(runner: ToolRunner) -> Callable[[], Awaitable[Any]]:
    calls = [ToolCall("nothing", {"n": n}) for n in range(CALLS)]
    return lambda: runner.process_tool_calls(calls)


def talk(calls: int) -> Callable[[], Awaitable[Any]]:
    """Say something to which a model answers with calls, and then with text."""
    asked = [("nothing", {"n": n}) for n in range(calls)]

    def answer(request: ModelRequest) -> Any:
        return asked if isinstance(request.messages[-1], UserMessage) else "Done."

    async def turn() -> None:
        reply = await Session(ScriptedModel(answer), ToolRunner([nothing])).chat("Go")
        assert len(reply.results) == calls

    return turn


def rows(rounds: int) -> list[Row]:
    """All comparisons; ``rounds`` is how often each is taken."""
    bare = ToolRunner([nothing])
    rules = [deny("nothing", when=lambda arguments: arguments["n"] < 0), allow("nothing")]
    ruled = ToolRunner([nothing], policies=rules)
    with_rules, without, many, one = awaited(
        [batch_of(ruled), batch_of(bare), talk(CALLS), talk(1)], rounds, EACH
    )
    return [
        Row("a batch of 100 no-ops under two rules", "without rules", with_rules, without),
        Row("a turn with 100 calls, its session made", "the calls as a batch", many, without),
        Row("a turn with 1 call, its session made", "100 calls as a batch", one, without),
    ]
