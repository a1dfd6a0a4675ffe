"""State and identity that tools share."""

from agtools_nb.context.channel import ProgressChannel
from agtools_nb.context.progress import CallProgress, Progress
from agtools_nb.context.state import ABSENT, StateStore, StateWrite, copied
from agtools_nb.context.tool_context import Conversation, ToolContext

__all__ = [
    "ABSENT",
    "CallProgress",
    "Conversation",
    "Progress",
    "ProgressChannel",
    "StateStore",
    "StateWrite",
    "ToolContext",
    "copied",
]
