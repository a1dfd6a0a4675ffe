"""Who may call what: capabilities, policies, hooks and approvals."""

from agtools_nb.access.access import Access
from agtools_nb.access.approval import Approval, ApprovalDecision, ApprovalHandler
from agtools_nb.access.capabilities import CapabilitiesConfig
from agtools_nb.access.decision import Decision, RuleOutcome, Standing
from agtools_nb.access.engine import Policies, PolicyEngine
from agtools_nb.access.hooks import HookContext, HookResult, Hooks
from agtools_nb.access.names import BuiltinTools
from agtools_nb.access.policy import Policy, PolicyKind, allow, ask_user, deny
from agtools_nb.access.presets import (
    allow_all,
    confirm_run_command,
    deny_all,
    safe_defaults,
    workspace_only,
)
from agtools_nb.access.runner import AccessOptions, ToolRunner

__all__ = [
    "Access",
    "AccessOptions",
    "Approval",
    "ApprovalDecision",
    "ApprovalHandler",
    "BuiltinTools",
    "CapabilitiesConfig",
    "Decision",
    "HookContext",
    "HookResult",
    "Hooks",
    "Policies",
    "Policy",
    "PolicyEngine",
    "PolicyKind",
    "RuleOutcome",
    "Standing",
    "ToolRunner",
    "allow",
    "allow_all",
    "ask_user",
    "confirm_run_command",
    "deny",
    "deny_all",
    "safe_defaults",
    "workspace_only",
]
