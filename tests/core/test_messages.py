"""What a model is told when its call does not fit: could it send the right one by that?"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import time
import uuid
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field, SecretStr, model_validator

from agtools_nb import Tool, ToolRunner, ToolWithSchema, prepare, tool, validate
from agtools_nb.arguments.faults import brief_json, got_text
from agtools_nb.arguments.nearest import listed, nearest
from agtools_nb.define import bounds_text, expected_text, type_text
from agtools_nb.define.describe import shape_text


class Email(BaseModel):
    kind: Literal["email"]
    address: str


class Sms(BaseModel):
    kind: Literal["sms"]
    phone: int


class Line(BaseModel):
    sku: Annotated[str, Field(pattern="^[A-Z]{3}$")]
    n: Annotated[int, Field(ge=1)] = 1


class Strict(BaseModel):
    model_config = {"extra": "forbid"}
    a: int = 0


class Span(BaseModel):
    lo: int
    hi: int

    @model_validator(mode="after")
    def ordered(self) -> Span:
        if self.lo > self.hi:
            raise ValueError("lo must not be above hi")
        return self


def even(number: int) -> int:
    if number % 2:
        raise ValueError("must be even")
    return number


@tool
def order(
    count: Annotated[int, Field(ge=1, le=10)] = 1,
    to: Email | Sms | None = None,
    tagged: Annotated[Email | Sms, Field(discriminator="kind")] | None = None,
    at: dt.datetime | None = None,
    on: dt.date | None = None,
    wait: dt.timedelta | None = None,
    who: uuid.UUID | None = None,
    pair: Annotated[int, AfterValidator(even)] = 0,
    span: Span | None = None,
    tags: Annotated[list[str], Field(max_length=3)] = [],  # noqa: B006
    lines: list[Line] = [],  # noqa: B006
    opts: Strict = Strict(),
    mode: Literal["fast", "slow"] = "fast",
    flag: bool = False,
    point: tuple[int, str] | None = None,
    by_id: dict[int, str] = {},  # noqa: B006
): ...


def message(**arguments: Any) -> str:
    """The one fault's sentence."""
    found = prepare(order, arguments)
    assert len(found.faults) == 1, found.faults
    assert f"- {found.faults[0].message}" in str(found.error)
    return found.faults[0].message


def sentences(value: Any, schema: Any) -> list[str]:
    return [fault.message for fault in validate(value, schema)]


def got_of(made: Tool, sent: Any) -> str:
    return prepare(made, sent).faults[0].got


class TestUnions:
    """The branch that was meant is judged; where none shows, each says what it lacks."""

    @pytest.mark.parametrize("name", ["to", "tagged"])
    def test_a_missing_tag_is_named_with_its_choices(self, name: str) -> None:
        assert message(**{name: {"address": "a"}}) == (
            f'/{name}/kind: expected one of "email", "sms", got nothing (it is required)'
        )

    @pytest.mark.parametrize("name", ["to", "tagged"])
    def test_a_tag_of_no_branch(self, name: str) -> None:
        assert message(**{name: {"kind": "fax"}}) == (
            f'/{name}/kind: expected one of "email", "sms", got "fax" (a string)'
        )

    def test_a_slip_in_a_tag(self) -> None:
        assert message(to={"kind": "emial"}).endswith('; did you mean "email"?')

    def test_a_fault_inside_the_branch_of_the_tag(self) -> None:
        assert (
            message(to={"kind": "sms", "phone": "x"})
            == '/to/phone: expected an integer, got "x" (a string)'
        )

    def test_tags_are_found_through_references_and_unions_in_unions(self) -> None:
        def kind(name: str) -> dict[str, Any]:
            return {
                "type": "object",
                "properties": {"k": {"const": name}},
                "required": ["k"],
            }

        schema = {
            "$defs": {"a": kind("a")},
            "anyOf": [{"$ref": "#/$defs/a"}, {"oneOf": [kind("b"), kind("c")]}, {"type": "null"}],
        }
        assert sentences({}, schema) == [
            '/k: expected one of "a", "b", "c", got nothing (it is required)'
        ]

    def test_alternatives_without_a_tag_each_say_what_they_lack(self) -> None:
        schema = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
        assert sentences({}, schema) == [
            (
                "the arguments: fits none of 2 alternatives: (1) /a is missing; (2) /b is missing; "
                "got {} (an object)"
            )
        ]

    def test_at_most_three_alternatives_the_nearest_first(self) -> None:
        schema = {
            "anyOf": [
                {"required": ["a", "b"]},
                *({"required": [f"c{n}", "d"]} for n in range(4)),
                {"required": ["k"]},
            ]
        }
        [said] = sentences({"a": 1}, schema)
        assert said == (
            "the arguments: fits none of 6 alternatives: (1) /b is missing; (2) /k is missing; "
            '(3) /c0 is missing; and 3 more; got {"a": 1} (an object)'
        )

    def test_alternatives_tell_of_unknown_keys_and_of_unions_inside(self) -> None:
        inner = {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}
        schema = {
            "anyOf": [
                {"properties": {"a": {}}, "additionalProperties": False},
                {"properties": {"z": inner}},
            ]
        }
        [said] = sentences({"z": "x"}, schema)
        assert "(1) /z is not known" in said
        assert "(2) /z: expected an integer or boolean" in said

    def test_types_where_none_of_them_came(self) -> None:
        assert message(to="bob") == (
            '/to: expected an object Email {kind: "email", address} or object Sms {kind: "sms", '
            'phone} or null, got "bob" (a string); '
            'send a JSON object such as {"kind": "email", "address": ...}'
        )

    def test_what_fits_several_names_them(self) -> None:
        schema = {"oneOf": [{"type": "integer"}, {"minimum": 1}, {"type": "string"}]}
        assert sentences(3, schema) == [
            (
                "the arguments: expected exactly one of 3 alternatives to fit, got 3 (an integer), "
                "which fits 2: (1) an integer; (2) a value at least 1"
            )
        ]

    def test_of_unions_that_are_not_looked_into_the_types_are_told(self) -> None:
        schema: Any = {"type": "integer"}
        for _ in range(6):
            schema = {"oneOf": [schema, {"type": "object", "required": ["a"]}]}
        [said] = sentences("x", schema)
        assert said == 'the arguments: expected an integer or object, got "x" (a string)'
        assert "fits 0" not in sentences({"b": 1}, schema)[0]

    def test_unions_in_unions_in_unions_take_no_longer(self) -> None:
        schema: Any = {"type": "integer"}
        for _ in range(12):
            schema = {
                "anyOf": [
                    {"type": "array", "items": schema},
                    {"type": "array", "items": schema, "minItems": 9},
                ]
            }
        value: Any = "x"
        for _ in range(6):
            value = [value]
        start = time.process_time()
        [fault] = validate(value, schema)
        assert time.process_time() - start < 5
        assert len(fault.message) < 1_500


class TestForms:
    """A text of the wrong form is answered with one of the right form."""

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (
                {"at": "yesterday"},
                (
                    '/at: expected a valid date-time such as "2026-01-15T12:00:00Z", got "yesterday"'
                    " (a string)"
                ),
            ),
            (
                {"on": "2026-02-30"},
                (
                    '/on: expected a valid date such as "2026-01-15", got "2026-02-30" (a string); '
                    "day value is outside expected range"
                ),
            ),
            (
                {"wait": "soon"},
                (
                    '/wait: expected a duration such as "PT1H30M", got "soon" (a string); invalid '
                    "digit in duration"
                ),
            ),
        ],
        ids=lambda item: str(item)[:30],
    )
    def test_of_dates_and_times(self, arguments: Any, says: str) -> None:
        assert message(**arguments) == says

    def test_the_examples_are_right_themselves(self) -> None:
        told = [message(**{name: "x"}) for name in ("at", "on", "wait", "who")]
        examples = [json.loads(one.split(" such as ")[1].split(", got")[0]) for one in told]
        sent = dict(zip(("at", "on", "wait", "who"), examples, strict=True))
        assert prepare(order, sent).ok

    def test_what_is_missing_shows_its_form_too(self) -> None:
        schema = {"required": ["d"], "properties": {"d": {"type": "string", "format": "date"}}}
        assert sentences({}, schema) == [
            '/d: expected a string (date) such as "2026-01-15", got nothing (it is required)'
        ]


class TestValidators:
    """What the author's own check says stands as it is, without "expected" before it."""

    def test_of_a_parameter(self) -> None:
        assert message(pair=3) == "/pair: must be even; got 3 (an integer)"

    def test_of_a_model(self) -> None:
        assert message(span={"lo": 3, "hi": 1}) == (
            '/span: lo must not be above hi; got {"lo": 3, "hi": 1} (an object)'
        )

    def test_assertions_lines_and_length(self) -> None:
        def check(value: str) -> str:
            assert value == "right", "first\n- /other: expected nonsense\n" + "x" * 10_000
            return value

        def take(a: Annotated[str, AfterValidator(check)]): ...

        found = prepare(Tool.from_function(take), {"a": "wrong"})
        assert "\n- /other" not in str(found.error), "an author's text stays on its line"
        assert found.faults[0].message.startswith("/a: first - /other")
        assert len(found.faults[0].message) < 600

    def test_keys_that_only_python_knows(self) -> None:
        said = message(by_id={"x": "a"})
        assert said.startswith("/by_id/x: expected a valid integer")
        assert said.endswith('got the key "x"')


class TestHints:
    """What helps beyond type and bounds."""

    def test_null_for_an_optional_parameter(self) -> None:
        assert message(flag=None) == (
            "/flag: expected a boolean, got null (leave it out for its default, false)"
        )
        assert message(mode=None).endswith('got null (leave it out for its default, "fast")')
        assert message(opts={"a": None}).endswith("got null (leave it out for its default, 0)")

    def test_null_for_one_without_a_default(self) -> None:
        schema = {"properties": {"a": {"type": "integer"}}}
        assert sentences({"a": None}, schema) == [
            "/a: expected an integer, got null (leave it out instead)"
        ]

    def test_null_for_a_required_one_may_not_be_left_out(self) -> None:
        schema = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}
        assert sentences({"a": None}, schema) == ["/a: expected an integer, got null"]

    def test_null_for_a_parameter_that_is_a_reference(self) -> None:
        schema = {
            "$defs": {"n": {"type": "integer"}},
            "properties": {"a/b": {"$ref": "#/$defs/n", "default": 7}},
        }
        assert sentences({"a/b": None}, schema) == [
            "/a~1b: expected an integer, got null (leave it out for its default, 7)"
        ]

    def test_text_for_an_array_or_an_object(self) -> None:
        assert message(tags="a, b") == (
            '/tags: expected an array of string with at most 3 items, got "a, b" (a string); '
            'send a JSON array such as ["a", "b"]'
        )
        assert message(lines="x").endswith("; send a JSON array such as [{...}]")
        assert message(opts="x").endswith('; send a JSON object such as {"a": ...}')
        assert message(point="x").endswith("; send a JSON array such as [...]")

    def test_no_form_is_shown_where_it_might_be_another(self) -> None:
        schema = {"anyOf": [{"type": "integer"}, {"type": "array", "items": {}}]}
        assert "send a JSON" not in sentences("x", schema)[0]

    def test_a_near_choice_of_many(self) -> None:
        schema = {"enum": [f"item-{n}" for n in range(200)] + ["Blue"]}
        assert sentences("blue", schema)[0].endswith('got "blue" (a string); did you mean "Blue"?')
        assert "did you mean" not in sentences("zzz", schema)[0]


class TestKeywords:
    """The words for each keyword of JSON Schema."""

    @pytest.mark.parametrize(
        ("value", "schema", "says"),
        [
            (
                {"a": 1},
                {"properties": {"b": {"type": "string"}}, "dependentRequired": {"a": ["b"]}},
                "/b: expected a string, got nothing (it is required beside a)",
            ),
            (
                {"abcd": 1},
                {"propertyNames": {"maxLength": 3}},
                'the arguments: expected keys of at most 3 characters, got the key "abcd"',
            ),
            (
                {"m": {"B": 1}},
                {"properties": {"m": {"propertyNames": {"pattern": "^[a-z]"}}}},
                '/m: expected each key to be a string matching ^[a-z], got the key "B"',
            ),
            (
                {"x": 1},
                {"propertyNames": {"enum": ["a", "b"]}},
                'the arguments: expected each key to be one of "a", "b", got the key "x"',
            ),
            (
                {"propertyNames": 1},
                {"properties": {"propertyNames": {"type": "string"}}},
                "/propertyNames: expected a string, got 1 (an integer)",
            ),
            (
                {"c": 1},
                {"not": {"required": ["c"]}},
                'the arguments: must not have the key "c"; got {"c": 1} (an object)',
            ),
            ("x", {"not": {"type": "string"}}, 'the arguments: must not be a string; got "x"'),
            (
                [1],
                {"contains": {"type": "string"}},
                "the arguments: expected at least 1 of its items to be a string, got [1]",
            ),
            (
                [1, 2],
                {"contains": {"type": "integer"}, "maxContains": 1},
                "the arguments: expected at most 1 of its items to be an integer, got [1, 2]",
            ),
            (
                {"kind": "x"},
                {"if": {"required": ["kind"]}, "then": {"required": ["x"]}},
                "/x: expected a value, got nothing (it is required)",
            ),
            ("ab", {"pattern": "^c"}, 'the arguments: expected a string matching ^c, got "ab"'),
            ([1, 1], {"uniqueItems": True}, "the arguments: expected items without repeats, got"),
            (
                [1, 2],
                {"prefixItems": [{}], "items": False},
                "the arguments: expected at most 1 items, got [1, 2] (an array)",
            ),
            (
                {"a": 1, "b": 2, "z": 1},
                {
                    "properties": {"a": {}},
                    "allOf": [{"properties": {"b": {}}}],
                    "unevaluatedProperties": False,
                },
                "/z: there is no such parameter (known: a, b)",
            ),
            (
                {"o": {"aa": 1}},
                {"properties": {"o": {"properties": {"ab": {}}, "additionalProperties": False}}},
                "/o/aa: there is no such key (known: ab)",
            ),
        ],
        ids=lambda item: str(item)[:40],
    )
    def test_words(self, value: Any, schema: Any, says: str) -> None:
        [said] = sentences(value, schema)
        assert said.startswith(says)

    @pytest.mark.parametrize(
        "schema",
        [
            {"required": [None, []]},
            {"required": ["a", 1]},
            {"dependentRequired": {"k": [None, "a"]}},
            {"not": {"required": 1}},
            {"contains": 1, "items": {"prefixItems": 1}},
            {"oneOf": {"type": "null", "$ref": 1}},
            {"anyOf": [{"properties": 1, "required": ["a"]}, {"required": ["b"]}]},
        ],
        ids=str,
    )
    def test_broken_schemas_do_no_harm(self, schema: Any) -> None:
        for value in ({"k": 1}, [None], None):
            for fault in validate(value, schema):
                assert fault.message

    def test_each_missing_neighbour_is_a_fault_of_its_own(self) -> None:
        schema = {"dependentRequired": {"a": ["b", "c"], "q": ["r"]}}
        assert [fault.pointer for fault in validate({"a": 1, "c": 1}, schema)] == ["/b"]
        assert [fault.pointer for fault in validate({"a": 1}, schema)] == ["/b", "/c"]

    @pytest.mark.parametrize(
        ("schema", "words"),
        [
            ({"type": "string", "minLength": 2, "maxLength": 5}, "a string of 2 to 5 characters"),
            ({"type": "array", "items": {"type": "string"}, "maxItems": 3},
             "an array of string with at most 3 items"),
            ({"type": "object", "minProperties": 1}, "an object with at least 1 key"),
            ({"type": "integer", "multipleOf": 5}, "an integer that is a multiple of 5"),
            ({"type": "string", "pattern": "^a"}, "a string matching ^a"),
            ({"minimum": 1}, "a value at least 1"),
            (True, "a value"),
            (False, "nothing"),
        ],
        ids=str,
    )  # fmt: skip
    def test_type_and_bounds_read_as_one(self, schema: Any, words: str) -> None:
        assert expected_text(schema) == words

    def test_shapes_show_one_level_of_keys(self) -> None:
        schema = {
            "$defs": {"T": {"type": "object", "properties": {"kids": {"$ref": "#/$defs/T"}}}},
            "type": "object",
            "properties": {
                "kind": {"const": "x"},
                "inner": {"type": "object", "properties": {"deep": {}}},
            },
            "required": ["kind"],
        }
        assert shape_text(schema) == 'object {kind: "x", inner?}'
        assert shape_text({"$ref": "#/$defs/T"}, schema) == "object T {kids?}"
        assert shape_text({"type": "array", "items": schema}) == (
            'array of object {kind: "x", inner?}'
        )
        assert shape_text({"type": "object", "additionalProperties": {"type": "integer"}}) == (
            "object of integer by key"
        )
        wide = {"type": "object", "properties": {f"k{n}": {} for n in range(20)}}
        assert shape_text(wide).endswith("k7?, ...}")
        assert type_text(schema) == "object", "cards name the type alone"


class TestTheWholeMessage:
    """Its count is honest, it says each thing once, and it stays short."""

    def test_unknown_keys_share_one_line(self) -> None:
        found = prepare(order, {"cuont": 1, "zzz": 2, "opts": {"x": 1, "y": 2}})
        assert [fault.pointer for fault in found.faults] == ["/opts/x", "/opts/y", "/cuont", "/zzz"]
        lines = str(found.error).splitlines()
        assert lines[0] == "The arguments do not fit order (4 faults); it was not run."
        assert lines[1] == "- /opts/x, /opts/y: there are no such keys (known: a)"
        assert lines[2].startswith(
            "- /cuont, /zzz: there are no such parameters; did you mean 'count' for /cuont? "
            "(known: count, to, "
        )
        assert lines[3].startswith("Call it as order(")
        assert len(lines) == 4

    @pytest.mark.parametrize(
        ("many", "says"), [(1, "(1 fault)"), (20, "(20 faults)"), (21, "(more than 20 faults; the")]
    )
    def test_the_count_is_honest(self, many: int, says: str) -> None:
        @tool
        def take(a: list[int]): ...

        found = prepare(take, {"a": ["x"] * many})
        assert len(found.faults) == min(many, 20)
        assert says in str(found.error)

    def test_faults_of_the_types_are_counted_with_those_of_the_schema(self) -> None:
        def take(a: list[int], b: list[Annotated[int, AfterValidator(even)]]): ...

        found = prepare(Tool.from_function(take), {"a": ["x"] * 19, "b": [1, 3]})
        assert len(found.faults) == 20
        assert "(more than 20 faults; the first 20 follow)" in str(found.error)

    def test_a_long_call_shows_what_it_is_about(self) -> None:
        error = str(prepare(order, {"flag": "x", "coutn": 1}).error)
        call = error.splitlines()[-1]
        assert "flag?: boolean = false" in call
        assert "count?: integer from 1 to 10 = 1" in call, "the name that was meant"
        assert ", to?, tagged?, at?," in call
        assert len(call) < 400

    def test_a_short_call_shows_all(self) -> None:
        @tool
        def send(lines: list[Line], count: Annotated[int, Field(le=9)] = 1): ...

        assert str(prepare(send, {}).error).splitlines()[-1] == (
            "Call it as send(lines: array of object {sku, n?}, count?: integer at most 9 = 1)"
        )

    def test_whatever_the_schema_it_is_bounded(self) -> None:
        names = [f"{'long_name_' * 20}{n}" for n in range(300)]
        schema = {
            "type": "object",
            "properties": {
                name: {"type": "string", "pattern": "x" * 5_000, "enum": ["y" * 900] * 50}
                for name in names
            },
            "required": names,
            "additionalProperties": False,
        }

        def take(**arguments: Any): ...

        made = ToolWithSchema(take, schema)
        for sent in ({}, dict.fromkeys(names, 1), {f"z{name}": 1 for name in names}, "[1]"):
            found = prepare(made, sent)
            assert 200 < len(str(found.error)) <= 8_000
        assert "left out for length" in str(prepare(made, {}).error)

    def test_long_places_show_their_start_and_end(self) -> None:
        @tool
        def take(a: dict[str, int]): ...

        [fault] = prepare(take, {"a": {"k" * 1_000 + "end": "x"}}).faults
        assert fault.message.startswith("/a/kkk")
        assert "kend: expected an integer" in fault.message
        assert len(fault.message) < 300


class TestNesting:
    """What is too deep is told as that, alike for objects and for JSON text."""

    @staticmethod
    def nested(levels: int, leaf: Any) -> Any:
        value = leaf
        for _ in range(levels):
            value = [value]
        return value

    @pytest.mark.parametrize("leaf", [1, [], {}, "\ud800"], ids=["1", "[]", "{}", "surrogate"])
    @pytest.mark.parametrize("as_text", [True, False], ids=["text", "object"])
    def test_the_same_bound_for_both(self, as_text: bool, leaf: Any) -> None:
        @tool
        def take(a: Any): ...

        extra = 1 if isinstance(leaf, (list, dict)) else 0
        for levels, fits in ((63, True), (64, False), (65, False), (300, False)):
            sent: Any = {"a": self.nested(levels - extra, leaf)}
            found = prepare(take, json.dumps(sent) if as_text else sent)
            assert found.ok is fits
            assert "too deep:" not in str(found.values)
            if not fits:
                assert "nested more than 64 levels deep, at /a/0/0" in str(found.error) or (
                    as_text and "nested more than 64 levels deep" in str(found.error)
                )

    def test_validate_names_the_place(self) -> None:
        [fault] = validate({"ok": [1], "a~": self.nested(70, 1)}, {})
        assert fault.message.startswith("/a~0/0/0")
        assert fault.message.endswith(": nested too deeply (more than 64 levels)")


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ('{"count": 1', "they end too early, before the object is closed, and may have been cut"),
        ('{"count":', "they end too early, before the object is closed"),
        ('{"count": 1,', "they end too early, before the object is closed"),
        ("{", "they end too early, before the object is closed"),
        ('{"flag": tru', "they end too early, before the object is closed"),
        ('{"tags": ["a", "b', "they end too early, inside a string"),
        ('{"mode": "a\\', "they end too early, inside a string"),
        ('{"mode": "a\\u00', "they end too early, inside a string"),
        ("{'count': 1}", "names and texts stand in double quotes in JSON, at character 1, near"),
        ("{\"mode\": 'fast'}", "names and texts stand in double quotes in JSON, at character 9"),
        ("{\u201ccount\u201d: 1}", "names and texts stand in double quotes"),
        ('{"count": 1,}', "there is a comma before a closing bracket"),
        ('{"tags": ["a", ]}', "there is a comma before a closing bracket"),
        ('{"flag": True}', "JSON has true, false and null in place of True, False and None"),
        ('{"flag": None, "count": 1}', "JSON has true, false and null"),
        ('{"count": 1 // one\n}', "JSON has no comments"),
        ('{# one\n"count": 1}', "JSON has no comments"),
        ('```json\n{"count": 1}\n```', "they stand in a code fence. Send the object alone"),
        ("{count: 1}", "a name stands without double quotes, at character 1"),
        ("{1: 1}", "a name in double quotes is missing"),
        ('{"count" 1}', "the colon after a name is missing"),
        ('{"count": 1 "flag": true}', "a comma or a closing bracket is missing, or a quote"),
        ('{"mode": "say "hi""}', "or a quote within a string has no backslash before it"),
        ('{"mode": "C:\\dir"}', "a backslash within a string is written twice in JSON"),
        ('{"mode": "\\u12zz"}', "\\u within a string is not followed by four hexadecimal digits"),
        ('{"count": .5}', "a value is missing or is written in a way that JSON has not"),
        ("count=1", "they do not begin with {, at character 0, near 'count=1'"),
        ("<function_call>", "they do not begin with {"),
        ('{"count": 1}}', "there is a closing bracket too many after the object"),
        (
            '{"count": 1}{"count": 2}',
            'more than one JSON value; after the first came: {"count": 2}',
        ),
        (
            '{"count": 1} Done!',
            "after the value came more: Done!. Send one JSON object and nothing",
        ),
        ('{"count": NaN}', "NaN is not JSON"),
        ('{"count": 1e999}', "1e999 is too large for a number"),
        ('{"count": ' + "9" * 5_000 + "}", "an integer has more than 4,300 digits"),
        ('"count=1"', 'are a text that is not JSON itself: "count=1". Send one JSON object.'),
        (json.dumps("{'count': 1}"), "names and texts stand in double quotes"),
        (
            json.dumps(json.dumps(json.dumps({"count": 1}))),
            'what came is "{\\"count\\": 1}" (a text: it was encoded as JSON once too often).',
        ),
        ("[1]", "must be a JSON object, one key a parameter; what came is [1]."),
        ("null", "what came is null."),
    ],
    ids=lambda item: str(item)[:40],
)
def test_text_that_is_no_object(raw: str, says: str) -> None:
    """Our own words, the same on each Python."""
    found = prepare(order, raw)
    assert not found.ok
    assert says in str(found.error)
    assert "Call it as order(" in str(found.error)


class TestUnknownTools:
    def error(self, called: str, *names: str) -> str:
        tools = [Tool.from_function(lambda: None, name=name) for name in names]
        [result] = asyncio.run(ToolRunner(tools).process_tool_calls([(called, {})]))
        return str(result.error)

    @pytest.mark.parametrize("called", ["oder", "Order", "functions.order_now", "order-now"])
    def test_a_near_name_is_offered(self, called: str) -> None:
        error = self.error(called, "cancel", "order", "order_now")
        near = "order_now" if "now" in called else "order"
        assert error == (
            f"There is no tool named {called!r}; did you mean {near!r}? "
            "Tools: cancel, order, order_now."
        )

    def test_of_many_tools_the_nearest_come_first(self) -> None:
        names = [f"some_rather_long_name_of_a_tool_{n}" for n in range(200)] + ["order"]
        error = self.error("orders", *names)
        assert "did you mean 'order'? Tools: order, some_rather_long_name_of_a_tool_0" in error
        assert error.endswith(" more.")
        assert len(error) < 2_300

    def test_a_far_one_gets_the_list(self) -> None:
        assert self.error("x", "order") == "There is no tool named 'x'. Tools: order."


class TestSecrets:
    """No value of a secret is in any message, nor in any fault."""

    @staticmethod
    def made() -> Tool:
        def short(value: str) -> str:
            raise ValueError(f"{value} is too short")

        def log_in(
            key: SecretStr,
            pin: Annotated[str, Field(json_schema_extra={"writeOnly": True}),
                           AfterValidator(short)] = "1",
            n: int = 1,
        ): ...  # fmt: skip

        return Tool.from_function(log_in)

    @pytest.mark.parametrize(
        "sent",
        [
            {"key": ["hunter2"]},
            {"key": {"a": "hunter2"}},
            {"keyy": "hunter2"},
            {"key": "a", "pin": "hunter2"},
            {"key": "hunter2", "n": "x"},
            '{"key": "hunter2", "n": 1',
            '{"key": "hunter2" "n": 1}',
            '{"key": "hunter2"} hunter2',
            '{"key": "hunter2"}{"key": "hunter2"}',
            '["hunter2"]',
            '"hunter2"',
            json.dumps(json.dumps(json.dumps({"key": "hunter2"}))),
        ],
        ids=str,
    )
    def test_as_arguments(self, sent: Any) -> None:
        found = prepare(self.made(), sent)
        assert not found.ok
        assert "hunter2" not in str(found.error)
        assert "hunter2" not in str([(f.expected, f.got, f.message) for f in found.faults])

    @pytest.mark.parametrize(
        ("value", "schema"),
        [
            ({"k": "hunter2"}, {"properties": {"k": {"writeOnly": True}}, "minProperties": 2}),
            ({"k": "hunter2"}, {"properties": {"k": {"writeOnly": True}}, "not": {}}),
            ("hunter2", {"format": "password", "maxLength": 1}),
            (["hunter2"], {"items": {"format": "password", "maxLength": 1}}),
            ({"z": "hunter2"}, {"additionalProperties": {"format": "password", "type": "null"}}),
            (
                {"z": "hunter2"},
                {"$defs": {"s": {"writeOnly": True, "type": "null"}},
                 "patternProperties": {"z": {"$ref": "#/$defs/s"}}},
            ),
        ],
        ids=str,
    )  # fmt: skip
    def test_at_any_place_of_a_schema(self, value: Any, schema: Any) -> None:
        [fault] = validate(value, schema)
        assert "hunter2" not in f"{fault}"

    def test_the_type_of_one_is_told(self) -> None:
        [fault, *_] = prepare(self.made(), {"key": ["hunter2"], "pin": None}).faults
        assert fault.message == "/key: expected a string (password), got an array (not shown)"
        assert got_of(self.made(), {"key": None}) == "null"

    def test_a_default_is_not_shown(self) -> None:
        schema = {"type": "object", "properties": {"k": {
            "type": "string", "writeOnly": True, "default": "hunter2"}}}  # fmt: skip

        def take(**arguments: Any): ...

        error = str(prepare(ToolWithSchema(take, schema), {"k": None}).error)
        assert "(leave it out for its default)" in error
        assert "hunter2" not in error


class TestSmallWords:
    def test_names_alike_but_for_case_and_separators(self) -> None:
        assert nearest("maxDepth", ["min_depth", "max_depth"]) == "max_depth"
        assert nearest("x", ["abc"]) is None
        assert nearest("", []) is None

    def test_lists_of_names(self) -> None:
        assert listed("x", [], 10) == "none"
        assert listed("x", ["a", "b"], 10) == "a, b"
        assert listed("cc", ["aaaa", "bbbb", "cccc"], 10) == "cccc and 2 more"
        assert listed("x", ["a" * 50, "b" * 50], 10) == "2 more"

    @given(st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs"])),
        lambda inner: st.lists(inner) | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"])), inner),
    ))  # fmt: skip
    @settings(max_examples=200, deadline=None)
    def test_brief_json_is_the_start_of_the_json(self, value: Any) -> None:
        whole = json.dumps(value, ensure_ascii=False)
        brief = brief_json(value, 40)
        assert brief == whole if len(whole) <= 40 else brief == whole[:39] + "…"

    def test_what_came_is_not_looked_at_further_than_it_is_shown(self) -> None:
        cycle: list[Any] = []
        cycle.append(cycle)
        assert got_text(cycle).endswith("… (an array)")
        start = time.process_time()
        got_text({"a": ["x" * 1_000] * 1_000_000})
        assert time.process_time() - start < 0.1

    def test_bounds_of_any_size(self) -> None:
        assert len(bounds_text({"minimum": 10**5_000, "multipleOf": 10**6_000})) < 200
        assert len(bounds_text({"pattern": "x" * 10_000})) < 300
