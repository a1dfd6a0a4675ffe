"""Conversations that call tools: sessions, and the models that drive them."""

from agtools_nb.agent.agent import Agent
from agtools_nb.agent.happenings import (
    Added,
    CallAnswered,
    CallAsked,
    CallProgress,
    CallStarted,
    Happening,
    InSubagent,
    Reply,
    SubagentStarted,
    TextPiece,
    ThreadStarted,
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
from agtools_nb.agent.subagents import Subagent
from agtools_nb.agent.thread import Thread

__all__ = [
    "Added",
    "Agent",
    "CallAnswered",
    "CallAsked",
    "CallPart",
    "CallProgress",
    "CallStarted",
    "EndPart",
    "Happening",
    "InSubagent",
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
    "Subagent",
    "SubagentStarted",
    "TextPart",
    "TextPiece",
    "Thread",
    "ThreadStarted",
    "Turn",
    "Usage",
    "UsagePart",
    "UserMessage",
]
