"""``Subagent``: an agent that another one may hand tasks to."""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agtools_nb.access import BuiltinTools, CapabilitiesConfig
from agtools_nb.agent.budget import Budget
from agtools_nb.agent.model import Model
from agtools_nb.agent.models.choosing import as_model
from agtools_nb.define import Tool
from agtools_nb.define.tool import caller_scope
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True, init=False)
class Subagent:
    """An agent with a name, to which another one hands tasks with ``start_subagent``.

    It talks to the model in a conversation of its own, with a context and a state of its own,
    and its answer is the call's result. It is stopped with the call. It starts no subagents.

    Args:
        name: What the model calls it: letters, digits, ``_`` and ``-``.
        description: What it is good for; the model chooses by it.
        system_instructions: What its model is told before everything else.
        capabilities: Which of the built-in tools and of ``tools`` it has. Default: the built-in
            tools that only read, and all of ``tools``.
        tools: Tools and functions of its own.
        model: Who answers: a model, or the name of a hosted one. Default: the model of the agent
            that starts it.
        max_turns: Most answers of the model to one task. Default 20.

    Raises:
        UsageError: The name is none, there is no description, a tool cannot be one,
            ``capabilities`` name a tool that it does not have, ``model`` is no model or its key
            is not there, or ``max_turns`` is not at least 1.
    """

    name: str
    description: str
    system_instructions: str
    capabilities: CapabilitiesConfig
    tools: tuple[Tool, ...]
    model: Model | None
    max_turns: int

    def __init__(
        self,
        name: Any,
        description: Any,
        system_instructions: str = "",
        capabilities: CapabilitiesConfig | None = None,
        tools: Iterable[Tool | Callable[..., Any]] = (),
        model: Model | str | None = None,
        max_turns: int = 20,
    ) -> None:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise UsageError(
                f"Subagent name={brief_repr(name)}: use 1 to 64 letters, digits, _ and -"
            )
        if not isinstance(description, str) or not description.strip():
            raise UsageError(
                f"Subagent {name!r} has no description; a model chooses by it, so say what it is "
                "good for"
            )
        # What is wrong shows where it is written, and not in a call, to a model alone.
        try:
            model = None if model is None else as_model(model)
            Budget(max_turns)
        except UsageError as error:
            raise UsageError(f"Subagent {name!r}: {error}") from error
        scope = caller_scope(2)
        made = tuple(one if isinstance(one, Tool) else Tool(one, scope=scope) for one in tools)
        kept = tuple(tool for tool in made if tool.name != BuiltinTools.START_SUBAGENT)
        if capabilities is None:
            capabilities = CapabilitiesConfig(
                enabled_tools=[*BuiltinTools.read_only(), *(tool.name for tool in kept)]
            )
        _check_known(name, capabilities, [tool.name for tool in kept])
        asked = capabilities.enabled_tools or ()
        if len(kept) < len(made) or BuiltinTools.START_SUBAGENT in asked:
            warnings.warn(
                f"Subagent {name!r} gets no {BuiltinTools.START_SUBAGENT}: a subagent starts no "
                "other one",
                UserWarning,
                stacklevel=2,
            )
        values = {
            "name": name,
            "description": description,
            "system_instructions": system_instructions,
            "capabilities": capabilities,
            "tools": kept,
            "model": model,
            "max_turns": max_turns,
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)


def _check_known(name: str, capabilities: CapabilitiesConfig, own: Sequence[str]) -> None:
    known = [*BuiltinTools, *own]
    for asked in sorted(capabilities.names):
        if asked not in known:
            close = difflib.get_close_matches(asked, known, 1)
            hint = f"; did you mean {str(close[0])!r}?" if close else ""
            raise UsageError(
                f"Subagent {name!r}: capabilities name {asked!r}, which is neither a built-in tool "
                f"nor among its tools ({', '.join(own) or 'none'}){hint}"
            )


def checked_subagents(given: Iterable[Any]) -> tuple[Subagent, ...]:
    """The subagents of an agent.

    Raises:
        UsageError: One is none, or two have one name.
    """
    found = tuple(given)
    names: set[str] = set()
    for one in found:
        if not isinstance(one, Subagent):
            raise UsageError(f"subagents=[...]: {brief_repr(one)} is no Subagent")
        if one.name in names:
            raise UsageError(f"two subagents are named {one.name!r}; a model could not tell them")
        names.add(one.name)
    return found
