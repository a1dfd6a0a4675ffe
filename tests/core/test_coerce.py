"""Coercion: one reading or none, everything recorded, nothing lost."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings

from agtools_nb import coerce, validate
from agtools_nb.arguments.conform import Document
from agtools_nb.arguments.conversions import same
from core.schemas import JSON, SCHEMAS


def one(value: Any, schema: Any) -> Any:
    return coerce({"v": value}, {"type": "object", "properties": {"v": schema}}).value["v"]


INTEGER, NUMBER, BOOLEAN = {"type": "integer"}, {"type": "number"}, {"type": "boolean"}
STRING, ARRAY, OBJECT = {"type": "string"}, {"type": "array"}, {"type": "object"}


@pytest.mark.parametrize(
    ("value", "schema", "right"),
    [
        ("3", INTEGER, 3),
        ("-0", INTEGER, 0),
        (3.0, INTEGER, 3),
        ("9007199254740993", INTEGER, 9007199254740993),
        ("0.5", NUMBER, 0.5),
        ("5", NUMBER, 5),
        ("1e3", NUMBER, 1000.0),
        ("true", BOOLEAN, True),
        ("FALSE", BOOLEAN, False),
        (3, STRING, "3"),
        (0.5, STRING, "0.5"),
        (True, STRING, "true"),
        ("null", {"type": "null"}, None),
        ("[1, 2]", ARRAY, [1, 2]),
        ('{"a": 1}', OBJECT, {"a": 1}),
        ('["1"]', {"type": "array", "items": INTEGER}, [1]),
        ("2", {"enum": [1, 2, 3]}, 2),
        (2, {"enum": ["1", "2"]}, "2"),
        ("7", {"const": 7}, 7),
        ("null", {"type": ["integer", "null"]}, None),
        ("false", {"type": ["boolean", "null"]}, False),
        ("false", {"anyOf": [BOOLEAN, {"type": "null"}]}, False),
        ("false", {"oneOf": [BOOLEAN, {"type": "null"}]}, False),
        (3.0, {"type": ["integer", "string"]}, 3),
    ],
)
def test_the_one_reading_is_taken(value: Any, schema: Any, right: Any) -> None:
    found = one(value, schema)
    assert same(found, right), found


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        *[
            (text, INTEGER)
            for text in (
                "not a number",
                "1.5",
                "3.0",
                "",
                " ",
                " 3 ",
                "+3",
                "007",
                "0x10",
                "1_000",
                "٣",
                "1e3",
            )
        ],
        ("9" * 30, INTEGER),
        ("9" * 5000, INTEGER),
        (1e300, INTEGER),
        (0.5, INTEGER),
        (True, INTEGER),
        *[
            (text, NUMBER)
            for text in ("NaN", "Infinity", "-inf", ".5", "5.", "1e999", "9" * 5000, "½")
        ],
        *[(value, BOOLEAN) for value in ("yes", "off", "1", "maybe", 1, 0, "", "ｔｒｕｅ")],
        (None, STRING),
        ([1], STRING),
        ({"a": 1}, STRING),
        ("None", {"type": ["integer", "null"]}),
        ("[1", ARRAY),
        ("1", ARRAY),
        ('{"a": 1}', ARRAY),
        ("[NaN]", ARRAY),
        ("[" * 100_000, ARRAY),
        # Already valid for the schema, or for one branch of it.
        *[(text, STRING) for text in ("12345", "true", "null", "[1]", '{"a": 1}')],
        ('{"blocks": []}', {"anyOf": [STRING, {"type": "null"}]}),
        ("null", {"type": ["string", "null"]}),
        ("2026-01-15", {"type": ["string", "null"]}),
        ("007", {"anyOf": [INTEGER, STRING]}),
        ("42", {"anyOf": [STRING, INTEGER]}),
        # Two branches would read it differently.
        ("x", {"enum": [1, 2]}),
        ("3", {"enum": [1, 2]}),
        (float("nan"), STRING),
        (float("inf"), INTEGER),
    ],
    ids=lambda item: repr(item)[:40],
)
def test_everything_else_is_left_alone(value: Any, schema: Any) -> None:
    found = one(value, schema)
    assert found is value


def test_branches_that_disagree_leave_the_value() -> None:
    tags = [{"type": "array", "items": INTEGER}, {"type": "array", "items": BOOLEAN}]
    assert one(["1"], {"anyOf": tags}) == [1]
    assert one([], {"anyOf": tags}) == []
    as_list_or_object = {"anyOf": [{"enum": [5]}, {"enum": ["5.0", 5.0]}]}
    assert one("5", as_list_or_object) == 5
    either = {
        "anyOf": [
            {"type": "array", "items": INTEGER},
            {"type": "array", "items": NUMBER, "minItems": 1},
        ]
    }
    assert one('["1"]', either) == [1]
    differ = {
        "anyOf": [
            {"type": "object", "properties": {"a": INTEGER}},
            {"type": "object", "properties": {"a": {"enum": [True]}}},
        ]
    }
    assert one('{"a": "true"}', differ) == {"a": True}
    undecided = {
        "anyOf": [
            {"type": "array", "items": {"type": "string"}},
            {"type": "array", "items": BOOLEAN},
        ]
    }
    assert one("[true]", undecided) == "[true]", "['true'] and [true] are both possible"


def test_it_reaches_everywhere() -> None:
    schema = {
        "type": "object",
        "properties": {
            "list": {"type": "array", "items": {"$ref": "#/$defs/point"}},
            "map": {"type": "object", "additionalProperties": {"type": "array", "items": INTEGER}},
            "pattern": {"type": "object", "patternProperties": {"^n_": INTEGER}},
            "pair": {"type": "array", "prefixItems": [INTEGER, STRING]},
            "old_pair": {"type": "array", "items": [INTEGER, BOOLEAN], "additionalItems": NUMBER},
            "both": {"allOf": [{"properties": {"a": INTEGER}}, {"properties": {"b": BOOLEAN}}]},
            "tree": {"$ref": "#/$defs/tree"},
        },
        "if": {"properties": {"kind": {"const": "n"}}, "required": ["kind"]},
        "then": {"properties": {"v": INTEGER}},
        "else": {"properties": {"v": BOOLEAN}},
        "$defs": {
            "point": {"type": "object", "properties": {"x": INTEGER}},
            "tree": {
                "type": "object",
                "properties": {
                    "v": INTEGER,
                    "kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
                },
            },
        },
    }
    given = {
        "list": ['{"x": 1}', {"x": "2"}],
        "map": {"a": "[1,2]", "b": ["3"]},
        "pattern": {"n_a": "1", "other": "1"},
        "pair": ["1", 2, "untouched"],
        "old_pair": ["1", "true", "0.5"],
        "both": {"a": "1", "b": "true"},
        "tree": {"v": "1", "kids": [{"v": "2", "kids": []}]},
        "kind": "n",
        "v": "5",
    }
    before = copy.deepcopy(given)
    found = coerce(given, schema)
    assert found.value == {
        "list": [{"x": 1}, {"x": 2}],
        "map": {"a": [1, 2], "b": [3]},
        "pattern": {"n_a": 1, "other": "1"},
        "pair": [1, "2", "untouched"],
        "old_pair": [1, True, 0.5],
        "both": {"a": 1, "b": True},
        "tree": {"v": 1, "kids": [{"v": 2, "kids": []}]},
        "kind": "n",
        "v": 5,
    }
    assert given == before, "the caller's object is not touched"
    changed = {
        change.pointer: (change.before, change.after, change.rule) for change in found.changes
    }
    assert changed["/list/1/x"] == ("2", 2, "text to integer")
    assert changed["/list/0"] == ('{"x": 1}', {"x": 1}, "JSON text to object")
    assert changed["/tree/kids/0/v"] == ("2", 2, "text to integer")


def test_a_recursive_union_of_branches_that_overlap_ends() -> None:
    """Each level could be read by two branches; tried anew at each, 40 levels would not end."""
    left = {"l": {"$ref": "#/$defs/T"}, "r": {"$ref": "#/$defs/T"}}
    both = {"type": "object", "properties": left, "required": ["l"], "additionalProperties": False}
    more = {**both, "properties": {**left, "x": {"$ref": "#/$defs/T"}}, "required": ["l", "x"]}
    whole = {"oneOf": [{"type": "integer"}, both, more]}
    schema = {"$ref": "#/$defs/T", "$defs": {"T": whole}}
    value: Any = "3"
    for _ in range(40):
        value = {"l": value, "r": 1}
    assert len(validate(value, schema)) == 1
    coerced = coerce(value, schema)
    assert [change.after for change in coerced.changes] == [3]
    assert validate(coerced.value, schema) == ()


def test_a_definition_that_leads_to_itself_says_nothing_and_the_rest_still_counts() -> None:
    schema = {
        "type": "integer",
        "unevaluatedProperties": False,  # left to jsonschema
        "$defs": {"s": {"$ref": "#/$defs/s"}, "t": {"allOf": [{"$ref": "#/$defs/t"}]}},
    }
    assert len(validate("q", schema)) == 1
    looped = {"allOf": [{"$ref": "#/$defs/t"}, {"minimum": 3}], "$defs": schema["$defs"]}
    assert len(validate(1, looped)) == 1
    assert validate(4, looped) == ()


@pytest.mark.parametrize(
    "pattern", ["(?=a)(a+)+$", "(?=a)(a|a)*$", "(?=a)(a*)*$", "(?!b)((a+)b?)+$", r"(a+)+\1$"]
)
def test_no_pattern_hangs(pattern: str) -> None:
    text = "a" * 40 + "!"
    assert validate(text, {"pattern": pattern}) == ()
    assert validate({text: 1}, {"patternProperties": {pattern: {}}}) == ()


@pytest.mark.parametrize("branch", [None, 2, "x", []])
def test_a_union_with_a_branch_that_is_no_schema_is_not_judged(branch: Any) -> None:
    for keyword in ("oneOf", "anyOf"):
        schema = {keyword: [{"type": "integer"}, branch], "unevaluatedItems": False}
        assert validate(None, schema) == ()
        assert coerce("3", schema).value == "3"


def test_a_broken_branch_leaves_nothing_behind() -> None:
    """How deep in unions a fault was found was not taken back after an error: words got lost."""
    broken = {"anyOf": [{"allOf": [{"type": "integer"}, {"minimum": "x"}]}, {"type": "null"}]}
    union = {
        "anyOf": [{"type": "object", "properties": {"n": {"type": "integer"}}}, {"type": "null"}]
    }
    for _ in range(5):
        validate(1.5, broken)
        assert [fault.pointer for fault in validate({"n": []}, union)] == ["/n"]


def test_look_around_without_repeats_in_repeats_is_judged() -> None:
    schema = {"pattern": r"^(?=.*[A-Z])(?=.*\d).{3,}$"}
    assert validate("aB3", schema) == ()
    assert len(validate("abc", schema)) == 1


def test_a_condition_that_undoes_itself_changes_nothing() -> None:
    schema = {"if": {"type": "string"}, "then": {"type": "integer"}, "else": {"type": "string"}}
    assert coerce("3", schema).value == "3"
    assert coerce("3", schema).changes == ()


def test_pointers_escape_keys() -> None:
    found = coerce({"a/b~c": "1"}, {"properties": {"a/b~c": INTEGER}})
    assert [change.pointer for change in found.changes] == ["/a~1b~0c"]


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/nowhere"},
        {"$ref": "http://127.0.0.1:9/never"},
        {"$ref": "#"},
        {"$ref": 5},
        {"allOf": [{"$ref": "#"}]},
        {"type": "nonsense"},
        {"type": 5},
        {"properties": [], "type": "object"},
        {"patternProperties": {"(": {"type": "integer"}}},
        {"enum": "abc"},
        {"anyOf": {}},
        {"anyOf": [5, None]},
        {"items": 5, "type": "array"},
        {"required": 5},
        True,
        False,
        None,
        [],
    ],
    ids=repr,
)
@pytest.mark.parametrize("value", [{"a": "1"}, ["1"], "1", None])
def test_a_broken_schema_changes_nothing_and_never_raises(schema: Any, value: Any) -> None:
    assert coerce(value, schema).value == value


@settings(max_examples=400, deadline=None)
@given(SCHEMAS, JSON)
def test_law_a_value_that_conforms_is_unchanged(schema: Any, value: Any) -> None:
    if Document(schema).conforms(value):
        found = coerce(value, schema)
        assert same(found.value, value)
        assert found.changes == ()


@settings(max_examples=400, deadline=None)
@given(SCHEMAS, JSON)
def test_law_twice_is_once(schema: Any, value: Any) -> None:
    once = coerce(value, schema).value
    assert same(coerce(once, schema).value, once)


@settings(max_examples=400, deadline=None)
@given(SCHEMAS, JSON)
def test_law_nothing_is_lost(schema: Any, value: Any) -> None:
    """Undoing the changes, last one first, gives back what came."""
    found = coerce(value, schema)
    document = {"": copy.deepcopy(found.value)}
    for change in reversed(found.changes):
        holder: Any = document
        *steps, last = ["", *change.pointer.split("/")[1:]]
        for step in steps:
            holder = holder[
                int(step)
                if isinstance(holder, list)
                else step.replace("~1", "/").replace("~0", "~")
            ]
        key: Any = int(last) if isinstance(holder, list) else last
        assert same(holder[key], change.after)
        holder[key] = change.before
    assert same(document[""], value)


@settings(max_examples=300, deadline=None)
@given(SCHEMAS, JSON)
def test_law_json_stays_json(schema: Any, value: Any) -> None:
    json.dumps(coerce(value, schema).value, allow_nan=False)
