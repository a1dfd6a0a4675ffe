"""What the tests of cards start from."""

from __future__ import annotations

from typing import Any

from agtools_nb.access import Approval, ask_user
from agtools_nb.calls import ToolCall
from agtools_nb.define import Tool, tool

BAD = "<img src=x onerror=alert(1)>\u202eevil\u200b"


@tool
def run_command(command: list[str], folder: str = ".", seconds: int = 60) -> str:
    """Run a command and return what it prints."""
    return " ".join(command)


def asked(arguments: dict[str, Any] | None = None, of: Tool = run_command, **more: Any) -> Approval:
    """A call that a rule asks about."""
    given = {"command": ["git", "push"], "folder": ".", "seconds": 60}
    given = given if arguments is None else arguments
    rule = ask_user(of, name="confirm", reason="Commands change things.")
    call = ToolCall(of.name, given, "call-1", **more)
    return Approval(call, of, given, rule, rule.reason)
