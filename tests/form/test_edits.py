"""What an edit in the page does to the arguments."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agtools_nb.views.form_edits import EditRefusedError, apply
from agtools_nb.views.form_plan import plan_form
from agtools_nb.views.form_tree import node_of, value_of
from agtools_nb.views.form_wire import left_empty, wire_tree

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "note": {"type": ["string", "null"], "default": "none"},
        "count": {"type": "integer", "minimum": 0},
        "flag": {"type": "boolean"},
        "unit": {"enum": ["m", "km", 1]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "place": {
            "type": "object",
            "properties": {
                "kind": {"const": "spot"},
                "lat": {"type": "number"},
                "lon": {"type": "number"},
            },
            "required": ["kind", "lat"],
        },
        "limit": {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1}], "default": 1},
        "send": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"by": {"const": "email"}, "address": {"type": "string"}},
                },
                {
                    "type": "object",
                    "properties": {"by": {"const": "sms"}, "phone": {"type": "string"}},
                },
            ]
        },
        "labels": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
    "required": ["name", "count"],
    "additionalProperties": False,
}


class Form:
    """A tree with its plan, edited as the page does."""

    def __init__(self, schema: Any = SCHEMA, value: dict[str, Any] | None = None) -> None:
        self.plan = plan_form(schema)
        self.root = node_of(value or {})

    def __call__(self, op: str, *path: str | int, **more: Any) -> Any:
        apply(self.plan, self.root, {"op": op, "path": list(path), **more})
        return value_of(self.root)

    @property
    def wire(self) -> dict[str, Any]:
        return wire_tree(self.plan, self.root)

    def at(self, *keys: str) -> dict[str, Any]:
        found = self.wire
        for key in keys:
            found = dict(found["e"])[key]
        return found

    def ids(self, *keys: str) -> list[int]:
        return [item[0] for item in self.at(*keys)["i"]]


def test_unset_null_empty_and_value_are_four_things() -> None:
    form = Form()
    assert form("empty", "note") == {"note": ""}
    assert form.at("note") == {"s": "text", "x": ""}
    assert form("null", "note") == {"note": None}
    assert form("text", "note", text="x") == {"note": "x"}
    assert form("unset", "note") == {}


def test_clearing_an_optional_text_unsets_it() -> None:
    form = Form(value={"note": "x"})
    assert form("text", "note", text="") == {}


def test_an_empty_text_set_on_purpose_stays() -> None:
    form = Form()
    form("empty", "note")
    assert form("text", "note", text="") == {"note": ""}


def test_clearing_a_required_text_leaves_the_empty_text() -> None:
    form = Form(value={"name": "x"})
    assert form("text", "name", text="") == {"name": ""}


def test_a_field_that_was_left_alone_stays_unset() -> None:
    """An event without a change, as browsers fire them on leaving a field, sets nothing."""
    form = Form()
    for name in ("name", "note", "count", "limit"):
        assert form("text", name, text="") == {}
    assert form("text", "place", "lat", text="") == {}
    assert form("unset", "unit", left=True) == {}
    assert form("json", "place", text=" ") == {}


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("5", 5),
        ("5000", 5000),
        ("-3", -3),
        ("9007199254740993", 9007199254740993),
        ("2.0", 2.0),
        ("ten", "ten"),
        ('"3"', "3"),
        ("1e999", "1e999"),
    ],
)
def test_typed_numbers_are_never_clamped_rounded_or_lost(typed: str, value: Any) -> None:
    form = Form()
    assert json.dumps(form("text", "count", text=typed)) == json.dumps({"count": value})
    assert form.at("count") == {"s": "number", "x": typed}


def test_clearing_a_number_unsets_it() -> None:
    assert Form(value={"count": 1})("text", "count", text=" ") == {}


def test_choosing() -> None:
    form = Form()
    assert form("choose", "unit", option=2) == {"unit": 1}
    assert form("bool", "flag", value=False) == {"unit": 1, "flag": False}
    assert form("unset", "unit") == {"flag": False}


def test_text_and_integer_are_told_apart_by_the_type_switch() -> None:
    form = Form()
    assert form("text", "limit", text="auto") == {"limit": "auto"}
    assert form("text", "limit", text="5") == {"limit": "5"}
    assert form("branch", "limit", branch=1) == {"limit": 5}
    assert form("text", "limit", text='"5"') == {"limit": "5"}
    assert form("branch", "limit", branch=0) == {"limit": "5"}


def test_an_edit_inside_a_branch_does_not_change_the_branch() -> None:
    form = Form(value={"limit": 5})
    assert form.at("limit")["b"] == 1
    form("text", "limit", text="five")
    assert form.at("limit") == {"s": "number", "x": "five", "b": 1}


def test_choosing_a_branch_sets_what_tells_it_apart() -> None:
    form = Form()
    assert form("branch", "send", branch=1) == {"send": {"by": "sms"}}
    assert form("text", "send", "phone", text="1") == {"send": {"by": "sms", "phone": "1"}}


def test_editing_the_branch_that_is_shown_sets_what_tells_it_apart() -> None:
    assert Form()("text", "send", "address", text="a@b") == {
        "send": {"by": "email", "address": "a@b"}
    }


def test_a_branch_that_was_left_comes_back_as_it_was() -> None:
    form = Form(value={"send": {"by": "email", "address": "a@b"}})
    assert form("branch", "send", branch=1) == {"send": {"by": "sms"}}
    assert form("branch", "send", branch=0) == {"send": {"by": "email", "address": "a@b"}}


def test_the_branch_of_a_value_is_found_by_what_it_holds() -> None:
    form = Form(value={"send": {"by": "sms", "phone": "1"}})
    assert form.at("send")["b"] == 1


def test_a_root_of_branches() -> None:
    branches = [
        {"properties": {"kind": {"const": "email"}, "address": {"type": "string"}}},
        {"properties": {"kind": {"const": "sms"}, "phone": {"type": "string"}}},
    ]
    form = Form({"anyOf": branches})
    assert value_of(form.root) == {}
    assert form("branch", branch=1) == {"kind": "sms"}
    assert form("text", "phone", text="1") == {"kind": "sms", "phone": "1"}


def test_objects_come_to_be_with_their_first_field() -> None:
    form = Form()
    assert form("text", "place", "lat", text="1.5") == {"place": {"kind": "spot", "lat": 1.5}}
    assert form("unset", "place") == {}


def test_empty_object_and_array() -> None:
    form = Form()
    assert form("value", "tags") == {"tags": []}
    assert form("value", "labels") == {"tags": [], "labels": {}}
    assert form("value", "place")["place"] == {"kind": "spot"}


def test_keys_stand_in_the_schemas_order() -> None:
    form = Form()
    form("text", "count", text="1")
    assert list(form("text", "name", text="x")) == ["name", "count"]


def test_items() -> None:
    form = Form()
    for _ in range(3):
        form("add", "tags")
    assert value_of(form.root) == {"tags": []}  # nothing was typed yet
    first, second, third = form.ids("tags")
    form("text", "tags", first, text="a")
    form("text", "tags", third, text="c")
    assert form("text", "tags", second, text="b") == {"tags": ["a", "b", "c"]}
    assert form("move", "tags", third, by=-2) == {"tags": ["c", "a", "b"]}
    assert form("move", "tags", third, by=-9) == {"tags": ["c", "a", "b"]}
    assert form("remove", "tags", first) == {"tags": ["c", "b"]}
    assert form("text", "tags", first, text="gone") == {"tags": ["c", "b"]}
    assert form("empty", "tags", second) == {"tags": ["c", ""]}


def test_keys_that_the_schema_does_not_name() -> None:
    form = Form()
    form("add", "labels", key="a")
    assert form.at("labels", "a") == {"s": "unset"}
    assert form("text", "labels", "a", text="1") == {"labels": {"a": 1}}
    form("add", "labels", key="b")
    assert form("rename", "labels", "a", key="c") == {"labels": {"c": 1}}
    assert [key for key, _ in form.at("labels")["e"]] == ["c", "b"]
    assert form("remove", "labels", "c") == {"labels": {}}


def test_a_cleared_key_keeps_its_row() -> None:
    form = Form(value={"labels": {"a": 1}})
    assert form("text", "labels", "a", text="") == {"labels": {}}
    assert form.at("labels", "a") == {"s": "unset"}


@pytest.mark.parametrize("key", ["a", "name", 3])
def test_a_key_that_is_taken_is_refused(key: Any) -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "additionalProperties": True,
    }
    form = Form({"type": "object", "properties": {"x": schema}}, {"x": {"a": 1, "b": 2}})
    with pytest.raises(EditRefusedError):
        form("add", "x", key=key)
    with pytest.raises(EditRefusedError):
        form("rename", "x", "b", key=key)
    assert value_of(form.root) == {"x": {"a": 1, "b": 2}}


def test_an_unknown_key_is_shown_and_can_be_edited() -> None:
    form = Form(value={"cty": "Oslo"})
    assert form.at("cty") == {"s": "text", "x": "Oslo", "b": 0}
    assert form("rename", "cty", key="city") == {"city": "Oslo"}
    assert form("remove", "city") == {}


def test_a_part_as_json_and_back() -> None:
    form = Form(value={"place": {"kind": "spot", "lat": 1.5}})
    form("as_json", "place")
    assert json.loads(form.at("place")["x"]) == {"kind": "spot", "lat": 1.5}
    assert form("json", "place", text='{"kind": "spot", "lat": 2, "lon": 3}')["place"]["lon"] == 3
    assert form("value", "place") == {"place": {"kind": "spot", "lat": 2, "lon": 3}}
    assert form.at("place")["s"] == "object"


def test_bad_json_text_stays_as_typed_with_its_fault_and_the_last_good_value() -> None:
    form = Form(value={"tags": ["a"]})
    form("as_json", "tags")
    assert form("json", "tags", text='["a", "b"') == {"tags": ["a"]}
    assert form.at("tags")["x"] == '["a", "b"'
    assert form.at("tags")["f"].startswith("not JSON")
    assert form("value", "tags") == {"tags": ["a"]}


def test_a_value_that_its_field_cannot_hold_is_shown_as_json() -> None:
    form = Form(value={"unit": "inch", "flag": "yes", "name": "a\rb", "count": [1]})
    assert form.at("unit") == {"s": "json", "x": '"inch"', "f": "", "odd": True}
    assert form.at("flag")["x"] == '"yes"'
    assert form.at("name")["x"] == '"a\\rb"'
    assert form.at("count")["odd"] is True


def test_a_value_made_to_fit_goes_back_to_its_field() -> None:
    form = Form(value={"unit": "inch"})
    form("json", "unit", text='"km"')
    assert form("settle", "unit") == {"unit": "km"}
    assert form.at("unit") == {"s": "option", "o": 1}


def test_the_default_is_sent_only_when_asked_for() -> None:
    form = Form()
    assert value_of(form.root) == {}
    assert form("default", "limit") == {"limit": 1}


def test_a_required_text_left_empty_is_the_empty_text_when_run() -> None:
    form = Form()
    assert dict(left_empty(form.plan, form.root)) == {"/name": ""}
    assert dict(left_empty(form.plan, form.root, texts=False)) == {}
    form("unset", "name")  # said on purpose
    assert dict(left_empty(form.plan, form.root)) == {}


def test_what_else_is_required_has_no_value_of_its_own() -> None:
    properties = {
        "nullable": {"type": ["string", "null"]},
        "default": {"type": "string", "default": "x"},
        "enum": {"enum": ["a", "b"]},
        "int": {"type": "integer"},
        "only": {"const": 7},
    }
    form = Form({"type": "object", "properties": properties, "required": list(properties)})
    assert dict(left_empty(form.plan, form.root)) == {"/only": 7}
    assert dict(left_empty(form.plan, form.root, texts=False)) == {"/only": 7}


steps = st.sampled_from(
    [*SCHEMA["properties"], "kind", "lat", "by", "phone", "a", "extra"]
) | st.integers(1, 400)
edits = st.fixed_dictionaries(
    {
        "op": st.sampled_from(
            [
                "text",
                "json",
                "bool",
                "choose",
                "null",
                "unset",
                "value",
                "empty",
                "default",
                "settle",
                "as_json",
                "branch",
                "add",
                "rename",
                "remove",
                "move",
                "nonsense",
                None,
                3,
            ]
        ),
        "path": st.lists(steps, max_size=3)
        | st.none()
        | st.lists(st.none() | st.booleans(), max_size=1),
    },
    optional={
        "text": st.sampled_from(["", "x", "5", '{"a": 1}', "[1", "null"]) | st.none(),
        "value": st.booleans() | st.integers(),
        "option": st.integers(-2, 5) | st.booleans() | st.text(max_size=1),
        "branch": st.integers(-2, 3) | st.none(),
        "key": st.sampled_from(["a", "b", "name"]) | st.none(),
        "by": st.integers(-3, 3) | st.none(),
        "left": st.booleans() | st.none(),
    },
)


@settings(max_examples=200)
@given(st.lists(edits, max_size=12))
def test_no_sequence_of_edits_breaks_the_tree(sequence: list[dict[str, Any]]) -> None:
    """Whatever a page sends, the arguments stay an object and can be drawn."""
    form = Form()
    for edit in sequence:
        with contextlib.suppress(EditRefusedError):
            apply(form.plan, form.root, edit)
        assert isinstance(value_of(form.root), dict)
        json.dumps(form.wire)
        dict(left_empty(form.plan, form.root))
