"""``find_file``: files by their names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic_core import SchemaError

from agtools_nb.access.names import BuiltinTools
from agtools_nb.arguments.nearest import nearest
from agtools_nb.builtin.files.common import (
    WALK_NAMES,
    WALK_SECONDS,
    Unreachable,
    not_seen,
    path_in,
    too_many,
    with_notes,
    workspace_of,
)
from agtools_nb.builtin.files.ignoring import IgnoreRules, NoRules
from agtools_nb.builtin.files.patterns import MAX_PATTERN, Matcher, check_glob, glob_matcher
from agtools_nb.builtin.workspace import Found, Walk, Workspace, fault_of, shown_name
from agtools_nb.define import Tool
from agtools_nb.jsonable import clean_text, shorten
from agtools_nb.run.judged import judged_path

MAX_FOUND = 1_000
"""Paths that one call can find."""

Kind = Literal["any", "file", "folder"]


def find_file_tool(workspace: Workspace | str | os.PathLike[str] = ".") -> Tool:
    """Make the ``find_file`` tool.

    Args:
        workspace: The workspace, or its folder. Default: the working directory.

    Raises:
        UsageError: There is no such folder.
    """
    space = workspace_of(workspace)
    path_of = path_in(space)

    def find_file(
        pattern: Annotated[
            str,
            Field(
                min_length=1,
                max_length=MAX_PATTERN,
                description="A glob such as '*.py', 'test_*', 'docs/**/*.{md,rst}'. Without '/' "
                "it is about names, in folders of any depth.",
            ),
        ],
        path: Annotated[
            str, Field(description="Where to look, relative to the workspace. Default: all of it.")
        ] = ".",
        kind: Annotated[Kind, Field(description="What to find. Default: anything.")] = "any",
        include_ignored: Annotated[
            bool, Field(description="Look also at what .gitignore files leave out.")
        ] = False,
        max_results: Annotated[int, Field(ge=1, le=MAX_FOUND, description="Most results.")] = 100,
    ) -> dict[str, Any]:
        """Find files and folders by their names. Links are found but not followed."""
        check_glob(pattern)
        matches = _matcher(pattern.rstrip("/"))
        kind = "folder" if pattern.endswith("/") and kind == "any" else kind
        with space.at(path, judged=judged_path(path_of)) as place:
            if not place.is_folder:
                raise fault_of("not_a_folder", f"{place.shown!r} is a file, not a folder.")
            rules = NoRules() if include_ignored else IgnoreRules.of(space, place.parts)
            walk = Walk(rules, seconds=WALK_SECONDS, most=WALK_NAMES)
            search = _Search(matches, kind, "/" in pattern.rstrip("/"), len(place.parts))
            found = search.paths(walk.below(place.folder, place.parts), max_results)
        return with_notes({"paths": found}, _notes(walk, search, pattern, max_results))

    return Tool(
        find_file,
        name=BuiltinTools.FIND_FILE.value,
        read_only=True,
        path_of=path_of,
        display="Find {pattern} in {path}",
    )


class _Search:
    """One search; remembers names to suggest.

    Args:
        matches: Whether a path or a name is meant.
        kind: What is to be found.
        is_path: Whether ``matches`` is about paths.
        depth: Names in the path of the folder that is searched.
    """

    def __init__(self, matches: Matcher, kind: Kind, is_path: bool, depth: int) -> None:
        self._matches = matches
        self._kind = kind
        self._is_path = is_path
        self._depth = depth
        self.names: set[str] = set()
        self.unreachable = Unreachable()
        self.is_full = False
        self.has_found = False

    def paths(self, walk: Iterator[Found], most: int) -> list[str]:
        """The paths that are meant, at most so many."""
        paths: list[str] = []
        for found in walk:
            self.names.add(found.name)
            if self._is_meant(found):
                if len(paths) == most:
                    self.is_full = True
                    break
                self.unreachable.look(found.path)
                paths.append(shown_name(found.path) + ("/" if found.is_folder else ""))
        self.has_found = bool(paths)
        return paths

    def _is_meant(self, found: Found) -> bool:
        if self._kind == "folder" and not found.is_folder:
            return False
        if self._kind == "file" and found.is_folder:
            return False
        path = "/".join(found.parts[self._depth :]) if self._is_path else found.name
        return self._matches(path)


def _matcher(pattern: str) -> Matcher:
    try:
        return glob_matcher(pattern.removeprefix("./"), braces=True)
    except (SchemaError, UnicodeEncodeError):
        raise fault_of(
            "bad_pattern",
            f"{shorten(clean_text(pattern), 200)!r} is no glob that can be read.",
            "Write one such as '*.py'; search_directory searches what is in files.",
        ) from None


def _notes(walk: Walk, search: _Search, pattern: str, most: int) -> list[str]:
    notes = []
    if search.is_full:
        notes.append(too_many(most, MAX_FOUND))
    notes += not_seen(walk)
    if walk.unread:
        notes.append(f"Folders that could not be read: {walk.unread:,}.")
    if not search.is_full and walk.left_out:
        notes.append(
            f"Left out by .gitignore: {walk.left_out:,} (include_ignored=true finds them too)."
        )
    notes += search.unreachable.notes()
    if not search.has_found:
        near = nearest(pattern.rpartition("/")[2], sorted(search.names)[:2_000])
        notes += [f"There is {shown_name(near)!r}."] if near is not None else []
    return notes
