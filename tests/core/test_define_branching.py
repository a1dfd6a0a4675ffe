"""Schemas that are short to write and would take for ever to check are refused."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from agtools_nb import DefinitionError, ToolRunner, ToolWithSchema
from agtools_nb.arguments import coerce, validate
from agtools_nb.define.branching import looks_too_often

LEVELS = 40


def doubling(kind: str) -> dict[str, Any]:
    """Forty definitions, each of which refers twice to the next."""
    defs: dict[str, Any] = {f"d{LEVELS}": {"type": "string"}}
    for number in range(LEVELS):
        twice = [{"$ref": f"#/$defs/d{number + 1}"}, {"$ref": f"#/$defs/d{number + 1}"}]
        first, second = twice
        defs[f"d{number}"] = {
            "anyOf": {"anyOf": twice},
            "allOf": {"allOf": twice},
            "oneOf": {"oneOf": twice},
            "if": {"if": first, "then": second},
            "not": {"not": first, "anyOf": [second]},
            "items": {"anyOf": [{"items": first}, {"items": second}]},
            "contains": {"items": first, "contains": second},
            "patterns": {"properties": {"a": first}, "patternProperties": {"a": second}},
            "objects": {"type": "object", "properties": {"a": first, "b": second}},
        }[kind]
    return {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": defs}


BOMBS = ["anyOf", "allOf", "oneOf", "if", "not", "items", "contains", "patterns"]


@pytest.mark.parametrize("kind", BOMBS)
def test_references_that_double_are_refused(kind: str) -> None:
    started = time.perf_counter()
    with pytest.raises(DefinitionError, match="would look at one value more than 100,000 times"):
        ToolWithSchema(lambda **given: given, doubling(kind), name="t", description="d")
    for use in (validate, coerce):
        with pytest.raises(DefinitionError, match="more than 100,000 times"):
            use({"x": 5}, doubling(kind))
    assert time.perf_counter() - started < 20


def test_references_to_parts_of_an_object_may_double() -> None:
    """Each is about another value: who sends a large one waits longer."""
    tool = ToolWithSchema(lambda **given: given, doubling("objects"), name="t", description="d")
    value: Any = 5
    for _ in range(LEVELS):
        value = {"a": value}
    calls = [("t", {"x": {"a": {"b": {}}}}), ("t", {"x": value})]
    fine, wrong = asyncio.run(ToolRunner([tool]).process_tool_calls(calls))
    assert fine.ok
    assert wrong.result == {"x": value} or wrong.status == "invalid" or wrong.coercions


def test_schemas_that_people_write_are_not_too_much() -> None:
    node: dict[str, Any] = {"$ref": "#/$defs/node"}
    kinds = [
        {"properties": {"kind": {"const": n}, "next": node, "all": {"items": node}}}
        for n in range(30)
    ]
    assert not looks_too_often({"$defs": {"node": {"oneOf": kinds}}, **node})
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(3):
        deep = {"anyOf": [{"properties": {"a": deep}} for _ in range(25)]}
    assert not looks_too_often(deep)
    assert looks_too_often({"anyOf": [{"properties": {"a": deep}} for _ in range(25)]})
