"""A server's process: started in a group of its own, and ended with everything it started."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from mcp.client.stdio import get_default_environment
from mcp.os.win32.utilities import (
    close_process_job,
    create_windows_process,
    get_windows_executable_command,
    terminate_windows_process_tree,
)

if TYPE_CHECKING:
    from anyio.abc import ByteReceiveStream, ByteSendStream

GRACE_SECONDS = 1.0
"""How long a server has to end by itself once its input is closed, and again once told to."""

_POLL_SECONDS = 0.01
_running: set[int] = set()


class ServerProcess:
    """A running server.

    Args:
        process: What the operating system started.

    Attributes:
        stdin: Where it is written to.
        stdout: What it answers.
        stderr: What it says besides; ``None`` where that is not kept.
    """

    def __init__(self, process: Any) -> None:
        self._process = process
        self.stdin: ByteSendStream = process.stdin
        self.stdout: ByteReceiveStream = process.stdout
        self.stderr: ByteReceiveStream | None = getattr(process, "stderr", None)

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        env: Mapping[str, str],
        cwd: str | os.PathLike[str] | None,
    ) -> ServerProcess:
        """Start a server.

        Args:
            command: The program and its arguments.
            env: Variables besides the few that every program needs (``PATH``, ``HOME``, ...).
                It gets no others: a key of yours is no business of a server's.
            cwd: Where it runs. Default: here.

        Raises:
            OSError: It could not be started.
            ValueError: There is a NUL in what it was to be given.
        """
        variables = {**get_default_environment(), **env}
        folder = None if cwd is None else Path(cwd)
        if sys.platform == "win32":
            program = get_windows_executable_command(command[0])
            with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: ASYNC230, PTH123
                made = await create_windows_process(
                    program, list(command[1:]), variables, nowhere, folder
                )
            return cls(made)
        process = await anyio.open_process(
            list(command),
            env=variables,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        _kill_at_exit(process.pid)
        return cls(process)

    @property
    def returncode(self) -> int | None:
        """What it ended with; ``None`` while it runs."""
        code: int | None = self._process.returncode
        return code

    async def stop(self) -> None:
        """End it: close its input, then ask its group to end, then kill that. Bounded in time."""
        await _closed(self.stdin)
        if not await self._ended(GRACE_SECONDS):
            await self._end_group()
        else:
            self._signal(signal.SIGTERM)  # what it started may still be there
        await _closed(self.stdout)
        if self.stderr is not None:
            await _closed(self.stderr)
        _close_transport(self._process)
        _running.discard(self._process.pid)

    async def _end_group(self) -> None:
        if sys.platform == "win32":
            await terminate_windows_process_tree(self._process)
            close_process_job(self._process)
            return
        self._signal(signal.SIGTERM)
        if not await self._ended(GRACE_SECONDS):
            self._signal(signal.SIGKILL)
            await self._ended(GRACE_SECONDS)

    async def _ended(self, seconds: float) -> bool:
        # Not wait(): on asyncio that also waits for the pipes, which a child may hold open.
        with anyio.move_on_after(seconds):
            while self.returncode is None:  # noqa: ASYNC110 -- nothing tells of it
                await anyio.sleep(_POLL_SECONDS)
        return self.returncode is not None

    def _signal(self, number: int) -> None:
        if sys.platform != "win32":
            _signal_group(self._process.pid, number)


def _signal_group(pid: int, number: int) -> None:
    """Signal a process group, if it is still there. Its id is that of the process it began with."""
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, number)


async def _closed(stream: Any) -> None:
    with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await stream.aclose()


def _close_transport(process: Any) -> None:
    """Close what asyncio keeps of a process, which would warn while a child holds a pipe."""
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    close = getattr(transport, "close", None)
    if callable(close):
        with contextlib.suppress(PermissionError):
            close()


def _kill_at_exit(pid: int) -> None:
    """A kernel that ends without closing its servers leaves none behind."""
    if not _running:
        atexit.unregister(_kill_all)
        atexit.register(_kill_all, os.getpid())
    _running.add(pid)


def _kill_all(of: int) -> None:
    if os.getpid() != of:
        return  # a fork: the servers are its parent's
    for pid in list(_running):
        _signal_group(pid, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
    _running.clear()
