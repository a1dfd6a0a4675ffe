"""Changes of files, as ``watchfiles`` tells them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from agtools_nb.errors import UsageError


async def changes_of(path: Path) -> AsyncIterator[list[dict[str, str]]]:
    """Yield what changed at a file, or anywhere below a folder, in bundles.

    Each change is ``{"change": "added" | "modified" | "deleted", "path": ...}``.

    Raises:
        UsageError: ``watchfiles`` is not installed.
    """
    try:
        import watchfiles
    except ImportError:
        raise UsageError(
            "watching files needs watchfiles: pip install 'agtools_nb[watch]'"
        ) from None
    async for changes in watchfiles.awatch(path):
        yield [
            {"change": change.name, "path": str(where)}
            for change, where in sorted(changes, key=lambda one: one[1])
        ]
