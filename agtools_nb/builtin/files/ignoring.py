"""What is passed over below a folder: what its ``.gitignore`` files say.

The rules are git's (gitignore(5)), of every ``.gitignore`` from the workspace down. Not read
are those above the workspace, ``.git/info/exclude``, and a person's own. A library for this
would compile the rules for ``re``, which a hostile file could make run without end.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from pydantic_core import SchemaError

from agtools_nb.builtin.files.patterns import MAX_PATTERN, Matcher, glob_matcher
from agtools_nb.builtin.workspace import Workspace
from agtools_nb.builtin.workspace.folders import Folder

MAX_BYTES = 65_536
"""Bytes of an ignore file that are read."""

MAX_RULES = 2_000
"""Rules of one file."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file.

    Attributes:
        matches: Whether a path, or a name, is meant.
        is_path: Whether the whole path counts, from the file's folder on.
        only_folders: Whether only folders are meant.
        is_negated: Whether what is meant is not passed over.
    """

    matches: Matcher
    is_path: bool
    only_folders: bool
    is_negated: bool


def rules_in(text: str) -> list[Rule]:
    """The rules of an ignore file, in its order. Lines that cannot be read say nothing."""
    rules: list[Rule] = []
    for line in text.splitlines()[: 2 * MAX_RULES]:
        rule = _rule(line)
        if rule is not None and len(rules) < MAX_RULES:
            rules.append(rule)
    return rules


def _rule(line: str) -> Rule | None:
    glob = _trimmed(line)
    if not glob or glob.startswith("#") or len(glob) > MAX_PATTERN:
        return None
    is_negated = glob.startswith("!")
    glob = glob[1:] if is_negated else glob
    only_folders = glob.endswith("/")
    glob = glob.removesuffix("/")
    is_path = "/" in glob
    glob = glob.removeprefix("/")
    if not glob:
        return None
    try:
        return Rule(glob_matcher(glob), is_path, only_folders, is_negated)
    except (SchemaError, UnicodeEncodeError):
        return None


def _trimmed(line: str) -> str:
    """A line without spaces at its end, but for those after a backslash."""
    bare = line.rstrip(" ")
    escapes = len(bare) - len(bare.rstrip("\\"))
    return f"{bare} " if escapes % 2 and len(bare) < len(line) else bare


class IgnoreRules:
    """The rules that hold in one folder. Those of inner files come before those of outer ones.

    Args:
        parts: Names from the workspace to the folder.
        levels: Rules by the depth of the folder of their file, outermost first.
    """

    def __init__(
        self, parts: tuple[str, ...] = (), levels: tuple[tuple[int, list[Rule]], ...] = ()
    ) -> None:
        self._parts = parts
        self._levels = levels

    @classmethod
    def of(cls, workspace: Workspace, parts: tuple[str, ...]) -> IgnoreRules:
        """The rules of a folder in the workspace, with those of the folders around it."""
        rules = cls()
        for depth in range(len(parts) + 1):
            with workspace.at("/".join(parts[:depth]) or ".") as place:
                rules = rules._with(parts[:depth], place.folder)
        return rules

    def inside(self, name: str, folder: Folder) -> IgnoreRules:
        """The rules in a folder of this one."""
        return self._with((*self._parts, name), folder)

    def leaves_out(self, name: str, is_folder: bool) -> bool:
        """Whether the last rule that means a name passes it over."""
        parts = (*self._parts, name)
        for depth, rules in reversed(self._levels):
            path = "/".join(parts[depth:])
            for rule in reversed(rules):
                if rule.only_folders and not is_folder:
                    continue
                if rule.matches(path if rule.is_path else name):
                    return not rule.is_negated
        return False

    def _with(self, parts: tuple[str, ...], folder: Folder) -> IgnoreRules:
        rules = rules_in(_ignore_file(folder))
        levels = (*self._levels, (len(parts), rules)) if rules else self._levels
        return IgnoreRules(parts, levels)


class NoRules:
    """Nothing is passed over."""

    def inside(self, name: str, folder: Folder) -> Self:
        """The same in every folder."""
        return self

    def leaves_out(self, name: str, is_folder: bool) -> bool:
        """Nothing is."""
        return False


def _ignore_file(folder: Folder) -> str:
    with (
        suppress(OSError),
        folder.opened(".gitignore") as (fd, _),
        os.fdopen(fd, "rb", closefd=False) as file,
    ):
        return file.read(MAX_BYTES).decode("utf-8-sig", "replace")
    return ""
