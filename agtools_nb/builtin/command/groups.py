"""Process groups: whether anything in one still runs, and signals to all of it."""

from __future__ import annotations

import os
from pathlib import Path

HAS_GROUPS = hasattr(os, "killpg")
"""Whether the system has process groups; Windows has none."""

_PROC = Path("/proc")


def signal_group(group: int, number: int) -> bool:
    """Signal a group; whether anybody was there. The number 0 only looks."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # there, but under another user
        return True
    return True


def is_running(group: int) -> bool:
    """Whether anything in a group still runs.

    A process that has ended stays in its group until its parent takes note, and the parent
    of an orphan may never do so: in a container, often nobody does.
    """
    if not signal_group(group, 0):
        return False
    if not (_PROC / "self" / "stat").exists():
        return True
    return any(_is_member(entry, group) for entry in _PROC.iterdir() if entry.name.isdigit())


def _is_member(entry: Path, group: int) -> bool:
    """Whether this process belongs to the group, and has not ended."""
    try:
        # The name stands in brackets and may hold anything; after it come state, parent, group.
        state, _, own_group = (entry / "stat").read_bytes().rpartition(b")")[2].split()[:3]
    except (OSError, ValueError):
        return False
    return int(own_group) == group and state not in (b"Z", b"X")
