"""A command as a list of words, without a shell that could read more into it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

from agtools_nb.errors import ToolError
from agtools_nb.jsonable import clean_text, shorten

_OPERATORS = frozenset("();<>|&")
_SHOWN = 200


def words_of(command: str | Sequence[str], shell: str | None) -> list[str]:
    """The program and its arguments.

    Args:
        command: A list, or text: read as a shell would its quotes, or given to the shell.
        shell: Path of the shell that reads text; ``None`` if none does.

    Raises:
        ToolError: There is no program in it, its quotes do not end, or it holds what only a
            shell could carry out.
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
    """A command in one line, for people."""
    text = words if isinstance(words, str) else shlex.join(words)
    return clean_text(shorten(" ".join(text.split()), _SHOWN))


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
    try:
        operator = _operator_in(command)
        words = shlex.split(command)
    except ValueError as error:
        raise _bad_command(
            f"its quotes do not match ({error})", "Give a list: ['grep', \"it's\", 'notes.txt']."
        ) from error
    if operator is not None:
        raise _bad_command(
            f"{operator!r} needs a shell, and there is none here",
            "Run one program a call; the output of each comes back to you. If it is meant as "
            "plain text, give the command as a list: ['echo', 'a > b'].",
        )
    return words


def _operator_in(command: str) -> str | None:
    """A word that a shell would not pass on, outside of quotes."""
    lexer = shlex.shlex(command, posix=False, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    return next((word for word in lexer if set(word) <= _OPERATORS), None)


def _bad_command(why: str, hint: str) -> ToolError:
    return ToolError(
        "bad_command", f"The command was not run: {why}.", category="command", hint=hint
    )
