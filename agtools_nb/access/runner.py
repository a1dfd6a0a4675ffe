"""``ToolRunner``: a runner whose calls pass rules, people and hooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypedDict, Unpack

from agtools_nb.access.access import Access
from agtools_nb.access.approval import ApprovalHandler
from agtools_nb.access.capabilities import CapabilitiesConfig
from agtools_nb.access.decision import Standing
from agtools_nb.access.engine import Policies
from agtools_nb.context import AnswerHandler, ToolContext
from agtools_nb.define import Tool
from agtools_nb.define.tool import caller_scope
from agtools_nb.errors import UsageError
from agtools_nb.run.runner import Runner
from agtools_nb.run.setting import RunOptions
from agtools_nb.run.work import WorkKeeper

_OF_STANDING = {
    "denied": "a rule denies every call of it",
    "asks": "a rule asks a person about each call",
    "depends": "which calls may run depends on their arguments",
}


class AccessOptions(TypedDict, total=False):
    """Who may call what; see :class:`ToolRunner`."""

    policies: Policies | None
    capabilities: CapabilitiesConfig | None
    hooks: Any
    approve: ApprovalHandler | None
    answer: AnswerHandler | None


class ToolRunner(Runner):
    """Holds tools and runs calls: coerced, validated, concurrent, results in call order.

    Works in a plain script; nothing here knows Jupyter. Each call goes one way: its arguments
    are coerced and validated, hooks and rules are asked about it as the tool will get it, then
    a person if a rule says so, and what was approved is what runs.

    Args:
        tools: Tools, or functions to make tools of.
        context: What tools that ask for a ``ToolContext`` are given. Default: none, or an empty
            one if there is ``answer=``.
        background: Takes care of what outlives its call: a :class:`Background`. Default:
            none, and such calls are refused.
        policies: Rules on who may call what: ``[deny("delete"), ask_user("*")]``. Default:
            none, and every call runs; tools that are ``guarded`` are refused then.
        capabilities: Which tools are on. Default: all.
        hooks: :class:`Hooks`, objects with methods of their names, or a list of these.
        approve: Who is asked where ``ask_user`` names nobody: a function that is given an
            :class:`Approval` and returns ``True``, ``False`` or an :class:`ApprovalDecision`.
            Let one that waits be async: other calls wait for one that is not.
        answer: Who answers what tools ask with ``ctx.ask``: a function that is given a
            :class:`Question`. Default: the context's own, else nobody.
        options: ``validate``: coerce and check arguments (default ``True``; with ``False`` the
            function gets what came, untouched). ``check_results``: check what tools return
            against their response schemas (default ``False``). ``omit_nulls``: read ``null``
            for an optional parameter that takes none as absent, which OpenAI's strict mode
            makes models write (default ``False``: it is a fault). ``strategy``: which calls of
            a batch run beside each other (default ``PARALLEL``). ``max_concurrency``: most
            calls of a batch that run at once (default: all, of them at most 256 blocking
            ones). ``timeout``: seconds for a call that says nothing itself (default: what its
            tool says). ``executor``: where blocking tools run, any
            ``concurrent.futures.Executor``, or a function that chooses one (or ``None``) by
            tool (default: threads of the runner).

    Attributes:
        access: Rules, capabilities and hooks.

    Raises:
        DefinitionError: One of the functions cannot be a tool.
        DuplicateToolError: Two of them have one name.
        UsageError: There is no such strategy, a bound is out of range, a rule asks and there
            is nobody to be asked, or a guarded tool has no rules.
    """

    def __init__(
        self,
        tools: Iterable[Tool | Callable[..., Any]] = (),
        *,
        context: ToolContext | None = None,
        background: WorkKeeper | None = None,
        policies: Policies | None = None,
        capabilities: CapabilitiesConfig | None = None,
        hooks: Any = None,
        approve: ApprovalHandler | None = None,
        answer: AnswerHandler | None = None,
        **options: Unpack[RunOptions],
    ) -> None:
        if context is None and answer is not None:
            context = ToolContext()  # or tools could not ask
        self.access = Access(policies, capabilities=capabilities, hooks=hooks, approve=approve)
        super().__init__(
            context=context,
            background=background,
            answer=answer,
            gate=self.access if self.access.is_needed else None,
            **options,
        )
        self._tell_of_tools()
        self._add_all(tools, caller_scope(2))

    def standing(self, tool: Tool | str) -> Standing:
        """How a tool stands, whatever its arguments; rules about paths are left aside.

        Raises:
            UnknownToolError: There is none of that name, on or off.
        """
        return self.access.engine.standing(
            self.any_tool(tool.name if isinstance(tool, Tool) else tool)
        )

    def get_public_callable(self, name: str) -> Callable[..., Any]:
        """Return the function behind a tool, its context filled in and out of its signature.

        It is the tool itself if that asks for no context. It is a coroutine function if the
        tool's is, and keeps its name and docstring. Nobody is asked about a call of it, so there
        is none of a tool that rules or ``before_tool`` hooks have a word on.

        Raises:
            UnknownToolError: There is no such tool, or it is off.
            UsageError: A rule denies calls of it, asks about them or depends on their
                arguments, or there are ``before_tool`` hooks.
        """
        tool = self.tool(name)
        engine, hooks = self.access.engine, self.access.hooks
        why = _OF_STANDING.get(engine.standing(tool), "")
        if tool.path_of is not None and any(one.scope is not None for one in engine.policies):
            why = "a rule is about the paths that it may be called with"
        elif not why and any(True for _ in hooks.of("before_tool")):
            why = "a before_tool hook is to be asked about each call"
        if why:
            raise UsageError(
                f"get_public_callable({name!r}): {why}, and a plain function would go past that; "
                f"use await runner.execute({name!r}, ...)"
            )
        return super().get_public_callable(name)

    def twin(
        self, context: ToolContext | None = None, background: WorkKeeper | None = None
    ) -> ToolRunner:
        """Return a runner with the same tools, rules, hooks and settings for another conversation.

        What was approved for this session is not approved for it.

        Args:
            context: What its tools are given. Default: none.
            background: Takes care of what outlives its calls. Default: nobody.
        """
        access = self.access.twin()
        made = self._twin(context, background, access if access.is_needed else None)
        made.access = access
        made._tell_of_tools()
        return made

    def _tell_of_tools(self) -> None:
        """Let the rules know which tools there are, and which came with which."""
        self.access.engine.owners_of = self._companions.owners
        self.access.engine.tool_of = self._tools.get

    async def close(self) -> None:
        """End the session: hooks are told, and what was approved for it is forgotten.

        The next call begins another one.
        """
        await self.access.end_session()
