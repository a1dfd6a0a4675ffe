"""Ways to get a call past the rules that were tried, and none of which does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from access import attempts_arguments, attempts_hooks, attempts_names, attempts_people
from access.world import Attempt, World

ATTEMPTS: list[Attempt] = [
    *attempts_names.attempts,
    *attempts_arguments.attempts,
    *attempts_people.attempts,
    *attempts_hooks.attempts,
]

# Rules that name nobody are warned of; here they are meant.
pytestmark = [
    pytest.mark.filterwarnings("ignore:the rule .* names no tool:UserWarning"),
    pytest.mark.filterwarnings("ignore:the rule .* lets no tool run:UserWarning"),
]


def tried(attempt: Attempt, *, is_open: bool = False) -> World:
    world = World(is_open)
    asyncio.run(asyncio.wait_for(attempt.run(world), 30))
    return world


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.name)
def test_does_not_get_through(attempt: Attempt) -> None:
    assert tried(attempt).ran == []


@pytest.mark.parametrize(
    "attempt",
    [attempt for attempt in ATTEMPTS if attempt.gets_through_without_rules],
    ids=lambda attempt: attempt.name,
)
def test_gets_through_where_there_are_no_rules(attempt: Attempt) -> None:
    """Or nothing would be shown by its not getting through."""
    assert tried(attempt, is_open=True).ran != []


def test_how_many(figure: Callable[[str, float], None]) -> None:
    through = [attempt.name for attempt in ATTEMPTS if tried(attempt).ran]
    figure("policy bypasses tried", len(ATTEMPTS))
    figure("policy bypasses that got through", len(through))
    assert len({attempt.name for attempt in ATTEMPTS}) >= 60
    assert through == []
