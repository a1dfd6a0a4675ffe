"""Whether the official SDK is there."""

from __future__ import annotations

import importlib.metadata
import re

from agtools_nb.errors import UsageError

OLDEST = (2, 3)


def require_sdk() -> None:
    """Refuse to go on without the SDK.

    Raises:
        UsageError: It is not installed, or too old; the message says how to install it.
    """
    try:
        version = importlib.metadata.version("mcp")
    except importlib.metadata.PackageNotFoundError:
        found = "is not installed here"
    else:
        if tuple(map(int, re.findall(r"\d+", version)[:2])) >= OLDEST:
            return
        found = f"is too old here ({version})"
    raise UsageError(f"MCP needs the official SDK, which {found}: pip install 'agtools_nb[mcp]'")
