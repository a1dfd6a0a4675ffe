"""Any Python value has a JSON form, and making it never raises."""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime as dt
import decimal
import enum
import ipaddress
import json
import pathlib
import types
import uuid
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from agtools_nb.jsonable import brief_repr, json_text, jsonable


class Model(BaseModel):
    when: dt.date


@dataclasses.dataclass
class Data:
    model: Model
    tags: set[str]


class Colour(enum.Enum):
    RED = "red"


class Pair(NamedTuple):
    a: int
    b: int


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


class Liar(dict):
    def items(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        ((1, 2), [1, 2]),
        ({3, 1, 2}, [1, 2, 3]),
        (Pair(1, 2), [1, 2]),
        (
            {1: "a", None: "b", True: "c", Colour.RED: "d", (1,): "e"},
            {"1": "c", "null": "b", "red": "d", "(1,)": "e"},
        ),
        (dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC), "2026-01-02T03:04:00+00:00"),
        (dt.timedelta(seconds=90), "PT90S"),
        (Colour.RED, "red"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (decimal.Decimal("1.10"), "1.10"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (b"\x00\xff", {"base64": "AP8=", "size": 2}),
        (
            Data(Model(when=dt.date(2026, 1, 2)), {"x"}),
            {"model": {"when": "2026-01-02"}, "tags": ["x"]},
        ),
        (ValueError("bad"), {"error": "ValueError", "message": "bad"}),
        ("a\ud800b", "a\\ud800b"),
        (collections.deque([1, (2,)]), [1, [2]]),
        ({"a": 1}.keys(), ["a"]),
        ({"a": 1}.values(), [1]),
        ({"a": 1}.items(), [["a", 1]]),
        (array.array("i", [1, 2]), [1, 2]),
        (range(3), [0, 1, 2]),
        (range(10**12), "range(0, 1000000000000)"),
        (1 + 2j, "(1+2j)"),
        (ipaddress.ip_address("127.0.0.1"), "127.0.0.1"),
        (types.SimpleNamespace(a=1, b=(2,)), {"a": 1, "b": [2]}),
        (2**100, 2**100),
    ],
    ids=lambda item: repr(item)[:30],
)
def test_forms(value: Any, form: Any) -> None:
    assert jsonable(value) == form


def test_cycles_depth_and_giants() -> None:
    loop: dict[str, Any] = {"a": [1]}
    loop["a"].append(loop)
    assert jsonable(loop) == {"a": [1, "<cycle: dict>"]}
    shared = [1]
    assert jsonable([shared, shared]) == [[1], [1]], "the same object twice is no cycle"
    deep: Any = 1
    for _ in range(10_000):
        deep = [deep]
    assert "<too deep: list>" in json_text(deep)
    assert jsonable(10**10_000).startswith("0x")


@pytest.mark.parametrize(
    "value",
    [
        Hostile(),
        [Hostile()],
        {"a": Hostile()},
        Liar(a=1),
        {Hostile(): 1},
        Model,
        lambda: 1,
        object(),
        iter([]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_nothing_raises(value: Any) -> None:
    json.dumps(jsonable(value), allow_nan=False).encode()


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
        ),
        max_leaves=8,
    )
)
def test_law_json_is_unchanged(value: Any) -> None:
    assert jsonable(value) == value
    assert json.loads(json_text(value)) == value


class Lies:
    @property
    def __class__(self) -> type:  # type: ignore[override]
        return str


class Raises:
    @property
    def __class__(self) -> type:  # type: ignore[override]
        raise SystemExit


class Bad(enum.Enum):
    A = 1

    @property
    def value(self) -> Any:
        raise RuntimeError("no")


@pytest.mark.parametrize("make", [Lies, Raises, lambda: Bad.A, lambda: {Bad.A: [Lies()]}])
def test_objects_that_lie_about_themselves(make: Any) -> None:
    json.dumps(jsonable(make())).encode()


def test_a_short_repr_does_not_build_the_long_one() -> None:
    shared: Any = [1]
    for _ in range(60):
        shared = [shared, shared]
    assert len(brief_repr(shared)) < 5_000
    assert len(brief_repr(b"x" * 50_000_000)) < 300


def test_numpy_forms() -> None:
    import numpy as np

    assert jsonable(np.float64("nan")) == "NaN"
    assert jsonable(np.array([[1, 2], [3, 4]])) == [[1, 2], [3, 4]]
    assert jsonable(np.array([1 + 2j])) == ["(1+2j)"]
    for unit in ("D", "s", "ns"):
        (text,) = jsonable(np.array(["2026-01-02"], f"datetime64[{unit}]"))
        assert text.startswith("2026-01-02")
    assert (
        jsonable(np.datetime64("2026-01-02T03:04:05.123456789")) == "2026-01-02T03:04:05.123456789"
    )
    assert jsonable(np.array(["NaT", "2026-01-02"], "datetime64[D]")) == [None, "2026-01-02"]
    assert jsonable(np.timedelta64(90, "s")) == "PT90S"
    assert jsonable(np.timedelta64(90, "ns")) == "PT0S"
    assert jsonable(np.array([(1, "a")], [("n", int), ("s", "U1")])) == [[1, "a"]]
    assert jsonable(np.array([{1}, None], object)) == [[1], None]


def test_pandas_forms() -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"], "c": [0.5, None]})
    assert jsonable(frame) == [{"a": 1, "b": "x", "c": 0.5}, {"a": 2, "b": "y", "c": "NaN"}]
    assert jsonable(frame[[]]) == jsonable(frame.head(0)) == []
    assert jsonable(frame.set_index("a")[["b"]].head(1)) == [{"a": 1, "b": "x"}]
    assert jsonable(pd.DataFrame({"a": [1]}, index=["total"])) == [{"index": "total", "a": 1}]
    pairs = pd.DataFrame({"n": [1]}, index=pd.MultiIndex.from_tuples([("x", 2)], names=["k", None]))
    assert jsonable(pairs) == [{"k": "x", "level_1": 2, "n": 1}]
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    assert jsonable(twice) == {"columns": ["a", "a"], "rows": [[1, 2]]}
    assert jsonable(pd.Series([1, 2], index=["x", "y"])) == {"x": 1, "y": 2}
    assert jsonable(pd.Series([1, 2], index=["x", "x"])) == [["x", 1], ["x", 2]]
    assert jsonable(pd.Index(["x", "y"])) == ["x", "y"]
    assert jsonable([pd.NaT, pd.NA]) == [None, None]
    assert jsonable(pd.Timestamp("2026-01-02")) == "2026-01-02T00:00:00"
    assert jsonable(pd.Timedelta("90s")) == "PT90S"
    assert jsonable(pd.Period("2026-01")) == "2026-01"
    assert jsonable(pd.Categorical(["x", "y"])) == ["x", "y"]
    assert jsonable(pd.Interval(0, 1)) == "(0, 1]"


class Table:
    """As polars and pyarrow have theirs."""

    def to_dicts(self) -> list[dict[str, int]]:
        return [{"a": 1}]


class Tensor:
    def tolist(self) -> list[float]:
        return [1.5, float("nan")]


def test_forms_are_known_by_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Table, "__module__", "polars.dataframe.frame")
    monkeypatch.setattr(Tensor, "__module__", "torch")
    assert jsonable([Table(), Tensor()]) == [[{"a": 1}], [1.5, "NaN"]]


def test_attrs_classes_are_objects() -> None:
    import attrs

    made = attrs.make_class("Made", ["a", "b"], slots=True)
    assert jsonable(made(1, {2})) == {"a": 1, "b": [2]}


def test_reading_uses_nothing_up() -> None:
    numbers = (n for n in range(3))
    assert jsonable(numbers).startswith("<generator object")
    assert list(numbers) == [0, 1, 2]


def test_parts_that_are_shared_over_and_over_are_cut() -> None:
    value: list[Any] = [1]
    for _ in range(40):
        value = [value, value]
    text = json_text(value)
    assert "<too large: list>" in text
    assert len(text) < 50_000_000


def test_keys_that_are_equal_as_text_are_all_kept() -> None:
    found = jsonable({None: 1, "null": 2, True: 3, "true": 4, 2: 5, "2": 6, 1.5: 7, "1.5": 8})
    assert sorted(found.values()) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert found["null (str)"] == 2


def test_a_model_is_shown_under_the_names_of_its_schema() -> None:
    class Named(BaseModel):
        the_name: str = Field(alias="theName")

    assert jsonable(Named(theName="x")) == {"theName": "x"}


def test_an_object_with_a_method_that_only_looks_like_a_models() -> None:
    class Other:
        def model_dump(self) -> dict[str, int]:
            return {"a": 1}

    assert jsonable(Other()) == {"a": 1}
