"""From a JSON Schema to a plan of fields."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb.views.form_plan import MAX_DEPTH, Plan, plan_form

Json = dict[str, Any]


def field_of(schema: Any, **around: Any) -> Json:
    """The resolved field of one property."""
    plan = plan_form({"type": "object", "properties": {"x": schema}, **around})
    return plan.resolve(plan.root["fields"][0])


def kinds(plan: Plan) -> set[str]:
    """Every kind of field in a plan."""
    found: set[str] = set()
    todo = [plan.root, *plan.defs.values()]
    while todo:
        field = todo.pop()
        found.add(field["kind"])
        todo += field.get("fields", []) + field.get("branches", []) + field.get("prefix", [])
        todo += [child for child in (field.get("items"), field.get("extra")) if child]
    return found


@pytest.mark.parametrize("kind", ["string", "integer", "number", "boolean"])
def test_scalar_types_have_fields_of_their_own(kind: str) -> None:
    assert field_of({"type": kind})["kind"] == kind


def test_a_field_carries_what_the_schema_says_of_it() -> None:
    schema = {
        "type": "integer",
        "description": "How many",
        "minimum": 1,
        "maximum": 10,
        "default": 3,
    }
    field = field_of(schema, required=["x"])
    assert field["title"] == "x"
    assert field["required"] is True
    assert field["about"] == "How many"
    assert field["bounds"] == "from 1 to 10"
    assert field["default"] == "3"


def test_fields_stand_in_the_schemas_order() -> None:
    plan = plan_form(
        {"type": "object", "properties": {"b": {}, "a": {}, "c": {}}, "required": ["a"]}
    )
    assert [field["title"] for field in plan.root["fields"]] == ["b", "a", "c"]


def test_numbers_are_text_so_that_large_integers_stay_exact() -> None:
    field = field_of({"enum": [9007199254740993, 1], "default": 9007199254740993})
    assert [option["json"] for option in field["options"]] == ["9007199254740993", "1"]
    assert field["default"] == "9007199254740993"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [{"type": "null"}, {"type": "string"}]},
        {"anyOf": [{"type": "string"}, {"const": None}]},
    ],
)
def test_a_plain_nullable_is_no_union(schema: Json) -> None:
    field = field_of(schema)
    assert (field["kind"], field["nullable"]) == ("string", True)


def test_null_among_the_options_makes_an_enum_nullable() -> None:
    field = field_of({"enum": ["a", None]})
    assert [option["label"] for option in field["options"]] == ["a"]
    assert field["nullable"] is True


def test_options_that_read_alike_are_told_apart() -> None:
    field = field_of({"enum": ["1", 1, True, "true", ""]})
    assert [option["label"] for option in field["options"]] == ['"1"', "1", "true", '"true"', '""']


def test_constants_of_a_union_become_one_choice() -> None:
    field = field_of(
        {
            "anyOf": [
                {"type": "number", "const": 1},
                {"const": -1, "title": "down"},
                {"type": "object", "properties": {"meta": {"type": "string"}}},
            ]
        }
    )
    assert [branch["kind"] for branch in field["branches"]] == ["enum", "object"]
    assert [o["label"] for o in field["branches"][0]["options"]] == ["1", "-1: down"]


def test_union_branches_are_named_by_the_property_that_tells_them_apart() -> None:
    branches = [
        {"properties": {"kind": {"const": "email"}, "address": {"type": "string"}}},
        {"properties": {"kind": {"const": "sms"}, "phone": {"type": "string"}}},
    ]
    plan = plan_form({"anyOf": branches})
    assert plan.root["kind"] == "union"
    assert [branch["label"] for branch in plan.root["branches"]] == ["email", "sms"]
    assert plan.root["tags"] == ["kind"]


def test_branches_that_only_limit_their_parent_are_no_union() -> None:
    plan = plan_form(
        {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        }
    )
    assert [field["title"] for field in plan.root["fields"]] == ["a", "b"]
    assert plan.root["notes"] == ["needs one of: a; b"]


def test_a_union_within_a_union_is_flat() -> None:
    inner = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    field = field_of({"anyOf": [inner, {"type": "boolean"}, {"type": "string"}]})
    assert [branch["kind"] for branch in field["branches"]] == ["string", "integer", "boolean"]


def test_a_recursive_schema_has_a_finite_plan() -> None:
    tree = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/T"}}},
    }
    plan = plan_form(
        {"type": "object", "properties": {"t": {"$ref": "#/$defs/T"}}, "$defs": {"T": tree}}
    )
    assert list(plan.defs) == ["#/$defs/T", "any"]
    inner = plan.resolve(plan.root["fields"][0])["fields"][0]["items"]
    assert plan.resolve(inner)["fields"][0]["title"] == "children"


def test_what_a_place_says_wins_over_what_it_refers_to() -> None:
    unit = {"type": "string", "description": "A unit"}
    plan = plan_form(
        {
            "type": "object",
            "properties": {"to": {"$ref": "#/$defs/U", "description": "Target", "default": "m"}},
            "$defs": {"U": unit},
        }
    )
    field = plan.resolve(plan.root["fields"][0])
    assert (field["about"], field["default"], field["kind"]) == ("Target", '"m"', "string")


def test_parts_of_an_all_of_are_joined() -> None:
    field = field_of(
        {
            "allOf": [
                {"$ref": "#/$defs/Base"},
                {"properties": {"b": {"type": "integer"}}, "required": ["b"]},
            ]
        },
        **{
            "$defs": {
                "Base": {
                    "type": "object",
                    "properties": {"a": {"type": "string"}},
                    "required": ["a"],
                }
            }
        },
    )
    assert [(f["title"], f["kind"], f["required"]) for f in field["fields"]] == [
        ("a", "string", True),
        ("b", "integer", True),
    ]


@pytest.mark.parametrize(
    ("schema", "note"),
    [
        (
            {"type": "boolean", "default": "false"},
            'the default "false" is not of its type (boolean)',
        ),
        ({"type": "string", "default": None}, "the default null is not of its type (string)"),
        ({"enum": ["a"], "default": "b"}, 'the default "b" is not one of its options'),
        ({"type": "integer", "enum": [1, "2"]}, 'some options are not of its type (integer): "2"'),
    ],
)
def test_a_contradiction_is_drawn_all_the_same_with_a_note(schema: Json, note: str) -> None:
    field = field_of(schema)
    assert field["kind"] != "json"
    assert field["notes"] == [note]


@pytest.mark.parametrize(
    "schema",
    [
        False,
        "string",
        {"$ref": "#/$defs/missing"},
        {"$ref": "https://example.com/schema"},
        {"$ref": 3},
        {"$dynamicRef": "#node"},
        {"type": "file"},
        {"enum": []},
        {"anyOf": []},
        {"allOf": [{"type": "string"}, {"type": "integer"}]},
        {"type": "object", "properties": 5},
        {"type": "array", "prefixItems": 7},
        {"properties": {"\ud800": {"type": "string"}}},
    ],
)
def test_what_cannot_be_drawn_is_json_for_that_part_alone(schema: Any) -> None:
    plan = plan_form({"type": "object", "properties": {"odd": schema, "plain": {"type": "string"}}})
    assert [plan.resolve(field)["kind"] for field in plan.root["fields"]] == ["json", "string"]


def test_references_that_go_round_in_a_circle_are_json() -> None:
    plan = plan_form(
        {
            "type": "object",
            "properties": {"x": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}},
        }
    )
    assert plan.resolve(plan.root["fields"][0])["kind"] == "json"


def test_nesting_beyond_the_limit_is_json_there() -> None:
    schema: Json = {"type": "string"}
    for _ in range(MAX_DEPTH + 3):
        schema = {"type": "object", "properties": {"in": schema}}
    plan = plan_form(schema)
    assert plan.root["kind"] == "object"
    assert "json" in kinds(plan)


def test_keys_beyond_the_named_ones() -> None:
    free = field_of({"type": "object", "additionalProperties": {"type": "integer"}})
    assert (free["extra"]["kind"], free["quiet"]) == ("integer", False)
    closed = field_of({"type": "object", "properties": {"a": {}}, "additionalProperties": False})
    assert closed["extra"] is None
    silent = field_of({"type": "object", "properties": {"a": {}}})
    assert (silent["extra"]["kind"], silent["quiet"]) == ("ref", True)


def test_tuples_have_a_field_a_place() -> None:
    field = field_of(
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": False}
    )
    assert [one["kind"] for one in field["prefix"]] == ["integer", "string"]
    assert field["more"] is False


def test_a_tool_without_arguments() -> None:
    for schema in ({"type": "object"}, {"type": "object", "properties": {}}):
        root = plan_form(schema).root
        assert (root["kind"], root["fields"], root["quiet"]) == ("object", [], True)


keywords = st.sampled_from(
    [
        "type",
        "properties",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "enum",
        "const",
        "default",
        "required",
        "additionalProperties",
        "prefixItems",
        "minimum",
        "description",
        "$defs",
        "title",
    ]
)
scraps = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["string", "object", "array", "#", "#/$defs/a", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keywords, inner, max_size=4),
    max_leaves=25,
)


@given(scraps)
def test_planning_never_raises(schema: Any) -> None:
    """Any scrap of JSON gets a plan, and the plan is JSON."""
    plan = plan_form(schema)
    json.dumps(plan.wire())
    plan.resolve(plan.root)


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "integer or null"),
        ({"type": ["integer", "null"]}, "integer or null"),
        ({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
         "array of string or null"),
        ({"anyOf": [{"enum": ["train", "boat"]}, {"type": "null"}]}, "one of train, boat or null"),
        ({"anyOf": [{"type": ["string", "null"]}, {"type": "null"}]}, "string or null"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
         "string or integer or null"),
        ({"anyOf": [{}, {"type": "null"}]}, "any"),
    ],
)  # fmt: skip
def test_what_may_be_null_says_so_once(schema: Json, text: str) -> None:
    field = field_of(schema)
    assert (field["type"], field["nullable"]) == (text, True)
