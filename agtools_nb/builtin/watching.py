"""``watch_files``: a subscription to what changes in a folder."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from agtools_nb.define import Tool
from agtools_nb.errors import ToolError, UsageError
from agtools_nb.events.files import changes_of


def watch_files_tool(folder: str | os.PathLike[str] = ".") -> Tool:
    """Make the ``watch_files`` tool, a subscription. Needs the extra ``watch``.

    Args:
        folder: Nothing outside of it can be watched. Default: the working directory.

    Raises:
        UsageError: It is no folder.
    """
    root = Path(folder).resolve()
    if not root.is_dir():
        raise UsageError(f"watch_files_tool({os.fspath(folder)!r}): there is no such folder")

    async def watch_files(
        path: Annotated[
            str, Field(description="A file or folder, relative to the watched folder.")
        ] = ".",
    ) -> AsyncIterator[dict[str, Any]]:
        """Subscribe to changes of a file, or of everything below a folder.

        The first value says what is watched; each later event is
        {"changes": [{"change": "added" | "modified" | "deleted", "path": ...}]}.
        """
        target = _inside(root, path)
        yield {"watching": _relative(root, target)}
        async for changes in changes_of(target):
            yield {
                "changes": [
                    {"change": one["change"], "path": _relative(root, Path(one["path"]))}
                    for one in changes
                ]
            }

    return Tool(watch_files, read_only=True, display="Watch {path}")


def _inside(root: Path, path: str) -> Path:
    """The place that a model named, if it is inside of the folder and there.

    Raises:
        ToolError: It is not.
    """
    try:
        target = (root / path).resolve()
        is_inside = target.is_relative_to(root)
        is_there = is_inside and target.exists()
    except (OSError, ValueError, RuntimeError):  # NUL bytes, names too long, loops of links
        is_inside = is_there = False
    if is_there:
        return target
    raise ToolError(
        "not_found" if is_inside else "outside_workspace",
        f"There is no {path[:200]!r} to be watched"
        + ("." if is_inside else ": it is outside of the watched folder."),
        category="workspace",
        hint="Give a path relative to the watched folder, such as '.' or 'data/in.csv'.",
    )


def _relative(root: Path, path: Path) -> str:
    try:
        return path.relative_to(root).as_posix()
    except ValueError:
        return path.name
