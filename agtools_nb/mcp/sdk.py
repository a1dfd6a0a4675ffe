"""Whether the official SDK is there."""

from __future__ import annotations

import importlib.util

from agtools_nb.errors import UsageError


def require_sdk() -> None:
    """Refuse to go on without the SDK.

    Raises:
        UsageError: It is not installed; the message says how to install it.
    """
    if importlib.util.find_spec("mcp") is None:
        raise UsageError(
            "MCP needs the official SDK, which is not installed here: pip install 'agtools_nb[mcp]'"
        )
