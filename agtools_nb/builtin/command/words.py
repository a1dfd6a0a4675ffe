"""A command as a list of words, without a shell that could read more into it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence

from agtools_nb.builtin.workspace import shown_name
from agtools_nb.errors import ToolError
from agtools_nb.jsonable import shorten

_SHOWN = 200

# What `sh` tells apart. One reading finds both the words and what only a shell could carry out:
# two that differ over a quote would let something through.
_PIECE = re.compile(
    r"""
      (?P<gap>[ \t\r\n]+)
    | (?P<joined>\\\n)
    | \\(?P<escaped>[^\r\n])
    | '(?P<single>[^']*+)'
    | "(?P<double>(?:[^"\\]++|\\.)*+)"
    | (?P<operator>[();<>|&]+)
    | (?P<plain>[^ \t\r\n'"\\();<>|&]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED_IN_QUOTES = re.compile(r'\\(?:\n|([$`"\\]))')


def words_of(command: str | Sequence[str], shell: str | None) -> list[str]:
    r"""The program and its arguments.

    Args:
        command: A list, or text: read as a shell would its quotes, or given to the shell. A
            backslash at the end of a line joins it with the next one, as it does in a shell.
        shell: Path of the shell that reads text; ``None`` if none does.

    Raises:
        ToolError: There is no program in it, its quotes do not end, or it holds what only a
            shell could carry out: operators, several lines, comments.
    """
    if isinstance(command, str):
        words = _listed(command)
        if words is None:
            words = [shell, "-c", command] if shell is not None else _split(command)
    else:
        words = list(command)
    if not words or not words[0].strip() or not "".join(words).strip():
        raise _bad_command("it names no program", "Give a list: ['ls', '-l'].")
    if any("\0" in word for word in words):
        raise _bad_command("it holds a NUL character", "Leave it out.")
    return words


def shown(words: str | Sequence[str]) -> str:
    """A command in one line, for people, who may be asked whether it is to run.

    Ends of lines are shown as ``⏎``: to a shell, what follows one is a command of its own,
    also after a comment. What else cannot be seen is escaped.
    """
    text = words.strip() if isinstance(words, str) else shlex.join(words)
    lines = re.split(r"\r?\n", shorten(text, _SHOWN))
    return shorten("⏎".join(map(shown_name, lines)), _SHOWN)


def _listed(command: str) -> list[str] | None:
    """The words of a list that came as JSON text; ``None`` if it is none."""
    if not command.lstrip().startswith("["):
        return None
    try:
        words = json.loads(command)
    except ValueError:
        return None
    is_list = isinstance(words, list) and all(isinstance(word, str) for word in words)
    return words if is_list else None


def _split(command: str) -> list[str]:
    """The words of a text.

    Raises:
        ToolError: It holds what only a shell could carry out, or its quotes do not end.
    """
    words: list[str] = []
    word: str | None = None  # '' is a word as well
    at = 0
    while at < len(command):
        kind, text, at = _piece(command, at)
        if kind == "gap":
            if word is not None:
                words.append(word)
                word = None
            _check_gap(text, is_inside=bool(words) and at < len(command))
        elif kind == "operator" or (kind == "plain" and word is None and text[0] == "#"):
            raise _needs_shell(repr(shorten(text, _SHOWN)))
        elif kind != "joined":
            word = (word or "") + text
    return words if word is None else [*words, word]


def _piece(command: str, at: int) -> tuple[str, str, int]:
    """What stands at a place: its kind, what it stands for, and where the next one begins."""
    found = _PIECE.match(command, at)
    if found is None:
        raise _unread(command[at : at + 2])
    kind = found.lastgroup
    assert kind is not None
    text = found[kind]
    if kind == "double":
        text = _ESCAPED_IN_QUOTES.sub(lambda escaped: escaped[1] or "", text)
    return kind, text, found.end()


def _check_gap(text: str, *, is_inside: bool) -> None:
    # A shell would begin the next command there; before and after all words it is nothing.
    if is_inside and not set(text) <= {" ", "\t"}:
        raise _needs_shell("a line end")


def _unread(rest: str) -> ToolError:
    if rest == "\\\r":  # a shell escapes that one, and the line ends with the \n behind it
        return _needs_shell("a line end")
    why = "a \\ stands at its end" if rest == "\\" else f"a {rest[0]} is not closed"
    return _bad_command(
        f"its quotes do not match ({why})", "Give a list: ['grep', \"it's\", 'notes.txt']."
    )


def _needs_shell(what: str) -> ToolError:
    return _bad_command(
        f"{what} needs a shell, and there is none here",
        "Run one program a call; the output of each comes back to you. If it is meant as "
        "plain text, give the command as a list: ['echo', 'a > b'].",
    )


def _bad_command(why: str, hint: str) -> ToolError:
    return ToolError(
        "bad_command", f"The command was not run: {why}.", category="command", hint=hint
    )
