"""What models write instead of the right type: converted where one reading exists, else left alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Optional

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from agtools_nb import Tool, coerce, validate
from cases.calling import call, refused, value

# Text that a reader of JSON would take for something else.
LOOKS_LIKE = [
    *("12345", "007", "-1", "1.5", "1e3", "true", "False", "null", "None", "[1]", "{}", '{"a": 1}'),
    *("", " ", '"quoted"', "2026-01-15", "0x10", "NaN", "[1, ", "\ufeff1"),
]


@pytest.mark.parametrize("text", LOOKS_LIKE)
def test_text_for_a_text_parameter_is_never_read(text: str) -> None:
    """coercion-01: valid already, wherever the text stands."""

    def f(p: str, many: list[str], named: dict[str, str]):
        return p, many, named

    result = call(f, {"p": text, "many": [text], "named": {"k": text}})
    assert result.result == (text, [text], {"k": text})
    assert result.coercions == ()


@pytest.mark.parametrize("text", LOOKS_LIKE)
@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"oneOf": [{"type": "object"}, {"type": "string"}]},
        {"anyOf": [{"type": "array"}, {"type": "integer"}, {"type": "string"}]},
        {"anyOf": [{"$ref": "#/$defs/text"}, {"type": "object"}], "$defs": {}},
        {},
        True,
    ],
    ids=str,
)
def test_text_where_text_is_one_of_the_choices(text: str, schema: Any) -> None:
    """coercion-02: any branch that takes it keeps it."""
    root = {"properties": {"body": schema}, "$defs": {"text": {"type": "string"}}}
    found = coerce({"body": text}, root)
    assert found.value == {"body": text}
    assert found.changes == ()


def test_optional_text_of_a_function() -> None:
    """coercion-02: the exact text, and never ``None`` for ``"null"``."""

    def f(body: Optional[str] = None):  # noqa: UP045
        return body

    assert value(f, {"body": '{"blocks": []}'}) == '{"blocks": []}'
    assert value(f, {"body": "null"}) == "null"
    assert value(f, {"body": None}) is None


class Point(BaseModel):
    x: int
    label: str = ""


class TestJsonTextInside:
    """coercion-04: containers written as text, at any depth; text where text belongs stays."""

    def test_in_lists_and_mappings(self) -> None:
        def f(ps: list[Point], m: dict[str, list[int]]):
            return ps, m

        given = {"ps": ['{"x":1}', '{"x":2, "label": "3"}'], "m": {"a": "[1,2]"}}
        assert value(f, given) == ([Point(x=1), Point(x=2, label="3")], {"a": [1, 2]})

    def test_text_within_text_within_text(self) -> None:
        def f(a: dict[str, dict[str, list[int]]]):
            return a

        inner = json.dumps({"c": json.dumps([1, "2"])})
        assert value(f, {"a": json.dumps({"b": inner})}) == {"b": {"c": [1, 2]}}

    def test_the_change_list_names_each_place(self) -> None:
        schema = {
            "properties": {
                "m": {"additionalProperties": {"type": "array", "items": {"type": "integer"}}}
            }
        }
        found = coerce({"m": {"a/b": '["1", 2]'}}, schema)
        assert found.value == {"m": {"a/b": [1, 2]}}
        assert {change.pointer for change in found.changes} >= {"/m/a~1b"}

    @pytest.mark.parametrize("text", ["[1,", "1, 2", "{'x': 1}", "[1] [2]", '"[1]"', "", "null"])
    def test_what_is_no_array_stays_and_is_told(self, text: str) -> None:
        def f(m: list[int]): ...

        assert refused(f, {"m": text}) == ["/m"]
        assert json.dumps(text)[:20] in str(call(f, {"m": text}).error)


@pytest.mark.parametrize("annotation", [int | str, str | int, int | str | None, float | str])
@pytest.mark.parametrize("sent", ["007", "42", "-0", "1e3", 7], ids=repr)
def test_text_or_number(annotation: Any, sent: Any) -> None:
    """coercion-05: in either order the text stays text, and the number a number."""

    def f(code):
        return code

    f.__annotations__ = {"code": annotation}
    found = value(f, {"code": sent})
    assert (type(found), found) == (type(sent), sent) or (
        annotation == (float | str) and found == 7
    )


SPELLINGS = {
    "list": lambda *kinds: {"type": list(kinds)},
    "anyOf": lambda *kinds: {"anyOf": [{"type": kind} for kind in kinds]},
    "oneOf": lambda *kinds: {"oneOf": [{"type": kind} for kind in kinds]},
    "nested": lambda first, *rest: {"anyOf": [{"anyOf": [{"type": first}]}, {"type": list(rest)}]},
    "ref": lambda *kinds: {"anyOf": [{"$ref": f"#/$defs/{kind}"} for kind in kinds]},
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("order", [1, -1])
def test_a_union_of_types_means_the_same_however_it_is_spelled(spelling: str, order: int) -> None:
    """coercion-07: a list of types, ``anyOf`` and ``oneOf`` give one answer."""

    def made(*kinds: str) -> Any:
        return SPELLINGS[spelling](*kinds[::order])

    root = {
        "properties": {
            "flag": made("boolean", "null"),
            "day": made("string", "null"),
            "n": made("integer", "null"),
            "many": made("array", "null"),
            "either": made("boolean", "integer"),
        },
        "$defs": {
            kind: {"type": kind} for kind in ("boolean", "null", "string", "integer", "array")
        },
    }
    given = {"flag": "false", "day": "2026-01-15", "n": "5", "many": "[1]", "either": "true"}
    right = {"flag": False, "day": "2026-01-15", "n": 5, "many": [1], "either": True}
    found = coerce(given, root)
    assert json.dumps(found.value) == json.dumps(right)
    assert len(found.changes) == 4
    assert validate(found.value, root) == ()


class TestNullAsText:
    """coercion-08: ``"null"`` is null where nothing else could be meant; other words are not."""

    def test_the_case_itself(self) -> None:
        def f(n: Optional[int] = None, s: Optional[str] = None):  # noqa: UP045
            return n, s

        assert value(f, {"n": "null"}) == (None, None)
        assert value(f, {"s": "null"}) == (None, "null")
        assert refused(f, {"n": "None"}) == ["/n"]

    @pytest.mark.parametrize("word", ["None", "NULL", "Null", "nil", "undefined", "", " null"])
    def test_other_words(self, word: str) -> None:
        def f(n: int | None, m: list[int] | None, b: bool | None): ...

        assert refused(f, {"n": word, "m": word, "b": word}) == ["/n", "/m", "/b"]

    def test_not_where_null_is_not_allowed(self) -> None:
        def f(n: int): ...

        assert refused(f, {"n": "null"}) == ["/n"]


def test_scalars_as_text() -> None:
    """coercion-10: the only reading is taken, in every container."""

    def f(n: int, x: float, b: bool, ns: list[int], xs: dict[str, float], t: tuple[bool, int]):
        return n, x, b, ns, xs, t

    given = {"n": "5", "x": "2.5", "b": "true", "ns": ["1"], "xs": {"a": "1"}, "t": ["false", "2"]}
    assert value(f, given) == (5, 2.5, True, [1], {"a": 1.0}, (False, 2))
    assert [c.pointer for c in call(f, given).coercions] == [
        *("/n", "/x", "/b", "/ns/0", "/xs/a", "/t/0", "/t/1"),
    ]


class TestBooleanWords:
    """coercion-11: true and false in any case, and no other word or number."""

    @pytest.mark.parametrize(
        "sent",
        ["yes", "no", "on", "off", "y", "t", "1", "0", "maybe", "", "truee", 1, 0, 1.0],
        ids=repr,
    )
    def test_are_not_guessed(self, sent: Any) -> None:
        def f(b: bool): ...

        def g(b: bool | None): ...

        assert refused(f, {"b": sent}) == ["/b"]
        assert refused(g, {"b": sent}) == ["/b"]

    @pytest.mark.parametrize("sent", ["TRUE", "True", "true", "tRuE"])
    def test_case_does_not_matter(self, sent: str) -> None:
        def f(b: bool):
            return b

        assert value(f, {"b": sent}) is True
        assert value(f, {"b": sent.lower().replace("true", "FALSE")}) is False


class A(BaseModel):
    kind: Literal["a"]
    a: int


class B(BaseModel):
    kind: Literal["b"]
    b: int


@dataclass
class D:
    d: int


class TestUnionsOfModels:
    """coercion-13: the branch that is meant is built, with its own fields converted."""

    @pytest.mark.parametrize(
        "sent",
        [{"kind": "b", "b": "1"}, {"kind": "b", "b": 1}, '{"kind": "b", "b": "1"}'],
        ids=repr,
    )
    def test_by_its_tag(self, sent: Any) -> None:
        def f(e: A | B):
            return e

        assert value(f, {"e": sent}) == B(kind="b", b=1)

    def test_in_containers_and_beside_others(self) -> None:
        def f(es: list[A | B | None], e: A | D | int | None = None):
            return es, e

        given = {"es": [{"kind": "a", "a": "1"}, None, {"kind": "b", "b": "2"}], "e": {"d": "3"}}
        assert value(f, given) == ([A(kind="a", a=1), None, B(kind="b", b=2)], D(3))

    def test_a_fault_is_told_of_the_branch_that_was_meant(self) -> None:
        def f(e: A | B): ...

        assert refused(f, {"e": {"kind": "b", "b": "x"}}) == ["/e/b"]
        assert refused(f, {"e": {"kind": "c"}}) == ["/e/kind"]


class Pair(NamedTuple):
    x: int
    y: int


class Named(TypedDict):
    x: int


class Nested(BaseModel):
    point: Point
    points: dict[str, list[Point]]


class TestRealInstances:
    """coercion-14: the function gets what its annotation says, at any depth."""

    def test_models_and_dataclasses(self) -> None:
        def f(p: Point, ps: list[Point], d: D, ds: dict[str, D], n: Nested):
            return p, ps, d, ds, n

        given = {
            "p": {"x": 1},
            "ps": [{"x": "2"}],
            "d": {"d": "3"},
            "ds": {"k": {"d": 4}},
            "n": {"point": {"x": 5}, "points": {"q": [{"x": "6"}]}},
        }
        assert value(f, given) == (
            Point(x=1),
            [Point(x=2)],
            D(3),
            {"k": D(4)},
            Nested(point=Point(x=5), points={"q": [Point(x=6)]}),
        )

    def test_tuples_sets_and_typed_dicts(self) -> None:
        def f(pair: Pair, t: tuple[int, str], s: frozenset[int], n: Named):
            return pair, t, s, n

        found = value(f, {"pair": ["1", 2], "t": [3, 4], "s": [5, "6"], "n": {"x": "7"}})
        assert found == (Pair(1, 2), (3, "4"), frozenset({5, 6}), {"x": 7})
        assert type(found[0]) is Pair

    def test_a_missing_field_is_told_and_never_a_dict_handed_over(self) -> None:
        def f(p: Point, ps: list[Point]): ...

        assert refused(f, {"p": {}, "ps": [{"x": 1}, {"label": "a"}]}) == ["/p/x", "/ps/1/x"]


def test_schemas_of_servers_are_coerced_as_ones_own() -> None:
    """mcp-04: a schema that came from elsewhere is as good as one made from a function."""
    schema = {
        "type": "object",
        "properties": {
            "tags": {"type": "array", "items": {"type": "string"}},
            "deep": {"type": "boolean"},
            "n": {"type": "integer"},
        },
    }
    sent = {"tags": '["a"]', "deep": "false", "n": "100"}
    right = {"tags": ["a"], "deep": False, "n": 100}
    found = coerce(sent, schema)
    assert json.dumps(found.value) == json.dumps(right)
    assert validate(found.value, schema) == ()

    def own(tags: list[str], deep: bool, n: int): ...

    made = Tool.from_function(own)
    assert call(made, sent).arguments == right
