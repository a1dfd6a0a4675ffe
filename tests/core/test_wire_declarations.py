"""A tool as each provider wants it declared, and such a declaration read back."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from agtools_nb.define import tool
from agtools_nb.define.normal import normalized
from agtools_nb.define.subschemas import map_subschemas, walk
from agtools_nb.define.wire import (
    PROVIDERS,
    declaration,
    read_declaration,
    why_not_strict,
    without_unset,
)
from agtools_nb.define.wire.gemini_schema import gemini_schema
from agtools_nb.errors import DefinitionError, UsageError
from tests.core.schemas import JSON, SCHEMAS, SUBSCHEMAS
from tests.core.wire_shapes import DECLARATIONS, adapter, fits, made_tool

sys.path.insert(0, str(Path(__file__).parent.parent / "form"))
from schema_tool import corpus

ALL = ("openai", "openai-responses", "anthropic", "gemini", "mcp")
CORPUS = [row for row in corpus() if row["schema"].get("type") == "object"]


class Node(BaseModel):
    value: int
    left: Node | None = None
    tags: list[str] = []


@tool(read_only=True)
def search(
    query: str,
    limit: Annotated[int, Field(ge=1, le=10, description="How many")] = 5,
    mode: Literal["fast", "deep"] = "fast",
    since: str | None = None,
    ratio: float = 0.5,
) -> dict[str, int]:
    """Search the files."""
    return {}


@tool
def grow(tree: Node, depth: Literal[1, 2] = 1) -> int:
    """Grow a tree."""
    return 1


@tool
def ping() -> None:
    """Answer."""


@tool
def free(anything: dict[str, Any]) -> None:
    """Take any object."""


TOOLS = [search, grow, ping, free]


def objects(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas of arguments: an object at the root, references to one shared definition."""

    def build(properties: Any, shared: Any, needed: list[str], closed: Any) -> Any:
        schema = {
            "type": "object",
            "properties": properties,
            "required": [name for name in needed if name in properties],
            "$defs": {"shared": shared},
        }
        return {**schema, "additionalProperties": False} if closed else schema

    names = st.sampled_from(["a", "b", "any_of", "type", "$ref", "nullable"])
    return st.builds(
        build,
        st.dictionaries(names, parts, max_size=4),
        parts,
        st.lists(names, max_size=3, unique=True),
        st.booleans(),
    )


ARGUMENTS = objects(SUBSCHEMAS)
VALUES = st.dictionaries(
    st.sampled_from(["a", "b", "any_of", "type", "$ref", "nullable"]), JSON, max_size=4
)


@pytest.mark.parametrize("provider", ALL)
@pytest.mark.parametrize("made", TOOLS, ids=lambda made: made.name)
def test_the_sdk_takes_the_declaration(made: Any, provider: Any) -> None:
    declared = declaration(made, provider)
    if provider == "gemini":
        adapter(DECLARATIONS[provider]).validate_python(declared)  # forbids unknown keys itself
    else:
        fits(DECLARATIONS[provider], declared)
    read = read_declaration(declared)
    assert (read.name, read.description, read.provider) == (made.name, made.description, provider)
    assert read.read_only == (provider == "mcp" and made.read_only)


def test_the_card_shows_one_form_a_provider() -> None:
    assert PROVIDERS == ("openai", "anthropic", "gemini", "mcp")
    assert declaration(ping, "gemini") == {"name": "ping", "description": "Answer."}
    assert declaration(search, "openai-responses")["strict"] is False
    with pytest.raises(ValueError, match="no provider 'x'; known are openai, openai-responses"):
        declaration(ping, "x")
    with pytest.raises(ValueError, match="no provider"):
        declaration(ping, [])


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "mcp"])
@given(schema=ARGUMENTS)
def test_law_round_trip(provider: Any, schema: Any) -> None:
    declared = declaration(made_tool(schema), provider)
    assert read_declaration(declared).input_schema == schema
    fits(DECLARATIONS[provider], declared)


@pytest.mark.parametrize("provider", ["openai", "openai-responses", "anthropic", "mcp", "gemini"])
def test_round_trip_through_the_sdks_own_object(provider: Any) -> None:
    for made in TOOLS:
        declared = declaration(made, provider)
        sdk = adapter(DECLARATIONS[provider]).validate_python(copy.deepcopy(declared))
        read = read_declaration(sdk).input_schema
        expected = read_declaration(declared).input_schema
        if "parameters" in declared and provider == "gemini":
            # Its Schema object cannot tell a default of null from none.
            expected = map_subschemas(expected, without_null_default)
        assert read == expected


def without_null_default(node: Any) -> Any:
    return {key: value for key, value in node.items() if (key, value) != ("default", None)}


def accepts(schema: Any, value: Any) -> bool:
    try:
        return bool(jsonschema.Draft202012Validator(schema).is_valid(value))
    except RecursionError:  # a definition that is nothing but itself accepts no value
        return False


def unclosed(schema: Any) -> Any:
    def open_up(node: Any) -> Any:
        if node.get("additionalProperties") is False:
            return {key: value for key, value in node.items() if key != "additionalProperties"}
        return node

    return map_subschemas(schema, open_up)


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(schema=ARGUMENTS, values=st.lists(VALUES, min_size=3, max_size=8))
def test_law_gemini_reads_back_to_the_same_arguments(schema: Any, values: list[Any]) -> None:
    declared = declaration(made_tool(schema), "gemini")
    adapter(DECLARATIONS["gemini"]).validate_python(declared)
    if "parametersJsonSchema" in declared:
        assert declared["parametersJsonSchema"] == schema
        assert read_declaration(declared).input_schema == schema
        return
    read = read_declaration(declared).input_schema
    if "parameters" not in declared:
        assert not schema["properties"]
        return
    for value in values:
        assert accepts(read, value) == accepts(unclosed(schema), value)


GEMINI_PARTS = st.recursive(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "string", "minLength": 2, "description": "d"},
            {"type": ["integer", "null"], "minimum": 2},
            {"type": "boolean", "default": True},
            {"enum": ["a", "b"]},
            {"enum": ["a", None], "type": ["string", "null"]},
            {"enum": ["a"], "type": ["string", "null"]},
            {"const": "a", "type": "string"},
            {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
            {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
            {"$ref": "#/$defs/shared", "description": "d"},
            {"type": "string", "format": "date-time"},
        ]
    ),
    lambda inner: (
        st.builds(lambda items: {"type": "array", "items": items, "maxItems": 2}, inner)
        | st.builds(
            lambda properties: {
                "type": "object",
                "properties": properties,
                "additionalProperties": False,
            },
            st.dictionaries(st.sampled_from("ab"), inner, min_size=1, max_size=2),
        )
    ),
    max_leaves=4,
)


@given(schema=objects(GEMINI_PARTS), values=st.lists(VALUES, min_size=3, max_size=8))
def test_law_what_geminis_subset_says_means_the_same(schema: Any, values: list[Any]) -> None:
    declared = gemini_schema(schema)
    if declared is None or not schema["properties"]:
        return
    read = normalized(declared)
    for value in values:
        assert accepts(read, value) == accepts(unclosed(schema), value)


def test_gemini_gets_the_subset_where_it_says_all() -> None:
    declared = declaration(search, "gemini")["parameters"]
    assert declared["type"] == "OBJECT"
    assert declared["properties"]["since"] == {
        "type": "STRING", "nullable": True, "default": None,
    }  # fmt: skip
    assert declared["properties"]["mode"]["enum"] == ["fast", "deep"]
    assert declared["propertyOrdering"] == ["query", "limit", "mode", "since", "ratio"]
    assert declaration(grow, "gemini")["parametersJsonSchema"] == grow.input_schema


def test_references_that_would_explode_stay_references() -> None:
    defs = {
        f"d{n}": {
            "type": "object",
            "properties": {side: {"$ref": f"#/$defs/d{n + 1}"} for side in "ab"},
        }
        for n in range(40)
    }
    defs["d40"] = {"type": "string"}
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": defs}
    assert gemini_schema(schema) is None


def test_real_tools() -> None:
    assert len(CORPUS) > 500
    strict_ones = 0
    for row in CORPUS:
        made = made_tool(row["schema"], row["name"][:64])
        before = json.dumps(row["schema"])
        for provider in ALL:
            declared = declaration(made, provider)
            read = read_declaration(declared)
            if provider != "gemini":
                assert read.input_schema == normalized(row["schema"])
            adapter(DECLARATIONS[provider]).validate_python(declared)
        strict = declaration(made, "openai", strict=True)
        adapter(DECLARATIONS["openai"]).validate_python(strict)
        assert read_declaration(strict).strict == (why_not_strict(made) is None)
        if why_not_strict(made) is None:
            keeps_the_rules(strict["function"]["parameters"])
            strict_ones += 1
        assert json.dumps(row["schema"]) == before, "a tool's schema is never changed"
    assert strict_ones > len(CORPUS) / 2


# -- normalized --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ({"type": "OBJECT"}, {"type": "object"}),
        ({"type": "TYPE_UNSPECIFIED"}, {}),
        ({"type": ["STRING", "NULL"]}, {"type": ["string", "null"]}),
        ({"type": "STRING", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "STRING", "nullable": False}, {"type": "string"}),
        (
            {"type": "STRING", "format": "enum", "enum": ["a"], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"any_of": [{"type": "STRING"}, {"type": "INTEGER"}], "nullable": True},
            {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        ),
        (
            {"$ref": "#/$defs/a", "nullable": True, "description": "d"},
            {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}], "description": "d"},
        ),
        (
            {"allOf": [{"type": "STRING"}], "nullable": True},
            {"anyOf": [{"allOf": [{"type": "string"}]}, {"type": "null"}]},
        ),
        ({"nullable": True}, {}),
        ({"ref": "#/defs/A", "defs": {"A": {"type": "STRING"}}}, {"$ref": "#/$defs/A", "$defs": {"A": {"type": "string"}}}),
        ({"min_items": "3", "maxItems": "4"}, {"minItems": 3, "maxItems": 4}),
        ({"max_length": 3, "maxLength": 4}, {"maxLength": 4}),
        (
            {"additional_properties": {"type": "NUMBER"}, "pattern_properties": {"any_of": {"type": "STRING"}}},
            {"additionalProperties": {"type": "number"}, "patternProperties": {"any_of": {"type": "string"}}},
        ),
        ({"type": "STRING", "title": None, "default": None, "any_of": None}, {"type": "string"}),
        ({"const": None}, {"const": None}),
        ({"type": "string", "default": None}, {"type": "string", "default": None}),
        (
            {"type": "OBJECT", "properties": {"any_of": {"type": "STRING"}, "nullable": {"nullable": True}, "type": {"type": "OBJECT"}}},
            {"type": "object", "properties": {"any_of": {"type": "string"}, "nullable": {}, "type": {"type": "object"}}},
        ),
        ({"enum": ["OBJECT"], "const": {"any_of": 1}}, {"enum": ["OBJECT"], "const": {"any_of": 1}}),
        (True, True),
    ],
)  # fmt: skip
def test_normalized(written: Any, plain: Any) -> None:
    before = copy.deepcopy(written)
    assert normalized(written) == plain
    assert written == before
    assert normalized(plain) == plain


def test_the_order_of_properties_is_geminis() -> None:
    read = normalized(
        {"properties": {"a": {}, "b": {}, "c": {}}, "propertyOrdering": ["c", "x", "a"]}
    )
    assert list(read["properties"]) == ["c", "a", "b"]


@given(SCHEMAS)
def test_law_plain_schemas_are_unchanged(schema: Any) -> None:
    assert normalized(schema) == schema


def test_the_models_of_the_sdk() -> None:
    from google.genai import types

    schema = types.Schema(
        type=types.Type.OBJECT,
        properties={
            "n": types.Schema(type=types.Type.INTEGER, minimum=1, nullable=True),
            "l": types.Schema(
                type=types.Type.ARRAY, min_items=1, items=types.Schema(type="STRING")
            ),
        },
        required=["n"],
    )
    expected = {
        "type": "object",
        "properties": {
            "n": {"type": ["integer", "null"], "minimum": 1},
            "l": {"type": "array", "minItems": 1, "items": {"type": "string"}},
        },
        "required": ["n"],
    }
    assert normalized(schema.model_dump()) == expected
    assert normalized(schema.model_dump(by_alias=True, mode="json")) == expected
    declared = types.FunctionDeclaration(name="f", parameters=schema)
    assert read_declaration(declared).input_schema == expected


def test_a_schema_of_endless_depth_is_the_authors_error() -> None:
    deep: Any = {}
    for _ in range(10_000):
        deep = {"items": deep}
    with pytest.raises(DefinitionError, match="nested too deeply"):
        normalized(deep)


@pytest.mark.parametrize(
    "junk",
    [
        None,
        1,
        "x",
        [],
        {},
        {"name": 1},
        {"name": "a", "parameters": 3},
        {"type": "function"},
        object(),
    ],
)
def test_what_is_no_declaration(junk: Any) -> None:
    with pytest.raises(UsageError, match="is no tool declaration"):
        read_declaration(junk)


# -- strict mode -------------------------------------------------------------------------------

STRICT_KEYS = {
    "type", "title", "description", "enum", "const", "anyOf", "$ref", "$defs", "pattern", "format",
    "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems",
    "maxItems", "items", "properties", "required", "additionalProperties",
}  # fmt: skip


def keeps_the_rules(schema: Any) -> None:
    """OpenAI's rules for strict schemas, as its guide on structured outputs states them."""
    assert schema["type"] == "object"
    assert "anyOf" not in schema
    for node in walk(schema):
        assert node.keys() <= STRICT_KEYS
        assert node.keys() & {"type", "anyOf", "$ref"}
        if "$ref" in node:
            assert node.keys() == {"$ref"}
            assert node["$ref"] == "#" or node["$ref"].removeprefix("#/$defs/") in schema["$defs"]
        if node.get("type") == "object" or "properties" in node:
            assert node["required"] == list(node["properties"])
            assert node["additionalProperties"] is False
        if node.get("type") == "array":
            assert isinstance(node["items"], dict)


def test_strict() -> None:
    function = declaration(search, "openai", strict=True)["function"]
    fits(DECLARATIONS["openai"], declaration(search, "openai", strict=True))
    assert function["strict"] is True
    keeps_the_rules(function["parameters"])
    properties = function["parameters"]["properties"]
    assert properties["query"] == {"type": "string"}
    assert properties["limit"] == {
        "type": ["integer", "null"], "minimum": 1, "maximum": 10,
        "description": "How many (default: 5) (null leaves it out)",
    }  # fmt: skip
    assert properties["mode"]["enum"] == ["fast", "deep", None]
    assert properties["since"]["anyOf"] == [{"type": "string"}, {"type": "null"}]


def test_strict_keeps_recursion() -> None:
    parameters = declaration(grow, "openai-responses", strict=True)["parameters"]
    keeps_the_rules(parameters)
    assert {"$ref": "#/$defs/Node"} in list(walk(parameters))
    assert why_not_strict(grow) is None


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ({}, "/p takes any value"),
        ({"type": "object"}, "/p takes any keys"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "/p takes any keys"),
        ({"type": "object", "properties": {"a": {}}}, "/p/a takes any value"),
        ({"type": "array"}, "/p does not say what all its items are"),
        ({"type": "array", "prefixItems": [{"type": "string"}]}, "does not say what all its items"),
        ({"allOf": [{"type": "string"}, {"minLength": 2}]}, "/p combines schemas with allOf"),
        ({"$ref": "https://example.org/x"}, "which is not here"),
        ({"anyOf": [{"type": "string"}, {}]}, "/p/anyOf/1 takes any value"),
        ({"enum": [[1]]}, "a choice is an object"),
        ({"type": "string", "enum": [str(n) for n in range(1_001)]}, "1,001 choices"),
    ],
)  # fmt: skip
def test_what_cannot_be_strict_is_declared_as_it_is(part: Any, why: str) -> None:
    made = made_tool({"type": "object", "properties": {"p": part}, "required": ["p"]})
    assert why in why_not_strict(made)
    function = declaration(made, "openai", strict=True)["function"]
    assert (function["strict"], function["parameters"]) == (False, made.input_schema)


def test_strict_is_openais() -> None:
    with pytest.raises(UsageError, match="strict=True is for OpenAI"):
        declaration(search, "gemini", strict=True)


def test_what_strict_mode_has_no_word_for_is_in_the_description() -> None:
    part = {
        "type": "string",
        "minLength": 2,
        "pattern": "(?=a)",
        "format": "uri",
        "description": "d",
    }
    made = made_tool({"type": "object", "properties": {"p": part}, "required": ["p"]})
    built = declaration(made, "openai", strict=True)["function"]["parameters"]["properties"]["p"]
    assert built == {
        "type": "string", "description": "d (minLength: 2) (format: uri) (pattern: (?=a))",
    }  # fmt: skip


def strict_answer(schema: Any, root: Any, pick: Any) -> Any:
    """A value as a model in strict mode must write it."""
    if "$ref" in schema:
        target = root
        for step in schema["$ref"][2:].split("/") if schema["$ref"] != "#" else ():
            target = target[step]
        return strict_answer(target, root, pick)
    if "anyOf" in schema:
        return strict_answer(pick(schema["anyOf"]), root, pick)
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else pick(schema["enum"])
    kind = schema["type"]
    kind = pick(kind) if isinstance(kind, list) else kind
    if kind == "object":
        return {name: strict_answer(sub, root, pick) for name, sub in schema["properties"].items()}
    if kind == "array":
        return [strict_answer(schema["items"], root, pick) for _ in range(pick([0, 1, 2]))]
    plain = {"string": "2026-01-02", "integer": 3, "number": 2.5, "boolean": True, "null": None}
    return plain[kind]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(schema=objects(GEMINI_PARTS), data=st.data())
def test_law_a_strict_answer_fits_once_its_nulls_are_read(schema: Any, data: Any) -> None:
    made = made_tool(schema)
    declared = declaration(made, "openai", strict=True)["function"]
    if why_not_strict(made) is not None:
        assert declared["strict"] is False
        return
    parameters = declared["parameters"]
    keeps_the_rules(parameters)
    jsonschema.Draft202012Validator.check_schema(parameters)
    answer = strict_answer(parameters, parameters, lambda some: data.draw(st.sampled_from(some)))
    read, removed = without_unset(answer, schema)
    # Keywords that strict mode has no word for are not its promise.
    lenient = map_subschemas(
        schema,
        lambda node: {
            k: v for k, v in node.items() if k not in ("minLength", "maxItems", "minimum")
        },
    )
    assert accepts(lenient, read)
    assert without_unset(read, schema) == (read, ())
    assert bool(removed) == (read != answer)


def test_nulls_are_read_at_any_depth() -> None:
    schema = grow.input_schema
    sent = {
        "tree": {"value": 1, "left": {"value": 2, "left": None, "tags": None}, "tags": None},
        "depth": None,
    }
    read, removed = without_unset(sent, schema)
    assert read == {"tree": {"value": 1, "left": {"value": 2, "left": None}}}
    assert removed == ("/tree/left/tags", "/tree/tags", "/depth")


@given(SCHEMAS, JSON)
def test_law_only_nulls_that_fit_nothing_are_taken_out(schema: Any, value: Any) -> None:
    if not isinstance(schema, dict):
        return
    read, removed = without_unset(value, schema)
    if accepts(schema, value):
        assert (read, removed) == (value, ())
