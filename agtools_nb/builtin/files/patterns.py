"""Regular expressions and globs, matched so that no pattern can hang the kernel.

Patterns come from models, and from the ignore files of folders that anybody may have filled.
Python's ``re`` takes exponential time for some of them and cannot be stopped. The engine
behind pydantic takes linear time; it knows no look-around and no back-references.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable

from pydantic_core import SchemaError, SchemaValidator, core_schema

from agtools_nb.builtin.workspace import fault_of
from agtools_nb.jsonable import clean_text, shorten

MAX_PATTERN = 1_000
"""Characters of a pattern."""

MAX_LINE = 16_000
"""Characters of a line that are searched: the engine cannot be stopped within a line."""

_TRIAL = 2_000
_SLOW_SECONDS = 0.02
_SURROGATES = re.compile("[\ud800-\udfff]")

Matcher = Callable[[str], bool]


class LineSearch:
    """A regular expression to be found in lines.

    Args:
        pattern: As a model wrote it.
        literal: It is plain text. Default ``False``.
        ignore_case: Letters match in either case. Default ``False``.

    Attributes:
        cut: How many lines were searched in their beginning only.

    Raises:
        ToolError: It cannot be read.
    """

    def __init__(self, pattern: str, *, literal: bool = False, ignore_case: bool = False) -> None:
        text = escaped(pattern) if literal else pattern
        self._found = _compiled(f"(?i){text}" if ignore_case else text, pattern)
        self.cut = 0

    def __call__(self, line: str) -> bool:
        """Whether the pattern is found in a line."""
        if len(line) <= _TRIAL:
            return self._found(line)
        if len(line) > MAX_LINE:
            self.cut += 1
            line = line[:MAX_LINE]
        started = time.perf_counter()
        in_start = self._found(line[:_TRIAL])
        if time.perf_counter() - started > _SLOW_SECONDS:
            self.cut += 1
            return in_start
        return self._found(line)

    def end_in(self, line: str) -> int:
        """About where the first match in a long line ends."""
        low, high = 0, min(len(line), MAX_LINE)
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._found(line[:middle]) else (middle + 1, high)
        return low


def _compiled(text: str, pattern: str) -> Matcher:
    if len(pattern) > MAX_PATTERN:
        raise fault_of(
            "bad_pattern",
            f"The pattern has {len(pattern):,} characters; at most {MAX_PATTERN:,} are read.",
        )
    try:
        return matcher(text)
    except (SchemaError, UnicodeEncodeError) as error:
        raise fault_of(
            "bad_pattern",
            f"{shorten(clean_text(pattern), 200)!r} is no regular expression that can be "
            f"searched for: {_reason(error)}.",
            "Look-around and back-references are not known. literal=true searches plain text.",
        ) from None


def _reason(error: Exception) -> str:
    """What the engine says in the end; before that it draws a picture."""
    last = str(error).strip().rpartition("\n")[2].strip()
    words = last.removeprefix("SchemaError:").removeprefix("error:").strip().rstrip(".")
    if "size limit" in words:
        return "it is too large once its repeats are written out"
    return shorten(words, 200)


@functools.lru_cache(maxsize=4_096)
def matcher(regex: str) -> Matcher:
    """Compile a regular expression of the engine; it is found anywhere in a text.

    Raises:
        SchemaError: It cannot be read.
    """
    return SchemaValidator(core_schema.str_schema(pattern=regex)).isinstance_python


def escaped(text: str) -> str:
    """A regular expression that is found where the text is."""
    return "".join(map(_literal, text))


def glob_matcher(glob: str, *, braces: bool = False) -> Matcher:
    """Compile a glob for a whole path: ``*`` and ``?`` stop at ``/``, ``**`` does not.

    Args:
        glob: The glob.
        braces: Whether ``{a,b}`` means either. Default ``False``.

    Raises:
        SchemaError: It cannot be read, such as ``[z-a]``.
    """
    found = matcher(rf"(?s)\A(?:{_Glob(glob, braces).regex()})\z")

    def matches(path: str) -> bool:
        # Names may hold bytes that are no UTF-8, which the engine takes for no text at all.
        return found(path if path.isascii() else _SURROGATES.sub("\ufffd", path))

    return matches


def check_glob(pattern: str) -> None:
    """Refuse globs that can mean nothing below a folder.

    Raises:
        ToolError: It is one of these.
    """
    why = ""
    if pattern.startswith("/"):
        why = "it begins with '/', and what is found is below path"
    elif ".." in pattern.split("/"):
        why = "'..' in it leads nowhere, for what is found is below path"
    elif "\n" in pattern or "\0" in pattern:
        why = "it has more than one line" if "\n" in pattern else "it holds a NUL character"
    elif pattern.strip("./") == "":
        why = "it names nothing"
    if why:
        raise fault_of(
            "bad_pattern",
            f"{shorten(clean_text(pattern), 200)!r} finds nothing: {why}.",
            "Give the folder to look in as path, and a glob such as '*.py' or 'docs/**/*.md'.",
        )


class _Glob:
    """Reads a glob from left to right and writes a regular expression."""

    def __init__(self, glob: str, braces: bool) -> None:
        self._glob = glob
        self._at = 0
        self._has_braces = braces and glob.count("{") == glob.count("}")
        self._depth = 0

    def regex(self) -> str:
        parts = []
        while self._at < len(self._glob):
            parts.append(self._next())
        return "".join(parts) + ")" * self._depth

    def _next(self) -> str:
        letter = self._glob[self._at]
        if letter == "*":
            return self._stars()
        if letter == "[":
            return self._set()
        self._at += 1
        if letter == "?":
            return "[^/]"
        if letter == "\\" and self._at < len(self._glob):
            self._at += 1
            return _literal(self._glob[self._at - 1])
        return self._brace(letter) if self._has_braces else _literal(letter)

    def _stars(self) -> str:
        start = self._at
        while self._glob[self._at : self._at + 1] == "*":
            self._at += 1
        is_whole = start == 0 or self._glob[start - 1] == "/"
        if self._at - start != 2 or not is_whole:
            return "[^/]*"
        if self._at == len(self._glob):
            return ".+" if start else ".*"
        if self._glob[self._at] == "/":
            self._at += 1
            return "(?:[^/]+/)*"
        return "[^/]*"

    def _set(self) -> str:
        start = self._at + 1
        is_negated = self._glob[start : start + 1] in ("!", "^")
        start += is_negated
        found = _MEMBERS.match(self._glob, start)
        if found is None:
            self._at += 1
            return _literal("[")
        self._at = found.end()
        inside = _MEMBER.findall(found[1])
        members = "".join(
            one if len(one) > 1 or (one == "-" and 0 < number < len(inside) - 1) else _literal(one)
            for number, one in enumerate(inside)
        )
        return f"[^{members}/]" if is_negated else f"[{members}&&[^/]]"

    def _brace(self, letter: str) -> str:
        if letter == "{":
            self._depth += 1
            return "(?:"
        if self._depth and letter == ",":
            return "|"
        if self._depth and letter == "}":
            self._depth -= 1
            return ")"
        return _literal(letter)


_NAMED = r"\[:(?:alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit):\]"
_MEMBER = re.compile(rf"{_NAMED}|.", re.DOTALL)
# A bracket that comes first is a member.
_MEMBERS = re.compile(rf"(\]?+(?:{_NAMED}|[^\]])*+)\]", re.DOTALL)


def _literal(letter: str) -> str:
    # Some escapes of letters and of < and > mean something: only these are escaped.
    return f"\\{letter}" if letter in r"\.+*?()|[]{}^$#&-~" else letter
