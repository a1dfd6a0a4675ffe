"""What a person is asked about a call, and what they say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agtools_nb.calls import ToolCall
from agtools_nb.define import Tool

if TYPE_CHECKING:
    from agtools_nb.access.policy import Policy


@dataclass(frozen=True, slots=True)
class Approval:
    """A call that waits for a person's word. Handed to a handler; all of it is a copy.

    Attributes:
        call: The call; its ``args`` are :attr:`arguments`, its ``canonical_path`` and
            ``server_name`` are those of the tool, whatever the model wrote.
        tool: The tool that it runs.
        arguments: Exactly what the tool will get, as JSON values: coerced, changed by its types
            (``to_lower``, a validator), defaults filled in, under the keys of its schema.
        policy: The rule that asks.
        reason: Why it asks, for people.
    """

    call: ToolCall
    tool: Tool
    arguments: Mapping[str, Any]
    policy: Policy
    reason: str


@dataclass(frozen=True, slots=True)
class ApprovalDecision:
    """What a person decided.

    Attributes:
        approved: Whether the call runs. Only ``True`` lets it.
        arguments: Other arguments to run it with, all of them; they are checked and judged like
            the model's own. Default ``None``: as they were shown.
        reason: Why not; the model is told. Default: none.
        remember: Whether later calls of the tool that the same rule asks about run without
            a question, until the session ends. Default ``False``.
    """

    approved: bool
    arguments: Mapping[str, Any] | None = None
    reason: str = ""
    remember: bool = False


Answer = bool | ApprovalDecision | None
ApprovalHandler = Callable[[Approval], Answer | Awaitable[Answer]]
"""Asks a person: ``True`` runs the call, ``False`` and ``None`` refuse it. Sync or async; one
that waits should be async, so that other calls go on. Anything else it returns refuses the call,
and so does an exception."""
