"""Sessions of processes: what in one still runs, and signals to all of it.

A program that leads a session leads a group of the same number. What it starts is in that
group, or in another one of the session if a shell with job control started it. Where the
system has no ``/proc`` (macOS), only the first group is known.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

HAS_GROUPS = hasattr(os, "killpg")
"""Whether the system has process groups; Windows has none."""

_PROC = "/proc"
_HAS_PROC = Path(_PROC, "self", "stat").exists()


def signal_session(session: int, number: int) -> None:
    """Signal all that runs in a session."""
    _signal_group(session, number)
    for process in _members(session) or ():
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def is_running(session: int) -> bool:
    """Whether anything in a session still runs.

    A process that has ended stays there until its parent takes note, and the parent of an
    orphan may never do so: in a container, often nobody does. Such ones do not count.
    """
    members = _members(session)
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


def _members(session: int) -> list[int] | None:
    """What runs in a session; ``None`` if that cannot be told here."""
    if not _HAS_PROC:
        return None
    with os.scandir(_PROC) as entries:
        names = [entry.name for entry in entries if entry.name.isdigit()]
    return [int(name) for name in names if _session_of(name) == session]


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
