"""A program that runs, with all that it starts, until it is ended."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from asyncio.subprocess import Process, SubprocessStreamProtocol
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from agtools_nb.builtin.command.sessions import HAS_GROUPS, MARK, is_running, signal_session

GRACE_SECONDS = 2.0
"""What a program gets to put things in order, once it was asked to end."""

STOPPED_SECONDS = 0.7
"""The same where somebody stopped the call: a batch waits a second for its members."""

_LOOK_SECONDS = 0.03
_PIPE_BYTES = 65_536
_KILL: int = getattr(signal, "SIGKILL", signal.SIGTERM)


class RunningProgram:
    """A program in a session of its own. Made by :func:`start`.

    Where a system has no process groups (Windows), only the program itself is ended.

    Args:
        process: The program.
        exited: Set as soon as it has ended, also while others hold its pipes.
        mark: What it and all that it starts have in their environment.

    Attributes:
        stdout: What it prints.
        stderr: Its errors; ``None`` if they are in ``stdout``.
    """

    def __init__(self, process: Process, exited: asyncio.Event, mark: str = "") -> None:
        self._process = process
        self._mark = mark
        self._exited = exited
        self._is_over = False
        assert process.stdout is not None
        self.stdout = process.stdout
        self.stderr = process.stderr

    @property
    def pid(self) -> int:
        """Its number, and that of its session."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How it ended: below 0 by that signal; ``None`` if it has not."""
        return self._process.returncode

    async def wait(self) -> None:
        """Wait for its end. What it started may run on."""
        await self._exited.wait()

    @property
    def is_alive(self) -> bool:
        """Whether it, or anything that it started, runs."""
        if not self._exited.is_set():
            return True
        # Nobody is there to start another one, and to look costs milliseconds.
        if not self._is_over:
            self._is_over = not (HAS_GROUPS and is_running(self._process.pid, self._mark))
        return not self._is_over

    async def end(self, seconds: float = GRACE_SECONDS) -> None:
        """End it and all that it started: asked first, then forced.

        What made a session of its own and cleared its environment is not known, and runs on.
        So does what became another user's; :attr:`is_alive` then stays true if it is known.

        Args:
            seconds: How long it may take if it was asked. Default 2.
        """
        try:
            if self.is_alive:
                self._signal(signal.SIGTERM)
                await self._gone(seconds)
        finally:  # also when whoever waits for the end is stopped as well
            if self.is_alive:
                self._signal(_KILL)
        await self._gone(STOPPED_SECONDS, _KILL)  # even a killed one takes a moment

    def let_go(self) -> None:
        """Close its pipes, which something that runs on may hold."""
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            transport.close()

    async def _gone(self, seconds: float, number: int | None = None) -> None:
        """Wait until all are gone, and signal whoever was started just now."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while self.is_alive and loop.time() < until:
            await asyncio.sleep(_LOOK_SECONDS)
            if number is not None and self.is_alive:
                self._signal(number)

    def _signal(self, number: int) -> None:
        if HAS_GROUPS:
            signal_session(self._process.pid, number, self._mark)
        else:
            with suppress(ProcessLookupError):
                self._process.terminate()


class _Protocol(SubprocessStreamProtocol):
    """Tells of the end at once: ``Process.wait`` may wait for the pipes as well."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(limit=_PIPE_BYTES, loop=loop)
        self.exited = asyncio.Event()

    def process_exited(self) -> None:
        """Note that it ended."""
        super().process_exited()
        self.exited.set()


async def start(
    words: list[str],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    *,
    is_merged: bool = False,
) -> RunningProgram:
    """Start a program, with nothing to read.

    Args:
        words: The program and its arguments.
        folder: Where it runs.
        environment: All of its variables. Default: those of this process.
        is_merged: Whether its errors come among what it prints. Default ``False``.

    Raises:
        OSError: It could not be started.
    """
    loop = asyncio.get_running_loop()
    mark = secrets.token_hex(16)
    transport, protocol = await loop.subprocess_exec(
        lambda: _Protocol(loop),
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT if is_merged else asyncio.subprocess.PIPE,
        cwd=folder,
        env={**(os.environ if environment is None else environment), MARK: mark},
        start_new_session=HAS_GROUPS,
    )
    return RunningProgram(Process(transport, protocol, loop), protocol.exited, mark)
