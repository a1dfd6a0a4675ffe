"""``edit_file``: other text in the place of text that stands there once."""

from __future__ import annotations

import os
import re
from typing import Annotated, Any

from pydantic import Field

from agtools_nb.access.names import BuiltinTools
from agtools_nb.builtin.files.common import MAX_FILE, path_in, with_notes, workspace_of
from agtools_nb.builtin.files.creating import encoded
from agtools_nb.builtin.files.decoding import Text, text_of
from agtools_nb.builtin.files.nearby import most_alike, spaced_otherwise
from agtools_nb.builtin.files.viewing import numbered
from agtools_nb.builtin.workspace import Workspace, fault_of
from agtools_nb.define import Tool
from agtools_nb.errors import ToolError
from agtools_nb.media import size_text
from agtools_nb.run.judged import judged_path

MAX_COUNTED = 1_000
"""Places that are counted where there may be one."""

_NUMBERS = re.compile(r"^\d+\t", re.MULTILINE)
_LISTED = 20
_AROUND = 3
_NEAR_LINES = 8


def edit_file_tool(workspace: Workspace | str | os.PathLike[str] = ".") -> Tool:
    """Make the ``edit_file`` tool. It is guarded: a runner takes it with policies only.

    A rule about files looks at the call's ``canonical_path``, not at what was written as
    ``path``, of which there are many spellings::

        def is_secret(call: ToolCall) -> bool:
            return str(call.canonical_path).endswith(".env")

        deny("edit_file", when=is_secret)

    Args:
        workspace: The workspace, or its folder. Default: the working directory.

    Raises:
        UsageError: There is no such folder.
    """
    space = workspace_of(workspace)
    path_of = path_in(space)

    def edit_file(
        path: Annotated[str, Field(description="A text file, relative to the workspace.")],
        old_text: Annotated[
            str,
            Field(
                min_length=1,
                description="What stands there now, exactly as in the file, without line numbers. "
                "It must stand there once: take lines around it along.",
            ),
        ],
        new_text: Annotated[str, Field(description="What is to stand there instead.")],
        replace_all: Annotated[
            bool, Field(description="Replace it wherever it stands. Default: it stands once.")
        ] = False,
    ) -> dict[str, Any]:
        r"""Replace text in a file. Line ends and encoding stay as they are.

        Write \n for line ends, whatever the file has.
        """
        contents = space.read(path, MAX_FILE, judged=judged_path(path_of))
        text = text_of(contents.data)
        if text is None:
            raise fault_of("binary_file", f"{contents.path!r} is no text and cannot be edited.")
        old, new = old_text.replace("\r\n", "\n"), new_text.replace("\r\n", "\n")
        if old == new:
            raise fault_of("no_change", "old_text and new_text are the same; nothing was changed.")
        spans = _all_spans(text.text, old) if replace_all else _one_span(text, old)
        if not spans:
            raise _not_there(contents.path, text, old)
        encoded(new, text.encoding)
        data = text.replaced(spans, new)
        if len(data) > MAX_FILE:
            raise fault_of(
                "too_large",
                f"The file would have {size_text(len(data))}; at most {size_text(MAX_FILE)} "
                "are written.",
            )
        shown = space.write(path, data, over=contents, judged=judged_path(path_of))
        done = {"path": shown, "replaced": len(spans), "text": _after(data, text, spans, new)}
        return with_notes(done, text.notes() + space.parted(path, contents.status))

    tool = Tool(
        edit_file,
        name=BuiltinTools.EDIT_FILE.value,
        concurrency_safe=False,
        guarded=True,
        path_of=path_of,
        display="Edit {path}",
    )
    tool.turn = space.turn
    return tool


def _one_span(text: Text, old: str) -> list[tuple[int, int]]:
    """The one place of a text; none if it stands nowhere.

    Raises:
        ToolError: It stands there more than once.
    """
    starts: list[int] = []
    at = text.text.find(old)
    while at >= 0 and len(starts) <= MAX_COUNTED:
        starts.append(at)
        at = text.text.find(old, at + 1)  # places that overlap are two all the same
    if len(starts) > 1:
        raise _ambiguous(text, starts)
    return [(start, start + len(old)) for start in starts]


def _all_spans(text: str, old: str) -> list[tuple[int, int]]:
    spans = []
    at = text.find(old)
    while at >= 0:
        spans.append((at, at + len(old)))
        at = text.find(old, at + len(old))
    return spans


def _ambiguous(text: Text, starts: list[int]) -> ToolError:
    count = f"more than {MAX_COUNTED:,}" if len(starts) > MAX_COUNTED else f"{len(starts):,}"
    lines = ", ".join(str(_line_of(text.text, start)) for start in starts[:_LISTED])
    rest = " and others" if len(starts) > _LISTED else ""
    return fault_of(
        "ambiguous",
        f"old_text stands there {count} times, at lines {lines}{rest}; nothing was changed.",
        "Take lines around the one you mean along, or set replace_all=true.",
    )


def _line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _not_there(path: str, text: Text, old: str) -> ToolError:
    """The text stands nowhere; shows what is nearly it."""
    lines = text.lines
    at = spaced_otherwise(lines, old)
    why = "with other white space, it stands there like this"
    if at is None:
        at = most_alike(lines, old)
        why = "this is like it"
    message = " ".join(
        [f"old_text does not stand in {path!r}; nothing was changed.", *text.notes()]
    )
    if not text.text:
        return fault_of("no_match", message, "The file is empty: create_file with overwrite=true.")
    if _NUMBERS.sub("", old) in text.text:
        return fault_of("no_match", message, "Without the numbers before its lines it does.")
    if at is None:
        return fault_of("no_match", message, "view_file shows what stands there.")
    last = min(at + min(old.count("\n") + 1, _NEAR_LINES), len(lines))
    shown = "\n".join(numbered(lines, at + 1, last)[0])
    return fault_of("no_match", f"{message} From line {at + 1}, {why}:\n{shown}")


def _after(data: bytes, text: Text, spans: list[tuple[int, int]], new: str) -> str:
    """The lines around the first place as they are now, after their numbers."""
    changed = text_of(data)
    if changed is None:  # control characters were written into it
        return ""
    lines = changed.lines
    first = _line_of(text.text, spans[0][0])
    last = min(first + min(new.count("\n"), _LISTED) + _AROUND, len(lines))
    return "\n".join(numbered(lines, max(first - _AROUND, 1), last)[0])
