"""Models that drive a conversation."""

from agtools_nb.agent.models.scripted import ScriptedModel, Turn

__all__ = ["ScriptedModel", "Turn"]
