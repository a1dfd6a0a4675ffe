"""``search_directory``: the lines of files in which something stands (grep)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field
from pydantic_core import SchemaError

from agtools_nb.access.names import BuiltinTools
from agtools_nb.builtin.files.common import (
    MAX_FILE,
    WALK_NAMES,
    WALK_SECONDS,
    Unreachable,
    not_seen,
    path_in,
    too_many,
    with_notes,
    workspace_of,
)
from agtools_nb.builtin.files.decoding import text_of
from agtools_nb.builtin.files.ignoring import IgnoreRules, NoRules
from agtools_nb.builtin.files.patterns import MAX_PATTERN, LineSearch, check_glob, glob_matcher
from agtools_nb.builtin.workspace import Found, Walk, Workspace, fault_of, shown_name
from agtools_nb.builtin.workspace.descent import Place
from agtools_nb.builtin.workspace.reading import read_file
from agtools_nb.define import Tool
from agtools_nb.errors import ToolError
from agtools_nb.media import size_text
from agtools_nb.run.judged import judged_path

MAX_MATCHES = 1_000
"""Lines that one call can find."""

MAX_SHOWN = 300
"""Characters of a line that are shown."""

MAX_TEXT = 60_000
"""Characters that one call answers with, about."""


def search_directory_tool(workspace: Workspace | str | os.PathLike[str] = ".") -> Tool:
    """Make the ``search_directory`` tool.

    It shows lines of every text file below its ``path``, whatever rules say about
    ``view_file``: the call's ``canonical_path`` is the folder. Who keeps files from a model
    denies the search as well, or where it could meet them::

        deny("search_directory")
        deny("search_directory", when=lambda args: args["include"] not in ("*.py", "*.md"))

    A ``.gitignore`` keeps nothing secret: a call may look at what it leaves out.

    Args:
        workspace: The workspace, or its folder. Default: the working directory.

    Raises:
        UsageError: There is no such folder.
    """
    space = workspace_of(workspace)
    path_of = path_in(space)

    def search_directory(
        pattern: Annotated[
            str,
            Field(
                min_length=1,
                max_length=MAX_PATTERN,
                description=r"A regular expression to find in a line, such as 'def \w+_tool\('. "
                "No look-around, no back-references.",
            ),
        ],
        path: Annotated[
            str,
            Field(description="A folder or file, relative to the workspace. Default: all of it."),
        ] = ".",
        literal: Annotated[bool, Field(description="The pattern is plain text.")] = False,
        ignore_case: Annotated[bool, Field(description="Letters match in either case.")] = False,
        include: Annotated[
            str | None,
            Field(
                max_length=MAX_PATTERN,
                description="Only files that match this glob: '*.py', 'src/**/*.{c,h}'.",
            ),
        ] = None,
        context_lines: Annotated[
            int, Field(ge=0, le=10, description="Lines to show around each match.")
        ] = 0,
        include_ignored: Annotated[
            bool, Field(description="Search also what .gitignore files leave out.")
        ] = False,
        max_results: Annotated[int, Field(ge=1, le=MAX_MATCHES, description="Most results.")] = 100,
    ) -> dict[str, Any]:
        """Search the text of files, line by line: no match goes over the end of one.

        Matching lines are "12: text", lines around them "11- text". Binary files are skipped.
        """
        if literal and "\n" in pattern:
            raise fault_of(
                "bad_pattern",
                "The pattern has more than one line, and lines are searched one by one.",
                "Search for one of them; context_lines shows what is around it.",
            )
        search = _Search(
            LineSearch(pattern, literal=literal, ignore_case=ignore_case),
            context_lines,
            max_results,
            has_line_end="\n" in pattern or r"\n" in pattern,
        )
        with space.at(path, judged=judged_path(path_of)) as place:
            rules = NoRules() if include_ignored else IgnoreRules.of(space, _folder_of(place))
            walk = Walk(rules, seconds=WALK_SECONDS, most=WALK_NAMES)
            search.files(_candidates(place, walk, _included(include)), walk)
        return with_notes({"matches": search.matches}, search.notes(walk, max_results))

    return Tool(
        search_directory,
        name=BuiltinTools.SEARCH_DIR.value,
        read_only=True,
        path_of=path_of,
        display="Search for {pattern} in {path}",
    )


class _Search:
    """One search through files.

    Args:
        found: Whether the pattern is found in a line.
        around: Lines to show around a match.
        most: Matching lines to show.
        has_line_end: Whether the pattern speaks of line ends. Default ``False``.
    """

    def __init__(
        self, found: LineSearch, around: int, most: int, *, has_line_end: bool = False
    ) -> None:
        self._found = found
        self._has_line_end = has_line_end
        self._around = around
        self._left = most
        self._room = MAX_TEXT
        self._skipped = _Skipped()
        self._searched = 0
        self._odd = 0
        self._unreachable = Unreachable()
        self.matches: list[dict[str, Any]] = []
        self.is_full = False

    def files(self, candidates: Iterator[Found], walk: Walk) -> None:
        """Search files until there is enough."""
        for found in candidates:
            lines = self._lines_of(found)
            shown = [] if lines is None else self._shown(lines, walk)
            if shown:
                self._unreachable.look(found.path)
                self.matches.append({"path": shown_name(found.path), "lines": shown})
            if self.is_full or walk.is_over:
                return

    def notes(self, walk: Walk, most: int) -> list[str]:
        """What a reader must know about what was found."""
        notes = []
        if self._room < 0:
            notes.append(f"Shown are the first {MAX_TEXT:,} characters; narrow the search.")
        elif self.is_full:
            notes.append(too_many(most, MAX_MATCHES))
        if self._found.cut:
            notes.append(
                f"Long lines of which only the beginning was searched: {self._found.cut:,}."
            )
        if self._odd:
            notes.append(
                rf"Files that are not all UTF-8: {self._odd:,}; such bytes are \xff and the like "
                "here, or Latin-1 where most of them are none."
            )
        notes += self._unreachable.notes() + not_seen(walk)
        if not self.matches:
            notes.append(f"Text files searched: {self._searched:,}.")
            if self._has_line_end:
                notes.append("Lines are searched one by one: no line holds a line end.")
        return notes + self._skipped.notes(walk)

    def _lines_of(self, found: Found) -> list[str] | None:
        try:
            data, _ = read_file(found.folder, found.name, found.path, MAX_FILE)
        except ToolError as error:
            self._skipped.too_large += error.code == "too_large"
            self._skipped.unread += error.code != "too_large"
            return None
        text = text_of(data)
        if text is None:
            self._skipped.binary += 1
            return None
        self._searched += 1
        self._odd += bool(text.notes())
        return text.lines

    def _shown(self, lines: list[str], walk: Walk) -> list[str]:
        """The lines of one file that are shown."""
        hits = self._hits(lines, walk)
        around = self._around
        numbers = {
            number
            for hit in hits
            for number in range(max(hit - around, 0), min(hit + around + 1, len(lines)))
        }
        shown: list[str] = []
        before = None
        for number in sorted(numbers):
            if self._room < 0:
                self.is_full = True
                break
            if around and before is not None and number > before + 1:
                shown.append("--")
            shown.append(self._line(lines[number], number, number in hits))
            self._room -= len(shown[-1])
            before = number
        return shown

    def _hits(self, lines: list[str], walk: Walk) -> set[int]:
        """Numbers of lines, from 0, in which it is found."""
        hits = set()
        for number, line in enumerate(lines):
            if walk.is_over:
                break
            if not self._found(line):
                continue
            if self._left == 0:
                self.is_full = True
                break
            self._left -= 1
            hits.add(number)
        return hits

    def _line(self, line: str, number: int, is_hit: bool) -> str:
        """A line as it is shown; of a long one, what is around the match."""
        if len(line) > MAX_SHOWN:
            end = self._found.end_in(line) if is_hit else 0
            start = max(end - MAX_SHOWN * 2 // 3, 0)
            part = line[start : start + MAX_SHOWN]
            rest = len(line) - start - len(part)
            line = f"{'…' * bool(start)}{part}{'…' * bool(rest)} [{len(line):,} characters]"
        return f"{number + 1}{':' if is_hit else '-'} {line}"


@dataclass
class _Skipped:
    """How many files were not searched, and why."""

    binary: int = 0
    too_large: int = 0
    unread: int = 0

    def notes(self, walk: Walk) -> list[str]:
        """In words."""
        counts = {
            "binary": self.binary,
            f"larger than {size_text(MAX_FILE)} (view_file shows lines of them)": self.too_large,
            "not to be read": self.unread + walk.unread,
            "left out by .gitignore (include_ignored=true searches it)": walk.left_out,
        }
        skipped = [f"{count:,} {what}" for what, count in counts.items() if count]
        return [f"Skipped: {', '.join(skipped)}."] if skipped else []


def _folder_of(place: Place) -> tuple[str, ...]:
    return place.parts if place.is_folder else place.parts[:-1]


def _candidates(
    place: Place, walk: Walk, is_included: Callable[[Found, int], bool]
) -> Iterator[Found]:
    """The files to search: the one that was named, or those below a folder."""
    if place.is_folder:
        found = walk.below(place.folder, place.parts)
        depth = len(place.parts)
        yield from (one for one in found if one.is_file and is_included(one, depth))
    else:
        assert place.status is not None
        yield Found(place.folder, place.parts, place.status)


def _included(include: str | None) -> Callable[[Found, int], bool]:
    """Whether a file is meant by ``include``, looked at from a folder of some depth."""
    if include is None:
        return lambda found, depth: True
    check_glob(include)
    try:
        matches = glob_matcher(include.removeprefix("./"), braces=True)
    except (SchemaError, UnicodeEncodeError):
        raise fault_of(
            "bad_pattern", "include is no glob that can be read.", "Write one such as '*.py'."
        ) from None
    if "/" in include:
        return lambda found, depth: matches("/".join(found.parts[depth:]))
    return lambda found, depth: matches(found.name)
