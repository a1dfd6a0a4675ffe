"""Define, inspect and run model-callable tools, in Jupyter and in plain Python.

The names below are the public interface; everything else may change. Each is
imported on first use (PEP 562): scripts do not pay for Jupyter, and ``import
agtools_nb`` itself costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from agtools_nb._version import __version__

if TYPE_CHECKING:
    from agtools_nb.access import (
        Approval,
        ApprovalDecision,
        CapabilitiesConfig,
        Decision,
        Policy,
        RuleOutcome,
        allow,
        ask_user,
        deny,
    )
    from agtools_nb.access.names import (
        BuiltinTools,
    )
    from agtools_nb.arguments import (
        Coerced,
        Prepared,
        coerce,
        prepare,
        validate,
    )
    from agtools_nb.builtin import (
        sleep_tool,
        tail_process_tool,
        watch_files_tool,
    )
    from agtools_nb.calls import (
        Change,
        Fault,
        ToolCall,
        ToolResult,
    )
    from agtools_nb.context import (
        Artifact,
        Artifacts,
        Database,
        Memory,
        MemoryHit,
        Progress,
        Question,
        SimpleToolContext,
        Snapshot,
        StateChange,
        StateStore,
        StateWrite,
        Store,
        ToolContext,
        diff,
    )
    from agtools_nb.define import (
        PROVIDERS,
        Parameter,
        StatefulTool,
        Tool,
        ToolWithSchema,
        declaration,
        tool,
    )
    from agtools_nb.define.wire import (
        CallAssembler,
        Declared,
        call_message,
        read_calls,
        read_declaration,
        reply,
        why_not_strict,
        without_unset,
    )
    from agtools_nb.errors import (
        AgtoolsError,
        ArgumentsError,
        CallTimeoutError,
        DefinitionError,
        DuplicateToolError,
        StateValueError,
        StoreError,
        StoreInUseError,
        ToolError,
        ToolExecutionError,
        UnknownToolError,
        UsageError,
    )
    from agtools_nb.events import (
        Background,
        BackgroundTask,
        Event,
        Inbox,
        Subscription,
        SubscriptionEvent,
        Trigger,
        every,
        on_file_change,
    )
    from agtools_nb.media import (
        Media,
    )
    from agtools_nb.notebook import (
        Toolkit,
    )
    from agtools_nb.run import (
        Journal,
        JournalEntry,
        Strategy,
        ToolRunner,
    )

__all__ = [
    "PROVIDERS",
    "AgtoolsError",
    "Approval",
    "ApprovalDecision",
    "ArgumentsError",
    "Artifact",
    "Artifacts",
    "Background",
    "BackgroundTask",
    "BuiltinTools",
    "CallAssembler",
    "CallTimeoutError",
    "CapabilitiesConfig",
    "Change",
    "Coerced",
    "Database",
    "Decision",
    "Declared",
    "DefinitionError",
    "DuplicateToolError",
    "Event",
    "Fault",
    "Inbox",
    "Journal",
    "JournalEntry",
    "Media",
    "Memory",
    "MemoryHit",
    "Parameter",
    "Policy",
    "Prepared",
    "Progress",
    "Question",
    "RuleOutcome",
    "SimpleToolContext",
    "Snapshot",
    "StateChange",
    "StateStore",
    "StateValueError",
    "StateWrite",
    "StatefulTool",
    "Store",
    "StoreError",
    "StoreInUseError",
    "Strategy",
    "Subscription",
    "SubscriptionEvent",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolError",
    "ToolExecutionError",
    "ToolResult",
    "ToolRunner",
    "ToolWithSchema",
    "Toolkit",
    "Trigger",
    "UnknownToolError",
    "UsageError",
    "__version__",
    "allow",
    "ask_user",
    "call_message",
    "coerce",
    "declaration",
    "deny",
    "diff",
    "every",
    "on_file_change",
    "prepare",
    "read_calls",
    "read_declaration",
    "reply",
    "sleep_tool",
    "tail_process_tool",
    "tool",
    "validate",
    "watch_files_tool",
    "why_not_strict",
    "without_unset",
]

_HOMES = {
    "AgtoolsError": "agtools_nb.errors",
    "Approval": "agtools_nb.access",
    "ApprovalDecision": "agtools_nb.access",
    "ArgumentsError": "agtools_nb.errors",
    "Artifact": "agtools_nb.context",
    "Artifacts": "agtools_nb.context",
    "Background": "agtools_nb.events",
    "BackgroundTask": "agtools_nb.events",
    "BuiltinTools": "agtools_nb.access.names",
    "CallAssembler": "agtools_nb.define.wire",
    "CallTimeoutError": "agtools_nb.errors",
    "CapabilitiesConfig": "agtools_nb.access",
    "Change": "agtools_nb.calls",
    "Coerced": "agtools_nb.arguments",
    "Database": "agtools_nb.context",
    "Decision": "agtools_nb.access",
    "Declared": "agtools_nb.define.wire",
    "DefinitionError": "agtools_nb.errors",
    "DuplicateToolError": "agtools_nb.errors",
    "Event": "agtools_nb.events",
    "Fault": "agtools_nb.calls",
    "Inbox": "agtools_nb.events",
    "Journal": "agtools_nb.run",
    "JournalEntry": "agtools_nb.run",
    "Media": "agtools_nb.media",
    "Memory": "agtools_nb.context",
    "MemoryHit": "agtools_nb.context",
    "PROVIDERS": "agtools_nb.define",
    "Parameter": "agtools_nb.define",
    "Policy": "agtools_nb.access",
    "Prepared": "agtools_nb.arguments",
    "Progress": "agtools_nb.context",
    "Question": "agtools_nb.context",
    "RuleOutcome": "agtools_nb.access",
    "SimpleToolContext": "agtools_nb.context",
    "Snapshot": "agtools_nb.context",
    "StateChange": "agtools_nb.context",
    "StateStore": "agtools_nb.context",
    "StateValueError": "agtools_nb.errors",
    "StateWrite": "agtools_nb.context",
    "StatefulTool": "agtools_nb.define",
    "Store": "agtools_nb.context",
    "StoreError": "agtools_nb.errors",
    "StoreInUseError": "agtools_nb.errors",
    "Strategy": "agtools_nb.run",
    "Subscription": "agtools_nb.events",
    "SubscriptionEvent": "agtools_nb.events",
    "Tool": "agtools_nb.define",
    "ToolCall": "agtools_nb.calls",
    "ToolContext": "agtools_nb.context",
    "ToolError": "agtools_nb.errors",
    "ToolExecutionError": "agtools_nb.errors",
    "ToolResult": "agtools_nb.calls",
    "ToolRunner": "agtools_nb.run",
    "ToolWithSchema": "agtools_nb.define",
    "Toolkit": "agtools_nb.notebook",
    "Trigger": "agtools_nb.events",
    "UnknownToolError": "agtools_nb.errors",
    "UsageError": "agtools_nb.errors",
    "allow": "agtools_nb.access",
    "ask_user": "agtools_nb.access",
    "call_message": "agtools_nb.define.wire",
    "coerce": "agtools_nb.arguments",
    "declaration": "agtools_nb.define",
    "deny": "agtools_nb.access",
    "diff": "agtools_nb.context",
    "every": "agtools_nb.events",
    "on_file_change": "agtools_nb.events",
    "prepare": "agtools_nb.arguments",
    "read_calls": "agtools_nb.define.wire",
    "read_declaration": "agtools_nb.define.wire",
    "reply": "agtools_nb.define.wire",
    "sleep_tool": "agtools_nb.builtin",
    "tail_process_tool": "agtools_nb.builtin",
    "tool": "agtools_nb.define",
    "validate": "agtools_nb.arguments",
    "watch_files_tool": "agtools_nb.builtin",
    "why_not_strict": "agtools_nb.define.wire",
    "without_unset": "agtools_nb.define.wire",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
