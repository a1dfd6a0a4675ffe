"""The policy table: the rules in order, and which of them decides about a call that is typed in."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from agtools_nb.access import Decision, Policy, PolicyEngine, RuleOutcome
from agtools_nb.arguments import Prepared, prepare, received
from agtools_nb.calls import ToolCall
from agtools_nb.define import Tool
from agtools_nb.jsonable import shorten
from agtools_nb.views import markup
from agtools_nb.views.base import Scheduler, View
from agtools_nb.views.form_tree import parse_json
from agtools_nb.views.unseen import show_unseen
from agtools_nb.views.values import preview

KIND_WORDS = {"allow": "allow", "deny": "deny", "ask": "ask"}
FAULTS_SHOWN = 5
TEXT_LIMIT = 100_000
"""Characters of typed arguments that are read."""

_NOT_ASKED = "It would not run, and no rule would be asked. "

_EMPTY: dict[str, Any] = {
    "string": "", "integer": 0, "number": 0, "boolean": False, "array": [], "object": {}
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of a call that was typed in.

    Attributes:
        tool: Name of its tool.
        text: The arguments as typed.
        fault: Why the rules were not asked; ``""`` if they were.
        arguments: What the tool would get, as JSON text.
        decision: What the rules say; ``None`` if they were not asked.
    """

    tool: str
    text: str
    fault: str = ""
    arguments: str = ""
    decision: Decision | None = None


class PoliciesView(View):
    """Shows the rules of a runner, and explains a call that is typed in. Nothing is run.

    Args:
        scheduler: Where handlers and updates run.
        engine: The rules.
        tools: Gives every tool, also those that are off.
        name: Tool of a call to be explained from the start. Default: none.
        arguments: Its arguments.
    """

    _view: ClassVar[str] = "policies"

    def __init__(
        self,
        scheduler: Scheduler,
        engine: PolicyEngine,
        tools: Callable[[], Sequence[Tool]],
        name: str | None = None,
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        self._engine = engine
        self._tools = tools
        self._tried: Tried | None = None
        self._first = None if name is None else (name, preview(dict(arguments or {}), 10_000).text)
        super().__init__(scheduler)
        if self._first is not None:
            scheduler.spawn(self.explain(*self._first))

    @property
    def tried(self) -> Tried | None:
        """The call that was explained last; ``None`` if none was."""
        return self._tried

    async def explain(self, name: str, text: str) -> None:
        """Ask the rules about a call, and show what each says. Nobody is asked, nothing is run.

        Args:
            name: The tool's name.
            text: Its arguments, as JSON text.
        """
        self._tried = await self._explained(name, text)
        self.refresh()

    async def _explained(self, name: str, text: str) -> Tried:
        tool = next((tool for tool in self._tools() if tool.name == name), None)
        if tool is None:
            return Tried(name, text, f"There is no tool of the name {name!r}: nothing would run.")
        if not self._engine.capabilities.allows(tool):
            return Tried(name, text, f"{name} is off: to a model it is an unknown tool.")
        try:
            given = parse_json(text) if text.strip() else {}
        except ValueError as error:
            return Tried(name, text, _sentence(error))
        prepared = received(tool, prepare(tool, given))
        if prepared.arguments is None or not prepared.ok:
            return Tried(name, text, f"{_NOT_ASKED}{_misfit(prepared, name)}")
        shown = preview(prepared.arguments, 10_000).text
        call = ToolCall(name, prepared.arguments)
        decision = await self._engine.explain(call, tool, prepared.arguments)
        return Tried(name, text, "", shown, decision)

    # -- from the browser ---------------------------------------------------------------------

    async def on_explain(self, content: dict[str, Any]) -> None:
        """A call was typed in."""
        tool, text = content.get("tool"), content.get("text")
        if isinstance(tool, str) and isinstance(text, str):
            await self.explain(tool, text[:TEXT_LIMIT])

    # -- state --------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """Return what the page draws; see ``widgets/policies/index.js``."""
        return {
            "rules": [_rule_data(policy) for policy in self._engine.policies],
            "off": [tool.name for tool in self._tools() if self._is_off(tool)],
            "tools": [
                {"name": tool.name, "example": _example(tool)}
                for tool in self._tools()
                if not self._is_off(tool)
            ],
            "first": None if self._first is None else list(self._first),
            "tried": None if self._tried is None else _tried_data(self._tried),
        }

    def _is_off(self, tool: Tool) -> bool:
        return self._engine.standing(tool) == "off"

    # -- static forms -------------------------------------------------------------------------

    def headline(self) -> str:
        """Return how many rules there are, and what they are called."""
        rules = self._engine.policies
        names = ", ".join(policy.label for policy in rules)
        return f"{markup.plural(len(rules), 'rule')}: {names}" if rules else "no rules"

    def static_html(self) -> str:
        """Return the rules as a table, with what each says of the call that was explained."""
        rules = self.snapshot()["rules"]
        if not rules:
            return markup.tag("p", "No rules: every call runs.")
        said = self._said()
        rows = [
            [
                str(at + 1),
                markup.tag("strong", rule["kind"]),
                [markup.code(show_unseen(rule["target"])), " ", rule["when"]],
                show_unseen(rule["name"]),
                show_unseen(rule["reason"]),
                show_unseen(said[at]) if said else None,
            ]
            for at, rule in enumerate(rules)
        ]
        head = ("", "Rule", "About", "Name", "Reason", "This call")
        return markup.tag("div", self._tried_html(), markup.table(head, rows))

    def static_text(self) -> str:
        """Return one line a rule."""
        rules = self.snapshot()["rules"]
        if not rules:
            return "No rules: every call runs."
        said = self._said()
        table = markup.text_table(
            ("", "rule", "about", "name", "reason", "this call"),
            (
                (
                    str(at + 1),
                    rule["kind"],
                    f"{rule['target']} {rule['when']}".strip(),
                    rule["name"],
                    rule["reason"],
                    said[at] if said else "",
                )
                for at, rule in enumerate(rules)
            ),
        )
        return show_unseen(table if self._tried is None else f"{_verdict(self._tried)}\n{table}")

    def _said(self) -> list[str]:
        """What each rule says of the call that was explained; empty if none was."""
        if self._tried is None or self._tried.decision is None:
            return []
        return [
            f"decides: {one.why}" if one.decided else one.why
            for one in self._tried.decision.explained
        ]

    def _tried_html(self) -> markup.Html | None:
        if self._tried is None:
            return None
        call = f"{self._tried.tool} {self._tried.arguments or self._tried.text}"
        return markup.tag(
            "p", markup.code(show_unseen(call)), " ", show_unseen(_verdict(self._tried))
        )


def _sentence(error: ValueError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."


def _misfit(prepared: Prepared, name: str) -> str:
    """Why arguments are no call of a tool."""
    if not prepared.faults:
        return prepared.error or f"The arguments do not fit {name}."
    told = "; ".join(fault.message for fault in prepared.faults[:FAULTS_SHOWN])
    more = "; and more" if len(prepared.faults) > FAULTS_SHOWN else ""
    return f"The arguments do not fit {name}: {told}{more}."


def _rule_data(policy: Policy) -> dict[str, Any]:
    return {
        "kind": KIND_WORDS[policy.kind],
        "target": policy.target,
        "when": _condition(policy),
        "name": policy.label,
        "reason": shorten(policy.reason, 1_000),
    }


def _condition(policy: Policy) -> str:
    """Of which calls of its target a rule is about, in words."""
    if policy.scope is not None:
        folders = ", ".join(map(str, policy.scope.folders))
        return shorten(f"outside of {folders}", 500)
    if policy.when is None:
        return ""
    name = getattr(policy.when, "__name__", type(policy.when).__name__)
    return "under a condition" if name == "<lambda>" else f"when {name}"


def _example(tool: Tool) -> str:
    """Arguments to begin with: what is required, empty."""
    schema = tool.input_schema
    properties = schema.get("properties", {})
    return json.dumps(
        {
            name: _EMPTY.get(str(properties.get(name, {}).get("type")))
            for name in schema.get("required", ())
        },
        ensure_ascii=False,
    )


def _tried_data(tried: Tried) -> dict[str, Any]:
    decision = tried.decision
    outcomes = () if decision is None else decision.explained
    return {
        "tool": tried.tool,
        "kind": "invalid" if decision is None else _look(decision),
        "verdict": _verdict(tried),
        "arguments": tried.arguments,
        "outcomes": [_outcome_data(one) for one in outcomes],
    }


def _outcome_data(outcome: RuleOutcome) -> dict[str, Any]:
    return {
        "matched": outcome.matched,
        "decided": outcome.decided,
        "why": shorten(outcome.why, 1_000),
    }


def _look(decision: Decision) -> str:
    if decision.kind == "ask":
        return "ok" if decision.remembered else "asking"
    return "ok" if decision.kind == "allow" else "denied"


def _verdict(tried: Tried) -> str:
    """What would become of the call, and by which rule, in a sentence."""
    decision = tried.decision
    if decision is None:
        return tried.fault
    words = {"allow": "It runs", "deny": "It is denied", "ask": "You are asked"}
    word = words[decision.kind]
    if decision.policy is not None and decision.kind == "ask" and decision.remembered:
        return (
            f"It runs without asking: you approved further calls of {tried.tool} for this "
            f"session, about which {decision.policy.label} asks otherwise"
        )
    if decision.policy is None:
        # A path that cannot be judged is refused in a sentence of its own.
        said = decision.reason if decision.kind == "deny" else f"{word}: {decision.reason}"
        return f"{said.removesuffix('.')}."
    reason = f": {decision.reason}" if decision.reason else ""
    return f"{word}, by {decision.policy.label}{reason}"
