"""A whole file, written to an open folder so that readers see the old content or the new."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from agtools_nb.builtin.workspace.descent import Place
from agtools_nb.builtin.workspace.faults import fault_of, quoted, swapped
from agtools_nb.builtin.workspace.folders import Folder, kind_of
from agtools_nb.builtin.workspace.reading import Contents, read_file
from agtools_nb.builtin.workspace.taking_turns import alone


def check_writable(path: str, place: Place) -> None:
    """Refuse to write to what is no file, to read-only files, and below ``.git``.

    Raises:
        ToolError: It is one of these.
    """
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


def write_new(place: Place, data: bytes) -> None:
    """Write a file where nothing is.

    Raises:
        OSError: It cannot be written, or something is there by now.
    """
    with _made(place.folder, place.missing) as folder:
        temporary = folder.write_beside(place.name, data, None)
        try:
            folder.give_name(temporary, place.name)
        except BaseException:
            folder.remove(temporary)
            raise


def write_over(path: str, place: Place, data: bytes, over: Contents | bool) -> None:
    """Write in the place of a file that is there.

    Args:
        path: As a model wrote it.
        place: Where it is.
        data: The new content.
        over: Whether that may be; or what was read of it.

    Raises:
        ToolError: It may not be, or the file was changed since.
        OSError: It cannot be written.
    """
    if over is False:
        raise fault_of(
            "exists",
            f"{quoted(path)} is there already; it was not changed.",
            "edit_file changes a part of it; create_file with overwrite=true replaces all of it.",
        )
    known = place.status if over is True else over.status
    assert known is not None
    temporary = place.folder.write_beside(place.name, data, known)
    try:
        with alone(place.folder.fd):
            if over is not True and not _is_as_read(path, place, over):
                raise swapped(path)
            if over is True and not _is_same(known, place.folder.lstat(place.name)):
                raise swapped(path)
            place.folder.replace(temporary, place.name)
    except BaseException:
        place.folder.remove(temporary)
        raise


def _is_as_read(path: str, place: Place, read: Contents) -> bool:
    """Whether a file is the same one with the same content.

    Its times do not tell: a clock ticks a few hundred times a second, and the number of a
    file that is gone is soon that of another one.
    """
    if not _is_same(read.status, place.folder.lstat(place.name)):
        return False
    return read_file(place.folder, place.name, path, len(read.data) + 1)[0] == read.data


def _is_same(before: os.stat_result, now: os.stat_result) -> bool:
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
            with suppress(OSError):  # something else is in it by now
                folder.remove_folder(missing[0])
        raise
