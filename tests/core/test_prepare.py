"""From what a model sent to what the function gets, and what the model is told when it does not fit."""

from __future__ import annotations

import asyncio
import datetime as dt
import enum
import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, SecretStr

from agtools_nb import Change, ToolContext, ToolRunner, coerce, prepare, tool, validate


class Email(BaseModel):
    kind: Literal["email"]
    address: str


class Sms(BaseModel):
    kind: Literal["sms"]
    phone: int


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Size:
    width: float


def even(number: int) -> int:
    if number % 2:
        raise ValueError("must be even")
    return number


@tool
def order(
    count: int,
    to: Email | Sms | None = None,
    colour: Colour = Colour.RED,
    size: Size | None = None,
    on: dt.date | None = None,
    pair: Annotated[int, AfterValidator(even)] = 0,
    notes: list[str] | None = None,
): ...


class TestValues:
    """The function gets real Python values."""

    def test_models_enums_dates_and_dataclasses(self) -> None:
        found = prepare(
            order,
            {
                "count": "2",
                "to": {"kind": "sms", "phone": "5"},
                "colour": "blue",
                "size": '{"width": "1.5"}',
                "on": "2026-01-15",
            },
        )
        assert found.ok
        assert found.values == {
            "count": 2,
            "to": Sms(kind="sms", phone=5),
            "colour": Colour.BLUE,
            "size": Size(1.5),
            "on": dt.date(2026, 1, 15),
        }

    def test_python_values_may_be_sent_too(self) -> None:
        found = prepare(
            order,
            {
                "count": 1,
                "colour": Colour.BLUE,
                "on": dt.date(2026, 1, 2),
                "to": Sms(kind="sms", phone=1),
            },
        )
        assert found.values == {
            "count": 1,
            "colour": Colour.BLUE,
            "on": dt.date(2026, 1, 2),
            "to": Sms(kind="sms", phone=1),
        }

    def test_defaults_are_filled_into_what_is_shown(self) -> None:
        found = prepare(order, {"count": 1})
        assert found.values == {"count": 1}, "the function has its defaults itself"
        assert found.arguments is not None
        assert list(found.arguments)[0] == "count"
        assert found.arguments["colour"] == "red"
        assert "colour" in found.defaulted

    def test_big_integers_stay_exact(self) -> None:
        assert prepare(order, {"count": 2**80}).values == {"count": 2**80}

    def test_what_came_is_copied(self) -> None:
        notes = ["a"]
        found = prepare(order, {"count": 1, "notes": notes})
        notes.append("later")
        assert found.values is not None
        assert found.values["notes"] == ["a"]


class TestReading:
    """Arguments as models and servers send them."""

    @pytest.mark.parametrize(
        "raw",
        ['{"count": 1}', '"{\\"count\\": 1}"', b'{"count": 1}', {"count": 1}, ' {"count": "1"} '],
    )
    def test_forms_of_the_same(self, raw: Any) -> None:
        assert prepare(order, raw).values == {"count": 1}

    @pytest.mark.parametrize("raw", [None, "", "  ", {}])
    def test_no_arguments(self, raw: Any) -> None:
        @tool
        def nothing(): ...

        assert prepare(nothing, raw).values == {}

    def test_control_characters_in_strings(self) -> None:
        assert prepare(order, '{"count": 1, "notes": ["a\nb\tc"]}').values == {
            "count": 1,
            "notes": ["a\nb\tc"],
        }

    @pytest.mark.parametrize(
        ("raw", "says"),
        [
            ("[1]", "must be a JSON object, one key a parameter; what came is [1]"),
            ("5", "must be a JSON object"),
            ('"text"', "not JSON"),
            ("null", "must be a JSON object"),
            ("count=1", "not JSON: they do not begin with {, at character 0"),
            (
                '{"count": 1}{"count": 2}',
                'more than one JSON value; after the first came: {"count": 2}',
            ),
            ('{"count": 1', "not JSON"),
            ('{"count": NaN}', "NaN is not JSON"),
            ("[" * 200_000, "nested more than 64 levels"),
            ('{"count": ' + "9" * 5000 + "}", "not JSON"),
        ],
        ids=lambda item: str(item)[:30],
    )
    def test_what_is_not_an_object_is_said(self, raw: str, says: str) -> None:
        found = prepare(order, raw)
        assert not found.ok
        assert found.error is not None
        assert says in found.error
        assert "Call it as order(" in found.error


class TestFaults:
    """Each fault by place, with what was expected and what came."""

    def fault(self, **arguments: Any) -> str:
        found = prepare(order, {"count": 1, **arguments})
        assert len(found.faults) == 1, found.faults
        return found.faults[0].message

    def test_a_wrong_type(self) -> None:
        assert self.fault(count="ten") == '/count: expected an integer, got "ten" (a string)'

    @pytest.mark.parametrize("value", ["yes", "off", "1", "maybe", 1, "None"])
    def test_unclear_booleans(self, value: Any) -> None:
        @tool
        def flag(b: bool): ...

        assert not prepare(flag, {"b": value}).ok

    def test_null_for_a_parameter_that_is_not_nullable(self) -> None:
        assert self.fault(count=None) == "/count: expected an integer, got null"

    def test_a_missing_argument(self) -> None:
        assert (
            prepare(order, {}).faults[0].message
            == "/count: expected an integer, got nothing (it is required)"
        )

    def test_unknown_arguments(self) -> None:
        message = self.fault(color="red")
        assert message.startswith(
            "/color: there is no such parameter; did you mean 'colour'? (known: count, to,"
        )

    def test_a_value_for_an_injected_parameter_is_unknown(self) -> None:
        @tool
        def take(q: str, ctx: ToolContext): ...

        found = prepare(take, {"q": "a", "ctx": "evil"})
        assert [fault.pointer for fault in found.faults] == ["/ctx"]

    def test_the_branch_that_was_meant_is_judged(self) -> None:
        assert (
            self.fault(to={"kind": "sms", "phone": "x"})
            == '/to/phone: expected an integer, got "x" (a string)'
        )
        assert (
            self.fault(to={"kind": "fax"})
            == '/to/kind: expected one of "email", "sms", got "fax" (a string)'
        )

    def test_what_only_python_knows(self) -> None:
        assert "must be even" in self.fault(pair=3)
        assert self.fault(on="2026-02-30").startswith("/on: expected a valid date")

    def test_bounds(self) -> None:
        @tool
        def take(
            n: Annotated[int, Field(ge=1, le=10)], s: Annotated[str, Field(min_length=2)] = "ab"
        ): ...

        found = prepare(take, {"n": "11", "s": ""})
        assert [fault.message for fault in found.faults] == [
            "/n: expected at most 10, got 11 (an integer)",
            '/s: expected at least 2 characters, got "" (a string)',
        ]
        assert found.changes[0].after == 11, "coercion came first"

    def test_secrets_are_not_echoed(self) -> None:
        @tool
        def log_in(password: SecretStr): ...

        found = prepare(log_in, {"password": ["hunter2"]})
        assert "hunter2" not in str(found.error)

    def test_the_whole_message(self) -> None:
        @tool
        def add(a: int, b: int = 1): ...

        assert prepare(add, {"a": "x", "c": 2}).error == (
            "The arguments do not fit add (2 faults); it was not run.\n"
            '- /a: expected an integer, got "x" (a string)\n'
            "- /c: there is no such parameter (known: a, b)\n"
            "Call it as add(a: integer, b?: integer = 1)"
        )

    def test_long_values_and_many_faults_are_bounded(self) -> None:
        found = prepare(order, {"count": "x" * 100_000, **{f"k{i}": 1 for i in range(1000)}})
        assert found.error is not None
        assert len(found.faults) == 20
        assert len(found.error) < 8_000


def test_explicit_schemas_can_be_validated_alone() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "patternProperties": {"^x": {}},
        "additionalProperties": False,
    }
    assert validate({"a": 1, "xy": 2}, schema) == ()
    assert [fault.pointer for fault in validate({"a": "1", "z": 2}, schema)] == ["/a", "/z"]


@settings(max_examples=150, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["count", "to", "kind", "phone", "on", "size", "notes", "x"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=8,
    )
)
def test_law_bad_arguments_never_raise(raw: Any) -> None:
    """Whatever comes is either fit to run or has an error with words in it."""
    found = prepare(order, raw)
    assert found.ok != bool(found.error)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40))
def test_law_bad_text_never_raises(raw: str) -> None:
    found = prepare(order, raw)
    assert found.ok != bool(found.error)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(),
    st.sampled_from(list(Colour)),
    st.lists(st.text(max_size=5), max_size=3) | st.none(),
)
def test_law_valid_arguments_arrive_as_they_were_sent(
    count: int, colour: Colour, notes: list[str] | None
) -> None:
    sent = {"count": count, "colour": colour.value, "notes": notes}
    found = prepare(order, json.dumps(sent))
    assert found.values == {"count": count, "colour": colour, "notes": notes}
    assert found.changes == ()


class TestNothingHangs:
    """Each of these took seconds to hours; the tests would time out, not fail."""

    def test_a_pattern_of_exponential_time(self) -> None:
        @tool
        def take(x: Annotated[str, Field(pattern=r"^(a+)+$")]): ...

        assert prepare(take, {"x": "a" * 40 + "!"}).faults[0].pointer == "/x"

    def test_unions_within_unions(self) -> None:
        schema: Any = {"$ref": "#/$defs/a", "$defs": {}}
        for name in "ab":
            kids = {
                "type": "array",
                "items": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]},
            }
            schema["$defs"][name] = {
                "type": "object",
                "properties": {"kids": kids, name: {"type": "integer"}},
                "required": ["kids"],
            }
        value: Any = {"kids": [], "a": "1"}
        for _ in range(8):
            value = {"kids": [value]}
        leaf = coerce(value, schema).value
        for _ in range(8):
            leaf = leaf["kids"][0]
        assert leaf["a"] in (1, "1")

    def test_a_schema_that_is_all_of_itself(self) -> None:
        assert coerce("1", {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}).value == "1"

    def test_many_items_that_must_differ(self) -> None:
        schema = {"type": "array", "uniqueItems": True}
        assert validate([{"a": n} for n in range(5_000)], schema) == ()
        assert validate([1, 2, 1], schema)[0].expected == "items without repeats"


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"x": {"anyOf": [False, {"type": "integer"}]}}},
        {"oneOf": [{"if": {"type": "array"}, "then": {"type": "string"}, "else": {"$ref": "#"}}]},
        {"allOf": 5, "prefixItems": 5},
        {"$schema": 5, "$id": 5},
        {"pattern": 5, "patternProperties": {"(": 5}},
    ],
    ids=repr,
)
def test_broken_schemas_never_raise(schema: Any) -> None:
    for value in ({"x": [{}]}, "1", [1]):
        validate(value, schema)
        coerce(value, schema)


@pytest.mark.parametrize("sent", [["hunter2"], {"pw": "hunter2", "n": "x"}, "hunter2"], ids=repr)
def test_secrets_stay_hidden_wherever_they_stand(sent: Any) -> None:
    class Login(BaseModel):
        pw: SecretStr
        n: int

    @tool
    def union(s: SecretStr | int): ...
    @tool
    def many(s: list[SecretStr]): ...
    @tool
    def model(s: Login, other: Login | None = None): ...

    for made in (union, many, model):
        found = prepare(made, {"s": sent})
        assert found.ok or "hunter2" not in f"{found.error}{found.faults}"


def test_huge_keys_do_not_make_huge_messages() -> None:
    found = prepare(order, {"count": 1, **{str(n) + "k" * 800_000: 1 for n in range(20)}})
    assert found.error is not None
    assert len(found.error) < 20_000


def test_numbers_and_characters_that_json_cannot_carry_on() -> None:
    assert "too large for a number" in str(prepare(order, '{"count": 1e999}').error)
    half = prepare(order, '{"count": 1, "notes": ["\\ud800"]}')
    assert half.values == {"count": 1, "notes": ["\\ud800"]}
    str(prepare(order, '{"\\ud800": 1}').error).encode()


def test_null_of_strict_mode_is_read_as_absent_where_that_is_asked_for() -> None:
    @tool
    def find(text: str, limit: int = 10, where: str | None = None) -> Any:
        return text, limit, where

    sent = {"text": "x", "limit": None, "where": None}
    assert not prepare(find, sent).ok
    found = prepare(find, sent, omit_nulls=True)
    assert found.values == {"text": "x", "where": None}
    assert found.arguments == {"text": "x", "where": None, "limit": 10}
    assert found.changes == (Change("/limit", None, 10, "null left out"),)
    [fault] = prepare(find, {"text": None}, omit_nulls=True).faults
    assert fault.pointer == "/text"
    runner = ToolRunner([find], omit_nulls=True)
    [result] = asyncio.run(runner.process_tool_calls([("find", json.dumps(sent))]))
    assert result.result == ("x", 10, None)


@pytest.mark.parametrize("sent", [True, 1.5, "x", 3])
def test_a_literal_number_takes_no_boolean(sent: Any) -> None:
    @tool
    def pick(x: Literal[1, 2, "3"]) -> Any:
        return x

    assert [fault.pointer for fault in prepare(pick, {"x": sent}).faults] == ["/x"] or sent == 3
    assert prepare(pick, {"x": 1}).values == {"x": 1}
    assert prepare(pick, {"x": "2"}).values == {"x": 2}
