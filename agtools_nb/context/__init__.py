"""State and identity that tools share."""

from agtools_nb.context.channel import ProgressChannel
from agtools_nb.context.progress import CallProgress, Progress
from agtools_nb.context.snapshots import Snapshot, StateChange, diff
from agtools_nb.context.state import StateStore
from agtools_nb.context.tool_context import Conversation, ToolContext
from agtools_nb.context.writes import ABSENT, StateWrite, copied

__all__ = [
    "ABSENT",
    "CallProgress",
    "Conversation",
    "Progress",
    "ProgressChannel",
    "Snapshot",
    "StateChange",
    "StateStore",
    "StateWrite",
    "ToolContext",
    "copied",
    "diff",
]
