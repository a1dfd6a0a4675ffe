"""``Workspace``: the one folder that file tools work in."""

from __future__ import annotations

import os
import stat
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any

from agtools_nb.builtin.workspace.descent import Place, descend
from agtools_nb.builtin.workspace.faults import (
    fault_of,
    is_a_folder,
    quoted,
    swapped,
    telling,
    unusable,
)
from agtools_nb.builtin.workspace.folders import Folder, kind_of, open_root
from agtools_nb.builtin.workspace.names import absolute_text, check_new
from agtools_nb.builtin.workspace.reading import Contents, opened_file, read_file
from agtools_nb.builtin.workspace.taking_turns import turn_in
from agtools_nb.builtin.workspace.walking import MAX_NAMES
from agtools_nb.builtin.workspace.writing import check_writable, write_new, write_over
from agtools_nb.define.stateful import Turn
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr


@dataclass(frozen=True, slots=True)
class Entry:
    """One name in a folder.

    Attributes:
        name: The name.
        kind: ``"file"``, ``"folder"``, ``"link"``, ``"pipe"``, ``"socket"`` or ``"device"``.
        size: Bytes of a file; ``None`` for anything else.
    """

    name: str
    kind: str
    size: int | None


class Workspace:
    """A folder, and ways to read and write in it that cannot lead out of it.

    Paths come from models. They are relative to the folder, or absolute and below it;
    ``..`` and links are followed as long as they stay inside. Every name on the way is
    looked up in a folder that is held open, so that a link put in at the last moment leads
    nowhere; this needs Linux or macOS. On Windows paths are checked right before use, which
    a program that runs beside it and wants to get out could beat.

    Only regular files are read and written. Writes are atomic: another reader sees the old
    content or the new. Nothing is written below a ``.git`` folder, for what stands there is
    run by git. What a hard link shares with a file elsewhere can be read, as nothing tells
    it from other files; writing parts the two.

    Args:
        root: The folder. Default: the working directory, as it is now.

    Attributes:
        root: Its real path, without links.
        turn: What tools that write hold while they do, so that the calls of a batch follow
            each other in order. Workspaces of one folder have one.

    Raises:
        UsageError: There is no such folder, or it cannot be read.
    """

    def __init__(self, root: str | os.PathLike[str] = ".") -> None:
        try:
            self.root = Path(root).resolve(strict=True)
            self._folder = open_root(self.root)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise UsageError(
                f"Workspace({brief_repr(root)}) needs a folder that is there and can be read: "
                f"{error}. Make it first, or give another one."
            ) from error
        self._roots = (absolute_text(self.root), absolute_text(root))
        self.turn: Turn = turn_in(self._folder.own_stat())
        weakref.finalize(self, self._folder.close)

    def __repr__(self) -> str:
        return f"<Workspace {str(self.root)!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.root,)

    def resolve(self, path: str | os.PathLike[str]) -> Path:
        """The absolute path without links of a place in the workspace, there or not yet.

        Raises:
            ToolError: It is outside, or no path that is used here.
        """
        with self.at(os.fspath(path), new=True) as place:
            return self.root.joinpath(*place.parts)

    def at(self, path: str, *, new: bool = False, judged: str | None = None) -> Place:
        """Go to a place; use it with ``with``, which closes it.

        Args:
            path: As a model wrote it.
            new: Whether there may be nothing there yet. Default: it must be there.
            judged: The absolute path, without links, to which it led when somebody allowed
                its use. Default ``None``: nobody was asked.

        Raises:
            ToolError: It is outside, not there, leads elsewhere than when it was judged, or
                cannot be looked at.
        """
        place = descend(self._entrance(), path, self._roots, new=new)
        # The place is held open by now, and no link is followed from there.
        if judged is not None and str(self.root.joinpath(*place.parts)) != judged:
            place.folder.close()
            raise swapped(path)
        return place

    def read(self, path: str, most: int, *, judged: str | None = None) -> Contents:
        """Read a whole file.

        Args:
            path: As a model wrote it.
            most: Bytes that it may have.
            judged: As for :meth:`at`.

        Raises:
            ToolError: It is outside, not there, no regular file, or larger.
        """
        with self.at(path, judged=judged) as place:
            if place.is_folder:
                raise is_a_folder(path)
            data, status = read_file(place.folder, place.name, path, most)
            return Contents(place.shown, data, status)

    @contextmanager
    def open(
        self, path: str, *, judged: str | None = None
    ) -> Iterator[tuple[str, BufferedReader, os.stat_result]]:
        """Open a file to read it; its path without links, the file, and what it is.

        ``judged`` is as for :meth:`at`.

        Raises:
            ToolError: It is outside, not there, or no regular file.
        """
        with self.at(path, judged=judged) as place:
            if place.is_folder:
                raise is_a_folder(path)
            with opened_file(place.folder, place.name, path) as (file, status):
                yield place.shown, file, status

    def entries(self, path: str, *, judged: str | None = None) -> tuple[str, list[Entry], bool]:
        """The path of a folder and what is in it, sorted, folders first.

        The last is whether there is more: at most 100,000 names, any of them, are looked at.
        ``judged`` is as for :meth:`at`.

        Raises:
            ToolError: It is outside, not there, or no folder.
        """
        with self.at(path, judged=judged) as place, telling(path):
            if not place.is_folder:
                raise fault_of(
                    "not_a_folder", f"{quoted(path)} is no folder.", "view_file reads a file."
                )
            names = list(islice(place.folder.names(), MAX_NAMES + 1))
            looked_at = sorted(names[:MAX_NAMES])
            entries = [entry for name in looked_at if (entry := _entry(place.folder, name))]
            entries.sort(key=lambda entry: entry.kind != "folder")
            return place.shown, entries, len(names) > MAX_NAMES

    def write(
        self,
        path: str,
        data: bytes,
        *,
        over: Contents | bool = False,
        judged: str | None = None,
    ) -> str:
        """Write a whole file, atomically. Folders that are missing are made.

        What became of a file since it was read is looked at right before it is replaced, and
        no other workspace, of this process or (where the system has locks on folders) of
        another one, writes in between. A program that asks nobody still could, within some
        microseconds.

        Args:
            path: As a model wrote it.
            data: The new content.
            over: Whether to write over a file that is there; or what was read of it, if it
                must be unchanged since. Default: there must be none.
            judged: As for :meth:`at`.

        Returns:
            Its path, relative to the workspace.

        Raises:
            ToolError: It is outside, or there already, or cannot be written.
        """
        with self.at(path, new=True, judged=judged) as place, telling(path):
            if place.is_folder:
                raise is_a_folder(path)
            check_writable(path, place)
            if place.ends_as_folder:
                raise unusable(path, "it ends like that of a folder", "End it with a file's name.")
            if place.status is None:
                if over not in (True, False):
                    raise swapped(path)
                check_new(path, [*place.missing, place.name])
                write_new(place, data)
            else:
                write_over(path, place, data, over)
            return place.shown

    def parted(self, path: str, before: os.stat_result) -> list[str]:
        """What a file has lost by being replaced, in words.

        Args:
            path: As a model wrote it.
            before: What the file was.
        """
        notes = []
        if before.st_nlink > 1:
            notes.append(
                f"The file had {before.st_nlink - 1:,} more name(s) elsewhere (hard links), under "
                "which it stays as it was."
            )
        with self.at(path) as place:
            now = place.status
        if now is not None and (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
            notes.append(
                f"Its owner was {before.st_uid}:{before.st_gid} and is {now.st_uid}:{now.st_gid} "
                "now: this process may not give files away."
            )
        return notes

    def _entrance(self) -> Folder:
        """The workspace's folder, once more.

        Raises:
            ToolError: Something else stands at its path now.
        """
        try:
            is_same = os.path.samestat(self.root.stat(), self._folder.own_stat())
            if is_same:
                return self._folder.twin()
        except OSError:
            pass
        raise fault_of(
            "workspace_replaced",
            "The workspace's folder was moved, removed or replaced; nothing in it can be used.",
            "A person must make the workspace anew.",
        )


def _entry(folder: Folder, name: str) -> Entry | None:
    try:
        status = folder.lstat(name)
    except OSError:  # it is gone
        return None
    is_file = stat.S_ISREG(status.st_mode)
    return Entry(name, kind_of(status.st_mode), status.st_size if is_file else None)
