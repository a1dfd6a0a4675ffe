"""State and identity that tools share."""

from agtools_nb.context.artifacts import Artifact, Artifacts
from agtools_nb.context.channel import ProgressChannel
from agtools_nb.context.database import Database
from agtools_nb.context.memory import Memory, MemoryHit
from agtools_nb.context.progress import CallProgress, Progress
from agtools_nb.context.questions import (
    Answer,
    AnswerHandler,
    Question,
    answered,
    nobody_to_ask,
)
from agtools_nb.context.simple import SimpleToolContext
from agtools_nb.context.snapshots import Snapshot, StateChange, diff
from agtools_nb.context.state import StateStore
from agtools_nb.context.store import Store
from agtools_nb.context.tool_context import Conversation, ToolContext
from agtools_nb.context.writes import ABSENT, StateWrite, copied

__all__ = [
    "ABSENT",
    "Answer",
    "AnswerHandler",
    "Artifact",
    "Artifacts",
    "CallProgress",
    "Conversation",
    "Database",
    "Memory",
    "MemoryHit",
    "Progress",
    "ProgressChannel",
    "Question",
    "SimpleToolContext",
    "Snapshot",
    "StateChange",
    "StateStore",
    "StateWrite",
    "Store",
    "ToolContext",
    "answered",
    "copied",
    "diff",
    "nobody_to_ask",
]
