"""Coercion and validation take time linear in the input, whatever its shape.

Each shape is timed at a size and at sixteen times that size, in CPU seconds of this thread.
Linear work takes about 16 times as long, quadratic work 256 times; the bound lies between,
far from both. What is over it is measured again, and the best of several runs compared, so
that a busy machine fails nothing.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from agtools_nb import Tool, coerce, prepare, validate

GROWTH = 16
BOUND = 72.0
ENOUGH = 0.001
"""Seconds that the small size must take, so that what is measured is the work."""
TRIES = 6

DRAFT = "https://json-schema.org/draft/2020-12/schema"
INTEGER = {"type": "integer"}
UNION = {
    "anyOf": [{"type": "array", "items": INTEGER}, INTEGER, {"type": "boolean"}, {"type": "null"}]
}


def _object(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


def _kids(depth: int, leaf: Any) -> Any:
    for _ in range(depth):
        leaf = {"kids": [leaf]}
    return leaf


NODES = {
    "$ref": "#/$defs/a",
    "$defs": {
        name: _object(
            {
                "kids": {
                    "type": "array",
                    "items": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]},
                },
                name: INTEGER,
            },
            required=["kids"],
        )
        for name in "ab"
    },
}

# Name: (smallest size, schema of a size, value of a size).
Shape = tuple[int, Callable[[int], Any], Callable[[int], Any]]
SHAPES: dict[str, Shape] = {
    "integers": (500, lambda n: {"items": INTEGER}, lambda n: list(range(n))),
    "integers as text": (500, lambda n: {"items": INTEGER}, lambda n: [str(i) for i in range(n)]),
    "wrong items": (500, lambda n: {"items": INTEGER}, lambda n: ["x"] * n),
    "one wrong item at the end": (500, lambda n: {"items": INTEGER}, lambda n: [*range(n), "x"]),
    "objects in a list": (
        200,
        lambda n: {"items": _object({"a": INTEGER, "b": {"type": "string"}}, required=["a"])},
        lambda n: [{"a": "1", "b": 2} for _ in range(n)],
    ),
    "incomplete objects in a list": (
        200,
        lambda n: {"items": _object({"a": INTEGER}, required=["a", "b"])},
        lambda n: [{"c": 1} for _ in range(n)],
    ),
    "many keys": (
        300,
        lambda n: _object({f"k{i}": INTEGER for i in range(n)}),
        lambda n: {f"k{i}": "1" for i in range(n)},
    ),
    "many required keys, all missing": (
        300,
        lambda n: _object(
            {f"k{i}": INTEGER for i in range(n)}, required=[f"k{i}" for i in range(n)]
        ),
        lambda n: {},
    ),
    "unknown keys": (
        300,
        lambda n: _object({"a": INTEGER}, additionalProperties=False),
        lambda n: {f"k{i}": 1 for i in range(n)},
    ),
    "unknown keys beside known ones": (
        300,
        lambda n: _object({f"k{i}": INTEGER for i in range(n)}, additionalProperties=False),
        lambda n: {f"q{i}": 1 for i in range(n)},
    ),
    "keys by pattern": (
        300,
        lambda n: {
            "patternProperties": {"^k": INTEGER, "9$": {"minimum": 0}},
            "additionalProperties": False,
        },
        lambda n: {f"k{i}": "1" for i in range(n)},
    ),
    "keys that no pattern fits": (
        300,
        lambda n: {"patternProperties": {"^k": INTEGER}, "additionalProperties": False},
        lambda n: {f"q{i}": "1" for i in range(n)},
    ),
    "keys of a bad name": (
        300,
        lambda n: {"propertyNames": {"maxLength": 2}},
        lambda n: {f"k{i:05}": 1 for i in range(n)},
    ),
    "unions in a list": (
        300,
        lambda n: {"items": UNION},
        lambda n: ["1", "true", "null", "[1]"] * (n // 4),
    ),
    "no branch fits": (300, lambda n: {"items": UNION}, lambda n: ["x"] * n),
    "unions of lists": (
        300,
        lambda n: {"anyOf": [{"items": INTEGER}, {"items": {"type": "boolean"}}]},
        lambda n: ["1"] * n,
    ),
    "one of many branches": (
        60,
        lambda n: {
            "oneOf": [
                _object({"kind": {"const": f"k{i}"}, "v": INTEGER}, required=["kind"])
                for i in range(n)
            ]
        },
        lambda n: {"kind": f"k{n - 1}", "v": "1"},
    ),
    "none of many tags": (
        60,
        lambda n: {
            "anyOf": [
                _object({"kind": {"const": f"k{i}"}, "v": INTEGER}, required=["kind"])
                for i in range(n)
            ]
        },
        lambda n: {"kind": "none", "v": "1"},
    ),
    "all of many": (
        60,
        lambda n: {"allOf": [_object({f"k{i}": INTEGER}) for i in range(n)]},
        lambda n: {f"k{i}": "1" for i in range(n)},
    ),
    "choices": (
        500,
        lambda n: {"items": {"enum": ["a", "b", 3]}},
        lambda n: ["3", "a", "x"] * (n // 3),
    ),
    "many choices": (
        500,
        lambda n: {"enum": [f"c{i}" for i in range(n)]},
        lambda n: "none of them",
    ),
    "many choices for many items": (
        100,
        lambda n: {"items": {"enum": [f"c{i}" for i in range(50)]}},
        lambda n: [f"c{i % 60}" for i in range(n)],
    ),
    "long choices": (1, lambda n: {"enum": ["x" * 5_000 * n, 1]}, lambda n: "x" * 5_000 * n),
    "unlike items": (500, lambda n: {"uniqueItems": True}, lambda n: [{"a": i} for i in range(n)]),
    "like items": (
        500,
        lambda n: {"uniqueItems": True},
        lambda n: [1, *({"a": [i]} for i in range(n)), 1],
    ),
    "unlike lists": (
        500,
        lambda n: {"uniqueItems": True},
        lambda n: [[i, str(i)] for i in range(n)],
    ),
    "contains at the end": (
        500,
        lambda n: {"contains": {"const": "x"}},
        lambda n: [*range(n), "x"],
    ),
    "contains nothing": (500, lambda n: {"contains": {"const": "x"}}, lambda n: list(range(n))),
    "a long text": (50_000, lambda n: {"type": "string", "maxLength": 3}, lambda n: "x" * n),
    "a long text for an integer": (50_000, lambda n: INTEGER, lambda n: "9" * n),
    "a long text for a number": (
        50_000,
        lambda n: {"type": "number"},
        lambda n: "0." + "1" * n + "x",
    ),
    "a long text by a bad pattern": (
        2_000,
        lambda n: {"pattern": "^(a+)+$"},
        lambda n: "a" * n + "!",
    ),
    "a long text by a pattern for re": (
        2_000,
        lambda n: {"pattern": r"^(?=a)(a+)+$"},
        lambda n: "a" * n + "!",
    ),
    # Exponential work would not end at larger sizes; at these it takes a second.
    "a bad pattern of a named draft": (
        1,
        lambda n: {"$schema": DRAFT, "pattern": "^(a+)+$", "multipleOf": 0.5},
        lambda n: "a" * (8 + n) + "!",
    ),
    "a bad pattern of a named draft inside": (
        1,
        lambda n: {
            "properties": {"a": {"$schema": DRAFT, "pattern": "^(a+)+$"}},
            "dependencies": {"a": {"multipleOf": 0.5}},
        },
        lambda n: {"a": "a" * (8 + n) + "!"},
    ),
    "unlike items of a named draft": (
        500,
        lambda n: {"$schema": DRAFT, "uniqueItems": True, "multipleOf": 0.5},
        lambda n: [{"a": i} for i in range(n)],
    ),
    "json text": (
        500,
        lambda n: {"items": INTEGER, "type": "array"},
        lambda n: json.dumps(list(range(n))),
    ),
    "json text in a list": (
        200,
        lambda n: {"items": {"type": "array", "items": INTEGER}},
        lambda n: ['["1", 2]'] * n,
    ),
    "text that is not quite json": (500, lambda n: {"type": "array"}, lambda n: "[" + "1," * n),
    "open brackets": (20_000, lambda n: {"type": "array"}, lambda n: "[" * n),
    "many open brackets": (
        100,
        lambda n: {"items": {"type": "array"}},
        lambda n: ["[" * 1_000] * n,
    ),
    "depth within the bound": (7, lambda n: NODES, lambda n: _kids(n, {"kids": [], "a": "1"})),
    "depth of plain objects": (
        7,
        lambda n: _object({"kids": {"items": {"$ref": "#"}}, "a": INTEGER}),
        lambda n: _kids(n, {"a": "1"}),
    ),
    "depth beyond any bound": (
        200,
        lambda n: _object({"kids": {"items": {"$ref": "#"}}}),
        lambda n: _kids(n, {"kids": 5}),
    ),
    "a wide tree": (
        10,
        lambda n: NODES,
        lambda n: {"kids": [{"kids": [{"kids": [], "b": "1"}] * 5} for _ in range(n)]},
    ),
    "deep text in text": (2, lambda n: _object({"v": {"$ref": "#"}}), lambda n: _encoded(n)),
    "a chain of references": (
        30,
        lambda n: {
            "$ref": "#/$defs/d0",
            "$defs": {
                **{f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(n)},
                f"d{n}": INTEGER,
            },
        },
        lambda n: "1",
    ),
    "references for each item": (
        200,
        lambda n: {
            "items": {"$ref": "#/$defs/d"},
            "$defs": {"d": {"$ref": "#/$defs/e"}, "e": INTEGER},
        },
        lambda n: ["1"] * n,
    ),
    "conditions for each item": (
        200,
        lambda n: {
            "items": {
                "if": {"required": ["a"]},
                "then": _object({"a": INTEGER}),
                "else": _object({"b": INTEGER}),
            }
        },
        lambda n: [{"a": "1"}, {"b": "1"}] * (n // 2),
    ),
    "dependent keys": (
        300,
        lambda n: {"dependentRequired": {f"k{i}": [f"k{i + 1}"] for i in range(n)}},
        lambda n: {f"k{i}": 1 for i in range(n)},
    ),
    "a list of pairs": (
        200,
        lambda n: {"items": {"prefixItems": [INTEGER, {"type": "boolean"}], "items": False}},
        lambda n: [["1", "true"], ["1", "x", 3]] * (n // 2),
    ),
    "escapes in the key": (
        3_000,
        lambda n: {"additionalProperties": INTEGER},
        lambda n: {"~/" * n: "1"},
    ),
    "long keys": (
        20,
        lambda n: {"additionalProperties": False},
        lambda n: {f"{i}" + "k" * 2_000: 1 for i in range(n)},
    ),
}


def _encoded(levels: int) -> Any:
    text: Any = {"v": {}}
    for _ in range(min(levels, 12)):
        text = {"v": json.dumps(text)}
    return text


def _seconds(work: Callable[[], Any], tries: int) -> float:
    best = float("inf")
    for _ in range(tries):
        gc.collect(0)
        gc.disable()
        try:
            start = time.thread_time()
            work()
            best = min(best, time.thread_time() - start)
        finally:
            gc.enable()
    return best


def _ratio(at: Callable[[int], Callable[[], Any]], size: int) -> tuple[float, str]:
    small, large = at(size), at(size * GROWTH)
    one, other = _seconds(small, 2), _seconds(large, 1)
    if other > BOUND * one:
        one, other = min(one, _seconds(small, TRIES)), min(other, _seconds(large, TRIES))
    # A fixed cost of less than 0.1 ms would only make the ratio smaller.
    ratio = other / max(one, 1e-4)
    return ratio, f"{size}: {one * 1e3:.2f} ms, {size * GROWTH}: {other * 1e3:.2f} ms"


def growth(at: Callable[[int], Callable[[], Any]], size: int) -> tuple[float, str]:
    """How many times longer the work takes at sixteen times the size."""
    while size < 3_000_000 and _seconds(at(size), 1) < ENOUGH:
        size *= 4
    return _ratio(at, size)


BOUNDED = (
    "depth within the bound",
    "depth of plain objects",
    "deep text in text",
    "depth beyond any bound",
    "a bad pattern of a named draft",
    "a bad pattern of a named draft inside",
)
"""Shapes that cannot be made larger at will: depth is bounded, and text in text doubles."""


def _sizes(shape: str, act: Callable[[Any, Any], Any]) -> tuple[float, str]:
    size, schema_of, value_of = SHAPES[shape]

    def at(n: int) -> Callable[[], Any]:
        schema, value = schema_of(n), value_of(n)
        return lambda: act(value, schema)

    return _ratio(at, size) if shape in BOUNDED else growth(at, size)


@pytest.mark.parametrize("shape", SHAPES)
def test_coercion(shape: str) -> None:
    """``coerce`` over one shape."""
    ratio, told = _sizes(shape, coerce)
    assert ratio < BOUND, f"{shape}: x{ratio:.1f} ({told})"


@pytest.mark.parametrize("shape", SHAPES)
def test_validation(shape: str) -> None:
    """``validate`` over one shape."""
    ratio, told = _sizes(shape, validate)
    assert ratio < BOUND, f"{shape}: x{ratio:.1f} ({told})"


def test_the_measure_tells_linear_from_quadratic_work() -> None:
    """A measure that calls everything linear would prove nothing."""
    assert growth(lambda n: lambda: [sum(range(200)) for _ in range(n)], 100)[0] < BOUND
    assert growth(lambda n: lambda: [sum(range(n)) for _ in range(n)], 100)[0] > BOUND


class Item(BaseModel):
    """A line of an order."""

    n: int
    s: str = ""


def order(
    items: list[Item],
    tags: dict[str, int],
    e: list[Item | int] = [],  # noqa: B006
    s: Annotated[str, Field(pattern="^a*$")] = "",
): ...


ARGUMENTS: dict[str, Callable[[int], Any]] = {
    "right": lambda n: {"items": [{"n": 1, "s": "a"}] * n, "tags": {f"k{i}": i for i in range(n)}},
    "to be coerced": lambda n: {
        "items": [{"n": "1", "s": 2}] * n,
        "tags": {f"k{i}": str(i) for i in range(n)},
    },
    "wrong": lambda n: {
        "items": [{"n": "x"}] * n,
        "tags": {f"k{i}": "x" for i in range(n)},
        "e": ["x"] * n,
    },
    "wrong unions": lambda n: {"items": [], "tags": {}, "e": [{"n": "x"}, "y", None] * n},
    "unknown": lambda n: {"items": [], "tags": {}, **{f"k{i}": 1 for i in range(n)}},
    "text": lambda n: json.dumps({"items": [{"n": "1"}] * n, "tags": {}}),
    "malformed text": lambda n: json.dumps({"items": [{"n": "1"}] * n, "tags": {}})[:-1],
    "twice encoded": lambda n: json.dumps(json.dumps({"items": [{"n": 1}] * n, "tags": {}})),
    "a container as text": lambda n: {"items": json.dumps([{"n": "1"}] * n), "tags": "{}"},
    "long text": lambda n: {"items": [], "tags": {}, "s": "a" * (100 * n) + "b"},
}


@pytest.mark.parametrize("kind", ARGUMENTS)
def test_the_way_of_a_tools_arguments(kind: str) -> None:
    """``prepare``: parsed, coerced, checked, made into Python values, told of in words."""
    made = Tool.from_function(order)

    def at(n: int) -> Callable[[], Any]:
        arguments = ARGUMENTS[kind](n)
        return lambda: prepare(made, arguments)

    ratio, told = growth(at, 100)
    assert ratio < BOUND, f"{kind}: x{ratio:.1f} ({told})"
