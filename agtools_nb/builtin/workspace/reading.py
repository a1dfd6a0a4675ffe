"""A whole file, read from an open folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader

from agtools_nb.builtin.workspace.faults import fault_of, quoted, telling
from agtools_nb.builtin.workspace.folders import Folder, NotRegularError
from agtools_nb.errors import ToolError
from agtools_nb.media import size_text


@dataclass(frozen=True, slots=True)
class Contents:
    """A file that was read.

    Attributes:
        path: Its path, relative to the workspace, without links.
        data: Its bytes.
        status: What it was when it was read.
    """

    path: str
    data: bytes
    status: os.stat_result


def read_file(folder: Folder, name: str, path: str, most: int) -> tuple[bytes, os.stat_result]:
    """Read a regular file of a folder, and tell what it was.

    Raises:
        ToolError: It is not there, no regular file, or larger than ``most`` bytes.
    """
    with opened_file(folder, name, path) as (file, status):
        # A file can grow meanwhile, and some say that they are empty: what comes counts.
        data = file.read(most + 1)
    if len(data) > most:
        raise fault_of(
            "too_large",
            f"{quoted(path)} has {size_text(max(status.st_size, len(data)))}; at most "
            f"{size_text(most)} are read.",
            "view_file shows lines of large files; a command can search and change them.",
        )
    return data, status


@contextmanager
def opened_file(
    folder: Folder, name: str, path: str
) -> Iterator[tuple[BufferedReader, os.stat_result]]:
    """Open a regular file of a folder to read it, and tell what it is.

    Raises:
        ToolError: It is not there, no regular file, or cannot be read.
    """
    try:
        with (
            telling(path),
            folder.opened(name) as (fd, status),
            os.fdopen(fd, "rb", closefd=False) as file,
        ):
            yield file, status
    except ToolError as error:
        if isinstance(error.__cause__, NotRegularError):
            kind = error.__cause__.args[0]
            raise fault_of("not_a_file", f"{quoted(path)} is a {kind}, not a file.") from None
        raise
