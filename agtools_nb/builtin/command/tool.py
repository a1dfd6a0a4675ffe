"""``run_command``: a program, run in the workspace."""

from __future__ import annotations

import asyncio
import codecs
import os
import shutil
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from agtools_nb.access.names import BuiltinTools
from agtools_nb.builtin.command.environment import without_secrets
from agtools_nb.builtin.command.missing import named, no_such_program, not_found
from agtools_nb.builtin.command.output import KeptOutput
from agtools_nb.builtin.command.running import STOPPED_SECONDS, RunningProgram, start
from agtools_nb.builtin.command.words import shown, words_of
from agtools_nb.builtin.workspace import Workspace, fault_of
from agtools_nb.context import ToolContext
from agtools_nb.define import Tool
from agtools_nb.errors import ToolError, UsageError
from agtools_nb.jsonable import brief_repr, clean_text

LAST_WORDS_SECONDS = 0.5
"""How long a program's output may come in after its end, while something else holds the pipe."""

_READ_BYTES = 65_536
_PIECE = 2_048  # characters of progress, of at most 4 bytes each

# Nobody is there to page, to be asked, or to see colours.
_QUIET = {
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "PYTHONUNBUFFERED": "1",
    "TERM": "dumb",
}


def run_command_tool(
    workspace: Workspace | str | os.PathLike[str] = ".",
    *,
    shell: bool | str = False,
    seconds: float = 60.0,
    most_seconds: float = 600.0,
    max_output: int = 16_000,
    environment: Mapping[str, str] | None = None,
) -> Tool:
    """Make the ``run_command`` tool. It is guarded: a runner takes it with policies only.

    The program runs in the workspace, but nothing keeps it there: it can do all that this
    process can. It has nothing to read, no terminal, and an environment without what looks
    like a secret (see :func:`without_secrets`). With its end, or when the call is stopped, all
    that it started is ended: on Linux also what made a session of its own, known by a variable
    ``AGTOOLS_NB_COMMAND``, but for a program that did so and cleared its environment; on macOS
    what is in its process group; on Windows the program alone. Commands, and tools that write
    to the workspace, follow each other in a batch.

    Args:
        workspace: The workspace, or its folder. Default: the working directory.
        shell: Whether a command that comes as text is given to ``sh``, or to the shell of that
            path. Default: no shell.
        seconds: How long a command may take that says nothing itself. Default 60.
        most_seconds: The most that it may ask for. Default 600.
        max_output: Bytes kept of each of the two outputs, of the beginning and the end.
            Default 16,000.
        environment: More variables, given to programs as they are. Default: none.

    Raises:
        UsageError: There is no such folder or shell, or a bound is none.
    """
    space = workspace if isinstance(workspace, Workspace) else Workspace(workspace)
    _check_bounds(seconds, most_seconds, max_output)
    reads_text = _shell_of(shell)
    variables = {**_QUIET, **(environment or {})}

    async def run_command(
        command: Annotated[
            list[str] | str, Field(description="Program and arguments: a list, or one line.")
        ],
        cwd: Annotated[
            str, Field(description="The folder to run in, relative to the workspace.")
        ] = ".",
        timeout: Annotated[  # noqa: ASYNC109 -- the program's, which is ended with all it started
            float, Field(gt=0, le=most_seconds, description="Seconds until it is ended.")
        ] = seconds,
        context: ToolContext | None = None,
    ) -> dict[str, Any]:
        words = words_of(command, reads_text)
        folder = _folder_in(space, cwd)
        given = without_secrets(extra={**variables, "PWD": str(folder)})
        program = await _started(words, space, folder, given)
        return await _Run(program, context, max_output).outcome(timeout)

    tool = Tool.from_function(
        run_command,
        name=BuiltinTools.RUN_COMMAND.value,
        description=_description(reads_text),
        concurrency_safe=False,
        guarded=True,
        display=lambda arguments: f"Run {shown(arguments.get('command', ''))}",
    )
    tool.turn = space.turn
    return tool


class _Run:
    """One program from its start to what is said of it."""

    def __init__(self, program: RunningProgram, context: ToolContext | None, most: int) -> None:
        self._program = program
        self._context = context
        self._outputs = {"stdout": KeptOutput(most), "stderr": KeptOutput(most)}
        self._began = time.monotonic()
        self._has_left_over = False

    async def outcome(self, seconds: float) -> dict[str, Any]:
        """Wait for the end, or make one, and tell of it."""
        program = self._program
        assert program.stderr is not None
        readers = [
            asyncio.create_task(self._read("stdout", program.stdout)),
            asyncio.create_task(self._read("stderr", program.stderr)),
        ]
        is_late = False
        try:
            try:
                async with asyncio.timeout(seconds):
                    await program.wait()
            except TimeoutError:
                is_late = True
            else:
                await asyncio.wait(readers, timeout=LAST_WORDS_SECONDS)
                self._has_left_over = program.is_alive
            await program.end()
            await asyncio.wait(readers, timeout=LAST_WORDS_SECONDS)
        finally:
            try:
                await program.end(STOPPED_SECONDS)
            finally:
                program.let_go()
                for reader in readers:
                    reader.cancel()
                await asyncio.wait(readers)
        return self._told(is_late, seconds)

    async def _read(self, name: str, stream: asyncio.StreamReader) -> None:
        kept = self._outputs[name]
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while data := await stream.read(_READ_BYTES):
            kept.add(data)
            if self._context is not None:
                text = decoder.decode(data)
                for at in range(0, len(text), _PIECE):
                    await self._context.emit_progress(name, text[at : at + _PIECE])

    def _told(self, is_late: bool, seconds: float) -> dict[str, Any]:
        code = self._program.exit_code
        told: dict[str, Any] = {"exit_code": None if is_late else code}
        notes = []
        if is_late:
            notes.append(
                f"It did not end within {seconds:g} s, and was ended with all that it had started."
            )
        elif code is not None and code < 0:
            notes.append(f"It was ended by {_signal_name(-code)}.")
        if self._program.is_alive:
            notes.append("Something that it started could not be ended, and runs on.")
        elif self._has_left_over:
            notes.append("It left programs running, which were ended: none outlives its call.")
        for name, kept in self._outputs.items():
            told[name] = clean_text(kept.text())
            if kept.left_out:
                notes.append(f"{name} had {kept.size:,} bytes; its middle is left out.")
        told["seconds"] = round(time.monotonic() - self._began, 2)
        return {**told, "note": " ".join(notes)} if notes else told


async def _started(
    words: list[str], workspace: Workspace, folder: Path, given: Mapping[str, str]
) -> RunningProgram:
    program = words[0]
    path: str | None = program
    if os.sep not in program:
        path = shutil.which(program, path=given.get("PATH"))
    if path is None:
        raise no_such_program(program)
    try:
        return await start(words, folder, given)
    except FileNotFoundError as error:
        raise not_found(program, workspace, folder / path) from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ToolError(
            "cannot_start", f"{named(program)} did not start: {why}.", category="command"
        ) from error


def _folder_in(workspace: Workspace, path: str) -> Path:
    """A folder of the workspace.

    Raises:
        ToolError: It is outside, not there, or no folder.
    """
    with workspace.at(path) as place:
        if not place.is_folder:
            raise fault_of(
                "not_a_folder", f"cwd={named(path)} is no folder.", "Give one, such as '.'."
            )
        return workspace.root.joinpath(*place.parts)


def _description(shell: str | None) -> str:
    text = "Run a program in the workspace, and wait for its end. It has no input. "
    if shell is None:
        return text + (
            "There is no shell: no pipes, redirections, variables or wildcards; one program a call."
        )
    return text + f"A command that is one line is read by {shell}; a list is run as it is."


def _shell_of(shell: bool | str) -> str | None:
    """The path of the shell, if there is to be one.

    Raises:
        UsageError: It is not installed.
    """
    if shell is False:
        return None
    name = "sh" if shell is True else shell
    found = shutil.which(name)
    if found is None:
        raise UsageError(
            f"run_command_tool(shell={shell!r}): there is no {name!r} here; give the path of a "
            "shell, such as '/bin/bash'"
        )
    return found


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _check_bounds(seconds: float, most_seconds: float, max_output: int) -> None:
    bounds: dict[str, Any] = {
        "seconds": seconds,
        "most_seconds": most_seconds,
        "max_output": max_output,
    }
    for name, value in bounds.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
            raise UsageError(f"{name}={brief_repr(value)} must be a number above 0")
    if seconds > most_seconds:
        raise UsageError(f"seconds={seconds} must be at most most_seconds={most_seconds}")
