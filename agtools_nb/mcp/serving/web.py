"""An MCP server on a port: for this machine only, or for who has the token."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import uvicorn

from agtools_nb.errors import UsageError

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

PATH = "/mcp"
SHORTEST_TOKEN = 16
_END_SECONDS = 3.0
_POLL_SECONDS = 0.02


async def serve_http(
    server: Server[Any],
    host: str,
    port: int,
    token: str | None,
    ready: Callable[[str], object] | None,
) -> None:
    """Serve by streamable HTTP until cancelled.

    Args:
        server: The SDK's server.
        host: The address that is listened on.
        port: The port; 0 is one that is free.
        token: What clients must send, as ``Authorization: Bearer <token>``; ``None``: nothing.
        ready: Told the server's address once it answers.

    Raises:
        UsageError: Others could reach it, and there is no token; or the port is taken.
    """
    check_access(host, token)
    # For this machine's own names the SDK refuses what a web page could send here.
    app: Any = server.streamable_http_app(host=host, streamable_http_path=PATH)
    listener = _bound(host, port)
    config = uvicorn.Config(
        app if token is None else _Guarded(app, token),
        log_level="warning",
        lifespan="on",
        timeout_graceful_shutdown=1,
    )
    web = _Web(config)
    serving = asyncio.ensure_future(web.serve(sockets=[listener]))
    try:
        while not (web.started or serving.done()):  # noqa: ASYNC110 -- it tells nobody
            await asyncio.sleep(_POLL_SECONDS)
        if ready is not None and not serving.done():
            ready(_address(host, listener.getsockname()[1]))
        await asyncio.shield(serving)
    finally:
        web.should_exit = True
        _, late = await asyncio.wait({serving}, timeout=_END_SECONDS)
        for task in late:
            task.cancel()
        listener.close()


def check_access(host: str, token: str | None) -> None:
    """Refuse to let everybody on the network call tools.

    Raises:
        UsageError: ``host`` is not this machine alone, and there is no token; or that is short.
    """
    if token is not None and (len(token) < SHORTEST_TOKEN or not token.isascii()):
        raise UsageError(
            f"token= has to be at least {SHORTEST_TOKEN} ASCII characters: "
            "secrets.token_urlsafe() makes one"
        )
    if token is None and not _is_this_machine(host):
        raise UsageError(
            f"host={host!r} lets others on the network call these tools: give token=..., which "
            "they must send, or serve on 127.0.0.1"
        )


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(
            f"nothing can be served at {host}:{port} ({error}); port=0 takes a free port"
        ) from None
    return listener


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"


class _Web(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals of the process, which may be a kernel, alone."""
        yield


class _Guarded:
    """Lets through what has the token."""

    def __init__(self, app: Any, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and not self._is_known(scope):
            headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 401, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        await self._app(scope, receive, send)

    def _is_known(self, scope: Any) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], self._expected)
