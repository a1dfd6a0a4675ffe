"""``MCPServer``: the tools of an MCP server."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self

from agtools_nb.context import ToolContext
from agtools_nb.define import Tool
from agtools_nb.errors import ServerError, UsageError
from agtools_nb.mcp import failures
from agtools_nb.mcp.address import Address
from agtools_nb.mcp.catalog import Catalog
from agtools_nb.mcp.link import Link
from agtools_nb.mcp.names import checked_server_name, in_company
from agtools_nb.mcp.sdk import require_sdk
from agtools_nb.mcp.text import cleaned, one_line, quoted

if TYPE_CHECKING:
    from mcp.client import Client
    from mcp_types import CallToolResult

    from agtools_nb.mcp.connection import Connection

Watcher = Callable[["MCPServer"], object]

_log = logging.getLogger("agtools_nb")
_INSTRUCTIONS = 20_000
_REFRESH_SECONDS = 0.5
_LOG = 4_096


class MCPServer:
    """A server of the Model Context Protocol, and its tools.

    ::

        files = MCPServer("files", command=["uvx", "mcp-server-files", "data"])
        async with files:
            runner = ToolRunner(files.tools(), policies=[ask_user("files/*", handler)])

    Whatever a server says is bounded, stays text, and is not trusted. Its tools are called
    with arguments that were coerced and checked against the server's own schema. If it ends
    while a call runs, that call is an error that says so, and the next call starts it, or
    connects to it, once more.

    Args:
        name: What it is called: in rules (``"files/read"``), on cards and in messages.
        command: Started for the time of the connection: the program and its arguments. It
            speaks the protocol on its standard input and output.
        url: Where a server runs that is spoken to by streamable HTTP.
        env: Variables for ``command``. Besides these it gets only what every program needs
            (``PATH``, ``HOME``, ``USER``, ...), none of your other variables.
        cwd: The folder that ``command`` runs in. Default: the current one.
        headers: Sent with each request to ``url``, such as ``Authorization``. They are never
            shown or saved, and sent to that address only.
        prefix: Register every tool as ``<server>_<tool>``. Default ``False``: only those whose
            names are taken.
        timeout: Most seconds a call may take, unless the call or runner says otherwise.
            Default 300; ``None``: no limit.
        connect_timeout: Most seconds until it has answered, and again until its tools are
            listed. Default 30.
        trust_annotations: Believe the server about which of its tools only read. Default
            ``True``. A tool that is not said to read, or to add only, is ``guarded``: a runner
            takes it only together with policies.
        max_bytes: Most bytes of one message of the server; a call whose result is longer is an
            error. Default 16 MiB.

    Raises:
        UsageError: Not exactly one of ``command`` and ``url`` is given, or one of the others is
            none.
    """

    def __init__(
        self,
        name: str,
        *,
        command: Sequence[str] | None = None,
        url: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        headers: Mapping[str, str] | None = None,
        prefix: bool = False,
        timeout: float | None = 300.0,
        connect_timeout: float = 30.0,
        trust_annotations: bool = True,
        max_bytes: int = 16 * 1024 * 1024,
    ) -> None:
        self.name = checked_server_name(name)
        self._address = Address.of(self.name, command, url, env, cwd, headers, max_bytes)
        for option, seconds in (("timeout", timeout), ("connect_timeout", connect_timeout)):
            _check_above_0(self.name, option, seconds)
        _check_above_0(self.name, "max_bytes", max_bytes)
        self._prefix = prefix
        self._seconds = connect_timeout
        self._link = Link(self.name, self._address, connect_timeout, self._list, self._changed)
        self._refreshing: asyncio.Task[None] | None = None
        self._is_stale = False
        self._catalog = Catalog(self, timeout, trust_annotations)
        self._instructions = ""
        self._watchers: list[Watcher] = []

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection, as far as is known."""
        return self._link.is_open

    @property
    def instructions(self) -> str:
        """What the server says on how to use it; ``""`` if nothing. Not to be trusted."""
        return self._instructions

    @property
    def log(self) -> str:
        """What a started server said last on its standard error, up to 4 KiB."""
        connection = self._link.connection
        words = "" if connection is None else connection.last_words
        return self._address.scrubbed(cleaned(words, _LOG))

    @property
    def left_out(self) -> Mapping[str, str]:
        """Tools that cannot be used here, and why, by the names the server has for them."""
        return dict(self._catalog.left_out)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was remarked on: tools under another name, or changed; the last 200 remarks."""
        return tuple(self._catalog.notes)

    async def connect(self) -> Self:
        """Start the server or connect to it, and list its tools. If it is connected, do nothing.

        Raises:
            UsageError: The SDK is not installed.
            ServerError: It could not be reached, or did not answer as a server does.
        """
        require_sdk()
        await self._link.connected()
        news, self._catalog.news = self._catalog.news, []
        try:
            for text in news:
                warnings.warn(f"MCP server {self.name!r}: {text}", UserWarning, stacklevel=2)
        except UserWarning:  # where warnings are errors, nobody would close it
            await self.close()
            raise
        return self

    async def close(self) -> None:
        """Leave the server; one that was started is ended. To do it twice does nothing."""
        if self._refreshing is not None:
            self._refreshing.cancel()
        self._catalog.tools = None
        await self._link.close()

    async def __aenter__(self) -> Self:
        return await self.connect()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def tools(self, taken: Iterable[str] = ()) -> list[Tool]:
        """Return its tools, in its order.

        Args:
            taken: Names that others have, such as ``runner.tool_names``. A tool whose name is
                among them, or looks like one of them, is registered with the server's name
                before its own, and a warning says so. Without this, a runner refuses the
                second tool of a name.

        Raises:
            UsageError: It is not connected.
        """
        if self._catalog.tools is None:
            raise UsageError(
                f"the MCP server {self.name!r} is not connected: write 'async with server:' or "
                "'await server.connect()' first"
            )
        names = {raw: tool.name for raw, tool in self._catalog.tools.items()}
        given = in_company(names, taken, self.name, prefix=self._prefix)
        found: list[Tool] = []
        for raw, tool in self._catalog.tools.items():
            if given[raw] == tool.name:
                found.append(tool)
                continue
            found.append(tool.renamed(given[raw]))
            if not self._prefix:
                warnings.warn(
                    f"the tool {quoted(raw)} of the MCP server {self.name!r} is registered as "
                    f"{given[raw]!r}: the name {tool.name!r} is taken, or looks like one that is",
                    UserWarning,
                    stacklevel=2,
                )
        return found

    async def refresh(self) -> list[Tool]:
        """List the tools anew, and return them; a server that says they changed has that done.

        Raises:
            ServerError: It does not answer.
        """
        connection = await self._link.connected()
        try:
            await self._list(connection)
        except Exception as error:
            raise await self._link.unreachable(connection, error) from None
        self._tell()
        return self.tools()

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Call ``watcher(server)`` each time its tools have been listed anew.

        Returns:
            What ends that.
        """
        self._watchers.append(watcher)

        def unwatch() -> None:
            with contextlib.suppress(ValueError):
                self._watchers.remove(watcher)

        return unwatch

    async def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        context: ToolContext | None = None,
        has_schema: bool = False,
    ) -> Any:
        """Call a tool by the name that the server has for it; what its tools do when called.

        Args:
            tool: The server's own name of it.
            arguments: What is sent, as it is.
            context: Told of the call's progress. The server is asked for progress only if
                somebody follows that.
            has_schema: Whether the tool says what its structured results are like.

        Raises:
            ToolError: The tool failed, the server refused the call, or it is gone.
        """
        from mcp import MCPError

        from agtools_nb.mcp.connection import LostError
        from agtools_nb.mcp.requests import called
        from agtools_nb.mcp.results import value_of

        connection = await self._connection_for_call()

        async def work(client: Client) -> CallToolResult:
            return await called(client, tool, arguments, context)

        try:
            result = await connection.run(work)
        except LostError:
            end = await connection.epitaph()
            raise failures.gone(self.name, self._address, tool, end) from None
        except MCPError as error:
            raise failures.refused(self.name, error.code, error.message) from None
        return value_of(result, server=self.name, tool=tool, has_schema=has_schema)

    def __repr__(self) -> str:
        state = "connected" if self.is_connected else "not connected"
        number = None if self._catalog.tools is None else len(self._catalog.tools)
        count = "" if number is None else f", {number} tool{'' if number == 1 else 's'}"
        return f"<MCPServer {self.name!r} {self._address}: {state}{count}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an MCPServer cannot be pickled: it may hold keys, and a connection")

    async def _connection_for_call(self) -> Connection:
        if self._catalog.tools is None and self._link.connection is None:
            raise failures.not_connected(self.name)
        try:
            return await self._link.connected()
        except ServerError as error:
            raise failures.down(error) from None

    async def _list(self, connection: Connection) -> None:
        """List the tools, and make ours of them."""
        from agtools_nb.mcp.listing import listed

        listing = await connection.run(lambda client: listed(client, self._seconds))
        self._instructions = cleaned(await connection.run(_instructions), _INSTRUCTIONS)
        self._catalog.take(listing)

    def _changed(self) -> None:
        """The server says that its tools have changed; it may say so a thousand times."""
        self._is_stale = True
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._follow(), name=f"refresh {self.name}")

    async def _follow(self) -> None:
        while self._is_stale and self._link.connection is not None and self._link.is_open:
            self._is_stale = False
            try:
                await self._list(self._link.connection)
            except Exception as error:
                self._catalog.note(f"its tools could not be listed anew: {one_line(str(error))}")
            else:
                self._tell()
            await asyncio.sleep(_REFRESH_SECONDS)

    def _tell(self) -> None:
        for watcher in list(self._watchers):
            try:
                watcher(self)
            except Exception:
                _log.exception("a watcher of the MCP server %r raised", self.name)


async def _instructions(client: Client) -> str:
    return client.instructions or ""


def _check_above_0(server: str, option: str, value: Any) -> None:
    if value is None and option == "timeout":
        return
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 < value < math.inf:
        raise UsageError(f"MCPServer({server!r}): {option}={value!r} must be a number above 0")
