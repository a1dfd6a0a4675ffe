"""One live connection to a server, kept open by a task of its own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, TypeVar

from mcp import MCPError
from mcp.client import Client
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_REQUEST,
    Implementation,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from agtools_nb._version import __version__
from agtools_nb.mcp.text import misfit

if TYPE_CHECKING:
    from mcp.client.session import IncomingMessage

T = TypeVar("T")

_CLEANUP_SECONDS = 10.0
_EPITAPH_SECONDS = 2.0
_CANCEL_SECONDS = 0.2
_DEATH_SECONDS = 0.2


class LostError(Exception):
    """The connection ended while something was under way."""

    def __init__(self) -> None:
        super().__init__("it ended, or closed the connection")


class Connection:
    """Keeps the SDK's client open; made on the loop that it lives on.

    The client must be entered and left in one task, and cells of a notebook are several.

    Args:
        transport: Makes what the client speaks through.
        changed: Told that the server says its tools have changed.
    """

    def __init__(
        self,
        transport: Callable[[], AbstractAsyncContextManager[Any]],
        changed: Callable[[], None],
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self._transport = transport()
        self._changed = changed
        self._client: Client | None = None
        self._failure: BaseException | None = None
        self._open = asyncio.Event()
        self._leave = asyncio.Event()
        self._orphans: set[asyncio.Task[Any]] = set()
        self._owner = asyncio.create_task(self._own(), name="MCP connection")

    async def opened(self, seconds: float) -> None:
        """Wait until the server has answered.

        Raises:
            TimeoutError: It did not in that time, and was left.
            BaseException: What kept it from being reached.
        """
        waiting = asyncio.create_task(self._open.wait())
        try:
            await asyncio.wait(
                {waiting, self._owner}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
        except asyncio.CancelledError:
            await self.close()
            raise
        finally:
            waiting.cancel()
        if self.is_open:
            return
        is_late = not self._owner.done()
        await self.close()
        if is_late:
            raise TimeoutError
        raise self._failure or LostError()

    @property
    def is_open(self) -> bool:
        """Whether it can be used, as far as is known."""
        return self._client is not None and not self._leave.is_set() and not self._owner.done()

    @property
    def client(self) -> Client:
        """The SDK's client.

        Raises:
            LostError: The connection has ended.
        """
        if self._client is None:
            raise LostError
        return self._client

    async def close(self) -> None:
        """Leave the server, and wait until its process is gone."""
        self._leave.set()
        if self._client is None:
            self._owner.cancel()
        await asyncio.wait({self._owner}, timeout=_CLEANUP_SECONDS)

    async def run(self, work: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        """Do something with the client, from any loop.

        Raises:
            LostError: The connection ended meanwhile.
            MCPError: The server answered with an error.
        """
        if asyncio.get_running_loop() is self.loop:
            return await self._run(work)
        far = asyncio.run_coroutine_threadsafe(self._run(work), self.loop)
        return await asyncio.wrap_future(far)

    @property
    def last_words(self) -> str:
        """What the server said last that was no message; its own words."""
        return getattr(self._transport, "last_words", "")

    async def epitaph(self) -> tuple[str, str]:
        """How it ended, and what the server said last, as far as that is known."""
        self._leave.set()
        await asyncio.wait({self._owner}, timeout=_EPITAPH_SECONDS)
        how: str = getattr(self._transport, "ending", "")
        if not how and self._failure is not None:
            how = failure_text(self._failure)
        return how, self.last_words

    async def _run(self, work: Callable[[Client], Coroutine[Any, Any, T]]) -> T:
        task = asyncio.create_task(work(self.client), name="MCP request")
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            # It tells the server, which is bounded; who waits here is not held up by that.
            task.cancel()
            self._keep(task)
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({task}, timeout=_CANCEL_SECONDS)
            raise
        try:
            return task.result()
        except asyncio.CancelledError:
            raise LostError from None
        except MCPError as error:
            if await self._has_ended(error):
                raise LostError from error
            raise
        except _BROKEN as error:
            self._leave.set()
            raise LostError from error

    async def _has_ended(self, error: MCPError) -> bool:
        """Whether an error says that the connection is gone; a server may send the same code."""
        if error.code == INVALID_REQUEST and error.message == "Session terminated":
            self._leave.set()
            return True
        if error.code != CONNECTION_CLOSED:
            return False
        await asyncio.wait({self._owner}, timeout=_DEATH_SECONDS)
        ended = getattr(self._transport, "ended", None)
        if self._owner.done() or (ended is not None and ended.is_set()):
            self._leave.set()
            return True
        return False

    def _keep(self, task: asyncio.Task[Any]) -> None:
        self._orphans.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._orphans.discard(task)
        if not task.cancelled():
            task.exception()  # looked at: nobody else will

    async def _own(self) -> None:
        """Enter the client, wait, leave it."""
        quieten()
        helpers: list[asyncio.Task[Any]] = []
        client = Client(
            self._transport,
            cache=None,
            message_handler=self._noted,
            client_info=Implementation(name="agtools_nb", version=__version__),
        )
        try:
            async with client:
                self._client = client
                self._open.set()
                ended = getattr(self._transport, "ended", None)
                if ended is not None:
                    helpers.append(asyncio.create_task(self._leave_after(ended)))
                if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                    helpers.append(asyncio.create_task(self._follow(client)))
                await self._leave.wait()
                await _ended(helpers)
        except BaseException as error:
            self._failure = error
            if isinstance(error, asyncio.CancelledError):
                raise
        finally:
            for helper in helpers:
                helper.cancel()  # those that are left, if the connection broke
            self._client = None
            self._leave.set()

    async def _leave_after(self, ended: Any) -> None:
        await ended.wait()
        self._leave.set()

    async def _noted(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._changed()

    async def _follow(self, client: Client) -> None:
        """Since 2026, a client is told of changes only if it asks to be."""
        with contextlib.suppress(Exception):  # a server need not offer it
            async with client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._changed()


async def _ended(helpers: list[asyncio.Task[Any]]) -> None:
    for helper in helpers:
        helper.cancel()
    if helpers:
        await asyncio.wait(helpers, timeout=_CANCEL_SECONDS)


def failure_text(error: BaseException) -> str:
    """The first cause inside of groups of exceptions, in a line."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    if isinstance(error, ValidationError):
        return misfit(error)
    if isinstance(error, LostError):
        return str(error)
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def quieten() -> None:
    """Keep the SDK from printing to standard error what any server can make it log.

    Who sets up logging still gets it all.
    """
    for name in ("mcp", "client"):
        logger = logging.getLogger(name)
        if not any(isinstance(handler, logging.NullHandler) for handler in logger.handlers):
            logger.addHandler(logging.NullHandler())


def _broken() -> tuple[type[BaseException], ...]:
    import anyio
    import httpx2

    return (anyio.ClosedResourceError, anyio.BrokenResourceError, httpx2.TransportError, OSError)


_BROKEN = _broken()
