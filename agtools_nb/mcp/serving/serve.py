"""``serve``: these tools as an MCP server."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any, Literal

from agtools_nb.errors import UsageError
from agtools_nb.mcp.sdk import require_sdk
from agtools_nb.mcp.serving.offered import Offered, runner_of

Transport = Literal["stdio", "http"]


async def serve(
    tools: Any,
    transport: Transport = "stdio",
    *,
    name: str = "agtools_nb",
    instructions: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    token: str | None = None,
    ready: Callable[[str], object] | None = None,
) -> None:
    """Serve tools by the Model Context Protocol, until cancelled or, by stdio, until left.

    Calls go the runner's way: arguments are coerced and checked, and its rules hold. All
    clients share its state. Whoever asks for progress is told of it. Subscriptions are not
    offered, and a ``dispatched`` tool is waited for: a client has no inbox.

    In a notebook::

        serving = asyncio.create_task(serve(tk, "http", port=0, ready=print))
        serving.cancel()

    Args:
        tools: A :class:`Toolkit`, a :class:`ToolRunner` or a list of tools. What is registered
            later is served, too.
        transport: ``"stdio"``: on this process's standard input and output, as
            ``python -m agtools_nb serve module:toolkit`` does. ``"http"``: streamable HTTP.
        name: What the server is called.
        instructions: What clients are told on how to use the tools.
        host: Where HTTP is served. Default: on this machine only.
        port: Its port; 0 is one that is free. Default 8000.
        token: What HTTP clients must send, as ``Authorization: Bearer <token>``. Default:
            nothing; needed where others than this machine can connect.
        ready: Told the address once HTTP is served.

    Raises:
        UsageError: The SDK is not installed, ``tools`` holds none, there is no such transport,
            or it cannot be served there.
    """
    require_sdk()
    offered = Offered(runner_of(tools))
    if offered.left_out:
        warnings.warn(
            f"not served: {', '.join(offered.left_out)}: subscriptions have values that come "
            "later, and MCP clients have no inbox",
            UserWarning,
            stacklevel=2,
        )
    from agtools_nb.mcp.serving.handlers import server_of

    server = server_of(offered, name, instructions)
    if transport == "http":
        from agtools_nb.mcp.serving.web import serve_http

        await serve_http(server, host, port, token, ready)
    elif transport == "stdio":
        await _serve_stdio(server)
    else:
        raise UsageError(f"transport={transport!r} must be 'stdio' or 'http'")


async def _serve_stdio(server: Any) -> None:
    if not hasattr(sys.stdin, "buffer") or not hasattr(sys.stdout, "buffer"):
        raise UsageError(
            "stdio belongs to a process of its own: python -m agtools_nb serve module:toolkit. "
            "Here, serve(..., 'http', port=0, ready=print) works"
        )
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
