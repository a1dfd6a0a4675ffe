"""Every parameter type: what the model is shown, and what the function is given."""

from __future__ import annotations

import asyncio
import datetime as dt
import enum
import functools
import json
import subprocess
import sys
import typing
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    Required,
    TypeVar,
    Union,
    Unpack,
)

import jsonschema
import pytest
from pydantic import BaseModel, Field, SecretStr
from typing_extensions import TypeAliasType, TypedDict

from agtools_nb import DefinitionError, Tool, ToolContext, ToolRunner, tool

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Word(enum.StrEnum):
    YES = "yes"


class Mixed(enum.Enum):
    ONE = 1
    TWO = "two"


class Right(enum.Flag):
    READ = 1
    WRITE = 2


class Bits(enum.IntFlag):
    A = 1
    B = 2


class Point(BaseModel):
    x: int
    y: int = 0


class Aliased(BaseModel):
    first_name: str = Field(alias="firstName")


class Nested(BaseModel):
    points: list[Point]
    by_name: dict[str, Point] = {}


class Tree(BaseModel):
    value: int
    children: list[Tree] = []


class Box(BaseModel, Generic[T]):
    content: T


@dataclass
class Size:
    width: float
    tags: list[str] = field(default_factory=list)


@dataclass
class Node:
    name: str
    next: Node | None = None


class Filters(TypedDict):
    city: str
    open: NotRequired[bool]


class Loose(TypedDict, total=False):
    a: Required[int]
    b: int


class Pair(NamedTuple):
    left: int
    right: str = "r"


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    good: bool = True


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]
UserId = NewType("UserId", int)
Alias = TypeAliasType("Alias", list[int])
Json = TypeAliasType("Json", "dict[str, Json] | list[Json] | str | int | None")

INT = {"type": "integer"}
TEXT = {"type": "string"}
POINT = {
    "type": "object",
    "properties": {"x": INT, "y": {"type": "integer", "default": 0}},
    "required": ["x"],
}


def taking(annotation: Any, **options: Any) -> Tool:
    def take(value):
        return value

    take.__annotations__["value"] = annotation
    return Tool.from_function(take, **options)


def call(made: Any, **arguments: Any) -> Any:
    runner = ToolRunner([made], context=ToolContext())
    return asyncio.run(runner.execute(runner.tool_names[0], **arguments))


@pytest.mark.parametrize(
    ("annotation", "schema", "sent", "given"),
    [
        (Literal["a", 1], {"enum": ["a", 1]}, 1, 1),
        (Literal[Colour.RED], {"type": "string", "const": "red"}, "red", Colour.RED),
        (Colour, {"type": "string", "enum": ["red", "blue"]}, "blue", Colour.BLUE),
        (Level, {"type": "integer", "enum": [1, 2]}, 2, Level.HIGH),
        (Word, {"type": "string", "enum": ["yes"]}, "yes", Word.YES),
        (Mixed, {"enum": [1, "two"]}, "two", Mixed.TWO),
        (Optional[int],  # noqa: UP045
 {"anyOf": [INT, {"type": "null"}]}, None, None),
        (Union[int, str, None],  # noqa: UP007
 {"anyOf": [INT, TEXT, {"type": "null"}]}, "x", "x"),
        (list[int | None], {"type": "array", "items": {"anyOf": [INT, {"type": "null"}]}}, [1, None], [1, None]),
        (Point, POINT, {"x": 1}, Point(x=1)),
        (Aliased, {"type": "object", "properties": {"firstName": TEXT}, "required": ["firstName"]}, {"firstName": "A"}, Aliased(firstName="A")),
        (Box[int], {"type": "object", "properties": {"content": INT}, "required": ["content"]}, {"content": 1}, Box[int](content=1)),
        (Size, None, {"width": 2}, Size(2.0)),
        (Node, None, {"name": "a", "next": {"name": "b"}}, Node("a", Node("b"))),
        (Filters, None, {"city": "c"}, {"city": "c"}),
        (Loose, {"type": "object", "properties": {"a": INT, "b": INT}, "required": ["a"]}, {"a": 1}, {"a": 1}),
        (Pair, None, [1, "x"], Pair(1, "x")),
        (Pet, None, {"kind": "dog"}, Dog(kind="dog")),
        (list[Pet], None, [{"kind": "cat"}, {"kind": "dog"}], [Cat(kind="cat"), Dog(kind="dog")]),
        (Tree, None, {"value": 1, "children": [{"value": 2}]}, Tree(value=1, children=[Tree(value=2)])),
        (Nested, None, {"points": [{"x": 1}]}, Nested(points=[Point(x=1)])),
        (Annotated[int, Field(ge=1, description="How many")], {"type": "integer", "description": "How many", "minimum": 1}, 3, 3),
        (Annotated[list[Annotated[str, Field(min_length=2)]], Field(max_length=3)], {"type": "array", "items": {"type": "string", "minLength": 2}, "maxItems": 3}, ["ab"], ["ab"]),
        (dt.date, {"type": "string", "format": "date"}, "2024-02-29", dt.date(2024, 2, 29)),
        (dt.datetime, {"type": "string", "format": "date-time"}, "2024-02-29T10:00:00Z", dt.datetime(2024, 2, 29, 10, tzinfo=dt.UTC)),
        (dt.time, {"type": "string", "format": "time"}, "10:30:00", dt.time(10, 30)),
        (dt.timedelta, {"type": "string", "format": "duration"}, "PT90S", dt.timedelta(seconds=90)),
        (uuid.UUID, {"type": "string", "format": "uuid"}, "12345678-1234-5678-1234-567812345678", uuid.UUID(int=0x12345678123456781234567812345678)),
        (Decimal, None, "1.10", Decimal("1.10")),
        (Path, {"type": "string", "format": "path"}, "a/b", Path("a/b")),
        (bytes, {"type": "string", "format": "binary"}, "é", "é".encode()),
        (SecretStr, {"type": "string", "format": "password", "writeOnly": True}, "geheim", SecretStr("geheim")),
        (Alias, {"type": "array", "items": INT}, [1], [1]),
        (Json, None, {"a": [1, None, {"b": "c"}]}, {"a": [1, None, {"b": "c"}]}),
        (UserId, INT, 5, 5),
        (tuple[int, str], None, [1, "a"], (1, "a")),
        (tuple[int, ...], {"type": "array", "items": INT}, [1, 2], (1, 2)),
        (set[int], {"type": "array", "items": INT}, [1, 2, 2], {1, 2}),
        (frozenset[str], None, ["a"], frozenset("a")),
        (Sequence[int], {"type": "array", "items": INT}, [1], [1]),
        (Iterable[int], {"type": "array", "items": INT}, [1], [1]),
        (Mapping[str, Point], {"type": "object", "additionalProperties": POINT}, {"p": {"x": 1}}, {"p": Point(x=1)}),
        (dict[Colour, int], None, {"red": 1}, {Colour.RED: 1}),
        (dict[int, int], None, {"1": 1}, {1: 1}),
        (Any, {}, {"a": [None]}, {"a": [None]}),
        (object, {}, [1], [1]),
        (None, {"type": "null"}, None, None),
        (bool, {"type": "boolean"}, "TRUE", True),
        (float, {"type": "number"}, "0.5", 0.5),
        (dict, {"type": "object", "additionalProperties": True}, {"a": 1}, {"a": 1}),
        (list, {"type": "array", "items": {}}, [1], [1]),
        (Bits, None, 3, Bits.A | Bits.B),
        (Right, None, 3, Right.READ | Right.WRITE),
        (complex, None, "1+2j", 1 + 2j),
        (T, {}, [1], [1]),
        ("Tree", None, {"value": 1}, Tree(value=1)),
        ("list['Point']", {"type": "array", "items": POINT}, [{"x": 1}], [Point(x=1)]),
    ],
    ids=str,
)  # fmt: skip
def test_schema_and_call(annotation: Any, schema: Any, sent: Any, given: Any) -> None:
    made = taking(annotation)
    whole = made.input_schema
    jsonschema.Draft202012Validator.check_schema(whole)
    json.dumps(whole, allow_nan=False)
    if schema is not None:
        assert whole["properties"]["value"] == schema
    value = call(made, value=sent)
    assert (value, type(value)) == (given, type(given))


def test_a_member_of_a_plain_enum_is_known_by_its_value_at_any_depth() -> None:
    made = taking(dict[str, list[Literal[Colour.RED, "x"] | None]])
    assert call(made, value={"a": ["red", "x", None]}) == {"a": [Colour.RED, "x", None]}
    assert call(taking(list[Iterable[int]]), value=[[1], ["2"]]) == [[1], [2]]


class TestSignatures:
    """Where a parameter stands, and what happens when nothing is sent for it."""

    def test_every_kind_of_parameter(self) -> None:
        def take(
            a: int, /, b: str, c: Annotated[int, "three"] = 3, *, d: bool, e: float = 1.5
        ) -> Any:
            return (a, b, c, d, e)

        made = Tool.from_function(take)
        assert made.input_schema["required"] == ["a", "b", "d"]
        assert call(made, a="1", b="x", d="false") == (1, "x", 3, False, 1.5)

    def test_a_positional_default(self) -> None:
        def take(a: int = 1, b: int = 2, /, **more: int) -> Any:
            return (a, b, more)

        assert call(take, b=5, c="6") == (1, 5, {"c": 6})

    def test_a_mutable_default_is_the_functions_own(self) -> None:
        default: list[int] = [1]

        def take(xs: list[int] = default) -> Any:
            return xs

        made = Tool.from_function(take)
        assert made.input_schema["properties"]["xs"]["default"] == [1]
        assert call(made) is default
        made.input_schema["properties"]["xs"]["default"].append(2)
        assert default == [1], "the schema holds a copy"

    def test_keywords(self) -> None:
        def typed(a: int, **more: Point) -> Any:
            return (a, more)

        def untyped(**more: Any) -> Any:
            return more

        assert call(typed, a=1, p={"x": "1"}) == (1, {"p": Point(x=1)})
        assert call(untyped, a=[1]) == {"a": [1]}

    def test_unpacked_keywords(self) -> None:
        def take(n: int, **more: Unpack[Loose]) -> Any:
            return (n, more)

        made = Tool.from_function(take)
        assert made.input_schema["required"] == ["n", "a"]
        assert call(made, n=1, a="2") == (1, {"a": 2})

    def test_an_unpacked_key_that_is_a_parameter_too(self) -> None:
        def take(city: str, **more: Unpack[Filters]): ...

        with pytest.raises(
            DefinitionError, match="'city' is both a parameter and a key of Filters"
        ):
            tool(take)

    def test_a_singledispatch_function(self) -> None:
        @functools.singledispatch
        def show(value: int | str, sep: str = "-") -> str:
            raise AssertionError

        @show.register
        def _(value: int, sep: str = "-") -> str:
            return f"number{sep}{value}"

        @show.register
        def _(value: str, sep: str = "-") -> str:
            return f"text{sep}{value}"

        made = Tool.from_function(show)
        assert made.name == "show"
        assert [call(made, value=1), call(made, value="a", sep="+")] == ["number-1", "text+a"]
        assert call(functools.partial(show, sep="/"), value=1) == "number/1"

    def test_no_parameters(self) -> None:
        assert call(lambda_named("nothing", "lambda: 5")) == 5

    def test_what_a_partial_fixed_by_position(self) -> None:
        def take(a: int, b: int) -> Any:
            return (a, b)

        made = Tool.from_function(functools.partial(take, 1))
        assert list(made.input_schema["properties"]) == ["b"]
        assert call(made, b="2") == (1, 2)


def lambda_named(name: str, text: str) -> Tool:
    return Tool(eval(text), name=name)


class Greeter:
    """Says hello."""

    def __init__(self, word: str) -> None:
        self.word = word

    @tool(read_only=True)
    def greet(self, name: str, copies: list[Point] | None = None) -> str:
        """Greet somebody."""
        return f"{self.word} {name}"

    @classmethod
    @tool
    def make(cls, word: str) -> str:
        return cls(word).word

    @staticmethod
    @tool
    def static(n: int) -> int:
        return n

    def plain(self, n: int) -> int:
        return n


class TestMethods:
    """``self`` is never shown to a model."""

    def test_a_method_decorated_in_its_class_is_a_tool_of_its_object(self) -> None:
        made = Greeter("hi").greet
        assert list(made.input_schema["properties"]) == ["name", "copies"]
        assert (made.read_only, made.description) == (True, "Greet somebody.")
        assert call(made, name="Ada") == made("Ada") == "hi Ada"
        assert Greeter("a").greet is not Greeter("b").greet

    def test_taken_from_the_class_it_says_what_to_do(self) -> None:
        for use in (lambda: Greeter.greet.input_schema, lambda: Tool(Greeter.plain)):
            with pytest.raises(DefinitionError, match=r"method of Greeter.*Greeter\(\.\.\.\)\.\w+"):
                use()
        assert repr(Greeter.greet) == "<Tool greet(...)>"

    def test_class_and_static_methods(self) -> None:
        made = Tool(Greeter.make)
        assert list(made.input_schema["properties"]) == ["word"]
        assert call(made, word="x") == "x"
        assert call(Greeter("a").static, n="1") == 1

    def test_an_annotated_self_is_a_parameter(self) -> None:
        def take(self: str) -> str:
            return self

        assert call(take, self="x") == "x"

    def test_self_as_a_type_is_refused_by_name(self) -> None:
        class Shape:
            def join(self, other: typing.Self): ...

        with pytest.raises(DefinitionError, match="parameter 'other'"):
            Tool(Shape().join)


class TestWhereAnnotationsComeFrom:
    def run_main(self, code: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def test_main(self) -> None:
        code = (
            "from __future__ import annotations\n"
            "from agtools_nb import tool\n"
            "@tool\ndef f(x: Later, ys: list[Later]): ...\n"
            "class Later(str): ...\nLater = int\n"
            "print(f.input_schema['properties'])"
        )
        assert self.run_main(code) == (
            "{'x': {'type': 'integer'}, 'ys': {'type': 'array', 'items': {'type': 'integer'}}}"
        )

    def test_cells(self) -> None:
        """Two cells of one notebook: the second defines what the first one names."""
        namespace: dict[str, Any] = {"__name__": "__main__"}
        first = "from pydantic import BaseModel\nfrom agtools_nb import tool\n@tool\ndef f(m: 'M'): return m.n"
        exec(compile(first, "<cell-1>", "exec"), namespace)
        exec(compile("class M(BaseModel):\n    n: int", "<cell-2>", "exec"), namespace)
        assert call(namespace["f"], m={"n": "3"}) == 3

    def test_a_function_in_a_function(self) -> None:
        def outer() -> Tool:
            class Inner(BaseModel):
                n: int

            @tool
            def take(inner: Inner | None = None, many: list[Inner] | None = None) -> Any:
                return inner

            return take

        assert call(outer(), inner={"n": "1"}).n == 1

    @pytest.mark.parametrize(
        "text", ["int", " int ", "(\nint\n)", "'int'", "Annotated['int', 5]", "list['int'] and int"]
    )
    def test_text_in_odd_forms(self, text: str) -> None:
        assert taking(text).input_schema["properties"]["value"] == {"type": "integer"}

    if sys.version_info >= (3, 12):

        def test_type_parameters_and_aliases(self) -> None:
            namespace: dict[str, Any] = {}
            code = "type Ints = list[int]\ndef f[T: int](x: T, y: 'T', z: Ints): return (x, y, z)"
            exec(code, namespace)
            assert call(namespace["f"], x="1", y=2, z=["3"]) == (1, 2, [3])


def test_a_return_type_only_for_type_checkers_is_left_out() -> None:
    namespace: dict[str, Any] = {}
    exec("from __future__ import annotations\ndef f(x: int) -> DataFrame: return x", namespace)
    made = Tool.from_function(namespace["f"])
    assert call(made, x="3") == 3
    with pytest.warns(UserWarning, match="f has no response schema.*'DataFrame'"):
        assert made.response_schema is None


def test_a_return_type_that_is_defined_later_is_read_then() -> None:
    namespace: dict[str, Any] = {}
    exec("from __future__ import annotations\ndef f(x: int) -> Later: return x", namespace)
    made = Tool.from_function(namespace["f"])
    assert made.input_schema
    namespace["Later"] = int
    assert made.response_schema == {"type": "integer"}
