"""``HumanModel``: a person plays the model. Who asks the person is given: a desk."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Protocol

from agtools_nb.agent.model import CallPart, ModelEvent, ModelRequest, RawPart, TextPart
from agtools_nb.agent.wire_form import CHAT_PROVIDERS, ChatProvider, answer_form, request_form
from agtools_nb.calls import ToolCall
from agtools_nb.errors import ModelError, UsageError
from agtools_nb.jsonable import brief_repr


@dataclass(frozen=True, slots=True)
class Said:
    """What the person answers.

    Attributes:
        text: Text, ``""`` without any.
        calls: The calls, in order.
        raw: The answer as the person wrote it, if that was JSON.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    raw: Any = None


class Desk(Protocol):
    """Where the person sits."""

    async def ask(self, request: ModelRequest) -> Said:
        """Show a request, and wait for what the person says.

        Raises:
            ModelError: Nobody can be asked here.
            asyncio.CancelledError: The answer is not wanted any more; it is taken away.
        """
        ...


class HumanModel:
    """A model that a person plays.

    Args:
        provider: In whose form the person sees a request, and answers it as JSON.
        desk: Where the person sits. ``None``: nowhere, and every request is refused.
        name: What it is called. Default ``"human"``.

    Raises:
        UsageError: There is no such provider.
    """

    def __init__(
        self, provider: ChatProvider = "openai", *, desk: Desk | None = None, name: str = "human"
    ) -> None:
        if provider not in CHAT_PROVIDERS:
            raise UsageError(
                f"no provider {brief_repr(provider)}; known are {', '.join(CHAT_PROVIDERS)}"
            )
        self.name = name
        self._first_provider: ChatProvider = provider
        self._desk = desk

    @property
    def provider(self) -> ChatProvider:
        """In whose form the person sees requests."""
        return self._first_provider

    async def respond(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Ask the person.

        Raises:
            ModelError: Nobody can be asked here.
        """
        if self._desk is None:
            raise ModelError(
                "HumanModel has nobody to ask: a person answers on a notebook's page. In a script "
                "or a test use ScriptedModel([...])"
            )
        said = await self._desk.ask(request)
        if said.text:
            yield TextPart(said.text)
        for call in said.calls:
            yield CallPart(call.name, call.args, call.id)
        provider = self.provider
        answer = said.raw
        if answer is None:
            answer = answer_form(said.text, said.calls, provider)
        yield RawPart(request_form(request, provider), answer)

    def __repr__(self) -> str:
        return f"<HumanModel: {self.provider}>"
