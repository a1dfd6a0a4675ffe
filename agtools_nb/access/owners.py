"""Tools that come with others, such as a status tool: what rules say of those holds for them.

A rule that names such a tool itself comes before that, and then it alone speaks of it. A rule
about all tools (``"*"``) is about these as about any other, where none is more exact.
"""

from __future__ import annotations

from collections.abc import Sequence

from agtools_nb.access.rule import Match, Rule
from agtools_nb.define import Tool


def is_named(rules: Sequence[Rule], tool: Tool) -> bool:
    """Whether a rule is about this very tool."""
    return any(rule.policy.level < 2 and rule.names(tool) for rule in rules)


def match_by_owners(rule: Rule, owners: Sequence[Tool]) -> Match | None:
    """What a rule says of a tool that came with others; ``None`` if it is about none of those.

    Whoever may call one of them, or may be asked about that, may also look what came of it:
    which calls those are was decided as they began.

    Args:
        rule: The rule.
        owners: What the tool came with and may run, if any of that may.
    """
    policy = rule.policy
    if policy.level == 3:
        return None
    about = [owner for owner in owners if rule.names(owner)]
    if not about:
        return None
    came = f"it came with {', '.join(repr(owner.name) for owner in about)}"
    if policy.kind != "deny":
        return Match(True, f"{came}, whose own calls were decided on as they began", by_owner=True)
    if rule.is_conditional:
        return Match(False, f"{came}, and the condition is about the arguments of that")
    return Match(True, f"{came}, every call of which is refused", by_owner=True)
