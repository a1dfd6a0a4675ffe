"""Tools whose function runs on after the call has its answer, as they are defined."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agtools_nb import DefinitionError, StatefulTool, Tool, declaration, tool


def build(name: str) -> str:
    """Build it."""
    return name


def test_an_async_generator_is_a_subscription() -> None:
    @tool
    async def ticks(every: float) -> AsyncIterator[int]:
        yield 1

    assert ticks.is_subscription
    assert ticks.outlives_call
    assert ticks.response_schema == {"type": "integer"}
    assert "outputSchema" not in declaration(ticks, "mcp")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mode": "later"}, "mode='later' must be one of 'inline', 'dispatched'"),
        ({"mode": "dispatched", "long_running": True}, "a tool can be one of them"),
        ({"status_tool": "how"}, "status_tool= is for tools with long_running=True"),
        ({"long_running": True, "status_tool": "a b"}, "cannot be a tool's name"),
        ({"associative": True}, "associative= is for subscriptions"),
    ],
)
def test_ways_of_answering_that_exclude_each_other(options: Any, words: str) -> None:
    with pytest.raises(DefinitionError, match=re.escape(words)):
        Tool(build, **options)


def test_a_state_that_takes_turns_cannot_be_kept_by_a_subscription() -> None:
    async def ticks(state: list[int]) -> AsyncIterator[int]:
        yield 1

    with pytest.raises(DefinitionError, match="concurrency_safe=True"):
        StatefulTool(ticks, [])
    assert StatefulTool(ticks, [], concurrency_safe=True).is_subscription
