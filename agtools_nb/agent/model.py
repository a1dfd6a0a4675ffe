"""What drives a conversation: a model is sent a request, and answers with a stream of events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from agtools_nb.agent.messages import Message, Usage
from agtools_nb.define import Tool


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is sent.

    Attributes:
        messages: The conversation so far, oldest first; the last one is to be answered.
        system: The system instructions, ``""`` if there are none.
        tools: The tools that it may call.
        must_call: Whether text alone is no answer. Default ``False``.
        conversation_id: Id of the conversation.
    """

    messages: tuple[Message, ...]
    system: str = ""
    tools: tuple[Tool, ...] = ()
    must_call: bool = False
    conversation_id: str = ""


@dataclass(frozen=True, slots=True)
class TextPart:
    """The next piece of the model's text."""

    text: str


@dataclass(frozen=True, slots=True)
class CallPart:
    """A call that the model asks for, complete.

    Attributes:
        name: The tool's name.
        arguments: A dict, or JSON text as it came, whole or not.
        id: The provider's id of it; ``None`` if it gave none.
    """

    name: str
    arguments: Any
    id: str | None = None


@dataclass(frozen=True, slots=True)
class UsagePart:
    """What the request cost; the last one of an answer counts.

    Attributes:
        usage: Tokens, whole numbers from 0 on; with any other the answer is one that broke off.
    """

    usage: Usage


@dataclass(frozen=True, slots=True)
class RawPart:
    """What went over the wire, for people to look at; never with keys in it.

    Attributes:
        request: What the provider was sent, as JSON.
        response: What it answered, as JSON.
    """

    request: Any = None
    response: Any = None


@dataclass(frozen=True, slots=True)
class NotePart:
    """A remark for people, such as that a request was sent again; it becomes one of the notes."""

    text: str


@dataclass(frozen=True, slots=True)
class EndPart:
    """Why the answer ended, where the provider says so.

    Attributes:
        reason: ``"length"`` if it came to its limit, else ``"end"``. The providers' own words
            for these (``"stop"``, ``"tool_calls"``, ``"max_tokens"``, ...) count as well; with
            any other word the answer is one that broke off.
    """

    reason: Literal["end", "length"] = "end"


ModelEvent = TextPart | CallPart | UsagePart | RawPart | NotePart | EndPart


class Model(Protocol):
    """Anything that answers requests. A conversation asks it for one answer at a time."""

    def respond(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Answer ``request``: an async generator of the answer's parts, in order.

        Raises:
            ModelError: It cannot answer, or its answer broke off.
        """
        ...


def model_name(model: Model) -> str:
    """What people call a model: its ``name``, else its class's."""
    return str(getattr(model, "name", None) or type(model).__name__)
