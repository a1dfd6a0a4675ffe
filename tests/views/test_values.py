"""Previews: bounded work, bounded size, nothing raised, no digit lost."""

from __future__ import annotations

import json
import math
from datetime import date
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb.jsonable import json_text
from agtools_nb.views import values
from agtools_nb.views.values import cut_text, preview

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        9007199254740993,
        -(10**40),
        0.1,
        math.nan,
        "text",
        "",
        [],
        {},
        {"a": [1, {"b": None}], "": "empty key"},
        (1, 2),
        {3, 1, 2},
        date(2026, 1, 2),
        b"bytes",
        {1: "one", None: "none"},
        MappingProxyType({"a": 1}),
        "\ud800 <b>",
        ValueError("no"),
        object,
    ],
)
def test_a_small_value_is_its_json_text(value: Any):
    assert preview(value, 10_000).text == json_text(value)
    assert preview(value, 10_000).note == ""


def test_a_long_list_is_cut_with_a_note():
    shown = preview(list(range(10_000_000)), 100)
    assert len(shown.text) < 300
    assert shown.note.endswith("items left out")
    assert "more" in json.loads(shown.text)[-1]


def test_a_long_text_is_cut_with_a_note():
    shown = preview({"text": "x" * 1_000_000}, 500)
    assert len(shown.text) < 700
    assert "characters left out" in shown.note


def test_a_large_mapping_is_cut_with_a_note():
    shown = preview({str(i): i for i in range(100_000)}, 500)
    assert len(shown.text) < 800
    assert "items left out" in shown.note


def test_a_cycle_ends():
    value: dict[str, Any] = {"a": 1}
    value["self"] = value
    assert json.loads(preview(value, 1_000).text) == {"a": 1, "self": "<cycle: dict>"}


def test_depth_ends():
    value: list[Any] = []
    for _ in range(5_000):
        value = [value]
    assert "<too deep: list>" in preview(value, 100_000).text


def test_a_value_that_fails_to_be_read_is_named():
    class Liar(dict):
        def items(self) -> Any:
            raise RuntimeError("no")

    class NoRepr:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert "unreadable" in preview(Liar(a=1), 1_000).text
    assert "NoRepr" in preview([NoRepr()], 1_000).text


def test_cut_text_counts():
    assert cut_text("abc", 3) == ("abc", "")
    assert cut_text("a" * 2_000, 1_000).note == "first 1,000 of 2,000 characters"


@given(plain, st.integers(0, 300), st.sampled_from([None, 2]))
def test_the_short_way_for_small_values_says_what_the_long_way_says(value, limit, indent):
    short = preview(value, limit, indent=indent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(values, "_left", lambda *args: 0)
        assert preview(value, limit, indent=indent) == short
