"""Grammars for the engine, in LLGuidance's form of Lark: whole calls, and single values.

LLGuidance reads JSON Schema itself (``$ref``, ``anyOf``, ``enum``, bounds, patterns, formats), so
a schema is handed over as it is. What it cannot express (``not``, ``uniqueItems``, ...) it passes
over here; the arguments are validated afterwards as any model's are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agtools_nb.agent.models.local.mentions import Mentions
from agtools_nb.define import Tool

HEAD = "%llguidance {}\n"

# Blanks where a model expects them, and nowhere else: a small one loses itself in white space.
_SPACING: Mapping[str, Any] = {
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
    "lenient": True,
}
_ANY_OBJECT: Mapping[str, Any] = {"type": "object"}

TEXT_ENDS = ('"', '",', '"}', '"},')
"""How a text in an object may end, each a token of its own for most models."""

_BEGINNINGS = ("The answer is ", "The result is: ", "This is what I found: ", "Done: ")
_SENTENCE = r"/[^\s.!?{][^.!?\n]{0,200}[.!?]/"

NUMBER_ENDS = (",", "}", "},")


def call_grammar(tools: Sequence[Tool], *, text: bool, unreadable: Iterable[str] = ()) -> str:
    """One call of one of the tools: ``{"name": "x", "arguments": {...}}``.

    Args:
        tools: The tools.
        text: Whether text will do instead: anything that does not begin with ``{``.
        unreadable: Names of tools whose schema the engine cannot read; their arguments are
            any object.
    """
    ways = [f"call{number}" for number in range(len(tools))] + (["text"] if text else [])
    lines = [f"start: {' | '.join(ways)}"]
    if text:
        lines.append(r"text: /[^{\s](.|\n)*/")
    free = set(unreadable)
    for number, tool in enumerate(tools):
        begun = f'{{"name": {json.dumps(tool.name)}, "arguments": '
        schema = _ANY_OBJECT if tool.name in free else tool.input_schema
        lines.append(f'call{number}: {_quoted(begun)} {json_rule(schema)} "}}"')
    return HEAD + "\n".join(lines) + "\n"


def value_grammar(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """One value that fits a part of a schema."""
    shared = {key: root[key] for key in ("$defs", "definitions") if key in root}
    return f"{HEAD}start: {json_rule({**shared, **schema})}\n"


def json_rule(schema: Mapping[str, Any]) -> str:
    """JSON that fits a schema, with single blanks."""
    return f"%json {json.dumps({**schema, 'x-guidance': _SPACING})}"


def one_of(values: Sequence[Sequence[int]], ends: Sequence[int]) -> str:
    """One of a few values, each as its tokens, and one of the tokens after which it ends."""
    ways = " | ".join(_tokens(value) for value in values)
    return f"{HEAD}start: ({ways}) {_any(ends)}\n"


def copied(
    mentions: Mentions, tokens: Mapping[str, Sequence[int]], ends: Sequence[int], first: int | None
) -> str | None:
    """A run of the request's words that are free, as tokens; ``None`` if none is.

    Args:
        mentions: The request.
        tokens: Tokens of each text of :func:`pieces`.
        ends: Tokens after which it ends.
        first: The word that it begins with. ``None``: any.
    """
    rules, starts = [], []
    for index in range(len(mentions.words)):
        if not mentions.free[index]:
            continue
        more = f" c{index + 1}?" if _goes_on(mentions, index) else ""
        rules.append(f"s{index}: {_tokens(tokens[_inside(mentions.word(index))])}{more}")
        if more:
            after = " c" + str(index + 2) + "?" if _goes_on(mentions, index + 1) else ""
            rules.append(f"c{index + 1}: {_tokens(tokens[_gap(mentions, index)])}{after}")
        if first is None or first == index:
            starts.append(f"s{index}")
    if not starts:
        return None
    return f"{HEAD}start: ({' | '.join(starts)}) {_any(ends)}\n" + "\n".join(rules) + "\n"


def pieces(mentions: Mentions) -> list[str]:
    """The texts whose tokens :func:`copied` needs: each word alone, and as it goes on."""
    free = [index for index, is_free in enumerate(mentions.free) if is_free]
    gaps = [_gap(mentions, index) for index in free if _goes_on(mentions, index)]
    return [*(_inside(mentions.word(index)) for index in free), *gaps]


def _gap(mentions: Mentions, index: int) -> str:
    """The next word, with what stands before it."""
    start, end = mentions.words[index].end, mentions.words[index + 1].end
    return _inside(mentions.text[start:end])


def _inside(text: str) -> str:
    """Text as it is written inside of JSON text."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _goes_on(mentions: Mentions, index: int) -> bool:
    return index + 1 < len(mentions.words) and mentions.free[index + 1]


def told(results: Iterable[str]) -> str:
    """One of a few beginnings, then each result as it is: it cannot be said wrongly."""
    ways = " | ".join(_quoted(way) for way in _BEGINNINGS)
    return f"{HEAD}start: ({ways}) {' '.join(_quoted(text) for text in results)}\n"


def sentences() -> str:
    """One or two sentences: a small model that has no end in sight goes round in circles."""
    return f"{HEAD}start: {_SENTENCE} ({_quoted(' ')} {_SENTENCE})?\n"


def _tokens(ids: Sequence[int]) -> str:
    return " ".join(f"<[{token}]>" for token in ids)


def _any(ids: Sequence[int]) -> str:
    return "(" + " | ".join(f"<[{token}]>" for token in dict.fromkeys(ids)) + ")"


def _quoted(text: str) -> str:
    return json.dumps(text)
