"""Functions of the author that a tool passes its work on to."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from agtools_nb.errors import ToolError, UsageError
from agtools_nb.jsonable import brief_repr


def checked_provider(provider: Any, what: str) -> Callable[..., Any] | None:
    """The provider as given.

    Args:
        provider: A function, or ``None``.
        what: What it is called, for the message.

    Raises:
        UsageError: It cannot be called.
    """
    if provider is None or callable(provider):
        return provider  # type: ignore[no-any-return]
    raise UsageError(f"{what} must be a function, not {brief_repr(provider)}")


async def provided(provider: Callable[..., Any], *args: Any) -> Any:
    """What a provider returns. One that is not async runs in a thread, and blocks nobody."""
    is_async = inspect.iscoroutinefunction(provider) or inspect.iscoroutinefunction(
        getattr(provider, "__call__", None)  # noqa: B004 -- an object that is called like one
    )
    value = provider(*args) if is_async else await asyncio.to_thread(provider, *args)
    return await value if inspect.isawaitable(value) else value


def no_provider(tool_name: str, does: str, how: str) -> ToolError:
    """What a model is told of a tool whose author gave it nobody to do its work.

    Args:
        tool_name: The tool.
        does: What it does: ``"search the web"``.
        how: What its author must write.
    """
    return ToolError(
        "no_provider",
        f"{tool_name} cannot {does} here: it was given no provider. Its author can give one: {how}",
        category="author",
        hint="Go on without it, and do not call it again.",
    )
