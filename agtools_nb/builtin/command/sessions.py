"""What a program started and still runs, and signals to all of it.

A program that leads a session leads a group of the same number. What it starts is in that
group, or in another one of the session if a shell with job control started it. What made a
session of its own (``setsid``, a daemon) is known by a mark in its environment, which a program
hands on unless it clears that. Where the system has no ``/proc`` (macOS), only the first group
is known.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

HAS_GROUPS = hasattr(os, "killpg")
"""Whether the system has process groups; Windows has none."""

_PROC = "/proc"
_HAS_PROC = Path(_PROC, "self", "stat").exists()


MARK = "AGTOOLS_NB_COMMAND"
"""Variable of the mark that a started program and all that it starts have."""

_MOST_ENVIRONMENT = 4_000_000


def signal_session(session: int, number: int, mark: str = "") -> None:
    """Signal all that runs in a session, and all that has a mark."""
    _signal_group(session, number)
    for process in _members(session, mark) or ():
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def is_running(session: int, mark: str = "") -> bool:
    """Whether anything in a session, or with a mark, still runs.

    A process that has ended stays there until its parent takes note, and the parent of an
    orphan may never do so: in a container, often nobody does. Such ones do not count.
    """
    members = _members(session, mark)
    return _signal_group(session, 0) if members is None else bool(members)


def _signal_group(group: int, number: int) -> bool:
    """Signal a group; whether anybody was there. The number 0 only looks."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # there, but under another user
        return True
    return True


def _members(session: int, mark: str) -> list[int] | None:
    """What runs in a session or has a mark; ``None`` if that cannot be told here."""
    if not _HAS_PROC:
        return None
    with os.scandir(_PROC) as entries:
        names = [entry.name for entry in entries if entry.name.isdigit()]
    entry = f"{MARK}={mark}".encode() if mark else b""
    return [
        int(name)
        for name in names
        if (found := _session_of(name)) is not None
        and (found == session or (entry and _has_variable(name, entry)))
    ]


def _has_variable(process: str, entry: bytes) -> bool:
    """Whether a process was started with a variable; not if it is another user's."""
    try:
        with open(f"{_PROC}/{process}/environ", "rb") as file:  # noqa: PTH123 -- many, and often
            return entry in file.read(_MOST_ENVIRONMENT).split(b"\0")
    except OSError:
        return False


def _session_of(process: str) -> int | None:
    """The session that a process is in; ``None`` if it has ended."""
    try:
        fd = os.open(f"{_PROC}/{process}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        # The name stands in brackets and may hold anything; then state, parent, group, session.
        told = os.read(fd, 1_024).rpartition(b")")[2].split(None, 4)
    except OSError:
        return None
    finally:
        os.close(fd)
    has_ended = len(told) < 4 or told[0] in (b"Z", b"X")
    return None if has_ended else int(told[3])
