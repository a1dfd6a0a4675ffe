"""``Workspace``: the one folder that file tools work in."""

from __future__ import annotations

import os
import stat
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from agtools_nb.builtin.workspace.descent import Place, descend
from agtools_nb.builtin.workspace.faults import fault_of, quoted, swapped, telling
from agtools_nb.builtin.workspace.folders import Folder, NotRegularError, kind_of, open_root
from agtools_nb.builtin.workspace.names import absolute_text, check_new
from agtools_nb.builtin.workspace.walking import MAX_NAMES
from agtools_nb.define.stateful import Turn
from agtools_nb.errors import ToolError, UsageError
from agtools_nb.jsonable import brief_repr
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
            each other in order.

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
        self.turn = Turn()
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

    def at(self, path: str, *, new: bool = False) -> Place:
        """Go to a place; use it with ``with``, which closes it.

        Args:
            path: As a model wrote it.
            new: Whether there may be nothing there yet. Default: it must be there.

        Raises:
            ToolError: It is outside, not there, or cannot be looked at.
        """
        return descend(self._entrance(), path, self._roots, new=new)

    def read(self, path: str, most: int) -> Contents:
        """Read a whole file.

        Args:
            path: As a model wrote it.
            most: Bytes that it may have.

        Raises:
            ToolError: It is outside, not there, no regular file, or larger.
        """
        with self.at(path) as place:
            if place.is_folder:
                raise is_a_folder(path)
            data, status = read_file(place.folder, place.name, path, most)
            return Contents(place.shown, data, status)

    def entries(self, path: str) -> tuple[str, list[Entry]]:
        """The path of a folder and what is in it, sorted, folders first; at most 50,000 names.

        Raises:
            ToolError: It is outside, not there, or no folder.
        """
        with self.at(path) as place, telling(path):
            if not place.is_folder:
                raise fault_of(
                    "not_a_folder", f"{quoted(path)} is no folder.", "view_file reads a file."
                )
            names = sorted(islice(place.folder.names(), MAX_NAMES))
            entries = [entry for name in names if (entry := _entry(place.folder, name))]
            return place.shown, sorted(entries, key=lambda entry: entry.kind != "folder")

    def write(self, path: str, data: bytes, *, over: os.stat_result | bool = False) -> str:
        """Write a whole file, atomically. Folders that are missing are made.

        Args:
            path: As a model wrote it.
            data: The new content.
            over: Whether to write over a file that is there; or what it was when it was
                read, if it must be unchanged since. Default: there must be none.

        Returns:
            Its path, relative to the workspace.

        Raises:
            ToolError: It is outside, or there already, or cannot be written.
        """
        with self.at(path, new=True) as place, telling(path):
            if place.is_folder:
                raise is_a_folder(path)
            _check_writable(path, place)
            if place.status is None:
                if over not in (True, False):
                    raise swapped(path)
                check_new(path, [*place.missing, place.name])
                _write_new(place, data)
            else:
                _write_over(path, place, data, over)
            return place.shown

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


def read_file(folder: Folder, name: str, path: str, most: int) -> tuple[bytes, os.stat_result]:
    """Read a regular file of a folder, and tell what it was.

    Raises:
        ToolError: It is not there, no regular file, or larger than ``most`` bytes.
    """
    try:
        with (
            telling(path),
            folder.opened(name) as (fd, status),
            os.fdopen(fd, "rb", closefd=False) as file,
        ):
            # A file can grow meanwhile, and some say that they are empty: what comes counts.
            data = file.read(most + 1)
    except ToolError as error:
        if isinstance(error.__cause__, NotRegularError):
            kind = error.__cause__.args[0]
            raise fault_of("not_a_file", f"{quoted(path)} is a {kind}, not a file.") from None
        raise
    if len(data) > most:
        raise fault_of(
            "too_large",
            f"{quoted(path)} has {size_text(max(status.st_size, len(data)))}; at most "
            f"{size_text(most)} are read.",
            "search_directory finds lines in large files, and a command can cut them.",
        )
    return data, status


def is_a_folder(path: str) -> ToolError:
    """The path is that of a folder, where a file is needed."""
    return fault_of(
        "is_a_folder", f"{quoted(path)} is a folder.", "list_directory shows what is in it."
    )


def _entry(folder: Folder, name: str) -> Entry | None:
    try:
        status = folder.lstat(name)
    except OSError:  # it is gone
        return None
    is_file = stat.S_ISREG(status.st_mode)
    return Entry(name, kind_of(status.st_mode), status.st_size if is_file else None)


def _check_writable(path: str, place: Place) -> None:
    if any(part.lower() == ".git" for part in place.parts):
        raise fault_of(
            "not_allowed", f"{quoted(path)} is in a .git folder, where only git itself writes."
        )
    if place.status is not None and not stat.S_ISREG(place.status.st_mode):
        kind = kind_of(place.status.st_mode)
        raise fault_of("not_a_file", f"{quoted(path)} is a {kind}, not a file.")
    if place.status is not None and not place.status.st_mode & 0o222:
        raise fault_of(
            "no_permission", f"{quoted(path)} is read-only.", "A person has to make it writable."
        )


def _write_new(place: Place, data: bytes) -> None:
    with _made(place.folder, place.missing) as folder:
        temporary = folder.write_beside(place.name, data, None)
        try:
            folder.give_name(temporary, place.name)
        except BaseException:
            folder.remove(temporary)
            raise


def _write_over(path: str, place: Place, data: bytes, over: os.stat_result | bool) -> None:
    if over is False:
        raise fault_of(
            "exists",
            f"{quoted(path)} is there already; it was not changed.",
            "edit_file changes a part of it; create_file with overwrite=true replaces all of it.",
        )
    known = place.status if over is True else over
    assert isinstance(known, os.stat_result)
    # Not the bits that would lend new content the rights of the file's owner.
    temporary = place.folder.write_beside(place.name, data, known.st_mode & 0o777)
    try:
        if not _is_unchanged(known, place.folder.lstat(place.name)):
            raise swapped(path)
        place.folder.replace(temporary, place.name)
    except BaseException:
        place.folder.remove(temporary)
        raise


def _is_unchanged(before: os.stat_result, now: os.stat_result) -> bool:
    return (before.st_dev, before.st_ino, before.st_size, before.st_mtime_ns) == (
        now.st_dev,
        now.st_ino,
        now.st_size,
        now.st_mtime_ns,
    )


@contextmanager
def _made(folder: Folder, missing: tuple[str, ...]) -> Iterator[Folder]:
    """The innermost of folders that are made on the way, and removed again on failure."""
    if not missing:
        yield folder
        return
    try:
        folder.make_folder(missing[0])
        is_new = True
    except FileExistsError:  # another call was faster
        is_new = False
    try:
        with folder.folder(missing[0]) as inner, _made(inner, missing[1:]) as innermost:
            yield innermost
    except BaseException:
        if is_new:
            _remove_empty(folder, missing[0])
        raise


def _remove_empty(folder: Folder, name: str) -> None:
    try:
        folder.remove_folder(name)
    except OSError:  # something else is in it by now
        return
