"""``PolicyEngine``: what the rules say about a call, and how each tool stands."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from agtools_nb.access.approval import ApprovalHandler
from agtools_nb.access.capabilities import CapabilitiesConfig
from agtools_nb.access.checks import checked, remarks
from agtools_nb.access.decision import Decision, RuleOutcome, Standing
from agtools_nb.access.owners import is_named, match_by_owners
from agtools_nb.access.policy import Policy, PolicyKind
from agtools_nb.access.rule import Match, Rule
from agtools_nb.calls import ToolCall
from agtools_nb.context import copied
from agtools_nb.define import Tool
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr, jsonable
from agtools_nb.run.words import error_text

Policies = Policy | Iterable[Any]
"""A rule, or rules and lists of rules."""


class PolicyEngine:
    """Decides calls by rules.

    Rules are asked in order of precedence: first those about paths (:func:`workspace_only`),
    then those that name the tool, ``"server/tool"``, ``"server/*"``, and ``"*"``; among those
    that are as exact as each other ``deny``, ``ask_user``, ``allow``, then as they were given.
    The first that is about the call decides; if none is, the call runs.

    A condition that fails counts as holding, and never opens the door: a call that an
    ``allow`` would then let run is refused.

    Args:
        policies: Rules, and lists of rules.
        approve: Who is asked where a rule names nobody.
        capabilities: Which tools are on. Default: all.

    Attributes:
        policies: The rules, in order of precedence.
        capabilities: Which tools are on.
        approve: Who is asked where a rule names nobody; ``None`` if nobody is.
        owners_of: Gives the names of the tools that the tool of a name came with.
        tool_of: Gives the tool of a name; ``None`` if there is none.

    Raises:
        UsageError: One is no rule, its condition cannot be used, it asks and there is nobody
            to be asked, or ``capabilities`` is no :class:`CapabilitiesConfig`.
    """

    def __init__(
        self,
        policies: Policies = (),
        *,
        approve: ApprovalHandler | None = None,
        capabilities: CapabilitiesConfig | None = None,
    ) -> None:
        if not isinstance(capabilities, CapabilitiesConfig | None):
            raise UsageError(
                f"capabilities={brief_repr(capabilities)} must be a CapabilitiesConfig; write "
                "capabilities=CapabilitiesConfig(disabled_tools=[...]), or enabled_tools=[...]"
            )
        found = sorted(_flat(policies), key=lambda rule: rule.policy.rank)
        self._rules: tuple[Rule, ...] = tuple(found)
        self.policies: tuple[Policy, ...] = tuple(rule.policy for rule in found)
        self.capabilities = CapabilitiesConfig() if capabilities is None else capabilities
        self.approve = approve
        self.owners_of: Callable[[str], Iterable[str]] = lambda name: ()
        self.tool_of: Callable[[str], Tool | None] = lambda name: None
        # By the place of a rule and the name of a tool: the tool whose calls were approved.
        self._remembered: dict[tuple[int, str], Tool] = {}
        for policy in self.policies:
            if policy.kind == "ask" and self.handler_of(policy) is None:
                raise UsageError(
                    f"the rule {policy.label} asks a person, and there is nobody to be asked: give "
                    "ToolRunner(approve=...), a function that is given an Approval and returns "
                    f"True or False, or {policy.label.partition('(')[0]} a handler of its own; a "
                    "Toolkit in a notebook shows a card, also for others: approve=tk.approve"
                )

    def handler_of(self, policy: Policy) -> ApprovalHandler | None:
        """Who is asked under a rule."""
        return self.approve if policy.handler is None else policy.handler

    async def decide(self, call: ToolCall, tool: Tool, arguments: Mapping[str, Any]) -> Decision:
        """What the rules say. Conditions of rules after the one that decides are not asked.

        Args:
            call: The call; its own arguments, path and server are not looked at.
            tool: Its tool.
            arguments: The arguments as the tool will get them, as JSON values.

        Raises:
            Exception: What the tool's ``path_of=`` raised; it must not be run.
        """
        return await self._decided(seen(call, tool, arguments), tool, ask_all=False)

    async def explain(self, call: ToolCall, tool: Tool, arguments: Mapping[str, Any]) -> Decision:
        """The same, for people: nobody is asked, nothing is run, and every condition is looked at.

        A call whose path cannot be told is refused.
        """
        try:
            known = seen(call, tool, arguments)
        except Exception as error:
            return Decision("deny", None, f"It would not run: {error_text(error)}", ())
        return await self._decided(known, tool, ask_all=True)

    async def _decided(self, call: ToolCall, tool: Tool, *, ask_all: bool) -> Decision:
        explained: list[RuleOutcome] = []
        by: int | None = None
        deciding = Match(False, "")
        owners = self._owners(tool)
        for place, rule in enumerate(self._rules):
            if by is not None and not ask_all:
                why = f"{self.policies[by].label} comes before it"
                explained.append(RuleOutcome(rule.policy, None, False, why))
                continue
            match = match_by_owners(rule, owners) if owners else None
            if match is None:
                match = await rule.match(call, tool)
            decides = match.matched and by is None
            if decides:
                by, deciding = place, match
            why = _why(match, decides, None if by is None else self.policies[by])
            explained.append(RuleOutcome(rule.policy, match.matched, decides, why))
        if by is None:
            return Decision("allow", None, "no rule is about it, so it runs", tuple(explained))
        policy = self.policies[by]
        kind = _kind(policy, deciding)
        return Decision(
            kind,
            policy,
            _reason(policy, explained[by].why, deciding),
            tuple(explained),
            kind == "ask" and self._remembered.get((by, tool.name)) is tool,
        )

    def _owners(self, tool: Tool) -> list[Tool]:
        """What a tool came with, of that what may run if any may.

        Nothing if a rule is about the tool itself.
        """
        names = self.owners_of(tool.name)
        found = [owner for owner in map(self.tool_of, sorted(names)) if owner is not None]
        if not found or is_named(self._rules, tool):
            return []
        return [owner for owner in found if self.standing(owner) != "denied"] or found

    def remember(self, policy: Policy, tool: Tool) -> None:
        """Ask about a tool's calls no more under this rule, until :meth:`forget`.

        It holds for this very tool: one that takes its name later is asked about again.
        """
        self._remembered[self._place(policy), tool.name] = tool

    def twin(self) -> PolicyEngine:
        """The same rules for another session: nothing is remembered."""
        made = copy.copy(self)
        made._remembered = {}
        return made

    def forget(self) -> None:
        """Ask about everything again: a new session begins."""
        self._remembered.clear()

    def _place(self, policy: Policy) -> int:
        return next(place for place, one in enumerate(self.policies) if one is policy)

    def shows(self, tool: Tool, owners: Iterable[str] | None = None) -> bool:
        """Whether a tool is on. What came with other tools is, if one of them is.

        Args:
            tool: The tool.
            owners: Names of the tools that it came with. Default: what :attr:`owners_of` says.
        """
        came_with = self.owners_of(tool.name) if owners is None else owners
        if came_with and not self.capabilities.turns_off(tool):
            return any(self.capabilities.allows(self.tool_of(name) or name) for name in came_with)
        return self.capabilities.allows(tool)

    def standing(self, tool: Tool) -> Standing:
        """How a tool stands, whatever its arguments; rules about paths are left aside."""
        if not self.shows(tool):
            return "off"
        kinds = {kind for _, kind in self._deciding(tool)}
        return _STANDINGS[kinds.pop()] if len(kinds) == 1 else "depends"

    def is_approved(self, tool: Tool) -> bool:
        """Whether people would be asked about every call, and agreed to all of them beforehand.

        That is until :meth:`forget`; rules about paths are left aside.
        """
        return self.standing(tool) == "asks" and all(
            self._remembered.get((place, tool.name)) is tool for place, _ in self._deciding(tool)
        )

    def _deciding(self, tool: Tool) -> Iterator[tuple[int, PolicyKind]]:
        """The rules that may decide about a call, by place, and what each says; -1: no rule."""
        owners = self._owners(tool)
        for place, rule in enumerate(self._rules):
            if rule.policy.scope is not None:
                continue
            match = match_by_owners(rule, owners) if owners else None
            if match is not None and match.matched:
                yield place, _kind(rule.policy, match)
                return
            if match is not None or not rule.names(tool):
                continue
            yield place, rule.policy.kind
            if not rule.is_conditional:
                return
        yield -1, "allow"

    def check(self, tools: Sequence[Tool], *, at_start: bool = True) -> tuple[str, ...]:
        """Look whether the rules fit the tools.

        Args:
            tools: Every tool there is, also those that are off.
            at_start: Whether no call has run yet; later, rules about servers may be about ones
                that are gone. Default ``True``.

        Returns:
            What looks like a mistake, in sentences for people: a rule that names no tool, a
            conditional rule that an exact ``allow`` beats.

        Raises:
            UsageError: A rule names a server, and no tool comes from one, at the start.
        """
        if at_start:
            checked(self.policies, tools)
        return remarks(self._rules, self.capabilities, tools, at_start=at_start)


_STANDINGS: dict[PolicyKind, Standing] = {"allow": "on", "deny": "denied", "ask": "asks"}


def seen(call: ToolCall, tool: Tool, arguments: Mapping[str, Any]) -> ToolCall:
    """A call as rules, hooks and people see it: nothing of what it says of itself is believed.

    Name and server are the tool's, the path is what the tool makes of the arguments.

    Raises:
        Exception: What the tool's ``path_of=`` raised.
    """
    own = jsonable(copied(dict(arguments)))
    return ToolCall(
        tool.name, own, call.id, call.step_id, tool.canonical_path(own), tool.server_name,
        call.timeout,
    )  # fmt: skip


def _flat(policies: Any) -> Iterable[Rule]:
    if isinstance(policies, Policy):
        return [Rule(policies)]
    if isinstance(policies, (str, Mapping)) or not isinstance(policies, Iterable):
        raise UsageError(
            f"policies={brief_repr(policies)} must be a list of rules, such as "
            "policies=[deny('delete'), safe_defaults()]"
        )
    found: list[Rule] = []
    for one in policies:
        is_several = isinstance(one, Iterable) and not isinstance(one, (str, Mapping))
        found.extend(_flat(one) if is_several else [Rule(one)])
    return found


def _why(match: Match, decides: bool, by: Policy | None) -> str:
    if match.matched and not decides and by is not None:
        return f"{match.why}, but {by.label} comes before it"
    return match.why


def _kind(policy: Policy, match: Match) -> PolicyKind:
    """What a rule says that is about a call."""
    if match.failed and policy.kind == "allow":
        return "deny"  # a condition that failed is no reason to let anything run
    if match.by_owner and policy.kind == "ask":
        return "allow"  # a person was asked about the call that this one looks after
    return policy.kind


def _reason(policy: Policy, why: str, match: Match) -> str:
    """Why, for people and models: the author's reason if there is one."""
    if policy.scope is not None or match.failed or match.by_owner:
        return f"{why}; {policy.reason}" if policy.reason else why
    if policy.reason or policy.when is not None:
        return policy.reason or why
    return _EVERY[policy.kind]


_EVERY = {
    "allow": "every call of it runs",
    "ask": "every call of it is asked about",
    "deny": "every call of it is refused",
}
