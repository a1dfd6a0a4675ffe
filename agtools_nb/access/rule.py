"""One rule asked about one call."""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import dataclass
from typing import Any

from agtools_nb.access.policy import Policy
from agtools_nb.access.predicate import asker
from agtools_nb.calls import ToolCall
from agtools_nb.define import Tool
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr, clean_text, shorten
from agtools_nb.run.asked import is_cancelled

_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Match:
    """Whether a rule is about a call.

    Attributes:
        matched: Whether it is.
        why: Why, in a sentence for people.
        failed: Whether its condition failed, so that it counts as matching and lets nothing run.
        by_owner: Whether it is about what the call's tool came with.
    """

    matched: bool
    why: str
    failed: bool = False
    by_owner: bool = False


class Rule:
    """A rule that is ready to be asked.

    Args:
        policy: The rule.

    Raises:
        UsageError: It is no rule, or its condition cannot be used.
    """

    def __init__(self, policy: Policy) -> None:
        if not isinstance(policy, Policy):
            raise UsageError(
                f"policies=[...]: {brief_repr(policy)} is no rule; make one with allow('name'), "
                "deny('name') or ask_user('name')"
            )
        self.policy = policy
        self._ask = None if policy.when is None else asker(policy.when)

    @property
    def is_conditional(self) -> bool:
        """Whether the arguments of a call say whether it is about it."""
        return self._ask is not None or self.policy.scope is not None

    def names(self, tool: Tool) -> bool:
        """Whether it is about some calls of a tool."""
        if self.policy.scope is not None and tool.path_of is None:
            return False
        return self.policy.names(tool)

    async def match(self, call: ToolCall, tool: Tool) -> Match:
        """Whether it is about this call.

        Args:
            call: The call as the tool will get it.
            tool: Its tool.
        """
        policy = self.policy
        if not self.names(tool):
            if policy.scope is not None:
                return Match(False, "calls of this tool are about no path")
            return Match(False, f"it is about {policy.target!r}")
        if policy.scope is not None:
            return self._out_of_scope(call)
        if self._ask is None:
            return Match(True, "it is about every call of it")
        return await self._asked(call)

    def _out_of_scope(self, call: ToolCall) -> Match:
        scope, path = self.policy.scope, call.canonical_path
        assert scope is not None
        if path is None:
            return Match(True, "which path the call is about cannot be told")
        try:
            if scope.holds(path):
                return Match(False, f"{brief_repr(path)} is inside")
        except Exception as error:
            return Match(True, f"where {brief_repr(path)} leads cannot be told ({_told(error)})")
        return Match(True, f"{brief_repr(path)} is outside")

    async def _asked(self, call: ToolCall) -> Match:
        assert self._ask is not None
        try:
            answer: Any = self._ask(call)
            if inspect.isawaitable(answer):
                answer = await answer
            holds = bool(answer)
        except asyncio.CancelledError as error:
            if is_cancelled():
                raise
            return _failed(error)
        except (Exception, SystemExit, GeneratorExit) as error:
            return _failed(error)
        return Match(holds, f"its condition {'holds' if holds else 'does not hold'}")


def _failed(error: BaseException) -> Match:
    return Match(True, f"its condition failed ({_told(error)}), which counts as holding", True)


def _told(error: BaseException) -> str:
    try:
        text = str(error)
    except (Exception, SystemExit, GeneratorExit):
        text = "its text could not be read"
    name = type(error).__name__
    return shorten(clean_text(f"{name}: {text}" if text else name), _SHOWN)
