"""How long a call takes from its arguments to its result, beside what it is made of."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Any

from jsonschema import Draft202012Validator
from pydantic import BaseModel, validate_call

from agtools_nb import ToolCall, ToolRunner, ToolWithSchema
from benchmarks.table import Row, awaited


class Item(BaseModel):
    sku: str
    count: int
    price: float = 0.0


class Order(BaseModel):
    customer: str
    items: list[Item]
    note: str | None = None


async def forecast(city: str, days: int, celsius: bool = True) -> str:
    return city


async def place(order: Order) -> str:
    return order.customer


async def nothing() -> None:
    return None


def nap() -> None:
    time.sleep(0.05)


RIGHT = {"city": "Oslo", "days": 3, "celsius": True}
TEXT = {"city": "Oslo", "days": "3", "celsius": "true"}
ORDER = {"order": {"customer": "Ada", "items": [{"sku": s, "count": 1} for s in "abc"]}}
# The schema of `forecast`, as it is written by hand.
SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 1},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "celsius": {"type": "boolean"},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}


def rows(rounds: int) -> list[Row]:
    """All comparisons of running; ``rounds`` is how often each is taken."""
    return [*_calls(rounds), _explicit(rounds), _batch(rounds), _blocking(max(rounds // 10, 1))]


def antigravity_rows(rounds: int) -> list[Row]:
    """The same work by google-antigravity's ``ToolRunner``, where it can do it.

    Raises:
        ImportError: It is not installed; it comes with the extra ``bench``.
    """
    from google.antigravity import types
    from google.antigravity.tools.tool_runner import ToolRunner as Theirs

    ours, theirs = (
        ToolRunner([forecast, place, nothing, nap]),
        Theirs([forecast, place, nothing, nap]),
    )
    name, found = "google-antigravity ToolRunner", []
    for work, tool, arguments in (
        ("execute, arguments right", "forecast", RIGHT),
        ("execute, two arguments coerced", "forecast", TEXT),
        ("execute, nested model and list of 3", "place", ORDER),
    ):
        a, b = awaited(
            [partial(ours.execute, tool, **arguments), partial(theirs.execute, tool, **arguments)],
            rounds,
            200,
        )
        found.append(Row(work, name, a, b, 5, at_least=True))
    calls = [ToolCall("nothing", {}, f"c{n}") for n in range(1_000)]
    same = [types.ToolCall(name="nothing", args={}, id=f"c{n}") for n in range(1_000)]
    a, b = awaited(
        [lambda: ours.process_tool_calls(calls), lambda: theirs.process_tool_calls(same)], rounds
    )
    found.append(Row("process_tool_calls, 1,000 async no-ops", name, a, b, 5, at_least=True))
    calls = [ToolCall("nap", {}, f"c{n}") for n in range(64)]
    same = [types.ToolCall(name="nap", args={}, id=f"c{n}") for n in range(64)]
    a, b = awaited(
        [lambda: ours.process_tool_calls(calls), lambda: theirs.process_tool_calls(same)], 3
    )
    found.append(Row("64 blocking calls of 50 ms", name, a, b, 5, at_least=True))
    return found


def _calls(rounds: int) -> list[Row]:
    runner = ToolRunner([forecast, place])
    bare, nested = validate_call(forecast), validate_call(place)
    found = []
    for work, tool, function, arguments, reach in (
        ("execute, arguments right", "forecast", bare, RIGHT, 1.5),
        ("execute, two arguments coerced", "forecast", bare, TEXT, 3),
        ("execute, nested model and list of 3", "place", nested, ORDER, 2),
    ):
        ours, theirs = awaited(
            [partial(runner.execute, tool, **arguments), partial(function, **arguments)],
            rounds,
            500,
        )
        found.append(Row(work, "pydantic.validate_call", ours, theirs, reach))
    return found


def _explicit(rounds: int) -> Row:
    runner = ToolRunner([ToolWithSchema(forecast, SCHEMA)])
    validator = Draft202012Validator(SCHEMA)

    async def judge() -> bool:
        return validator.is_valid(RIGHT)

    ours, theirs = awaited([lambda: runner.execute("forecast", **RIGHT), judge], rounds, 200)
    return Row("execute, explicit schema", "jsonschema Validator.is_valid", ours, theirs, 1.3)


def _batch(rounds: int) -> Row:
    runner = ToolRunner([nothing])
    calls = [ToolCall("nothing", {}, f"c{n}") for n in range(1_000)]
    ours, theirs = awaited(
        [
            lambda: runner.process_tool_calls(calls),
            lambda: asyncio.gather(*[nothing() for _ in range(1_000)]),
        ],
        rounds,
    )
    return Row("process_tool_calls, 1,000 async no-ops", "asyncio.gather", ours, theirs, 2)


def _blocking(rounds: int) -> Row:
    runner = ToolRunner([nap])
    many: Any = [ToolCall("nap", {}, f"c{n}") for n in range(64)]
    ours, theirs = awaited(
        [lambda: runner.process_tool_calls(many), lambda: runner.process_tool_calls(many[:1])],
        max(rounds, 3),
    )
    return Row("64 blocking calls of 50 ms in one batch", "one of them", ours, theirs, 1.5)
