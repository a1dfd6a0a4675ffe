"""Tools with a schema of the author's own: copied, put right, checked against the function."""

from __future__ import annotations

import asyncio
import copy
import enum
import functools
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from agtools_nb import DefinitionError, Tool, ToolContext, ToolRunner, declaration
from agtools_nb.define import PROVIDERS, StatefulTool, ToolWithSchema

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer", "minimum": 1}, "b": {"type": "string"}},
    "required": ["a"],
}


def take(a, b="x"):
    """Take two.

    Args:
        a: of the docstring
    """
    return [a, b]


def call(tool: Tool, **arguments: Any) -> Any:
    return asyncio.run(ToolRunner([tool]).execute(tool.name, **arguments))


def with_property(schema: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}, **more}


def test_the_schema_is_the_one_given_and_nobody_can_change_it_later() -> None:
    given = copy.deepcopy(SCHEMA)
    made = ToolWithSchema(take, given)
    given["properties"]["a"]["minimum"] = 99
    assert made.input_schema == SCHEMA
    assert made.adapter is None
    assert (made.name, made.description) == ("take", "Take two.")
    assert made.usage == "take(a: integer, b?: string)"
    assert [p.bounds_text for p in made.parameters] == ["at least 1", ""]


def test_calls_are_coerced_checked_and_reach_the_function_as_json_values() -> None:
    made = ToolWithSchema(take, SCHEMA)
    assert call(made, a="3") == [3, "x"]
    assert made("anything") == ["anything", "x"], "a plain call is unchecked"
    results = asyncio.run(ToolRunner([made]).process_tool_calls([("take", {"a": 0}), ("take", {})]))
    assert [result.status for result in results] == ["invalid", "invalid"]


def test_what_the_schema_says_describes_a_function_without_a_docstring() -> None:
    made = ToolWithSchema(lambda a: a, {**with_property({}), "description": "Own."}, name="f")
    assert made.description == "Own."
    assert ToolWithSchema(take, {**SCHEMA, "description": "Own."}).description == "Take two."


def test_it_looks_like_what_it_wraps() -> None:
    made = ToolWithSchema(take, SCHEMA)
    assert (made.__name__, made.__doc__, made.__wrapped__) == ("take", take.__doc__, take)
    assert "take(a: integer, b?: string)" in repr(made)
    assert "function take" in repr(made)


def test_the_outer_schema_wins_and_the_inner_options_stay() -> None:
    inner = ToolWithSchema(take, SCHEMA, name="inner", read_only=True, timeout=3)
    outer_schema = with_property({"type": "string"})
    outer = ToolWithSchema(inner, outer_schema)
    assert outer.input_schema == outer_schema
    assert (outer.name, outer.read_only, outer.timeout) == ("inner", True, 3.0)
    assert (outer.__name__, outer.__doc__, outer.__wrapped__) == ("take", take.__doc__, inner)
    assert repr(inner) in repr(outer)
    assert call(outer, a="3") == ["3", "x"]
    assert ToolWithSchema(inner, outer_schema, name="own", read_only=False).read_only is False


def test_a_plain_tool_around_it_would_lose_the_schema() -> None:
    with pytest.raises(DefinitionError, match="take has a schema of its own"):
        Tool.from_function(ToolWithSchema(take, SCHEMA))


class Worker:
    """A callable object."""

    async def __call__(self, a: int, *, ctx: ToolContext) -> Any:
        return [a, type(ctx).__name__]

    def method(self, a: int, /) -> int:
        return a


@pytest.mark.parametrize(
    ("fn", "name", "value"),
    [
        (Worker(), "Worker", [1, "ToolContext"]),
        (Worker().method, "method", 1),
        (functools.partial(take, b="fixed"), "take", [1, "fixed"]),
        (Tool.from_function(take), "take", [1, "x"]),
    ],
)
def test_every_kind_of_callable(fn: Any, name: str, value: Any) -> None:
    made = ToolWithSchema(fn, with_property({"type": "integer"}))
    runner = ToolRunner([made], context=ToolContext())
    assert made.name == name
    assert asyncio.run(runner.execute(name, a=1)) == value


def test_stateful_tools_keep_their_turn() -> None:
    inner = StatefulTool(lambda state, a: state, [1], name="f")
    outer = ToolWithSchema(inner, with_property({}))
    assert outer.turn is inner.turn is not None
    assert call(outer, a=1) == [1]
    assert ToolWithSchema(inner, with_property({}), concurrency_safe=True).turn is None


def test_what_providers_write_is_put_right() -> None:
    made = ToolWithSchema(
        take, {"type": "OBJECT", "properties": {"a": {"any_of": [{"type": "INTEGER"}]}}}
    )
    assert made.input_schema == with_property({"anyOf": [{"type": "integer"}]})
    for provider in PROVIDERS:
        assert declaration(made, provider)


def test_a_recursive_models_schema_gets_an_object_root() -> None:
    class Tree(BaseModel):
        a: int
        children: list[Tree] = []

    def grow(a, children=()):
        return children

    made = ToolWithSchema(grow, Tree.model_json_schema())
    assert made.input_schema["type"] == "object"
    assert call(made, a=1, children=[{"a": "2"}]) == [{"a": 2}]


@pytest.mark.parametrize(
    "schema",
    [
        with_property({"$ref": "#/$defs/x"}, **{"$defs": {"x": {"type": "integer"}}}),
        with_property({"$ref": "#/definitions/x%20y"}, definitions={"x y": {}}),
        with_property({"$ref": "#here"}, **{"$defs": {"x": {"$anchor": "here"}}}),
        with_property({"$ref": "s#/$defs/x"}, **{"$id": "http://h/s", "$defs": {"x": True}}),
        with_property({"$ref": "item"}, **{"$defs": {"x": {"$id": "item"}}}),
        with_property({"items": [{}, {}], "additionalItems": False}),
        with_property({"dependencies": {"p": ["q"], "r": {"required": ["s"]}}}),
        with_property({"pattern": "(?=look)ahead"}),
        {"allOf": [{"properties": {"a": {}}}]},
        {"$ref": "#/$defs/r", "$defs": {"r": {"type": "object", "properties": {"a": {}}}}},
        {"type": ["object", "null"], "properties": {"a": True, "no_such": False}},
    ],
)
def test_sound_schemas_are_taken(schema: dict[str, Any]) -> None:
    assert ToolWithSchema(take, schema).input_schema["type"] == "object"


class Kind(str, enum.Enum):  # noqa: UP042 -- its str() is not its value
    TEXT = "string"


def test_enum_members_are_their_text() -> None:
    made = ToolWithSchema(take, with_property({"type": Kind.TEXT}))
    assert type(made.input_schema["properties"]["a"]["type"]) is str


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (None, "must be a dict"),
        ("{}", r"json\.loads"),
        (BaseModel, r"model_json_schema\(\)"),
        ({"type": "array"}, r"at /type: 'array' must be 'object'"),
        ({"type": "object", "properties": []}, r"at /properties: \[\] must be a dict of schemas"),
        (with_property(5), r"at /properties/a: 5 must be a schema"),
        (with_property({"type": "strin"}), r"at /properties/a/type: 'strin' must be a JSON type"),
        (with_property({}, required="a"), r"at /required: 'a' must be a list of property names"),
        (with_property({"pattern": "("}), r"at /properties/a/pattern: '\(' must be a regular"),
        (with_property({"patternProperties": {"[": {}}}), r"a/patternProperties: '\[' must be a"),
        (with_property({"$ref": "#/$defs/b"}), r"/properties/a/\$ref: '#/\$defs/b' leads nowhere"),
        (with_property({"$ref": "other.json"}), r"another document.*nothing is fetched"),
        (with_property({"$ref": "#/type"}), "no schema"),
        (with_property({"$ref": "#/properties/a"}), "leads back to itself"),
        (with_property({"anyOf": []}), "not empty"),
        (with_property({"minLength": -1}), r"/minLength: -1 must be a whole number"),
        (with_property({"minimum": "1"}), r"/minimum: '1' must be a number"),
        (with_property({"uniqueItems": 1}), r"/uniqueItems: 1 must be true or false"),
        (with_property({"default": object()}), r"at /properties/a/default: .* must be JSON"),
        (with_property({"maximum": float("inf")}), r"/maximum: inf must be JSON"),
        (with_property({"x/y~": {1: 2}}), r"at /properties/a/x~1y~0: 1 must be a key that is text"),
    ],
)  # fmt: skip
def test_a_broken_schema_names_the_place_and_the_remedy(schema: Any, message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        ToolWithSchema(take, schema)


def test_every_schema_of_a_real_corpus_is_taken_as_it_is() -> None:
    path = Path(__file__).parent.parent / "data" / "corpus" / "tools.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        schemas = [json.loads(line)["schema"] for line in lines]
    assert len(schemas) > 900
    for schema in schemas:
        made = ToolWithSchema(dict, schema, name="any")
        assert made.input_schema == schema
        assert made.usage.startswith("any(")


def test_a_schema_that_holds_itself() -> None:
    schema: dict[str, Any] = {"type": "object"}
    schema["properties"] = {"a": schema}
    with pytest.raises(DefinitionError, match=r"holds itself.*\$defs"):
        ToolWithSchema(take, schema)


@pytest.mark.parametrize(
    ("fn", "schema", "message"),
    [
        (
            take,
            with_property({}, allOf=[{"properties": {"z": {}}}]),
            r"'z' \(at /allOf/0/prop.*a, b",
        ),
        (take, {"type": "object", "properties": {"b": {}}}, r"parameter 'a' has no default"),
        (functools.partial(take, b=1), SCHEMA, r"property 'b'"),
        (Worker(), with_property({}, allOf=[{"properties": {"ctx": {}}}]), "'ctx'.*runner"),
    ],
)
def test_the_schema_and_the_function_must_agree(fn: Any, schema: Any, message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        ToolWithSchema(fn, schema)


def test_a_function_that_takes_anything_takes_any_schema() -> None:
    def anything(*args, **kwargs):
        return kwargs

    assert call(ToolWithSchema(anything, SCHEMA), a=1) == {"a": 1}
    assert ToolWithSchema(dict, SCHEMA, name="built_in").input_schema == SCHEMA


def test_annotations_do_not_matter() -> None:
    def odd(a: no.such.type): ...  # noqa: F821

    assert ToolWithSchema(odd, with_property({})).usage == "odd(a?: any)"
