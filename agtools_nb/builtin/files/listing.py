"""``list_directory``: what is in a folder."""

from __future__ import annotations

import os
from typing import Annotated, Any

from pydantic import Field

from agtools_nb.access.names import BuiltinTools
from agtools_nb.builtin.files.common import Unreachable, path_in, with_notes, workspace_of
from agtools_nb.builtin.workspace import Entry, Workspace, shown_name
from agtools_nb.define import Tool
from agtools_nb.errors import ToolError
from agtools_nb.run.judged import judged_path

MAX_ENTRIES = 500
"""Names that one call lists."""


def list_directory_tool(workspace: Workspace | str | os.PathLike[str] = ".") -> Tool:
    """Make the ``list_directory`` tool.

    Args:
        workspace: The workspace, or its folder. Default: the working directory.

    Raises:
        UsageError: There is no such folder.
    """
    space = workspace_of(workspace)
    path_of = path_in(space)

    def list_directory(
        path: Annotated[
            str, Field(description="A folder, relative to the workspace. Default: the workspace.")
        ] = ".",
    ) -> dict[str, Any]:
        """List what is in a folder: names, kinds, sizes in bytes; folders come first.

        Links are listed with the place they lead to. Use find_file to look deeper.
        """
        shown, entries, is_more = space.entries(path, judged=judged_path(path_of))
        notes = []
        if len(entries) > MAX_ENTRIES:
            count = f"{'more than ' * is_more}{len(entries):,}"
            notes.append(f"{MAX_ENTRIES:,} of {count} names are listed; find_file finds others.")
        unreachable = Unreachable()
        for entry in entries[:MAX_ENTRIES]:
            unreachable.look(entry.name)
        notes += unreachable.notes()
        listed = [_listed(space, shown, entry) for entry in entries[:MAX_ENTRIES]]
        return with_notes({"path": shown, "entries": listed}, notes)

    return Tool(
        list_directory,
        name=BuiltinTools.LIST_DIR.value,
        read_only=True,
        path_of=path_of,
        display="List {path}",
    )


def _listed(workspace: Workspace, folder: str, entry: Entry) -> dict[str, Any]:
    listed: dict[str, Any] = {"name": shown_name(entry.name), "kind": entry.kind}
    if entry.size is not None:
        listed["size"] = entry.size
    if entry.kind == "link":
        listed["leads_to"] = _target(workspace, f"{folder}/{entry.name}")
    return listed


def _target(workspace: Workspace, path: str) -> str:
    """Where a link leads, if inside; where it leads outside is nobody's concern."""
    try:
        with workspace.at(path) as place:
            return "/".join(map(shown_name, place.parts)) or "."
    except ToolError as error:
        return "nothing" if error.code == "not_found" else "a place that cannot be used"
