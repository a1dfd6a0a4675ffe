"""``tail_process``: a subscription to what a process prints."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from agtools_nb.builtin.command.running import RunningProgram, start
from agtools_nb.define import Tool
from agtools_nb.errors import ToolError, UsageError
from agtools_nb.events import SubscriptionEvent

LONGEST_LINE = 8_192
"""Bytes of one line; a longer one is cut there and goes on as the next."""

MOST_LINES = 200
"""Lines that one event brings."""

_BUNDLE_SECONDS = 0.1


def tail_process_tool(commands: Sequence[str], *, folder: str | os.PathLike[str] = ".") -> Tool:
    """Make the ``tail_process`` tool, a subscription to a process's output.

    There is no shell. The process and what it started are ended with the subscription, but
    for processes that made a session of their own.

    Args:
        commands: Names of the programs that may be run, such as ``["make", "pytest"]``.
        folder: Where they run. Default: the working directory.

    Raises:
        UsageError: No program is named, or there is no such folder.
    """
    allowed = tuple(commands)
    if isinstance(commands, str) or not allowed:
        raise UsageError(
            "tail_process_tool(commands): name the programs that a model may run, such as "
            "['make', 'pytest']"
        )
    root = Path(folder).resolve()
    if not root.is_dir():
        raise UsageError(f"folder={os.fspath(folder)!r}: there is no such folder")

    async def tail_process(
        command: Annotated[
            list[str],
            Field(min_length=1, description=f"Program and arguments; one of {', '.join(allowed)}."),
        ],
    ) -> AsyncIterator[Any]:
        """Run a program and subscribe to the lines that it prints.

        The first value is {"pid": ...}; events are {"lines": [...]}, the final one is
        {"exit_code": ...}.
        """
        program = await _started(command, allowed, root)
        try:
            yield {"pid": program.pid}
            async for lines in _lines(program):
                yield {"lines": lines}
            await program.wait()
            yield SubscriptionEvent({"exit_code": program.exit_code}, final=True)
        finally:
            try:
                await program.end()
            finally:
                program.let_go()  # something in a session of its own may hold the pipe open

    return Tool(tail_process, display="Run {command}")


async def _started(command: list[str], allowed: tuple[str, ...], root: Path) -> RunningProgram:
    program = shutil.which(command[0]) if command[0] in allowed else None
    if program is None:
        why = "is not installed" if command[0] in allowed else "may not be run"
        raise ToolError(
            "not_allowed",
            f"{command[0][:200]!r} {why}.",
            category="access",
            hint=f"Programs: {', '.join(allowed)}.",
        )
    try:
        return await start([program, *command[1:]], root, is_merged=True)
    except (OSError, ValueError) as error:
        raise ToolError("cannot_start", f"{command[0]} did not start: {error}.") from error


async def _lines(program: RunningProgram) -> AsyncIterator[list[str]]:
    """What it prints, lines that come together in one list."""
    rest = b""
    while chunk := await program.stdout.read(65_536):
        *whole, rest = (rest + chunk).split(b"\n")
        lines = [part for line in whole for part in _parts(line)]
        while len(rest) > LONGEST_LINE:
            lines.append(_text(rest[:LONGEST_LINE]))
            rest = rest[LONGEST_LINE:]
        for at in range(0, len(lines), MOST_LINES):
            yield lines[at : at + MOST_LINES]
        # What is printed meanwhile is one event, not hundreds.
        await asyncio.sleep(_BUNDLE_SECONDS)
    if rest:
        yield [_text(rest)]


def _parts(line: bytes) -> list[str]:
    return [_text(line[at : at + LONGEST_LINE]) for at in range(0, max(len(line), 1), LONGEST_LINE)]


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode("utf-8", "replace")
