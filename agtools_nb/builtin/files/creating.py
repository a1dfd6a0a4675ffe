"""``create_file``: a new file."""

from __future__ import annotations

import os
from typing import Annotated, Any

from pydantic import Field

from agtools_nb.access.names import BuiltinTools
from agtools_nb.builtin.files.common import MAX_FILE, path_in, with_notes, workspace_of
from agtools_nb.builtin.workspace import Workspace, fault_of
from agtools_nb.define import Tool
from agtools_nb.media import size_text
from agtools_nb.run.judged import judged_path


def create_file_tool(workspace: Workspace | str | os.PathLike[str] = ".") -> Tool:
    """Make the ``create_file`` tool. It is guarded: a runner takes it with policies only.

    A rule about files looks at the call's ``canonical_path``, not at what was written as
    ``path``, of which there are many spellings::

        def is_secret(call: ToolCall) -> bool:
            return str(call.canonical_path).endswith(".env")

        deny("create_file", when=is_secret)

    Args:
        workspace: The workspace, or its folder. Default: the working directory.

    Raises:
        UsageError: There is no such folder.
    """
    space = workspace_of(workspace)
    path_of = path_in(space)

    def create_file(
        path: Annotated[
            str,
            Field(description="The new file, relative to the workspace. Missing folders are made."),
        ],
        content: Annotated[str, Field(description="All of its text.")],
        overwrite: Annotated[
            bool, Field(description="Replace the file if there is one. Default: that is an error.")
        ] = False,
    ) -> dict[str, Any]:
        """Write a new text file (UTF-8), as it is given. To change a file, use edit_file."""
        data = encoded(content, "utf-8")
        if len(data) > MAX_FILE:
            raise fault_of(
                "too_large",
                f"The content has {size_text(len(data))}; at most {size_text(MAX_FILE)} "
                "are written.",
            )
        before = None
        if overwrite:
            with space.at(path, new=True, judged=judged_path(path_of)) as place:
                before = place.status
        shown = space.write(path, data, over=overwrite, judged=judged_path(path_of))
        made = {"path": shown, "bytes": len(data), "lines": _count(content)}
        return made if before is None else with_notes(made, space.parted(path, before))

    tool = Tool(
        create_file,
        name=BuiltinTools.CREATE_FILE.value,
        concurrency_safe=False,
        guarded=True,
        path_of=path_of,
        display="Create {path}",
    )
    tool.turn = space.turn
    return tool


def _count(text: str) -> int:
    """How many lines view_file shows of it."""
    return text.count("\n") + (not text.endswith("\n") and text != "")


def encoded(text: str, encoding: str) -> bytes:
    """The bytes of a text.

    Raises:
        ToolError: It holds what the encoding has not.
    """
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        raise fault_of(
            "cannot_encode",
            f"The text holds {text[error.start]!a}, which cannot be written as {encoding}.",
            "Leave it out, or write it in another way.",
        ) from None
