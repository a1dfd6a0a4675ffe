"""A real HTTP server on this machine, that answers with whatever bytes a test wants."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


def answer(
    body: bytes | str = b"",
    kind: str = "text/html; charset=utf-8",
    status: str = "200 OK",
    **headers: str,
) -> bytes:
    """A whole response. Headers are written with ``_`` for ``-``."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(data)}", "Connection: close"]
    if kind:
        lines.append(f"Content-Type: {kind}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def redirect(to: str, status: str = "302 Found") -> bytes:
    """A redirect."""
    return answer("gone elsewhere", status=status, Location=to)


@dataclass
class WebServer:
    """What a test knows of its server.

    Attributes:
        port: Where it listens.
        requests: The heads of the requests that came.
        connections: How many connections there were.
    """

    port: int = 0
    requests: list[str] = field(default_factory=list)
    connections: int = 0

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"


@asynccontextmanager
async def web_server(
    routes: Mapping[str, Answer], hosts: tuple[str, ...] = ("127.0.0.1",)
) -> AsyncIterator[WebServer]:
    """Serve answers by path, on the same port of each of these addresses."""
    told = WebServer()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())  # type: ignore[arg-type]
        told.connections += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            told.requests.append(head)
            path = head.split(" ")[1].partition("?")[0]
            found = routes.get(path, answer("no such page", "text/plain", "404 Not Found"))
            if isinstance(found, bytes):
                writer.write(found)
                await writer.drain()
            else:
                await found(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    servers = []
    try:
        for host in hosts:
            servers.append(await asyncio.start_server(serve, host, told.port))
            told.port = servers[0].sockets[0].getsockname()[1]
        yield told
    finally:
        for server in servers:
            server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
