"""Who is asked before a call runs, and told once it has its result."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context import ToolContext, copied
from agtools_nb.define import Tool
from agtools_nb.errors import AgtoolsError, ToolError, UsageError
from agtools_nb.jsonable import brief_repr
from agtools_nb.run.invoke import maybe_await
from agtools_nb.run.setting import After, Before
from agtools_nb.run.words import error_text

_log = logging.getLogger("agtools_nb")


def check_scopes(tool: Tool, context: ToolContext | None) -> None:
    """Refuse a tool whose scopes the context does not grant.

    Raises:
        ToolError: A scope is missing.
    """
    granted = () if context is None else context.scopes
    missing = [scope for scope in tool.scopes if scope not in granted]
    if missing:
        raise ToolError(
            "missing_scope",
            f"{tool.name} was not run: it needs the scope {', '.join(map(repr, missing))}, "
            "which this session was not granted.",
            category="access",
            hint="Ask the user for it, or go on without this tool.",
        )


async def ask_before(
    hooks: tuple[Before, ...], tool: Tool, call: ToolCall, arguments: Mapping[str, Any] | None
) -> None:
    """Ask each hook about a call that is ready to run.

    Raises:
        AgtoolsError: One refused the call, or failed.
    """
    for hook in hooks:
        # A copy: what was checked is what runs.
        await _ask(hook, tool, call, copied(arguments or {}))


async def _ask(hook: Before, tool: Tool, call: ToolCall, arguments: dict[str, Any]) -> None:
    try:
        answer = await maybe_await(hook(call, arguments))
    except AgtoolsError:
        raise
    except Exception as error:
        raise UsageError(
            f"{tool.name} was not run: a hook before it failed ({error_text(error)})"
        ) from error
    if answer is not None:
        # False may have been meant as a refusal, and nobody would notice that it is none.
        raise UsageError(
            f"{tool.name} was not run: a hook before it returned {brief_repr(answer)}; return "
            "None to let the call go on, raise ToolError(code, message) to refuse it"
        )


async def tell_after(hooks: tuple[After, ...], call: ToolCall, result: ToolResult) -> ToolResult:
    """Tell each hook of a result, and return the one to answer with."""
    for hook in hooks:
        try:
            changed = await maybe_await(hook(call, result))
        except asyncio.CancelledError:
            if is_cancelled():
                raise
        except (Exception, SystemExit, GeneratorExit):
            # The call has happened; who looks on afterwards cannot undo it.
            _log.exception("a hook after %s failed", call.name)
        else:
            result = _instead(changed, result) if isinstance(changed, ToolResult) else result
    return result


def _instead(changed: ToolResult, result: ToolResult) -> ToolResult:
    """A hook's result as the answer to the call."""
    return replace(
        changed, name=result.name, id=result.id, step_id=result.step_id, index=result.index
    )


def is_cancelled() -> bool:
    """Whether somebody asked the current task to stop, so that a CancelledError is theirs."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
