"""At most one connection to a server, made when it is needed, and again after it was lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from agtools_nb.errors import ServerError
from agtools_nb.mcp import failures
from agtools_nb.mcp.address import Address

if TYPE_CHECKING:
    from agtools_nb.mcp.connection import Connection


class Link:
    """Connects to a server, once for all who ask at the same time.

    Args:
        server: The server's name.
        address: Where it is.
        seconds: Most seconds until it has answered.
        prepare: Awaited with each new connection, before that is used.
        changed: Told that the server says its tools have changed.

    Attributes:
        connection: The last connection, also if it was lost; ``None`` before the first one
            and after :meth:`close`.
    """

    def __init__(
        self,
        server: str,
        address: Address,
        seconds: float,
        prepare: Callable[[Connection], Awaitable[None]],
        changed: Callable[[], None],
    ) -> None:
        self._server = server
        self._address = address
        self._seconds = seconds
        self._prepare = prepare
        self._changed = changed
        self._opening: asyncio.Task[Connection] | None = None
        self.connection: Connection | None = None

    @property
    def is_open(self) -> bool:
        """Whether there is a connection, as far as is known."""
        connection = self.connection
        return connection is not None and connection.is_open and not connection.loop.is_closed()

    async def connected(self) -> Connection:
        """The connection that there is, or a new one.

        Raises:
            ServerError: The server could not be reached, or did not answer as one does.
        """
        if self.is_open and self.connection is not None:
            return self.connection
        opening = self._opening
        loop = asyncio.get_running_loop()
        if opening is None or opening.done() or opening.get_loop() is not loop:
            opening = self._opening = asyncio.create_task(self._open(), name=f"open {self._server}")
        # One who stops waiting must not end it for the others.
        return await asyncio.shield(opening)

    async def close(self) -> None:
        """End the connection, also one that is being made, from any loop."""
        opening, self._opening = self._opening, None
        loop = asyncio.get_running_loop()
        if opening is not None and opening.get_loop() is loop:
            opening.cancel()
            await asyncio.wait({opening})
        elif opening is not None and opening.get_loop().is_running():
            opening.get_loop().call_soon_threadsafe(opening.cancel)
        connection, self.connection = self.connection, None
        if connection is None or connection.loop.is_closed():
            return
        if connection.loop is loop:
            await connection.close()
        elif connection.loop.is_running():
            far = asyncio.run_coroutine_threadsafe(connection.close(), connection.loop)
            await asyncio.wrap_future(far)

    async def unreachable(self, connection: Connection, error: Exception) -> ServerError:
        """What is said of a server that failed so."""
        from agtools_nb.mcp.connection import failure_text

        why = failure_text(error)
        if isinstance(error, TimeoutError):
            why = f"it did not answer within {self._seconds:g} s"
        end = await connection.epitaph()
        return failures.unreachable(self._server, self._address, why, end)

    async def _open(self) -> Connection:
        from agtools_nb.mcp.connection import Connection

        connection = Connection(self._address.transport, self._changed)
        try:
            await connection.opened(self._seconds)
            await self._prepare(connection)
        except asyncio.CancelledError:
            await connection.close()
            raise
        except Exception as error:
            failure = await self.unreachable(connection, error)
            await connection.close()
            raise failure from None
        self.connection = connection
        return connection
