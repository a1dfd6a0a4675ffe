"""Coercion and validation answer, whatever the JSON and however broken the schema."""

from __future__ import annotations

import contextlib
import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb import Tool, coerce, prepare, validate
from laws.generators import JSON, schemas
from laws.hostile import BROKEN, DEPTH, SCHEMAS, VALUES, nested
from laws.oracle import same, undone

LONGEST_MESSAGE = 20_000
"""Characters of all faults of one value together; a model must be able to read them."""


def judge(value: Any, schema: Any) -> None:
    """Coerce and validate, and look at what comes back as far as any value allows."""
    found = coerce(value, schema)
    assert isinstance(found.changes, tuple)
    faults = validate(found.value, schema)
    told = "".join(fault.message for fault in faults)
    told.encode()
    assert len(told) < LONGEST_MESSAGE
    again = coerce(found.value, schema)
    assert again.changes == ()
    if not found.changes:
        assert found.value is value


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_hostile_values(value: Any, schema: Any) -> None:
    """As a whole, and as a member of an object."""
    judge(value, schema)
    judge({"p": value}, {"properties": {"p": schema if schema != {"$ref": "#"} else {}}})


@pytest.mark.parametrize("schema", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize(
    "name", ["deep both", "doubled keys inside", "hostile keys", "NaN", "a lone surrogate"]
)
def test_broken_schemas(schema: Any, name: str) -> None:
    """Also where the broken part stands under a key, in a union and in a list."""
    value = VALUES[name]
    for whole in (
        schema,
        {"properties": {"v": schema}},
        {"anyOf": [schema, {"type": "integer"}]},
        {"type": "array", "items": schema},
    ):
        for sent in (value, {"v": value}, [value], "1"):
            coerce(sent, whole)
            validate(sent, whole)


@pytest.mark.parametrize("kind", ["list", "dict", "both"])
@pytest.mark.parametrize("depth", [10, 30, 60, 100, 300, 1_000, DEPTH])
def test_depth_is_no_hiding_place(kind: str, depth: int) -> None:
    """What is too deep to be judged is refused or was judged; it never passes as fitting unseen."""
    name = {"list": "recursive lists", "dict": "recursive objects", "both": "recursive both"}[kind]
    wrong: Any = {"list": "x", "dict": "x", "both": {"kids": "x"}}[kind]
    right: Any = {"list": [], "dict": {}, "both": {"kids": []}}[kind]
    assert validate(nested(kind, depth, wrong), SCHEMAS[name]) != ()
    if depth < 60:
        assert validate(nested(kind, depth, right), SCHEMAS[name]) == ()


def tool_of(annotation: Any) -> Tool:
    """A tool with one parameter ``p`` of this type, and one ``n``."""

    def take(p, n: int = 1): ...

    take.__annotations__ = {"p": annotation, "n": int}
    return Tool.from_function(take)


TOOLS = {
    str(annotation): tool_of(annotation)
    for annotation in (Any, str, int, float, bool, list[int], dict[str, int], list[Any], int | None)
}


@pytest.mark.parametrize("made", TOOLS.values(), ids=TOOLS)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_whole_arguments_of_a_tool(made: Tool, value: Any) -> None:
    """From a mapping and from JSON text, the answer is values or words."""
    raws: list[Any] = [
        value,
        {"p": value},
        {"p": 1, "n": value},
        value if isinstance(value, str) else None,
    ]
    with contextlib.suppress(RecursionError, ValueError):  # json itself cannot write them all
        raws.append(json.dumps({"p": value}))
    for raw in raws:
        found = prepare(made, raw)
        assert found.ok is (found.error is None)
        str(found.error).encode()
        assert len(str(found.error)) < LONGEST_MESSAGE + 2_000


def test_the_last_of_doubled_keys_is_taken_and_is_all_that_is_seen() -> None:
    """One reading, the same for whoever looks: what is shown is what runs."""
    found = prepare(TOOLS[str(dict[str, int])], '{"p": {"a": 1, "a": "2"}, "n": 5, "n": "6"}')
    assert found.values == {"p": {"a": 2}, "n": 6}
    assert found.arguments == {"p": {"a": 2}, "n": 6}


def test_integers_of_any_size_pass_through_untouched() -> None:
    """Python's limit on printing integers is not the model's fault."""
    huge = 10**5_000
    assert coerce({"v": huge}, {"properties": {"v": {"type": "integer"}}}).value["v"] is huge
    assert validate({"v": huge}, {"properties": {"v": {"type": "integer"}}}) == ()
    [fault] = validate({"v": huge}, {"properties": {"v": {"type": "integer", "maximum": 1}}})
    assert len(fault.message) < 500


@given(schemas(), JSON)
def test_whatever_the_schema(schema: Any, value: Any) -> None:
    """Generated documents, references to nowhere and to themselves included."""
    found = coerce(value, schema)
    validate(value, schema)
    assert same(undone(found.value, found.changes), value)


@given(JSON, JSON)
def test_any_json_as_a_schema(schema: Any, value: Any) -> None:
    """What is no schema at all asks for nothing it could be refused by."""
    coerce(value, schema)
    validate(value, schema)


KEYWORDS = st.sampled_from(
    [
        *("$ref", "type", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if", "then", "else"),
        *("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
        *("items", "prefixItems", "additionalItems", "contains", "minContains", "uniqueItems"),
        *("minimum", "maxLength", "pattern", "format", "multipleOf", "dependentRequired", "$defs"),
        *(
            "dependentSchemas",
            "unevaluatedProperties",
            "unevaluatedItems",
            "$id",
            "$anchor",
            "$schema",
        ),
        *("dependencies", "minProperties", "$dynamicRef", "$recursiveRef", "definitions"),
    ]
)
SHAPELESS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from(["#", "integer", "(", "#/$defs/a", "a"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYWORDS, inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(KEYWORDS, SHAPELESS, max_size=4), JSON)
def test_keywords_with_any_values(schema: Any, value: Any) -> None:
    """Keywords whose values are of the wrong kind never raise."""
    found = coerce(value, schema)
    validate(value, schema)
    assert same(undone(found.value, found.changes), value)


def test_the_machines_limit_is_left_as_it_was() -> None:
    """Nothing here gets by through raising the interpreter's own recursion limit."""
    before = sys.getrecursionlimit()
    judge(VALUES["deep both"], SCHEMAS["recursive both"])
    assert sys.getrecursionlimit() == before
