"""Those who are asked about a call, or told of it: what they print is not what its tool prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agtools_nb.run.capture import current_output
from agtools_nb.run.invoke import maybe_await


async def outside(function: Callable[..., Any], *given: Any) -> Any:
    """Call a rule, a hook or a handler, sync or async, as if no call ran here.

    A person must see what they are asked, and a result holds what its tool printed. It may be
    called while a tool runs, also one that runs calls of its own; that one is caught again after.

    Raises:
        BaseException: What the function raised.
    """
    token = current_output.set(None)
    try:
        return await maybe_await(function(*given))
    finally:
        current_output.reset(token)
