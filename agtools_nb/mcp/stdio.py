"""The SDK's stdio transport, bounded: no message, and no log, of a server fills the memory."""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from agtools_nb.mcp.lines import MAX_BYTES, Dropped, Lines, answered_id
from agtools_nb.mcp.process import ServerProcess

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
    Outgoing = MemoryObjectSendStream[SessionMessage]

_WAITING = 256
_LAST_BYTES = 4096
_LAST_LINES = 5
_FLUSH_SECONDS = 0.5
_BROKEN = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)


class StdioTransport:
    """Starts a server and exchanges messages with it; a ``Transport`` of the SDK.

    Entered once, and left in the task that entered it.

    Args:
        command: The program and its arguments.
        env: Variables for it besides the few that every program needs.
        cwd: Where it runs.
        max_bytes: Most bytes of one message; the request that a longer one answers fails.

    Attributes:
        ended: Set when the server has closed its output, as it does when it ends.
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        cwd: str | os.PathLike[str] | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._command = command
        self._env = env
        self._cwd = cwd
        self._lines = Lines(max_bytes)
        self._process: ServerProcess | None = None
        self._group: TaskGroup | None = None
        self._last_words = b""
        self._strange: deque[bytes] = deque(maxlen=_LAST_LINES)
        self._ended_first = False
        self.ended = anyio.Event()

    async def __aenter__(self) -> tuple[Incoming, Outgoing]:
        self._process = await ServerProcess.start(self._command, self._env, self._cwd)
        # No await from here to the task group: a cancellation would leave the process alone.
        self._to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](
            0
        )
        # With room, so that what a caller sends as it leaves need not wait for a server that
        # does not read.
        outgoing, self._from_session = anyio.create_memory_object_stream[SessionMessage](_WAITING)
        self._streams = (self._to_session, incoming, outgoing, self._from_session)
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        self._written = anyio.Event()
        self._group.start_soon(self._read, self._process)
        self._group.start_soon(self._write, self._process)
        if self._process.stderr is not None:
            self._group.start_soon(self._listen, self._process.stderr)
        return incoming, outgoing

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        assert self._process is not None
        assert self._group is not None
        # Also when cancelled: every wait in here is bounded.
        self._ended_first = self.ended.is_set()
        with anyio.CancelScope(shield=True):
            self._streams[1].close()
            self._streams[2].close()
            with anyio.move_on_after(_FLUSH_SECONDS):
                await self._written.wait()
            await self._process.stop()
            for stream in self._streams:
                stream.close()
            await anyio.lowlevel.checkpoint()
        self._group.cancel_scope.cancel()
        return await self._group.__aexit__(kind, error, traceback)

    @property
    def ending(self) -> str:
        """How the server ended by itself; ``""`` if it did not, or that is not known."""
        code = None if self._process is None else self._process.returncode
        if code is None or not self._ended_first:
            return ""
        return f"it ended with exit code {code}" if code >= 0 else f"signal {-code} ended it"

    @property
    def last_words(self) -> str:
        """What it said last that was no message; its own words."""
        said = self._last_words or b"\n".join(self._strange)
        return said.decode("utf-8", "replace").strip()

    async def _read(self, process: ServerProcess) -> None:
        try:
            async with self._to_session:
                while True:
                    for line in self._lines.feed(await process.stdout.receive()):
                        message = self._message(line)
                        if message is not None:
                            await self._to_session.send(message)
        except _BROKEN:
            pass
        finally:
            self.ended.set()
            await _drain(process.stdout)

    def _message(self, line: bytes | Dropped) -> SessionMessage | None:
        """A line as a message; a failure of the request that it would answer; or nothing."""
        if isinstance(line, Dropped):
            return _failure(line.id, f"its answer was dropped: {line.why}")
        if not line.strip():
            return None
        try:
            return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            self._strange.append(line[:200])
            id_ = answered_id(line[:_LAST_BYTES], line[-_LAST_BYTES:])
            return _failure(id_, "its answer is not a message that can be read")

    async def _write(self, process: ServerProcess) -> None:
        try:
            async with self._from_session:
                async for item in self._from_session:
                    text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await process.stdin.send(f"{text}\n".encode("utf-8", "backslashreplace"))
        except _BROKEN:
            # The server may live and not read: the session must learn that nothing arrives.
            self._to_session.close()
            self.ended.set()
        finally:
            self._written.set()

    async def _listen(self, stderr: anyio.abc.ByteReceiveStream) -> None:
        with contextlib.suppress(*_BROKEN):
            while True:
                self._last_words = (self._last_words + await stderr.receive())[-_LAST_BYTES:]


def _failure(id_: bytes | None, message: str) -> SessionMessage | None:
    if id_ is None:
        return None
    import json

    error = types.ErrorData(code=types.INTERNAL_ERROR, message=message)
    return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=json.loads(id_), error=error))


async def _drain(stdout: anyio.abc.ByteReceiveStream) -> None:
    """Read on, or a server that still writes could never see that its input has ended."""
    with anyio.CancelScope(shield=True), contextlib.suppress(*_BROKEN):
        while True:
            await stdout.receive()
