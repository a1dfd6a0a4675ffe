"""What the grammars let a model write."""

from __future__ import annotations

import datetime as dt
import json
import random
import uuid
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from agent.local.walks import TOKENIZER, error_of, walk
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from agtools_nb.agent.models.local.grammar import (
    call_grammar,
    copied,
    one_of,
    pieces,
    sentences,
    told,
    value_grammar,
)
from agtools_nb.agent.models.local.mentions import Mentions
from agtools_nb.arguments import prepare
from agtools_nb.define import Tool


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Place(BaseModel):
    name: str
    at: tuple[float, float]
    colour: Colour | None = None
    inside: list[Place] = []


def plain(city: str, days: int = 3, exact: bool = False) -> None:
    """Plain values."""


def bounded(
    n: Annotated[int, Field(ge=-3, lt=40)],
    code: Annotated[str, Field(pattern="^[A-Z]{2}-[0-9]+$")],
    kind: Literal["a", 'b "quoted"', 3],
    tags: Annotated[list[str], Field(min_length=1, max_length=3)],
) -> None:
    """Bounds, patterns, enumerations."""


def formats(day: dt.date, at: dt.datetime, key: uuid.UUID, either: int | str | None) -> None:
    """Formats and unions."""


def nested(place: Place, others: dict[str, Place]) -> None:
    """References and recursion."""


TOOLS = [Tool.from_function(function) for function in (plain, bounded, formats, nested)]
seeds = st.integers(0, 2**32)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
@settings(max_examples=25)
@given(seeds)
def test_arguments_fit_the_schema(tool: Tool, seed: int) -> None:
    written = walk(value_grammar(tool.input_schema, {}), random.Random(seed))
    if written is not None:
        value = json.loads(written)
        assert list(Draft202012Validator(tool.input_schema).iter_errors(value)) == []
        # 23:59:60 and 1e999 fit the schema, and Python has no such values.
        assert tool.name in ("formats", "nested") or prepare(tool, value).error is None


@settings(max_examples=40)
@given(seeds)
def test_a_call_names_a_tool_and_fits_it(seed: int) -> None:
    written = walk(call_grammar(TOOLS, text=False), random.Random(seed), 800)
    if written is not None:
        call = json.loads(written)
        assert list(call) == ["name", "arguments"]
        [tool] = [tool for tool in TOOLS if tool.name == call["name"]]
        schema = tool.input_schema
        assert list(Draft202012Validator(schema).iter_errors(call["arguments"])) == []


@settings(max_examples=30)
@given(seeds)
def test_blanks_are_single_and_where_json_dumps_has_them(seed: int) -> None:
    written = walk(call_grammar(TOOLS[:1], text=False), random.Random(seed))
    if written is not None:
        assert len(json.dumps(json.loads(written), ensure_ascii=False)) <= len(written)
        assert written.startswith('{"name": "plain", "arguments": {"city": "')
        assert '"city":"' not in written


@settings(max_examples=30)
@given(seeds)
def test_text_is_no_call(seed: int) -> None:
    rng = random.Random(seed)
    written = walk(call_grammar(TOOLS[:1], text=True), rng, 60)
    if written is not None and not written.startswith('{"name": "plain"'):
        assert not written.startswith(("{", " ", "\n"))


def test_text_is_none_where_a_call_is_wanted() -> None:
    grammar = call_grammar(TOOLS[:1], text=False)
    assert all((walk(grammar, random.Random(seed)) or "{")[0] == "{" for seed in range(10))


@pytest.mark.parametrize(
    "schema",
    [{"not": {"type": "string"}}, {"type": "array", "uniqueItems": True}, {"if": {}, "then": {}}],
)
def test_what_cannot_be_expressed_is_passed_over(schema: dict[str, Any]) -> None:
    assert error_of(value_grammar(schema, {})) == ""


def test_a_schema_that_cannot_be_read_leaves_its_arguments_free() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string", "pattern": "(?=a)b"}}}
    assert "look-around" in error_of(value_grammar(schema, {}))
    tool = Tool.from_function(plain)
    grammar = call_grammar([tool], text=False, unreadable=["plain"])
    written = [walk(grammar, random.Random(seed)) for seed in range(20)]
    assert any(json.loads(text)["arguments"] for text in written if text)
    assert all(isinstance(json.loads(text)["arguments"], dict) for text in written if text)


def by_bytes(texts: list[str]) -> dict[str, list[int]]:
    return {text: list(text.encode()) for text in texts}


@settings(max_examples=60)
@given(st.text(alphabet='ab "\\,.!(-é', min_size=1, max_size=25), seeds)
def test_what_is_copied_stands_in_the_request(text: str, seed: int) -> None:
    mentions = Mentions(text)
    grammar = copied(mentions, by_bytes(pieces(mentions)), [ord('"')], None)
    if grammar is None:
        assert not any(mentions.free)
        return
    assert error_of(grammar) == ""
    written = walk(grammar, random.Random(seed))
    assert written is not None
    assert json.loads(f'"{written}') in text


def test_what_is_taken_is_not_copied() -> None:
    mentions = Mentions("Tell Anna the news about Anna today")
    mentions.take("Anna")
    mentions.free[5] = False
    grammar = copied(mentions, by_bytes(pieces(mentions)), [ord('"')], 2)
    assert grammar is not None
    written = {walk(grammar, random.Random(seed)) for seed in range(60)}
    assert written == {'the"', 'the news"', 'the news about"'}


def test_one_of_a_few_values() -> None:
    grammar = one_of([list(b"4"), list(b"40")], [ord(","), ord("}")])
    found = {walk(grammar, random.Random(seed)) for seed in range(40)}
    assert found == {"4,", "4}", "40,", "40}"}


@pytest.mark.parametrize(
    "results", [["42"], ['a "quoted" \\ text\u00e9 $x %json', "; get_weather failed: no"]]
)
def test_results_are_told_as_they_are(results: list[str]) -> None:
    found = {walk(told(results), random.Random(seed)) for seed in range(20)}
    assert len(found) > 1
    assert all(text is not None and text.endswith(" " + "".join(results)) for text in found)


@settings(max_examples=30)
@given(seeds)
def test_text_of_a_guided_model_ends(seed: int) -> None:
    written = walk(sentences(), random.Random(seed), 600)
    if written is not None:
        assert written[-1] in ".!?"
        assert sum(written.count(mark) for mark in ".!?") <= 2
        assert "\n" not in written


def test_the_byte_tokenizer_is_one() -> None:
    assert TOKENIZER.tokenize_bytes(b"ab") == [97, 98]
