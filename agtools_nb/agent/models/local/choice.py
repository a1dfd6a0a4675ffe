"""Which tool a request is for: the one that explains best why a person said this.

A model this small picks badly when it is asked to pick. What it can do is continue text, so the
question is turned round: how likely is the request after ``A user wants to get the weather for a
city. The user says: "``, and after the same with each other tool's purpose? The request is the
same each time, so nothing has to be weighed against its length or its words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agtools_nb.agent.models.local.engine import TOOL_SLOTS, VALUE_SLOTS, Cost, Engine
from agtools_nb.agent.models.local.mentions import Mentions
from agtools_nb.agent.models.local.parameters import (
    Parameter,
    needed_numbers,
    parameters_of,
    purpose,
)
from agtools_nb.define import Tool
from agtools_nb.jsonable import json_text

# Of none of anybody's tools: they show what the text is about, and that people are indirect.
_TOOLS = (
    ("play music", "Put on some jazz."),
    ("book a table at a restaurant", "Is there room for two at Nino's tonight?"),
    ("find out when a train leaves", "When can I get to Lyon?"),
    ("translate a word", "How do they say bread in Polish?"),
)
_CALLS = (
    ("play music (artist: Miles Davis, genre: jazz)", "Put on some jazz by Miles Davis."),
    (
        "book a table at a restaurant (place: Nino's, people: 2)",
        "Is there room for two at Nino's tonight?",
    ),
    (
        "translate a word (word: bread, from_language: English, to_language: Polish)",
        "How do they say bread in Polish?",
    ),
    (
        "find out when a train leaves (from_city: Paris, to_city: Lyon)",
        "I am in Paris. When can I get to Lyon?",
    ),
)
_NO_TOOL = "chat"
_LONGEST = 400


async def choose_tool(
    engine: Engine, text: str, tools: Sequence[Tool], *, must_call: bool, cost: Cost
) -> tuple[Tool | None, dict[str, float]]:
    """The tool that fits best, ``None`` for none, and how well each fits.

    A tool that needs more numbers than the request has is left out: they would be made up.

    Args:
        engine: The engine.
        text: What the person said.
        tools: The tools.
        must_call: Whether one has to be called.
        cost: Where the tokens are counted.
    """
    numbers = len(Mentions(text).numbers)
    able = [tool for tool in tools if needed_numbers(tool) <= numbers]
    able = able or (list(tools) if must_call else [])
    if not able or (must_call and len(able) == 1):
        return (able[0] if able else None), {}
    purposes = [purpose(tool) for tool in able] + ([] if must_call else [_NO_TOOL])
    scores = await _scores(engine, TOOL_SLOTS, _TOOLS, purposes, text, cost)
    best = max(range(len(scores)), key=scores.__getitem__)
    names = [tool.name for tool in able] + ([] if must_call else ["(text)"])
    told = {name: round(score, 2) for name, score in zip(names, scores, strict=True)}
    return (able[best] if best < len(able) else None), told


async def choose_value(
    engine: Engine,
    text: str,
    tool: Tool,
    parameter: Parameter,
    values: Sequence[Any],
    known: Mapping[str, Any],
    cost: Cost,
) -> tuple[Any, dict[str, float]]:
    """The value that explains the request best, given the arguments that are known, and all."""
    if len(values) == 1:
        return values[0], {}
    begun = [f"{name}: {_said(known[name])}" for name in _names(tool) if name in known]
    calls = [
        f"{purpose(tool)} ({', '.join([*begun, f'{parameter.name}: {_said(value)}'])})"
        for value in values
    ]
    scores = await _scores(engine, VALUE_SLOTS, _CALLS, calls, text, cost)
    best = max(range(len(scores)), key=scores.__getitem__)
    told = {_said(value): round(score, 2) for value, score in zip(values, scores, strict=True)}
    return values[best], told


async def _scores(
    engine: Engine,
    slots: range,
    examples: Sequence[tuple[str, str]],
    wanted: Sequence[str],
    text: str,
    cost: Cost,
) -> list[float]:
    before = "".join(f'{_line(wants)}{said}"\n' for wants, said in examples)
    said = plain(text)[:_LONGEST] + '"'
    jobs = [
        (slots[number % len(slots)], before + _line(plain(one)), said)
        for number, one in enumerate(wanted)
    ]
    return await engine.score(before, jobs, cost)


def _line(wants: str) -> str:
    return f'A user wants to {wants}. The user says: "'


def plain(text: str) -> str:
    """Text in one line, without what the engine would take for its own marks."""
    return " ".join(text.replace("<|", "< |").split())


def _names(tool: Tool) -> list[str]:
    return [parameter.name for parameter in parameters_of(tool)]


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)
