"""Defaults that stand in an annotation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import Field

from agtools_nb import Tool, ToolRunner


def called(fn: Callable[..., Any], **arguments: Any) -> Any:
    runner = ToolRunner([Tool(fn, name="f")])
    (result,) = asyncio.run(runner.process_tool_calls([("f", arguments)]))
    return result.unwrap()


def made(a: Annotated[list[int], Field(default_factory=lambda: [7])]) -> list[int]:
    return a


def plain(a: Annotated[int, Field(default=3, le=9)]) -> int:
    return a


def before(a: Annotated[int, Field(default=3)], b: int) -> tuple[int, int]:
    return a, b


def by_python(a: Annotated[int, Field(default=3)] = 4) -> int:
    return a


def described(a: Annotated[int, Field(default=3)] = Field(description="How many", le=9)) -> int:
    return a


@pytest.mark.parametrize(
    ("fn", "given", "found"),
    [
        (made, {}, [7]),
        (made, {"a": [1]}, [1]),
        (plain, {}, 3),
        (plain, {"a": 5}, 5),
        (before, {"b": 1}, (3, 1)),
        (by_python, {}, 4),
        (described, {}, 3),
    ],
)
def test_a_default_in_an_annotation_is_one(
    fn: Callable[..., Any], given: dict[str, Any], found: Any
) -> None:
    tool = Tool(fn)
    assert tool.input_schema.get("required", []) == (["b"] if fn is before else [])
    assert called(fn, **given) == found


def test_what_else_stands_there_holds() -> None:
    assert Tool(plain).input_schema["properties"]["a"] == {
        "type": "integer",
        "default": 3,
        "maximum": 9,
    }
    assert Tool(described).input_schema["properties"]["a"] == {
        "type": "integer",
        "description": "How many",
        "maximum": 9,
        "default": 3,
    }
    assert Tool(by_python).usage == "by_python(a?: integer = 4)"
    assert Tool(made).usage == "made(a?: array of integer)"
    for fn in (plain, described):
        (result,) = asyncio.run(
            ToolRunner([Tool(fn, name="f")]).process_tool_calls([("f", {"a": 10})])
        )
        assert result.status == "invalid"


def test_what_a_factory_makes_is_new_each_time() -> None:
    runner = ToolRunner([Tool(made)])

    async def main() -> list[Any]:
        return [one.result for one in await runner.process_tool_calls([("made", {})] * 2)]

    first, second = asyncio.run(main())
    assert first == second == [7]
    first.append(8)
    assert second == [7]
