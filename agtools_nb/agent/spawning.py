"""Subagents at work: each task is a conversation of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agtools_nb.access import (
    ApprovalHandler,
    BuiltinTools,
    CapabilitiesConfig,
    Policies,
    ToolRunner,
)
from agtools_nb.agent.happenings import Happening, InSubagent, Reply, SubagentStarted
from agtools_nb.agent.session import Session
from agtools_nb.agent.subagents import Subagent
from agtools_nb.builtin import builtin_tools
from agtools_nb.builtin.finish import Finished
from agtools_nb.builtin.subagent import SubagentTask
from agtools_nb.calls import ToolResult
from agtools_nb.context import AnswerHandler, ToolContext
from agtools_nb.define import Tool
from agtools_nb.errors import ToolError
from agtools_nb.events import Background


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an agent and its subagents have in common.

    Attributes:
        workspace: The folder of the built-in tools.
        options: What :func:`builtin_tools` takes besides.
        policies: Rules on who may call what.
        hooks: Hooks.
        approve: Who is asked where a rule names nobody.
        answer: Who answers what tools ask a person.
    """

    workspace: str | os.PathLike[str] = "."
    options: Mapping[str, Any] = field(default_factory=dict)
    policies: Policies | None = None
    hooks: Any = None
    approve: ApprovalHandler | None = None
    answer: AnswerHandler | None = None

    def builtin(self, capabilities: CapabilitiesConfig, without: Iterable[str] = ()) -> list[Tool]:
        """The built-in tools that are on, but for some."""
        out = set(without)
        on = [one for one in BuiltinTools if capabilities.allows(one) and one not in out]
        return builtin_tools(on, self.workspace, **self.options)

    def runner(self, background: Background, capabilities: CapabilitiesConfig | None) -> ToolRunner:
        """A runner without tools, under these rules."""
        return ToolRunner(
            background=background,
            policies=self.policies,
            capabilities=capabilities,
            hooks=self.hooks,
            approve=self.approve,
            answer=self.answer,
        )


class Spawning:
    """Has subagents do their tasks.

    The rules and hooks of the agent hold for its subagents, and the same people are asked;
    what was approved for the one is not approved for the others.

    Args:
        subagents: Those there are.
        surroundings: What they have in common with the agent.
        parent: The conversation of the agent, once there is one. What happens in them is told
            there, and their tokens are counted there, unless a fork of it has asked.

    Raises:
        DuplicateToolError: Two tools of a subagent have one name.
        UsageError: A subagent has a tool that writes, and there are no rules.
    """

    def __init__(
        self,
        subagents: Iterable[Subagent],
        surroundings: Surroundings,
        parent: Callable[[], Session],
    ) -> None:
        self._subagents = {one.name: one for one in subagents}
        self._surroundings = surroundings
        self._parent = parent
        self._family: tuple[Tool, ...] = ()
        # What is wrong with one shows now, and not in a call.
        self._tools = [
            tool for one in self._subagents.values() for tool in self._runner(one).all_tools
        ]

    def check(self, runner: ToolRunner) -> None:
        """Look whether the rules fit the tools of the agent and its subagents together.

        Raises:
            UsageError: They do not.
        """
        runner.check(self._tools)
        # They are about one family: what names a tool of one is no mistake in the others.
        self._family = runner.all_tools

    async def start(self, task: SubagentTask) -> Any:
        """Do a task, and return what the subagent reports.

        Raises:
            ToolError: There is no such subagent, or it did not come to its end.
        """
        subagent = self._subagents.get(task.name)
        if subagent is None:
            known = ", ".join(self._subagents)
            raise ToolError(
                "unknown_subagent", f"there is no subagent {task.name!r}; have: {known}"
            )
        parent = self._asking(task)
        call_id = None if task.context is None else task.context.call_id
        replies: list[Reply] = []

        def hear(happening: Happening) -> None:
            if isinstance(happening, Reply):
                replies.append(happening)
            parent.tell(InSubagent(call_id, subagent.name, happening))

        async with self._session(subagent, parent) as session:
            session.watch(hear)
            parent.tell(SubagentStarted(call_id, subagent.name, session))
            await session.chat(task.task)
            # What it dispatched comes back to it, and it may have more to say then.
            await session.wait_for_idle()
        return _report(subagent.name, replies[-1])

    def _asking(self, task: SubagentTask) -> Session:
        """The conversation that the call belongs to: the agent's own, or a fork of it."""
        found = None if task.context is None else task.context._live()
        return found if isinstance(found, Session) else self._parent()

    def _session(self, subagent: Subagent, parent: Session) -> Session:
        session = Session(
            parent.model if subagent.model is None else subagent.model,
            self._runner(subagent),
            system_instructions=subagent.system_instructions,
            max_turns=subagent.max_turns,
            ending=ended_by_finish,
            parent=parent,
        )
        runner = session.runner
        runner.set_context(ToolContext(session, agent_name=subagent.name))
        runner.check((*self._tools, *self._family))
        return session

    def _runner(self, subagent: Subagent) -> ToolRunner:
        own = [tool.name for tool in subagent.tools]
        without = [BuiltinTools.START_SUBAGENT.value, *own]
        runner = self._surroundings.runner(Background(), subagent.capabilities)
        made = self._surroundings.builtin(subagent.capabilities, without)
        for tool in (*subagent.tools, *made):
            runner.register(tool)
        return runner


def ended_by_finish(result: ToolResult) -> tuple[bool, Any]:
    """Whether a result ends the conversation, and the output that it brings."""
    if result.ok and isinstance(result.result, Finished):
        return True, result.result.output
    return False, None


def _report(name: str, reply: Reply) -> Any:
    if reply.ok:
        return reply.text if reply.output is None else reply.output
    said = f" Its last words: {reply.text}" if reply.text else ""
    raise ToolError(
        "subagent_stopped",
        f"{name} did not come to its end: {reply.detail or reply.reason}.{said}",
        hint="Give it a smaller task, or go on without it.",
    )
