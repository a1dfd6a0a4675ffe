"""What the file tools share."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agtools_nb.builtin.workspace import Walk, Workspace, can_be_given, shown_name
from agtools_nb.builtin.workspace.names import MAX_DEPTH
from agtools_nb.builtin.workspace.walking import MAX_NAMES

MAX_FILE = 20_000_000
"""Bytes of a file that is read or written whole."""

WALK_SECONDS = 10.0
WALK_NAMES = 100_000
"""What one call may look at before it answers with what it has."""


def workspace_of(given: Workspace | str | os.PathLike[str]) -> Workspace:
    """The workspace, or one made for a folder.

    Raises:
        UsageError: There is no such folder.
    """
    return given if isinstance(given, Workspace) else Workspace(given)


def path_in(workspace: Workspace) -> Callable[[Mapping[str, Any]], Path]:
    """What says which path a call is about: its ``path`` argument, in the workspace.

    One place has many spellings (``a``, ``./a``, ``b/../a``, a link): rules look at the call's
    ``canonical_path``, which is absolute and leads through no link. On file systems that take
    ``A`` for ``a`` (macOS, Windows) a name is spelled there as the call spells it.
    """

    def path_of(arguments: Mapping[str, Any]) -> Path:
        return workspace.resolve(arguments["path"])

    return path_of


def line_count(count: int) -> str:
    """``"1 line"``, ``"1,234 lines"``."""
    return f"{count:,} line{'' if count == 1 else 's'}"


def too_many(shown: int, most: int) -> str:
    """What a reader must know where there is more than is shown."""
    remedy = "narrow the search, or raise max_results" if shown < most else "narrow the search"
    return f"There are more than {shown:,}; {remedy}."


def not_seen(walk: Walk) -> list[str]:
    """What a reader must know of what was not looked at."""
    notes = []
    if walk.ended_early:
        notes.append(f"The search ended {walk.ended_early}; give a folder to search the rest.")
    if walk.crowded:
        notes.append(
            f"Folders with more than {MAX_NAMES:,} names, of which the others were not looked "
            f"at: {walk.crowded:,} (a command can)."
        )
    if walk.too_deep:
        count = f"{walk.too_deep:,}"
        notes.append(
            f"Folders more than {MAX_DEPTH} deep, not looked into: {count} (a command can)."
        )
    return notes


class Unreachable:
    """Paths that were found, but that no tool takes as they are shown."""

    def __init__(self) -> None:
        self._count = 0
        self._first = ""

    def look(self, path: str) -> None:
        """Take a path that is shown."""
        if not can_be_given(path):
            self._count += 1
            self._first = self._first or shown_name(path)

    def notes(self) -> list[str]:
        """In words."""
        if not self._count:
            return []
        others = f" and {self._count - 1:,} more" if self._count > 1 else ""
        note = (
            f"{self._first!r}{others}: the tools for files cannot open such a name (bytes that "
            "are no UTF-8, characters that cannot be seen, backslashes). It must be renamed first."
        )
        return [note]


def with_notes(result: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    """The result, with what a reader must know about it."""
    return {**result, "note": " ".join(notes)} if notes else result
