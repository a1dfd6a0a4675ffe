"""State and identity that tools share."""

from agtools_nb.context.state import ABSENT, StateStore, StateWrite, copied
from agtools_nb.context.tool_context import Conversation, ToolContext

__all__ = ["ABSENT", "Conversation", "StateStore", "StateWrite", "ToolContext", "copied"]
