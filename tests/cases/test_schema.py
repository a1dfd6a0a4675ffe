"""Signatures that break other libraries: what the model is shown, and that the call still works."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import json
from pathlib import Path
from typing import Annotated, Any, Optional

import annotated_types
import pytest
from pydantic import BaseModel, Field

from agtools_nb import DefinitionError, Tool, ToolContext
from agtools_nb.jsonable import brief_repr
from cases.calling import call, made_by_exec, refused, schema_of, value

# Names that frameworks take for themselves, and names that Python itself likes.
TAKEN = [
    *("args", "kwargs", "v__args", "self", "cls", "name", "tool_name", "fn", "tool", "tools"),
    *("config", "context", "ctx", "state", "run_manager", "callbacks", "runtime", "input"),
    *("arguments", "values", "call", "id", "type", "title", "properties", "required", "default"),
    *("return_", "signature", "validate", "schema", "json", "copy", "dict", "construct"),
]
PYDANTIC = sorted(name for name in dir(BaseModel) if not name.startswith("_"))


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("form", ["{}: str", "*, {}: str", "{}: str, /"])
def test_a_parameter_may_have_a_name_that_frameworks_use(name: str, form: str) -> None:
    """schema-01: the name is the property, whatever the framework calls its own things."""
    f = made_by_exec(f"def f({form.format(name)}) -> str: return 'got ' + {name}")
    assert schema_of(f)["properties"] == {name: {"type": "string"}}
    assert schema_of(f)["required"] == [name]
    assert value(f, {name: "-l"}) == "got -l"


class TestPositionalOnly:
    """schema-02: bound by position, shown by name."""

    def test_beside_an_ordinary_one(self) -> None:
        def add(a: int, /, b: int) -> int:
            return a + b

        assert set(schema_of(add)["properties"]) == {"a", "b"}
        assert schema_of(add)["type"] == "object"
        assert value(add, {"a": 1, "b": 2}) == 3

    def test_all_kinds_at_once(self) -> None:
        def f(a: int, b: int = 2, /, c: int = 3, *, d: int, e: int = 5, **more: int) -> Any:
            return a, b, c, d, e, more

        assert value(f, {"a": 1, "d": 4}) == (1, 2, 3, 4, 5, {})
        assert value(f, {"d": 4, "a": 1, "c": 9, "x": 7}) == (1, 2, 9, 4, 5, {"x": 7})

    def test_a_later_one_is_given_and_an_earlier_one_is_not(self) -> None:
        def f(a: int = 1, b: int = 2, /) -> Any:
            return a, b

        assert value(f, {"b": 5}) == (1, 5)

    def test_a_context_among_them(self) -> None:
        def f(a: int, ctx: ToolContext, b: int = 2, /) -> Any:
            return a, type(ctx).__name__, b

        assert value(f, {"a": 1}, context=ToolContext()) == (1, "ToolContext", 2)


class TestNamesOfPydantic:
    """schema-04: names of a model's own members are plain properties."""

    @pytest.mark.parametrize("name", PYDANTIC)
    def test_each_required_and_with_a_default(self, name: str) -> None:
        f = made_by_exec(f"def f({name}: str): return {name}")
        g = made_by_exec(f"def f({name}: int = 7): return {name}")
        assert list(schema_of(f)["properties"]) == [name]
        assert value(f, {name: "a"}) == "a"
        assert schema_of(g)["properties"] == {name: {"type": "integer", "default": 7}}
        assert (value(g, {}), value(g, {name: "3"})) == (7, 3)

    def test_all_of_them_at_once(self) -> None:
        f = made_by_exec(
            f"def f({', '.join(f'{name}: str' for name in PYDANTIC)}): return locals()"
        )
        given = {name: f"<{name}>" for name in PYDANTIC}
        assert list(schema_of(f)["properties"]) == PYDANTIC
        assert value(f, given) == given

    def test_the_case_itself(self) -> None:
        def export(schema: str, model_config: str, json: str, copy: bool = False) -> str:
            return f"{schema} {model_config} {json} {copy}"

        assert value(export, {"schema": "a", "model_config": "b", "json": "c"}) == "a b c False"


@pytest.mark.parametrize("name", ["_id", "_", "__", "_private_", "__dunder__", "__class_getitem__"])
def test_a_parameter_may_begin_with_an_underscore(name: str) -> None:
    """schema-05: shown, required and passed like any other."""
    f = made_by_exec(f"def f({name}: str, b: int = 1): return 'got ' + {name}")
    assert list(schema_of(f)["properties"]) == [name, "b"]
    assert schema_of(f)["required"] == [name]
    assert value(f, {name: "7"}) == "got 7"


class TestFieldAsDefault:
    """schema-07: ``= Field(...)`` holds constraints; the function never sees it."""

    @pytest.mark.parametrize("field", [Field(..., gt=0), Field(gt=0)], ids=["ellipsis", "nothing"])
    def test_required(self, field: Any) -> None:
        def f(age: int = field):
            return age

        assert schema_of(f)["required"] == ["age"]
        assert schema_of(f)["properties"]["age"] == {"type": "integer", "exclusiveMinimum": 0}
        assert refused(f, {}) == ["/age"]
        assert refused(f, {"age": -1}) == ["/age"]
        assert value(f, {"age": "3"}) == 3

    @pytest.mark.parametrize(
        ("field", "right"),
        [(Field(5, ge=1), 5), (Field(default=None), None), (Field(default_factory=list), [])],
        ids=["value", "none", "factory"],
    )
    def test_optional(self, field: Any, right: Any) -> None:
        def f(a: Any = field, *, b: Any = field):
            return a, b

        assert "required" not in schema_of(f)
        assert value(f, {}) == (right, right)

    def test_a_factorys_value_is_not_shared_between_calls(self) -> None:
        def f(a: list[int] = Field(default_factory=list)):
            a.append(1)
            return list(a)

        assert [value(f, {}), value(f, {})] == [[1], [1]]


class TestAnnotated:
    """schema-08: text and constraints in any order, at any depth."""

    @pytest.mark.parametrize(
        "annotation",
        [
            Annotated[int, "How many items", Field(ge=1, le=10)],
            Annotated[int, Field(ge=1, le=10), "How many items"],
            Annotated[int, Field(ge=1, le=10, description="How many items")],
            Annotated[int, Field(ge=1), "How many items", Field(le=10)],
            Annotated[Annotated[int, Field(ge=1, le=10)], "How many items"],
            Annotated[int, "How many items", annotated_types.Interval(ge=1, le=10)],
            Annotated[int, annotated_types.Ge(1), annotated_types.Le(10), "How many items"],
        ],
        ids=str,
    )
    def test_bounds_and_text_are_kept(self, annotation: Any) -> None:
        def pick(count: annotation):  # type: ignore[valid-type]
            return count

        pick.__annotations__ = {"count": annotation}
        assert schema_of(pick)["properties"]["count"] == {
            "type": "integer",
            "description": "How many items",
            "minimum": 1,
            "maximum": 10,
        }
        assert refused(pick, {"count": 999}) == ["/count"]
        assert value(pick, {"count": "10"}) == 10

    def test_inside_containers(self) -> None:
        def pick(counts: list[Annotated[int, "Each", Field(ge=1)]]):
            return counts

        assert schema_of(pick)["properties"]["counts"]["items"]["minimum"] == 1
        assert refused(pick, {"counts": [1, 0]}) == ["/counts/1"]

    def test_optional_with_bounds(self) -> None:
        def pick(count: Annotated[Optional[int], "How many", Field(ge=1)] = None):  # noqa: UP045
            return count

        assert schema_of(pick)["properties"]["count"]["description"] == "How many"
        assert (value(pick, {}), value(pick, {"count": None}), value(pick, {"count": "1"})) == (
            None,
            None,
            1,
        )
        assert refused(pick, {"count": 0}) == ["/count"]


HEADER = "from __future__ import annotations\nfrom typing import TYPE_CHECKING, Optional\nif TYPE_CHECKING: from pandas import DataFrame\n"


class TestNamesThatDoNotResolve:
    """schema-10: each hint is looked up on its own; what came of a return type costs nothing."""

    @pytest.mark.parametrize(
        "returns",
        ["DataFrame", "Optional[DataFrame]", "list[no.such.module]", "'('", "Missing[int]"],
    )
    def test_a_return_type(self, returns: str) -> None:
        f = made_by_exec(f"{HEADER}def f(x: int) -> {returns}: return x")
        assert schema_of(f)["properties"] == {"x": {"type": "integer"}}
        assert value(f, {"x": "3"}) == 3

    def test_a_parameter_is_named_with_the_remedy(self) -> None:
        f = made_by_exec(f"{HEADER}def f(x: int, frame: DataFrame): return x")
        with pytest.raises(
            DefinitionError, match=r"'DataFrame' of parameter 'frame'.*TYPE_CHECKING"
        ):
            schema_of(f)

    def test_a_sibling_is_not_hurt(self) -> None:
        bad = made_by_exec(f"{HEADER}def f(frame: DataFrame): ...")
        good = made_by_exec("def f(x: int): return x")
        from cases.calling import batch

        tools = [Tool.from_function(bad, name="bad"), Tool.from_function(good, name="good")]
        results = batch(tools, [("bad", {"frame": 1}), ("good", {"x": "3"})])
        assert [result.ok for result in results] == [False, True]
        assert "DataFrame" in str(results[0].error)

    def test_text_annotations_of_a_cell_resolve(self) -> None:
        f = made_by_exec(
            f"{HEADER}class Point: pass\ndef f(x: 'Optional[int]' = None) -> 'Point': return x"
        )
        assert value(f, {"x": "3"}) == 3


class TestWithoutAnnotation:
    """schema-11: no type is claimed, and nothing is changed."""

    def test_with_and_without_default(self) -> None:
        def f(x, y=5):
            return x, y

        assert schema_of(f)["properties"] == {"x": {}, "y": {"default": 5}}
        assert schema_of(f)["required"] == ["x"]
        assert value(f, {"x": 5, "y": "7"}) == (5, "7")

    @pytest.mark.parametrize("sent", [None, "null", "[1]", 3.0, True, [1], {"a": "1"}], ids=repr)
    def test_any_value_passes_as_it_is(self, sent: Any) -> None:
        def f(x, *, y=None):
            return x, y

        found = value(f, {"x": sent, "y": sent})
        assert json.dumps(found) == json.dumps([sent, sent])

    def test_a_default_of_any_type_is_no_type(self) -> None:
        def f(a=None, b=True, c="x", d=(1, 2)): ...

        assert all("type" not in sub for sub in schema_of(f)["properties"].values())


class TestRequired:
    """schema-13: required is what has no default; nullable is what may be null."""

    def test_defaults(self) -> None:
        def f(a: str, ref: str = None, n: Optional[int] = None): ...  # type: ignore[assignment] # noqa: UP045

        def g(x: Optional[int]): ...  # noqa: UP045

        assert schema_of(f)["required"] == ["a"]
        assert schema_of(g)["required"] == ["x"]
        assert refused(g, {}) == ["/x"]
        assert "it is required" in str(call(g, {}).error)
        assert value(g, {"x": None}) is None

    def test_a_default_that_its_type_refuses_is_still_used(self) -> None:
        def f(ref: str = None, n: int = None):  # type: ignore[assignment]
            return ref, n

        assert value(f, {}) == (None, None)
        assert refused(f, {"ref": None}) == ["/ref"]


class Colour(enum.Enum):
    RED = "red"
    ODD = frozenset()


SENTINEL = object()


@pytest.mark.parametrize(
    ("annotation", "default"),
    [
        (Path, Path()),
        (float, float("inf")),
        (float, float("-inf")),
        (float, float("nan")),
        (Any, SENTINEL),
        (Any, [1, float("inf")]),
        (Any, {"a": SENTINEL}),
        (Any, {1, 2}),
        (Any, print),
        (bytes, b"\xff"),
        (decimal.Decimal, decimal.Decimal("NaN")),
        (dt.date, dt.date(2026, 1, 15)),
        (Colour, Colour.RED),
        (Any, Colour.ODD),
        (str, "\ud800"),
        (Any, 10**4000),
    ],
    ids=lambda item: brief_repr(item)[:40].partition(" at 0x")[0],
)
def test_the_schema_is_strict_json_and_the_real_default_is_used(
    annotation: Any, default: Any
) -> None:
    """schema-14: what JSON cannot hold is left out of the schema; the parameter stays optional."""

    def f(o=default):
        return o is default

    f.__annotations__ = {"o": annotation}
    text = json.dumps(schema_of(f), allow_nan=False)
    text.encode()
    assert "required" not in schema_of(f)
    assert value(f, {}) is True
    json.dumps(call(f, {}).arguments, allow_nan=False)
