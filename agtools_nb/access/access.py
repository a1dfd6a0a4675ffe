"""``Access``: everything that decides on the calls of a runner, behind its gate."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from typing import Any

from agtools_nb.access.approval import ApprovalHandler
from agtools_nb.access.capabilities import CapabilitiesConfig
from agtools_nb.access.chain import HookChain
from agtools_nb.access.engine import Policies, PolicyEngine
from agtools_nb.access.hooks import HookContext
from agtools_nb.access.visit import AccessRound
from agtools_nb.calls import ToolResult
from agtools_nb.define import Tool, Turn
from agtools_nb.errors import UsageError

_started_here: ContextVar[tuple[Access, ...]] = ContextVar("agtools_nb_started_here", default=())
"""Those whose hooks are being told that a session starts, and run this."""


class Access:
    """Capabilities, rules, approvals and hooks of one session.

    A session starts with its first turn. Without somebody who drives turns, each batch (or
    stream, or single call) is one.

    Args:
        policies: Rules, and lists of rules. Default: none, and every call runs.
        capabilities: Which tools are on. Default: all.
        hooks: :class:`Hooks`, objects with methods of their names, or a list of these.
        approve: Who is asked where a rule names nobody.

    Attributes:
        engine: The rules.
        hooks: The hooks.
        session: What hooks keep for the session.
        turn: The turn that somebody drives, ``None`` outside of one.

    Raises:
        UsageError: See :class:`PolicyEngine` and :class:`Hooks`.
    """

    def __init__(
        self,
        policies: Policies | None = None,
        *,
        capabilities: CapabilitiesConfig | None = None,
        hooks: Any = None,
        approve: ApprovalHandler | None = None,
    ) -> None:
        self.engine = PolicyEngine(
            () if policies is None else policies, approve=approve, capabilities=capabilities
        )
        self.hooks = HookChain(() if hooks is None else hooks)
        self.session = HookContext()
        self.turn: HookContext | None = None
        self._is_started = False
        self._starting = Turn()
        self._remarked: set[str] = set()
        self._has_fitted = False

    @property
    def is_needed(self) -> bool:
        """Whether there is anything that could stand in the way of a call, or look on."""
        return (
            self.guards
            or bool(self.hooks)
            or bool(self.engine.capabilities.names)
            or (self.engine.capabilities.enabled_tools is not None)
        )

    def twin(self) -> Access:
        """The same rules and hooks for another session; what was approved for this one is not."""
        made = copy.copy(self)
        made.engine = self.engine.twin()
        made.session, made.turn = HookContext(), None
        made._is_started, made._starting = False, Turn()
        return made

    # -- for the runner ---------------------------------------------------------------------

    @property
    def guards(self) -> bool:
        """Whether there are rules."""
        return bool(self.engine.policies)

    def shows(self, tool: Tool, owners: Iterable[str]) -> bool:
        """Whether a tool is on. What came with others is, if one of them is."""
        return self.engine.shows(tool, owners)

    def check(self, tools: Sequence[Tool]) -> None:
        """Look whether rules and tools fit; what looks like a mistake is warned of, once.

        Tools that go later, with the connection to their server, are no mistake.

        Raises:
            UsageError: A rule names a server, no tool comes from one, and none did before.
        """
        found = self.engine.check(tools, at_start=not self._has_fitted)
        self._has_fitted = True
        for remark in found:
            if remark not in self._remarked:
                self._remarked.add(remark)
                warnings.warn(remark, UserWarning, stacklevel=4)

    def round(self) -> AccessRound:
        """Calls are about to run."""
        return AccessRound(self)

    # -- sessions and turns -----------------------------------------------------------------

    async def start_session(self) -> None:
        """Tell hooks that the session starts, once; who comes meanwhile waits.

        Raises:
            AgtoolsError: A hook failed: the session has not started. Or a hook that is told of
                the start waits for something that would begin after it.
        """
        if self._is_started:
            return
        if self in _started_here.get():
            raise UsageError(
                "an on_session_start hook called a tool of the session that it is told of, and "
                "nothing runs there before the hook has returned; call it from a before_turn "
                "hook, or use another runner"
            )
        await self._starting.acquire()
        try:
            if not self._is_started:
                token = _started_here.set((*_started_here.get(), self))
                try:
                    await self.hooks.session_starts(self.session)
                finally:
                    _started_here.reset(token)
                self._is_started = True
        finally:
            self._starting.release()

    async def end_session(self) -> None:
        """Tell hooks that the session ends, and forget what was approved for it.

        The next turn starts another one. Twice does no harm.
        """
        was_started, self._is_started = self._is_started, False
        context, self.session = self.session, HookContext()
        self.turn = None
        self.engine.forget()
        if was_started:
            await self.hooks.inspect("on_session_end", context)

    async def before_turn(self, message: Any) -> None:
        """Begin a turn, which lasts until :meth:`after_turn`; batches are part of it meanwhile.

        Args:
            message: What it is about; hooks are told.

        Raises:
            AgtoolsError: A hook refused the turn, or failed; there is none.
        """
        await self.start_session()
        turn = HookContext("turn", self.session)
        await self.hooks.turn_begins(message, turn)
        self.turn = turn

    async def after_turn(self, answer: Any) -> None:
        """End the turn.

        Args:
            answer: What came of it; hooks are told.
        """
        turn, self.turn = self.turn, None
        if turn is not None:
            await self.hooks.inspect("after_turn", turn, answer)

    async def stopped(self, results: Sequence[ToolResult] = ()) -> None:
        """Tell hooks that the turn is stopped.

        Args:
            results: What there is of it.
        """
        context = self.session if self.turn is None else self.turn
        await self.hooks.inspect("on_stop", context, tuple(results))

    def __repr__(self) -> str:
        return f"<Access: {len(self.engine.policies)} rules, {self.engine.capabilities}>"
