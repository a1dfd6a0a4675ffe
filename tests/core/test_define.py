"""From a function to a tool: names, parameters, schemas, descriptions, and what cannot be a tool."""

from __future__ import annotations

import datetime as dt
import enum
import functools
import inspect
import io
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, Optional, Unpack

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from agtools_nb import DefinitionError, Tool, ToolContext, tool
from agtools_nb.define import reading

if TYPE_CHECKING:
    from decimal import Decimal as OnlyForTypeCheckers


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    """A place."""

    x: int
    y: int = 0


class Tree(BaseModel):
    value: int
    children: list[Tree] = []


@dataclass
class Size:
    width: float
    height: float = 1.0


class Filters(TypedDict):
    city: str
    open: NotRequired[bool]


def properties(fn: Callable[..., Any], **options: Any) -> dict[str, Any]:
    schema = Tool.from_function(fn, **options).input_schema
    jsonschema.Draft202012Validator.check_schema(schema)
    json.dumps(schema, allow_nan=False)
    return schema["properties"]


def test_the_schema_comes_from_the_signature() -> None:
    @tool
    def plan(city: str, days: int = 3, *, slow: bool = False) -> str:
        """Plan a trip."""

    assert plan.name == "plan"
    assert plan.description == "Plan a trip."
    assert plan.input_schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "default": 3},
            "slow": {"type": "boolean", "default": False},
        },
        "required": ["city"],
        "additionalProperties": False,
    }
    assert plan.response_schema == {"type": "string"}


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Colour, {"type": "string", "enum": ["red", "blue"]}),
        (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045
        (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
        (dt.date, {"type": "string", "format": "date"}),
        (uuid.UUID, {"type": "string", "format": "uuid"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (Annotated[int, Field(ge=1, le=9)], {"type": "integer", "minimum": 1, "maximum": 9}),
        (Any, {}),
    ],
)
def test_types_as_json_schema(annotation: Any, schema: dict[str, Any]) -> None:
    def take(value): ...

    take.__annotations__["value"] = annotation
    assert properties(take)["value"] == schema


def test_models_dataclasses_and_typed_dicts_are_objects() -> None:
    def take(point: Point, size: Size, filters: Filters): ...

    found = properties(take)
    assert {name: found[name]["type"] for name in found} == dict.fromkeys(found, "object")
    assert found["point"]["required"] == ["x"]
    assert found["filters"]["required"] == ["city"]
    assert "title" not in json.dumps(found)


def test_definitions_are_kept_only_for_recursion_and_reuse() -> None:
    def once(point: Point): ...
    def twice(start: Point, end: Point): ...
    def recursive(tree: Tree): ...

    assert "$defs" not in Tool.from_function(once).input_schema
    assert set(Tool.from_function(twice).input_schema["$defs"]) == {"Point"}
    assert set(Tool.from_function(recursive).input_schema["$defs"]) == {"Tree"}


@pytest.mark.parametrize(
    "name",
    [
        "self",
        "args",
        "kwargs",
        "_id",
        "schema",
        "model_config",
        "json",
        "copy",
        "name",
        "tool_name",
        "config",
        "fn",
    ],
)
def test_a_parameter_may_have_any_name(name: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"def take({name}: str) -> str: return {name}", namespace)
    made = Tool.from_function(namespace["take"])
    assert made.input_schema["required"] == [name]
    assert made.adapter.validate_json(json.dumps({name: "v"})) == {name: "v"}


def test_required_and_nullable_are_told_apart() -> None:
    def take(a: str, ref: str = None, n: int | None = None): ...
    def nullable_but_required(x: int | None): ...

    made = Tool.from_function(take)
    assert made.input_schema["required"] == ["a"]
    assert "default" not in made.input_schema["properties"]["ref"], "null is no string"
    assert made.input_schema["properties"]["n"]["default"] is None
    assert Tool.from_function(nullable_but_required).input_schema["required"] == ["x"]


def test_defaults_that_json_cannot_hold_are_left_out() -> None:
    def take(path: Path = Path("a"), limit: float = float("inf"), mark: Any = object()): ...

    found = properties(take)
    assert found["path"]["default"] == "a"
    assert "default" not in found["limit"]
    assert "default" not in found["mark"]
    assert "required" not in Tool.from_function(take).input_schema


def test_field_as_default_holds_constraints_not_a_value() -> None:
    def take(age: int = Field(..., gt=0), size: int = Field(5, le=9, description="How big")): ...

    made = Tool.from_function(take)
    assert made.input_schema["required"] == ["age"]
    assert made.input_schema["properties"] == {
        "age": {"type": "integer", "exclusiveMinimum": 0},
        "size": {"type": "integer", "description": "How big", "maximum": 9, "default": 5},
    }


def test_text_in_annotated_is_the_description() -> None:
    def take(count: Annotated[int, "How many", Field(ge=1)]): ...

    assert properties(take)["count"] == {"type": "integer", "description": "How many", "minimum": 1}


def test_an_annotated_description_wins_over_the_docstring() -> None:
    def take(a: Annotated[int, Field(description="of the type")], b: int):
        """Take.

        Args:
            a: of the docstring
            b: of the docstring
        """

    found = properties(take)
    assert found["a"]["description"] == "of the type"
    assert found["b"]["description"] == "of the docstring"


def test_a_parameter_without_annotation_takes_anything() -> None:
    def take(x, y=5): ...

    assert properties(take) == {"x": {}, "y": {"default": 5}}


def test_keyword_arguments_are_additional_properties() -> None:
    def open_ended(**more): ...
    def typed(**more: int): ...
    def unpacked(**more: Unpack[Filters]): ...

    assert Tool.from_function(open_ended).input_schema["additionalProperties"] is True
    assert Tool.from_function(typed).input_schema["additionalProperties"] == {"type": "integer"}
    assert Tool.from_function(unpacked).input_schema["required"] == ["city"]
    assert Tool.from_function(unpacked).input_schema["additionalProperties"] is False


@given(
    positional=st.integers(0, 3), plain=st.integers(0, 3), keywords=st.integers(0, 3),
    with_default=st.integers(0, 6), stars=st.sampled_from(["", "*args", "*"]), more=st.booleans(),
    annotated=st.booleans(),
)  # fmt: skip
def test_signatures_are_read_as_inspect_reads_them(
    positional: int,
    plain: int,
    keywords: int,
    with_default: int,
    stars: str,
    more: bool,
    annotated: bool,
) -> None:
    hint = ": int" if annotated else ""
    names = [f"p{number}" for number in range(positional + plain)]
    parts = [
        f"{name}{hint}" + (f" = {number}" if number >= len(names) - with_default else "")
        for number, name in enumerate(names)
    ]
    if positional:
        parts.insert(positional, "/")
    if stars == "*args" or (keywords and stars):
        parts += [
            stars,
            *(f"k{number}{hint}" + " = 0" * (number % 2) for number in range(keywords)),
        ]
    parts += [f"**more{hint}"] * more
    namespace: dict[str, Any] = {}
    exec(f"def f({', '.join(parts)}): x = 1", namespace)
    read = [tuple(one) for one in reading._parameters(namespace["f"])]
    found = inspect.signature(namespace["f"]).parameters.values()
    assert read == [(one.name, one.kind, one.annotation, one.default) for one in found]


class TestContextParameters:
    """Only the annotation decides what is injected."""

    @pytest.mark.parametrize(
        "annotation",
        [
            ToolContext,
            ToolContext | None,
            Optional[ToolContext],  # noqa: UP045
            Annotated[ToolContext, "mine"],
            "ToolContext",
            "ToolContext | None",
        ],
    )
    def test_never_reach_the_schema(self, annotation: Any) -> None:
        def take(query: str, anything=None): ...

        take.__annotations__["anything"] = annotation
        made = Tool.from_function(take)
        assert list(made.input_schema["properties"]) == ["query"]
        assert made.injected == ("anything",)

    def test_a_name_alone_injects_nothing(self) -> None:
        def take(ctx: str, context: int): ...

        assert list(properties(take)) == ["ctx", "context"]

    def test_a_subclass_is_injected_too(self) -> None:
        class Own(ToolContext):
            pass

        def take(c: Own): ...

        assert Tool.from_function(take).injected == ("c",)


class TestCallables:
    """What can be a tool besides a function."""

    class Greeter:
        """Greets."""

        def __init__(self, word: str = "hi") -> None:
            self.word = word

        async def __call__(self, name: str) -> str:
            return f"{self.word} {name}"

        def method(self, name: str) -> str:
            """Say it."""
            return f"{self.word}, {name}"

    def test_an_object_is_named_after_its_class(self) -> None:
        made = Tool.from_function(self.Greeter())
        assert (made.name, made.description, made.is_async) == ("Greeter", "Greets.", True)
        assert list(made.input_schema["properties"]) == ["name"]

    def test_a_bound_method(self) -> None:
        made = Tool.from_function(self.Greeter().method)
        assert (made.name, made.description) == ("method", "Say it.")
        assert made("Ada") == "hi, Ada"

    def test_what_a_partial_fixes_is_not_shown_to_the_model(self) -> None:
        def fetch(path: str, token: str = "", retries: int = 1):
            """Fetch."""

        made = Tool.from_function(functools.partial(fetch, token="secret"))
        assert list(made.input_schema["properties"]) == ["path", "retries"]
        assert "secret" not in json.dumps(made.input_schema)
        assert (made.name, made.description) == ("fetch", "Fetch.")

    def test_what_a_partial_fixes_cannot_be_sent_through_the_keywords(self) -> None:
        def fetch(path: str, token: str = "", **more: Any): ...

        with pytest.raises(DefinitionError, match=r"the partial fixes 'token'.*Wrap it"):
            Tool.from_function(functools.partial(fetch, token="secret"))
        assert Tool.from_function(functools.partial(fetch, "a")).input_schema

    def test_a_wrapped_function_keeps_its_signature(self) -> None:
        def decorator(fn: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(fn)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                return fn(*args, **kwargs)

            return wrapper

        @decorator
        def add(a: int, b: int) -> int:
            """Add."""
            return a + b

        made = Tool.from_function(add)
        assert list(made.input_schema["properties"]) == ["a", "b"]

    def test_calling_a_tool_calls_the_function(self) -> None:
        @tool
        def double(x: int) -> int:
            return x * 2

        assert double(4) == 8
        assert double.__wrapped__(4) == 8

    def test_no_source_text_is_needed(self) -> None:
        namespace: dict[str, Any] = {}
        exec(compile("def f(x: int) -> int: return x", "<ipython-input-1>", "exec"), namespace)
        assert list(properties(namespace["f"])) == ["x"]


class TestTextAnnotations:
    """This file has `from __future__ import annotations`, so every annotation in it is text."""

    def test_a_class_of_the_enclosing_function_resolves(self) -> None:
        class Inner(BaseModel):
            n: int

        @tool
        def take(inner: Inner): ...

        assert take.input_schema["properties"]["inner"]["required"] == ["n"]

    def test_a_return_type_that_does_not_resolve_costs_nothing(self) -> None:
        def take(x: int) -> OnlyForTypeCheckers: ...

        made = Tool.from_function(take)
        assert made.input_schema["properties"] == {"x": {"type": "integer"}}
        with pytest.warns(UserWarning, match=r"take has no response schema.*OnlyForTypeCheckers"):
            assert made.response_schema is None
        assert made.response_schema is None, "the warning comes once"

    def test_a_parameter_type_that_never_resolves_is_named(self) -> None:
        def take(amount: OnlyForTypeCheckers): ...

        made = Tool.from_function(take)
        with pytest.raises(
            DefinitionError, match=r"'OnlyForTypeCheckers' of parameter 'amount'.*not defined"
        ):
            made.input_schema  # noqa: B018

    def test_a_type_defined_after_the_function_resolves_on_first_use(self) -> None:
        namespace: dict[str, Any] = {"__name__": "later"}
        exec("def f(x: 'Later') -> int: ...", namespace)
        made = Tool.from_function(namespace["f"])
        exec("class Later(int): pass\nLater = int", namespace)
        assert made.input_schema["properties"]["x"] == {"type": "integer"}


class TestNotATool:
    """A function that cannot be a tool fails where it is defined; the message has the name and the fix."""

    def test_var_positional(self) -> None:
        with pytest.raises(
            DefinitionError, match=r"parameter \*names .*Take a list instead: `names: list"
        ):

            @tool
            def take(*names: str): ...

    @pytest.mark.parametrize("annotation", [io.StringIO, Callable[[int], int], type(json)])
    def test_a_type_that_json_schema_cannot_hold(self, annotation: Any) -> None:
        def take(good: int, bad): ...

        take.__annotations__["bad"] = annotation
        with pytest.raises(
            DefinitionError,
            match=r"take cannot be a tool: parameter 'bad' has the type .*Use a type",
        ):
            tool(take)

    def test_a_lambda_without_a_name(self) -> None:
        with pytest.raises(DefinitionError, match='give one: name="'):
            tool(lambda n: n)
        assert tool(name="twice")(lambda n: n * 2).name == "twice"

    @pytest.mark.parametrize("name", ["", "bad name", "café", "a" * 65, "x/y", "x\n"])
    def test_a_name_that_providers_refuse(self, name: str) -> None:
        with pytest.raises(DefinitionError, match="cannot be a tool's name"):
            Tool.from_function(test_types_as_json_schema, name=name)


def test_parameters_in_words() -> None:
    @tool
    def plan(
        stops: list[Point],
        mode: Literal["fast", "slow"] = "fast",
        days: int = Field(3, ge=1, le=30),
    ): ...

    shown = [
        (p.name, p.required, p.type_text, p.bounds_text, p.default_text) for p in plan.parameters
    ]
    assert shown == [
        ("stops", True, "array of object", "", None),
        ("mode", False, 'one of "fast", "slow"', "", '"fast"'),
        ("days", False, "integer", "from 1 to 30", "3"),
    ]
    assert (
        plan.usage
        == 'plan(stops: array of object, mode?: one of "fast", "slow" = "fast", days?: integer = 3)'
    )


class TestHostileCallables:
    def test_objects_that_answer_to_every_name(self) -> None:
        import unittest.mock
        import xmlrpc.client

        for proxy in (xmlrpc.client.ServerProxy("http://127.0.0.1:9").add, unittest.mock.call):
            try:
                Tool(proxy, name="proxy")
            except DefinitionError:
                continue

    def test_a_function_that_wraps_itself(self) -> None:
        def f(x: int): ...

        f.__wrapped__ = f  # type: ignore[attr-defined]
        with pytest.raises(DefinitionError, match="knows no signature"):
            Tool.from_function(f)

    def test_a_sync_wrapper_of_an_async_function_is_sync(self) -> None:
        async def inner(n: int): ...

        @functools.wraps(inner)
        def outer(n: int) -> int:
            return n

        assert Tool.from_function(outer).is_async is False
        assert Tool.from_function(inner).is_async is True

    @pytest.mark.parametrize(
        "annotation",
        [
            Annotated[str, Field(pattern="(")],
            Annotated[int, Field(json_schema_extra={"a": object()})],
        ],
        ids=["pattern", "extra"],
    )
    def test_types_that_fail_in_their_own_way(self, annotation: Any) -> None:
        def take(bad): ...

        take.__annotations__["bad"] = annotation
        with pytest.raises(DefinitionError, match="parameter 'bad'"):
            tool(take).input_schema  # noqa: B018

    def test_iterables_are_lists(self) -> None:
        from collections.abc import Iterable

        def take(xs: Iterable[int]): ...

        made = Tool.from_function(take)
        assert made.input_schema["properties"]["xs"] == {
            "type": "array",
            "items": {"type": "integer"},
        }
        assert made.adapter.validate_json('{"xs": [1]}') == {"xs": [1]}

    def test_the_callers_locals_are_let_go(self) -> None:
        import gc
        import weakref

        class Big:
            pass

        def make() -> tuple[Tool, weakref.ref[Big]]:
            big = Big()

            @tool
            def f(x: int): ...

            return f, weakref.ref(big)

        made, ref = make()
        gc.collect()
        assert made.name == "f"
        assert ref() is None
