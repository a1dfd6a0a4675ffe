"""What the rules say about one call, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agtools_nb.access.policy import Policy, PolicyKind

Standing = Literal["on", "off", "denied", "asks", "depends"]
"""How a tool stands: it runs; it is disabled; every call is refused; every call is asked about;
or that depends on the arguments."""


@dataclass(frozen=True, slots=True)
class RuleOutcome:
    """What one rule said about a call.

    Attributes:
        policy: The rule.
        matched: Whether it is about the call; ``None`` if nobody looked, because an earlier
            rule had decided.
        decided: Whether it is the one that decides.
        why: Why, in a sentence for people.
    """

    policy: Policy
    matched: bool | None
    decided: bool
    why: str


@dataclass(frozen=True, slots=True)
class Decision:
    """What the rules say about a call.

    Attributes:
        kind: ``"allow"``, ``"deny"`` or ``"ask"``.
        policy: The rule that decides; ``None`` if none is about the call, which then runs.
        reason: Why, in a sentence for people and models.
        explained: What each rule said, in order of precedence.
        remembered: Whether a person approved calls of the tool under this rule for the rest
            of the session, so that nobody is asked.
    """

    kind: PolicyKind
    policy: Policy | None
    reason: str
    explained: tuple[RuleOutcome, ...]
    remembered: bool = False
