"""The providers, how each answers, and conversations with them."""

from __future__ import annotations

import functools
import importlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agent.hosted import shapes
from agent.hosted.server import Answer, Server
from pydantic import TypeAdapter

from agtools_nb import ToolRunner, tool
from agtools_nb.agent import Added, Happening, ModelMessage, ModelRequest, Session, UserMessage
from agtools_nb.agent.models.hosted import HostedModel

VARIABLE = "A_KEY_FOR_TESTS"
SECRET = "sk-SECRET-9f8e7d6c5b4a39281706"


@dataclass(frozen=True)
class Case:
    """A provider."""

    name: str
    base: str
    answer: Callable[..., Answer]

    @property
    def form(self) -> str:
        return self.name.partition(":")[0]

    def model(self, server: Server, **options: Any) -> HostedModel:
        options = {"key_variable": VARIABLE, **options}
        return HostedModel(self.name, base_url=server.url + self.base, **options)

    def __str__(self) -> str:
        return self.form


OPENAI = Case("openai:gpt-test", "/v1", shapes.chat)
RESPONSES = Case("openai-responses:gpt-test", "/v1", shapes.responses)
ANTHROPIC = Case("anthropic:claude-test", "", shapes.claude)
GEMINI = Case("google-gla:gemini-2.5-test", "", shapes.gemini)
GEMINI_3 = Case("google-gla:gemini-3-test", "", shapes.gemini)
SERVER = Case("qwen3:4b", "/v1", shapes.chat)

CASES = [OPENAI, RESPONSES, ANTHROPIC, GEMINI, SERVER]
TEXT_CASES = [OPENAI, RESPONSES, ANTHROPIC, SERVER]
"""Those whose arguments travel as text, so that they can be malformed."""


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def fail(reason: str) -> str:
    """Fail."""
    raise ValueError(reason)


def talk(model: HostedModel, *tools: Any, **options: Any) -> Session:
    return Session(model, ToolRunner(tools or [add, fail]), **options)


async def happened(session: Session, text: str) -> list[Happening]:
    return [happening async for happening in session.stream(text)]


def answers(session: Session) -> list[ModelMessage]:
    return [message for message in session.messages if isinstance(message, ModelMessage)]


def raws(happenings: Sequence[Happening]) -> list[Any]:
    return [one.raw for one in happenings if isinstance(one, Added) and one.raw is not None]


def asking(text: str, *messages: Any, **more: Any) -> ModelRequest:
    return ModelRequest((*messages, UserMessage(text)), **more)


async def parts(model: HostedModel, request: ModelRequest) -> list[Any]:
    return [part async for part in model.respond(request)]


@functools.cache
def sdk_type(dotted: str) -> TypeAdapter[Any]:
    """The validator of an SDK's type: ``"module:Type"``."""
    module, _, name = dotted.partition(":")
    return TypeAdapter(getattr(importlib.import_module(module), name))


def takes(dotted: str, value: Any) -> None:
    """Google's type takes ``value``: both spellings of a name, as its API, and no unknown one."""
    sdk_type(dotted).validate_json(json.dumps(value))


def fits(dotted: str, value: Any) -> None:
    """An SDK's type takes ``value``, and drops or changes nothing of it.

    A ``TypedDict`` ignores keys that it does not know; they are missing from what it returns.
    """
    assert thawed(sdk_type(dotted).validate_python(value)) == value


def thawed(value: Any) -> Any:
    """As JSON again. Pydantic validates an ``Iterable`` lazily; this runs it."""
    if hasattr(value, "model_dump"):
        return value.model_dump(by_alias=True, exclude_unset=True, mode="json")
    if isinstance(value, dict):
        return {key: thawed(item) for key, item in value.items()}
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        return value
    return [thawed(item) for item in value]
