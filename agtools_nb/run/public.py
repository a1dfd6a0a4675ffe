"""A tool's function as people call it: the context filled in, and not to be seen."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from agtools_nb.context import ToolContext
from agtools_nb.define import Tool
from agtools_nb.errors import UsageError


def public_callable(tool: Tool, context: Callable[[], ToolContext | None]) -> Callable[..., Any]:
    """Return the function of a tool, its context parameters filled in at each call.

    Args:
        tool: The tool.
        context: Gives the context of the moment.
    """
    hidden = tool.injected
    if not hidden:
        return tool.fn
    signature = inspect.signature(tool.fn)
    shown = signature.replace(
        parameters=[p for name, p in signature.parameters.items() if name not in hidden]
    )

    def bound(*args: Any, **kwargs: Any) -> inspect.BoundArguments:
        given = dict(shown.bind(*args, **kwargs).arguments)
        now = context()
        if now is not None:
            given.update(dict.fromkeys(hidden, now.for_call(None, tool.name)))
        elif any(parameter.required for parameter in tool.signature.injected):
            raise UsageError(
                f"{tool.name} asks for a ToolContext in parameter {hidden[0]!r}, and this runner "
                "has none: call runner.set_context(ToolContext()) first"
            )
        full = signature.bind_partial()
        full.arguments.update(given)
        return full

    if tool.is_async:

        @functools.wraps(tool.fn)
        async def call(*args: Any, **kwargs: Any) -> Any:
            full = bound(*args, **kwargs)
            return await tool.fn(*full.args, **full.kwargs)

    else:

        @functools.wraps(tool.fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            full = bound(*args, **kwargs)
            return tool.fn(*full.args, **full.kwargs)

    call.__signature__ = shown  # type: ignore[attr-defined]
    return call
