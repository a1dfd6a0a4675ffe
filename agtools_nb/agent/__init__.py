"""Conversations that call tools: sessions, and the models that drive them."""

from agtools_nb.agent.happenings import (
    Added,
    CallAnswered,
    CallAsked,
    CallProgress,
    CallStarted,
    Happening,
    Reply,
    TextPiece,
)
from agtools_nb.agent.messages import Message, ModelMessage, ResultsMessage, Usage, UserMessage
from agtools_nb.agent.model import (
    CallPart,
    EndPart,
    Model,
    ModelEvent,
    ModelRequest,
    NotePart,
    RawPart,
    TextPart,
    UsagePart,
)
from agtools_nb.agent.models import ScriptedModel, Turn
from agtools_nb.agent.session import Session

__all__ = [
    "Added",
    "CallAnswered",
    "CallAsked",
    "CallPart",
    "CallProgress",
    "CallStarted",
    "EndPart",
    "Happening",
    "Message",
    "Model",
    "ModelEvent",
    "ModelMessage",
    "ModelRequest",
    "NotePart",
    "RawPart",
    "Reply",
    "ResultsMessage",
    "ScriptedModel",
    "Session",
    "TextPart",
    "TextPiece",
    "Turn",
    "Usage",
    "UsagePart",
    "UserMessage",
]
