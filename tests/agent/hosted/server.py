"""A server on this machine that speaks the providers' protocols as a test tells it to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

DROP = object()
"""In a stream: the connection ends here, without the end of the body."""


@dataclass
class Answer:
    """One answer.

    ``events`` is a stream of server-sent events: bytes as they are, anything else as JSON data;
    a number waits so many seconds, an ``asyncio.Event`` until it is set, ``DROP`` hangs up.
    """

    events: Iterable[Any] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None


@dataclass
class Asked:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)


class Server:
    """Gives its answers in order, and keeps what it was asked."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self._answers = list(answers)
        self.asked: list[Asked] = []
        self.connections = 0
        self.url = ""

    @property
    def last(self) -> Any:
        """The body of the last request."""
        return self.asked[-1].body

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        method, path, _ = first.split(" ")
        headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        asked = Asked(method, path, headers, json.loads(body) if body else None)
        self.asked.append(asked)
        assert self._answers, f"asked once more than there are answers: {path}"
        return await self._give(self._answers.pop(0), asked, reader, writer)

    async def _give(
        self, answer: Answer, asked: Asked, reader: asyncio.StreamReader, writer: Any
    ) -> bool:
        if answer.body is not None:
            body = (
                answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            )
            headers = {"content-type": "application/json", **answer.headers}
            headers["content-length"] = str(len(body))
            writer.write(head(answer.status, headers) + body)
            await writer.drain()
            return True
        headers = {"content-type": "text/event-stream", **answer.headers}
        writer.write(head(answer.status, {**headers, "transfer-encoding": "chunked"}))
        for event in answer.events:
            if event is DROP:
                return False
            if isinstance(event, (int, float)):
                await asyncio.sleep(event)
            elif isinstance(event, asyncio.Event):
                waits = asyncio.ensure_future(event.wait())
                gone = asyncio.ensure_future(reader.read(1))
                await asyncio.wait({waits, gone}, return_when=asyncio.FIRST_COMPLETED)
                waits.cancel()
                if gone.done():
                    gone.exception()  # a reset is as good as an end
                    asked.hung_up.set()
                    return False
                gone.cancel()
                await asyncio.wait({gone})
            else:
                piece = event if isinstance(event, bytes) else sse(event)
                writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


def head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Said", *(f"{k}: {v}" for k, v in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def sse(data: Any) -> bytes:
    """One event; with a ``type`` also named, as Anthropic and OpenAI's Responses do."""
    kind = data.get("type") if isinstance(data, dict) else None
    named = f"event: {kind}\n" if kind else ""
    return f"{named}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


@asynccontextmanager
async def serving(*answers: Answer, port: int = 0) -> AsyncIterator[Server]:
    """A server with these answers on the loopback interface, on a free port by default."""
    server = Server(answers)
    listening = await asyncio.start_server(server.handle, "127.0.0.1", port)
    port = listening.sockets[0].getsockname()[1]
    server.url = f"http://127.0.0.1:{port}"
    try:
        yield server
    finally:
        listening.close()
        tasks = [t for t in asyncio.all_tasks() if "Server.handle" in repr(t.get_coro())]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
