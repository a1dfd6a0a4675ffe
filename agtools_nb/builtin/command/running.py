"""A program that runs, with all that it starts, until it is ended."""

from __future__ import annotations

import asyncio
import signal
from asyncio.subprocess import Process, SubprocessStreamProtocol
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from agtools_nb.builtin.command.groups import HAS_GROUPS, is_running, signal_group

GRACE_SECONDS = 2.0
"""What a program gets to put things in order, once it was asked to end."""

_LOOK_SECONDS = 0.02
_PIPE_BYTES = 65_536


class RunningProgram:
    """A program in a session and process group of its own. Made by :func:`start`.

    Where a system has no process groups (Windows), only the program itself is ended.

    Args:
        process: The program.
        exited: Set as soon as it has ended, also while others hold its pipes.
    """

    def __init__(self, process: Process, exited: asyncio.Event) -> None:
        self._process = process
        self._exited = exited
        assert process.stdout is not None
        assert process.stderr is not None
        self.stdout = process.stdout
        self.stderr = process.stderr

    @property
    def exit_code(self) -> int | None:
        """How it ended: below 0 by that signal; ``None`` if it has not."""
        return self._process.returncode

    async def wait(self) -> None:
        """Wait for its end. What it started may run on."""
        await self._exited.wait()

    @property
    def is_alive(self) -> bool:
        """Whether it, or anything in its process group, is there."""
        if not self._exited.is_set():
            return True
        return HAS_GROUPS and is_running(self._process.pid)

    async def end(self) -> None:
        """End it and its group: asked first, forced after two seconds.

        What made a session of its own is not in the group any more, and runs on.
        """
        try:
            if self.is_alive:
                self._signal(signal.SIGTERM)
                await self._gone(GRACE_SECONDS)
        finally:  # also when whoever waits for the end is stopped as well
            if self.is_alive:
                self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await self.wait()

    def let_go(self) -> None:
        """Close its pipes, which something that runs on may hold."""
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            transport.close()

    async def _gone(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while self.is_alive and loop.time() < until:  # noqa: ASYNC110 -- a group's end tells nobody
            await asyncio.sleep(_LOOK_SECONDS)

    def _signal(self, number: int) -> None:
        if HAS_GROUPS:
            signal_group(self._process.pid, number)
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


async def start(words: list[str], folder: Path, environment: Mapping[str, str]) -> RunningProgram:
    """Start a program, with nothing to read.

    Raises:
        OSError: It could not be started.
    """
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.subprocess_exec(
        lambda: _Protocol(loop),
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
        env=dict(environment),
        start_new_session=HAS_GROUPS,
    )
    return RunningProgram(Process(transport, protocol, loop), protocol.exited)
