"""Any Python value has a JSON form, and making it never raises."""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import json
import pathlib
import uuid
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

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
