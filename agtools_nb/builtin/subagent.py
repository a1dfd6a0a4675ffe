"""``start_subagent``: a task for another agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agtools_nb.access.names import BuiltinTools
from agtools_nb.builtin.providers import checked_provider, no_provider, provided
from agtools_nb.context import ToolContext
from agtools_nb.define import Tool, ToolWithSchema
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr

LONGEST_TASK = 20_000


@dataclass(frozen=True, slots=True)
class SubagentTask:
    """What a subagent is to do.

    Attributes:
        name: Which subagent.
        task: What it is to do, in the words of who asks.
        context: The context of the call that asks; ``None`` if it has none.
    """

    name: str
    task: str
    context: ToolContext | None = None


SubagentStarter = Callable[[SubagentTask], Any | Awaitable[Any]]
"""Has a subagent do a task, and returns its report; sync or async."""


def start_subagent_tool(
    start: SubagentStarter | None = None, subagents: Mapping[str, str] | None = None
) -> Tool:
    """Make the ``start_subagent`` tool.

    Args:
        start: Has a subagent do its task, and returns what it reports: ``start(task)`` with a
            :class:`SubagentTask`. Sync (it runs in a thread) or async. Default: none, and each
            call says so.
        subagents: What each is good for, by its name; both are shown to the model. Default:
            none are named, and any name is passed on.

    Raises:
        UsageError: ``start`` is no function, or a name or description is blank.
    """
    given = checked_provider(start, "start_subagent_tool(start)")
    known = _checked(subagents or {})

    async def start_subagent(name: str, task: str, context: ToolContext | None = None) -> Any:
        if given is None:
            raise no_provider(
                BuiltinTools.START_SUBAGENT.value,
                "start another agent",
                "start_subagent_tool(start, {name: description}), or builtin_tools(..., "
                "subagent=start, subagents={...}), where start(task) returns what it reports.",
            )
        return await provided(given, SubagentTask(name, task, context))

    return ToolWithSchema(
        start_subagent,
        _schema(known),
        name=BuiltinTools.START_SUBAGENT.value,
        description="Have another agent do a task, and get its report. It knows nothing of this "
        "conversation: tell it all that it needs.",
        display="Start {name}",
    )


def _schema(known: Mapping[str, str]) -> dict[str, Any]:
    name: dict[str, Any] = {"type": "string", "minLength": 1, "description": "Which agent."}
    if known:
        lines = [f"- {name}: {text}" for name, text in known.items()]
        name = {"enum": list(known), "description": "\n".join(["Which agent:", *lines])}
    task = {
        "type": "string",
        "pattern": r"\S",
        "maxLength": LONGEST_TASK,
        "description": "What it is to do, and what its report must say.",
    }
    return {
        "type": "object",
        "properties": {"name": name, "task": task},
        "required": ["name", "task"],
        "additionalProperties": False,
    }


def _checked(subagents: Mapping[str, str]) -> dict[str, str]:
    for name, text in subagents.items():
        parts: dict[str, Any] = {"name": name, "description": text}
        for what, value in parts.items():
            if not isinstance(value, str) or not value.strip():
                raise UsageError(
                    f"subagents={{...}}: the {what} of a subagent is text that is not blank, and "
                    f"{brief_repr(value)} is not; write {{'reviewer': 'Reads code for mistakes'}}"
                )
    return dict(subagents)
