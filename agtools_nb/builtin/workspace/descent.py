"""The way from a workspace's folder to a place in it, one name at a time.

Links are read and followed here, not by the operating system: every name on the way is
looked up in an open folder, ``..`` goes back to the folder that was open before, and above the
first one there is nothing.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from typing import Self

from agtools_nb.arguments.nearest import nearest
from agtools_nb.builtin.workspace.faults import fault_of, outside, quoted, telling
from agtools_nb.builtin.workspace.folders import Folder
from agtools_nb.builtin.workspace.names import parts_of
from agtools_nb.builtin.workspace.text import shown_name
from agtools_nb.errors import ToolError

MAX_LINKS = 40
"""Links that one path may go through; what Linux takes."""

_COMPARED = 2_000


@dataclass
class Place:
    """Where a path leads to. Its folder is open until :meth:`close`.

    Attributes:
        folder: The folder it is in; the folder itself if it is one.
        name: Its name there; ``""`` for a folder.
        parts: The names from the workspace to it, without links.
        status: What is there; ``None`` if nothing is.
        missing: Names of folders that are not there yet, from ``folder`` on.
        ends_as_folder: Whether nothing is there, and the path ends like that of a folder.
    """

    folder: Folder
    name: str
    parts: tuple[str, ...]
    status: os.stat_result | None
    missing: tuple[str, ...] = ()
    ends_as_folder: bool = False

    @property
    def shown(self) -> str:
        """Its path, relative to the workspace."""
        return "/".join(self.parts) or "."

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return not self.name

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.folder.close()


@dataclass
class _Way:
    """The folders that are open, from the workspace's on, and the names between them."""

    path: str
    open: list[Folder]
    names: list[str] = field(default_factory=list)
    links: int = 0

    def back(self) -> None:
        """Go to the folder before.

        Raises:
            ToolError: That one is outside.
        """
        if not self.names:
            raise outside(self.path)
        self.names.pop()
        self.open.pop().close()

    def close(self, keep: Folder | None = None) -> None:
        for folder in self.open:
            if folder is not keep:
                folder.close()


def descend(root: Folder, path: str, roots: tuple[str, ...], *, new: bool = False) -> Place:
    """Go to a place. To be closed, which closes its folder.

    Args:
        root: The workspace's folder; taken over.
        path: As a model wrote it.
        roots: The workspace's own paths, for absolute paths and links.
        new: Whether there may be nothing there yet. Default: it must be there.

    Raises:
        ToolError: It leads outside, is not there, or cannot be looked at.
    """
    way = _Way(path, [root])
    place = None
    try:
        with telling(path):
            place = _follow(way, deque(parts_of(path, roots)), roots, new)
    finally:
        way.close(keep=place.folder if place is not None else None)
    return place


def _follow(way: _Way, todo: deque[str], roots: tuple[str, ...], new: bool) -> Place:
    while todo:
        part = todo.popleft()
        if part == "..":
            way.back()
            continue
        if part == ".":  # the path, or a link's, ended like that of a folder: this is one
            continue
        here = way.open[-1]
        try:
            status = here.lstat(part)
        except FileNotFoundError:
            if not new or ".." in todo:
                raise _not_found(way, part) from None
            return _nothing(way, [part, *todo])
        if stat.S_ISLNK(status.st_mode):
            todo.extendleft(reversed(_link_parts(way, here.read_link(part), roots)))
        elif stat.S_ISDIR(status.st_mode):
            way.open.append(here.folder(part))
            way.names.append(part)
        elif todo and set(todo) == {"."}:
            raise _ends_as_folder(way.path)
        elif todo:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        else:
            return Place(here, part, (*way.names, part), status)
    return Place(way.open[-1], "", tuple(way.names), way.open[-1].own_stat())


def _nothing(way: _Way, names: list[str]) -> Place:
    """Where something can be made."""
    *missing, name = [name for name in names if name != "."]
    parts = (*way.names, *missing, name)
    return Place(way.open[-1], name, parts, None, tuple(missing), names[-1] == ".")


def _ends_as_folder(path: str) -> ToolError:
    return fault_of(
        "not_a_folder",
        f"{quoted(path)} ends like the path of a folder, and a file is there.",
        "The path of a file ends with its name.",
    )


def _not_found(way: _Way, part: str) -> ToolError:
    """Nothing is there; names what is there and nearly called so."""
    near = nearest(part, islice(way.open[-1].names(), _COMPARED))
    if near is None:
        hint = "list_directory and find_file show what there is."
    else:
        hint = f"Did you mean {quoted('/'.join((*way.names, shown_name(near))))}?"
    return fault_of("not_found", f"{quoted(way.path)} is not there.", hint)


def _link_parts(way: _Way, target: str, roots: tuple[str, ...]) -> list[str]:
    """The names that a link stands for. One to an absolute path starts anew.

    Raises:
        ToolError: It leads outside, or there are too many.
    """
    way.links += 1
    if way.links > MAX_LINKS:
        raise fault_of(
            "too_many_links",
            f"{quoted(way.path)} leads through more than {MAX_LINKS} links, or in a circle.",
        )
    try:
        parts = parts_of(target, roots)
    except ToolError:  # whatever is wrong with it, what it says is nobody's concern
        raise outside(way.path) from None
    if target.startswith("/"):
        while way.names:
            way.back()
    return parts
