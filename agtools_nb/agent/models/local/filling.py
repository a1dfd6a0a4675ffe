"""The arguments of a call, one after the other, each from what the request mentions.

The model writes a JSON object; the grammar of each value holds only what can be meant: numbers
of the request, runs of its words, the values of an enumeration. What became one argument is
taken. So it invents nothing, and says nothing twice; it cannot put a thing in other words either.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from agtools_nb.agent.models.local.choice import choose_value, plain
from agtools_nb.agent.models.local.engine import Cost, Engine, RefusedError
from agtools_nb.agent.models.local.grammar import (
    NUMBER_ENDS,
    TEXT_ENDS,
    copied,
    one_of,
    pieces,
    value_grammar,
)
from agtools_nb.agent.models.local.mentions import Mentions
from agtools_nb.agent.models.local.parameters import Kind, Parameter, parameters_of
from agtools_nb.define import Tool

_ORDER: tuple[Kind, ...] = ("number", "choice", "text", "other")
_MOST_TOKENS = 200


@dataclass(slots=True)
class Filling:
    """The arguments of one call while they are found.

    Args:
        engine: The engine.
        tool: The tool.
        text: What the person said.
        cost: Where the tokens are counted.

    Attributes:
        arguments: What was found so far.
        steps: How, for people: one entry a model's decision.
    """

    engine: Engine
    tool: Tool
    text: str
    cost: Cost
    arguments: dict[str, Any] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)
    _mentions: Mentions = field(init=False)
    _written: str = "{"

    def __post_init__(self) -> None:
        self.text = plain(self.text)
        self._mentions = Mentions(self.text)

    async def fill(self) -> dict[str, Any]:
        """Find all arguments: numbers first, then what is chosen, then what is copied."""
        found = parameters_of(self.tool)
        for kind in _ORDER:
            of_kind = [one for one in found if one.kind == kind]
            for one in sorted(of_kind, key=lambda one: not one.required):
                await self._fill(one)
        return {one.name: self.arguments[one.name] for one in found if one.name in self.arguments}

    async def _fill(self, parameter: Parameter) -> None:
        if parameter.kind == "number":
            await self._number(parameter)
        elif parameter.kind == "choice":
            await self._choice(parameter)
        elif parameter.kind == "text":
            await self._copy(parameter)
        elif parameter.required:
            await self._invent(parameter)

    async def _number(self, parameter: Parameter) -> None:
        fitting = [
            number.text
            for number in self._mentions.numbers
            if _fits(json.loads(number.text), parameter)
        ]
        values = list(dict.fromkeys(fitting))
        if values:
            written = values[0]
            if len(values) > 1:
                tokens = await self.engine.tokens([*values, *NUMBER_ENDS])
                grammar = one_of(tokens[: len(values)], _firsts(tokens[len(values) :]))
                written = (await self._ask(parameter, grammar)).rstrip(",} \n")
            self._put(parameter, written)
        elif parameter.required:
            await self._invent(parameter)

    async def _choice(self, parameter: Parameter) -> None:
        named = self._mentions.mentioned(parameter.choices)
        if not named and not parameter.required:
            return
        # With as many values named as places to fill, each place gets one of them.
        others = [one for one in parameters_of(self.tool) if one.choices == parameter.choices]
        places = sum(one.name not in self.arguments for one in others)
        taken = [self.arguments.get(one.name) for one in others]
        left = [value for value in parameter.choices if value not in taken]
        values = (named if len(named) >= places else left) or list(parameter.choices)
        value, scores = await choose_value(
            self.engine, self.text, self.tool, parameter, values, self.arguments, self.cost
        )
        self.steps.append({"argument": parameter.name, "scores": scores, "value": value})
        self._put(parameter, json.dumps(value, ensure_ascii=False))

    async def _copy(self, parameter: Parameter) -> None:
        first = None
        if not parameter.required:
            first = self._mentions.after_cue(parameter.name)
            if first is None:
                return
        texts = pieces(self._mentions)
        tokens = await self.engine.tokens([*texts, *TEXT_ENDS])
        by_text = dict(zip(texts, tokens, strict=False))
        grammar = copied(self._mentions, by_text, _firsts(tokens[len(texts) :]), first)
        if grammar is None:
            await self._invent(parameter)
            return
        written = await self._ask(parameter, grammar, '"')
        self._put(parameter, '"' + written.rstrip(",} \n").removesuffix('"') + '"')

    async def _invent(self, parameter: Parameter) -> None:
        """Have the value written freely, bound by its schema only."""
        grammar = value_grammar(parameter.schema, self.tool.input_schema)
        try:
            self._put(parameter, await self._ask(parameter, grammar))
        except (RefusedError, ValueError):  # cut off, or a schema that the engine cannot read
            self.steps.append({"argument": parameter.name, "value": None})

    async def _ask(self, parameter: Parameter, grammar: str, begun: str = "") -> str:
        prompt = f"{self._prompt()}{self._written}{self._lead(parameter)}{begun}"
        body = {"prompt": prompt, "grammar": grammar, "temperature": 0, "id_slot": 0}
        written = await self.engine.write({**body, "max_tokens": _MOST_TOKENS}, self.cost)
        self.steps.append(
            {
                "argument": parameter.name,
                "prompt": prompt,
                "grammar": grammar,
                "output": written,
            }
        )
        return written

    def _put(self, parameter: Parameter, written: str) -> None:
        value = json.loads(written)
        self._written += self._lead(parameter) + written
        self.arguments[parameter.name] = value
        self._mentions.take(value)

    def _lead(self, parameter: Parameter) -> str:
        return f"{', ' if self.arguments else ''}{json.dumps(parameter.name)}: "

    def _prompt(self) -> str:
        listed = "\n".join(_line(one) for one in parameters_of(self.tool))
        said = plain(self.tool.description.partition("\n\n")[0])
        system = (
            f"{said}\nRead the arguments from what the user says:\n{listed}\n"
            "Answer with the arguments as JSON."
        )
        return chat_prompt([("system", system), ("user", self.text)])


def _line(parameter: Parameter) -> str:
    values = f" ({', '.join(map(str, parameter.choices))})" if parameter.choices else ""
    return f"- {parameter.name}: {plain(parameter.description)}{values}"


def chat_prompt(messages: Iterable[tuple[str, str]]) -> str:
    """Messages, role and text, in the form that SmolLM2 was trained on, the answer to follow."""
    said = "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in messages)
    return f"{said}<|im_start|>assistant\n"


def _fits(value: Any, parameter: Parameter) -> bool:
    from jsonschema import Draft202012Validator

    return bool(Draft202012Validator(parameter.schema).is_valid(value))


def _firsts(tokens: Iterable[list[int]]) -> list[int]:
    return [ids[0] for ids in tokens]
