"""Arguments as a tree, and back."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb.views.form_plan import plan_form
from agtools_nb.views.form_tree import (
    ABSENT,
    Node,
    json_node,
    node_of,
    number_of,
    number_text,
    parse_json,
    same_value,
    typed_number,
    value_of,
)
from agtools_nb.views.form_wire import wire_tree

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**53, max_value=2**200)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def exact(first: Any, second: Any) -> bool:
    """The same to the digit, the type and the order of keys."""
    return json.dumps(first) == json.dumps(second)


@given(values)
def test_a_value_comes_back_exactly(value: Any) -> None:
    assert exact(value_of(node_of(value)), value)


@given(values, values)
def test_a_value_that_replaces_another_comes_back_exactly(first: Any, second: Any) -> None:
    assert exact(value_of(node_of(second, node_of(first))), second)


@given(st.dictionaries(st.text(), values, max_size=4))
def test_every_value_can_be_sent_to_the_page(value: Any) -> None:
    """No value breaks the wire, whatever the schema says about it."""
    for schema in (
        {},
        {"type": "object", "properties": {name: {"type": "string"} for name in value}},
    ):
        json.dumps(wire_tree(plan_form(schema), node_of(value)))


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text())
def test_what_a_number_field_shows_typed_again_is_the_same(value: Any) -> None:
    assert exact(value_of(typed_number(number_text(node_of(value)))), value)


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("3", 3),
        ("-0.5", -0.5),
        ("1e3", 1000.0),
        (" 7 ", 7),
        ("9007199254740993", 9007199254740993),
        ("1e999", "1e999"),
        ("05", "05"),
        ("+5", "+5"),
        ("1.", "1."),
        ("NaN", "NaN"),
        ("ten", "ten"),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_numbers_are_read_as_json_reads_them(typed: str, value: Any) -> None:
    assert exact(number_of(typed), value)


def test_quotes_make_a_number_text() -> None:
    assert value_of(typed_number('"3"')) == "3"
    assert number_text(Node("text", text="3")) == '"3"'
    assert number_text(Node("text", text="three")) == "three"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"a": 1,}', "not JSON"),
        ("NaN", "NaN is not a JSON number"),
        ("1e999", "beyond the largest number"),
        ('{"a": 1, "a": 2}', 'the key "a" stands there twice'),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, ""),
    ],
)
def test_json_that_would_lose_something_is_a_fault(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault or None):
        parse_json(text)


def test_bad_json_text_keeps_the_last_good_value() -> None:
    node = json_node("[1, 2", last=[1])
    assert (node.text, value_of(node)) == ("[1, 2", [1])
    assert "line 1" in node.fault
    assert value_of(json_node("  ")) is ABSENT


def test_places_that_stay_keep_their_identity() -> None:
    """The page keeps the focus by it."""
    old = node_of({"items": [1, 2]})
    new = node_of({"items": [1, 3, 4]}, old)
    before, after = old.entries["items"].items, new.entries["items"].items
    assert [item.id for item in after[:2]] == [item.id for item in before]


def test_a_number_stays_as_it_was_typed() -> None:
    old = Node("object", entries={"x": typed_number("1.50")})
    assert node_of({"x": 1.5}, old).entries["x"].text == "1.50"
    assert node_of({"x": 1.25}, old).entries["x"].text == "1.25"


def test_what_json_cannot_hold_takes_its_stated_form() -> None:
    assert value_of(node_of({"x": math.nan, 3: {1}})) == {"x": "NaN", "3": [1]}


def test_deep_nesting_is_kept_exactly() -> None:
    value: Any = "end"
    for _ in range(60):
        value = [value]
    assert same_value(value_of(node_of(value)), value)
