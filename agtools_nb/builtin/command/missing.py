"""What a model is told of a program that is not there, or not all of it."""

from __future__ import annotations

import difflib
import os
import shutil
from pathlib import Path

from agtools_nb.builtin.workspace import Workspace
from agtools_nb.errors import ToolError
from agtools_nb.jsonable import clean_text, shorten

_LINE_BYTES = 128
"""What is read of a first line; old kernels read no more of it either."""


def no_such_program(program: str) -> ToolError:
    """There is no program of that name.

    Args:
        program: As the model wrote it.
    """
    hint = "Is it spelled as it is installed?"
    if "=" in program:
        hint = "To set a variable, run: env NAME=value program."
    elif " " in program:
        hint = "In a list, each argument is an item of its own: ['ls', '-l']."
    elif program in ("cd", "export", "source", "alias", "ulimit", "set", "umask"):
        hint = "That is a word of the shell, and no program; use cwd for the folder."
    elif close := difflib.get_close_matches(program, filter(shutil.which, _USUAL), n=1):
        hint = f"Did you mean {close[0]!r}?"
    return ToolError(
        "no_such_program",
        f"There is no program {named(program)} here.",
        category="command",
        hint=hint,
    )


def not_found(program: str, workspace: Workspace, path: Path) -> ToolError:
    """The system found nothing to start: no such program, or a script without its own.

    Only a file of the workspace is looked into; whatever else is there, there is "no program".

    Args:
        program: As the model wrote it.
        workspace: The workspace.
        path: Where the program is looked for.
    """
    try:
        with workspace.open(path.as_posix()) as (_, file, _):
            begin = os.read(file.fileno(), _LINE_BYTES)
    except (ToolError, OSError):
        return no_such_program(program)
    if not begin.startswith(b"#!"):
        return _not_started(
            program,
            "it is there, but not what the system would run it with",
            "It may be built for another system; build it here, or run another program.",
        )
    line = begin.partition(b"\n")[0].decode("utf-8", "backslashreplace")
    return _not_started(
        program, f"its first line {line!r} names a program that is not there", _hint(line, program)
    )


def _hint(line: str, program: str) -> str:
    if line.endswith("\r"):
        return (
            "The \\r at its end (as Windows ends lines) counts as a part of that name: write the "
            "file with \\n alone at the ends of its lines."
        )
    name = Path((line[2:].split() or [""])[0]).name
    if not name or shutil.which(name) is None:
        return "Write the path of a program there that is installed."
    return f"There is one on the PATH; run it with that: [{name!r}, {named(program)}]."


def _not_started(program: str, why: str, hint: str) -> ToolError:
    return ToolError(
        "cannot_start", f"{named(program)} did not start: {why}.", category="command", hint=hint
    )


def named(text: str) -> str:
    """A program or path as messages show it: escaped, and not too long."""
    return repr(clean_text(shorten(text, 100)))


_USUAL = (
    "bash", "cat", "cp", "curl", "diff", "find", "git", "grep", "head", "ls", "make", "mkdir",
    "mv", "node", "npm", "pip", "pytest", "python", "python3", "rg", "ruff", "sed", "sort", "tail",
    "tar", "uv", "wc", "which",
)  # fmt: skip
