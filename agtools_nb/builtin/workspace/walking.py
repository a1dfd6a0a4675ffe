"""Everything below a folder but ``.git``, in order, within bounds. No link is followed."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from agtools_nb.builtin.workspace.folders import Folder
from agtools_nb.builtin.workspace.names import MAX_DEPTH

MAX_NAMES = 100_000
"""Names of one folder that are looked at."""


class Rules(Protocol):
    """Which names are left out, in one folder."""

    def leaves_out(self, name: str, is_folder: bool) -> bool:
        """Whether this name of the folder is passed over, and all below it."""

    def inside(self, name: str, folder: Folder) -> Rules:
        """The rules in a folder of this one."""


@dataclass(frozen=True, slots=True)
class Found:
    """One name on the way. Its folder is open until the next one is asked for.

    Attributes:
        folder: The folder it is in.
        parts: The names from the workspace to it.
        status: What it is; a link is a link.
    """

    folder: Folder
    parts: tuple[str, ...]
    status: os.stat_result

    @property
    def name(self) -> str:
        """Its name in its folder."""
        return self.parts[-1]

    @property
    def path(self) -> str:
        """Its path, relative to the workspace."""
        return "/".join(self.parts)

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return stat.S_ISDIR(self.status.st_mode)

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return stat.S_ISREG(self.status.st_mode)


class Walk:
    """One walk, and what it left out.

    Args:
        rules: What is passed over.
        seconds: Time after which it ends.
        most: Names after which it ends.

    Attributes:
        unread: Folders that could not be read.
        too_deep: Folders that were not looked into, because paths have so many names only.
        crowded: Folders that have more than 100,000 names, and of which no more were looked at.
        left_out: Names that the rules left out.
        ended_early: Why it ended before everything was seen; ``""`` if it did not.
    """

    def __init__(self, rules: Rules, *, seconds: float, most: int) -> None:
        self._rules = rules
        self._deadline = time.monotonic() + seconds
        self._seconds = seconds
        self._left = self._most = most
        self.unread = 0
        self.too_deep = 0
        self.crowded = 0
        self.left_out = 0
        self.ended_early = ""

    @property
    def is_over(self) -> bool:
        """Whether it has ended early; looks at the clock."""
        if not self.ended_early and time.monotonic() > self._deadline:
            self.ended_early = f"after {self._seconds:g} seconds"
        return bool(self.ended_early)

    def below(self, folder: Folder, parts: tuple[str, ...]) -> Iterator[Found]:
        """Yield what is in a folder and below it, a folder before what is in it.

        Args:
            folder: An open folder.
            parts: The names from the workspace to it.
        """
        yield from self._below(folder, parts, self._rules)

    def _below(self, folder: Folder, parts: tuple[str, ...], rules: Rules) -> Iterator[Found]:
        for name in self._names(folder):
            if self.is_over:
                return
            found = self._found(folder, (*parts, name))
            if found is None or name == ".git":
                continue
            if rules.leaves_out(name, found.is_folder):
                self.left_out += 1
                continue
            self._left -= 1
            if self._left < 0:
                self.ended_early = f"after {self._most:,} names"
                return
            yield found
            if found.is_folder:
                yield from self._inside(found, rules)

    def _inside(self, found: Found, rules: Rules) -> Iterator[Found]:
        if len(found.parts) >= MAX_DEPTH:
            self.too_deep += 1
            return
        try:
            inner = found.folder.folder(found.name)
        except OSError:  # no permission, or something else has taken its place
            self.unread += 1
            return
        with inner:
            yield from self._below(inner, found.parts, rules.inside(found.name, inner))

    def _names(self, folder: Folder) -> list[str]:
        try:
            names = list(islice(folder.names(), MAX_NAMES + 1))
        except OSError:
            self.unread += 1
            return []
        self.crowded += len(names) > MAX_NAMES
        return sorted(names[:MAX_NAMES])

    def _found(self, folder: Folder, parts: tuple[str, ...]) -> Found | None:
        with suppress(OSError):  # it is gone
            return Found(folder, parts, folder.lstat(parts[-1]))
        return None
