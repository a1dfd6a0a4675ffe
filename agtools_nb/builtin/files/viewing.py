"""``view_file``: the text of a file, or an image."""

from __future__ import annotations

import os
from typing import Annotated, Any

from pydantic import Field

from agtools_nb.access.names import BuiltinTools
from agtools_nb.builtin.files.common import MAX_FILE, line_count, path_in, with_notes, workspace_of
from agtools_nb.builtin.files.decoding import Text, is_binary, is_wide, text_of
from agtools_nb.builtin.files.streaming import MAX_READ, READ_SECONDS, LineReader
from agtools_nb.builtin.workspace import Contents, Workspace, fault_of
from agtools_nb.define import Tool
from agtools_nb.errors import ToolError
from agtools_nb.media import Media, size_text
from agtools_nb.media.sniff import mime_type_of
from agtools_nb.run.judged import judged_path

MAX_SHOWN = 60_000
"""Characters of text that one call shows."""

MAX_LINE = 2_000
"""Characters of one line that are shown."""

MAX_IMAGE = 10_000_000
"""Bytes of an image."""


def view_file_tool(workspace: Workspace | str | os.PathLike[str] = ".") -> Tool:
    """Make the ``view_file`` tool.

    A rule about files looks at the call's ``canonical_path``, not at what was written as
    ``path``, of which there are many spellings::

        def is_secret(call: ToolCall) -> bool:
            return str(call.canonical_path).endswith(".env")

        deny("view_file", when=is_secret)

    ``search_directory`` shows lines of the same files: it needs a rule of its own.

    Args:
        workspace: The workspace, or its folder. Default: the working directory.

    Raises:
        UsageError: There is no such folder.
    """
    space = workspace_of(workspace)
    path_of = path_in(space)

    def view_file(
        path: Annotated[str, Field(description="A file, relative to the workspace.")],
        start_line: Annotated[int, Field(ge=1, description="The first line to show.")] = 1,
        end_line: Annotated[
            int | None, Field(ge=1, description="The last line to show. Default: the file's last.")
        ] = None,
    ) -> dict[str, Any]:
        """Show a text file, each line after its number and a tab, or an image.

        A file can be of any size; of a large one, lines far behind take a moment.
        """
        with space.open(path, judged=judged_path(path_of)) as (shown, file, status):
            data = file.read(MAX_FILE + 1)
            if len(data) > MAX_FILE:
                file.seek(0)
                _check_large(shown, data, status.st_size)
                return _of_large(shown, LineReader(file, MAX_LINE), start_line, end_line)
        contents = Contents(shown, data, status)
        mime_type = mime_type_of(contents.data)
        if mime_type.startswith("image/"):
            return _image(contents, mime_type)
        text = text_of(contents.data)
        if text is None:
            raise fault_of(
                "binary_file",
                f"{contents.path!r} is no text: {size_text(len(contents.data))} of {mime_type}.",
                "Text files and images can be shown.",
            )
        return _range(contents.path, text, start_line, end_line)

    return Tool(
        view_file,
        name=BuiltinTools.VIEW_FILE.value,
        read_only=True,
        path_of=path_of,
        display="View {path}",
    )


def _image(contents: Contents, mime_type: str) -> dict[str, Any]:
    if len(contents.data) > MAX_IMAGE:
        raise fault_of(
            "too_large",
            f"{contents.path!r} is an image of {size_text(len(contents.data))}; at most "
            f"{size_text(MAX_IMAGE)} are shown.",
        )
    image = Media.image(contents.data, mime_type, contents.path.rpartition("/")[2])
    return {"path": contents.path, "image": image}


def _check_large(path: str, head: bytes, size: int) -> None:
    """Refuse large files that are no text, or not byte by byte.

    Raises:
        ToolError: It is one of these.
    """
    mime_type = mime_type_of(head)
    if mime_type.startswith("image/"):
        raise fault_of(
            "too_large",
            f"{path!r} is an image of {size_text(size)}; at most {size_text(MAX_IMAGE)} are shown.",
        )
    if is_binary(head):
        raise fault_of("binary_file", f"{path!r} is no text: {size_text(size)} of {mime_type}.")
    if is_wide(head):
        raise fault_of(
            "too_large",
            f"{path!r} has {size_text(size)} of UTF-16 or UTF-32; of such a file at most "
            f"{size_text(MAX_FILE)} are read.",
            "A command can rewrite it as UTF-8.",
        )


def _of_large(path: str, reader: LineReader, start: int, end: int | None) -> dict[str, Any]:
    """Lines of a file that is not read whole."""
    reader.skip(start - 1)
    shown: list[str] = []
    room = MAX_SHOWN
    while (end is None or reader.passed < end) and reader.passed >= start - 1 and room > 0:
        line = reader.line()
        if line is None:
            break
        shown.append(f"{reader.passed}\t{line}")
        room -= len(line) + 1
    if not shown or (end is not None and end < start):
        raise _not_reached(path, reader, start, end)
    reader.looks_ahead()
    reached = reader.passed
    notes = []
    if not reader.is_whole and reached != end:
        notes.append(f"Cut after line {reached}; go on with start_line={reached + 1}.")
    if reader.has_cut:
        notes.append(f"Lines of more than {MAX_LINE:,} characters are cut, as they say.")
    if not reader.is_utf8:
        notes.append("Lines that are no UTF-8 were read as Latin-1.")
    total = f"{reached}" if reader.is_whole else "more"
    result = {"path": path, "lines": f"{start}-{reached} of {total}", "text": "\n".join(shown)}
    return with_notes(result, notes)


def _not_reached(path: str, reader: LineReader, start: int, end: int | None) -> ToolError:
    reader.looks_ahead()
    if reader.is_whole or (end is not None and end < start):
        return _no_such_lines(path, reader.passed, start, end)
    return fault_of(
        "too_large",
        f"Line {start:,} of {path!r} was not reached within {READ_SECONDS:g} s or "
        f"{size_text(MAX_READ)}; line {reader.passed:,} was.",
        "A command can take lines out of it.",
    )


def _no_such_lines(path: str, total: int, start: int, end: int | None) -> ToolError:
    if end is not None and end < start:
        return fault_of(
            "no_such_lines",
            f"end_line={end} is before start_line={start}.",
        )
    asked = f"there are no lines {start} to {end}"
    if end is None or end == start:
        asked = f"there is no line {start}"
    return fault_of("no_such_lines", f"{path!r} has {line_count(total)}; {asked}.")


def _range(path: str, text: Text, start: int, end: int | None) -> dict[str, Any]:
    """The lines of a range, numbered, as far as there is room."""
    lines = text.lines
    total = len(lines)
    last = total if end is None else min(end, total)
    is_turned = end is not None and end < start
    if is_turned or start > max(total, 1) or (total and last < start):
        raise _no_such_lines(path, total, start, end)
    shown, has_cut = numbered(lines, start, last)
    reached = start + len(shown) - 1
    notes = []
    if reached < last:
        notes.append(f"Cut after line {reached}; go on with start_line={reached + 1}.")
    if has_cut:
        notes.append(f"Lines of more than {MAX_LINE:,} characters are cut, as they say.")
    notes += text.notes()
    if not total:
        notes.append("The file is empty.")
    result = {"path": path, "lines": f"{start}-{reached} of {total}", "text": "\n".join(shown)}
    return with_notes(result, notes)


def numbered(lines: list[str], start: int, last: int) -> tuple[list[str], bool]:
    """Lines from ``start`` to ``last`` (from 1) after their numbers, and whether any was cut.

    There are fewer if they have more than 60,000 characters.
    """
    shown: list[str] = []
    room = MAX_SHOWN
    has_cut = False
    for number in range(start, last + 1):
        line = lines[number - 1]
        if len(line) > MAX_LINE:
            has_cut = True
            line = f"{line[:MAX_LINE]}… [cut: {len(line):,} characters]"
        room -= len(line) + 1
        if room < 0 and shown:
            break
        shown.append(f"{number}\t{line}")
    return shown, has_cut
