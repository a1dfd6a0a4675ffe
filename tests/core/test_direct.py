"""The validator for Python values agrees with strict JSON wherever it is used."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import TypedDict

from agtools_nb import tool
from agtools_nb.arguments import is_plain, plan_of
from core.schemas import JSON


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Number(enum.IntEnum):
    ONE = 1


class Point(BaseModel):
    x: int
    y: float = 0.5
    label: str | None = None


class Tight(BaseModel):
    # No generated key is the field's own name: where an alias is there too, pydantic before 2.14
    # overlooks in JSON that it is one too many.
    model_config = ConfigDict(extra="forbid", strict=True)
    inner: int = Field(alias="b")


class Tree(BaseModel):
    a: int = 0
    b: list[Tree] = []


@dataclasses.dataclass
class Size:
    a: int
    b: str = "m"


class Options(TypedDict, total=False):
    a: bool
    b: list[int]


class Pair(NamedTuple):
    a: int
    b: str = "x"


class Cat(BaseModel):
    kind: Literal["cat"]
    a: int = 0


class Dog(BaseModel):
    kind: Literal["dog"]
    b: str = ""


CERTAIN: list[Any] = [
    int, float, bool, str, None, int | None, str | int, float | int | bool, Literal["a", "1"], Colour,
    list[int], dict[str, float], set[int], tuple[int, str], tuple[int, ...], frozenset[str],
    Point, Tight, Tree, Size, Options, list[Point], dict[str, list[Tree]], Point | list[Size] | None,
    Point | int | str, set[int] | bool,
    Annotated[Cat | Dog, Field(discriminator="kind")], Annotated[int, Field(ge=0, le=5)],
    Annotated[str, AfterValidator(str.upper)], Any, list[Any], dict[str, Any], list, dict,
]  # fmt: skip
UNSURE = [
    bytes,
    dt.date,
    dt.datetime,
    dt.timedelta,
    UUID,
    Number,
    Literal[1, True],
    dict[int, int],
    Pair,
]


def planned(annotation: Any) -> Any:
    def fn(value):
        return value

    fn.__annotations__ = {"value": annotation}
    return plan_of(tool(fn))


def by_json(plan: Any, arguments: Any) -> Any:
    try:
        return plan._adapter.validate_json(json.dumps(arguments), strict=True)
    except ValidationError:
        return None


NEAR = st.one_of(
    JSON,
    st.sampled_from([1, 1.0, 0, "1", "a", "red", True, None, [], {}, [1], ["1"], [1.0], [True]]),
    st.fixed_dictionaries(
        {},
        optional={
            "a": st.sampled_from([1, 1.0, True, "1", None, "x"]),
            "b": st.sampled_from([1, "x", [1], [], [{"a": 1}], [{"a": 1, "b": [{}]}], None]),
            "x": st.sampled_from([1, 1.5, "1", False]),
            "y": st.sampled_from([1, 1.5, "1", None]),
            "label": st.sampled_from(["l", None, 3]),
            "kind": st.sampled_from(["cat", "dog", "cow", 1]),
        },
    ),
    st.lists(st.fixed_dictionaries({"x": st.integers()}), max_size=3),
)


@pytest.mark.parametrize("annotation", CERTAIN, ids=repr)
def test_it_is_used_for_plain_types(annotation: Any) -> None:
    assert planned(annotation).direct is not None


@pytest.mark.parametrize("annotation", UNSURE, ids=repr)
def test_it_is_not_used_where_python_and_json_differ(annotation: Any) -> None:
    assert planned(annotation).direct is None


@pytest.mark.parametrize("annotation", [*CERTAIN, *UNSURE], ids=repr)
@settings(max_examples=150, deadline=None)
@given(value=NEAR)
def test_law_it_accepts_what_strict_json_accepts_and_makes_the_same_of_it(
    annotation: Any, value: Any
) -> None:
    plan = planned(annotation)
    arguments = {"value": value}
    found, right = plan.values(arguments), by_json(plan, arguments)
    found = found if isinstance(found, dict) else None  # else it is pydantic's error
    assert (found is None) == (right is None)
    if right is not None:
        assert found == right
        assert repr(found) == repr(right)  # True == 1 == 1.0


def test_what_may_be_handed_through_uncopied_is_known() -> None:
    for annotation in (Any, list[Any], dict[str, Any], list, dict, list[dict[str, Any]]):
        assert planned(annotation).shares
    for annotation in (list[int], Point, dict[str, list[int]], Tree):
        assert not planned(annotation).shares


@given(JSON)
def test_plain_arguments_are_scalars_that_json_holds(value: Any) -> None:
    scalar = (
        value is None
        or isinstance(value, (bool, str, float))
        or (isinstance(value, int) and -(2**63) <= value < 2**63)
    )
    assert is_plain({"a": value}) == scalar


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), Colour.RED, Number.ONE, b"", 2**63, [], {}, ()], ids=repr
)
def test_everything_else_is_not_plain(value: Any) -> None:
    assert not is_plain({"a": value})
    assert not is_plain({1: "x"})
    assert not is_plain([1])
