"""Who may call what: capabilities, policies, hooks and approvals."""

from agtools_nb.access.approval import Approval, ApprovalDecision, ApprovalHandler
from agtools_nb.access.capabilities import CapabilitiesConfig
from agtools_nb.access.decision import Decision, RuleOutcome, Standing
from agtools_nb.access.names import BuiltinTools
from agtools_nb.access.policy import Policy, PolicyKind, allow, ask_user, deny

__all__ = [
    "Approval",
    "ApprovalDecision",
    "ApprovalHandler",
    "BuiltinTools",
    "CapabilitiesConfig",
    "Decision",
    "Policy",
    "PolicyKind",
    "RuleOutcome",
    "Standing",
    "allow",
    "ask_user",
    "deny",
]
