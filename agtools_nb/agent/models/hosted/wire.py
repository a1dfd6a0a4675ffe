"""The transport under pydantic-ai's clients: it holds the key, asks again, and records.

The clients above it are made with :data:`PLACEHOLDER` for a key. The key itself is read from the
environment for each request and stands only in the request that goes out, so that no client,
exception, log or record can show it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import httpx2

from agtools_nb.agent.models.hosted.record import Hiding, Record
from agtools_nb.agent.models.hosted.retry import Patience
from agtools_nb.agent.models.hosted.services import KEY_HEADERS, Service, key_of
from agtools_nb.errors import ModelError

PLACEHOLDER = "the-key-is-put-in-when-the-request-goes-out"

LONGEST_ANSWER = 64_000_000
"""Bytes of one answer; a server that never stops is left there."""

LONGEST_REFUSAL = 256_000
"""Bytes of an error's body that are read."""

CONNECT_SECONDS = 15.0

LAST_BYTES_SECONDS = 0.1
"""How long the end of a body is waited for once the answer in it is complete."""

_OWN_HEADERS = frozenset(
    ("accept", "content-type", "user-agent", "anthropic-version", "anthropic-beta")
)

_log = logging.getLogger("agtools_nb")


@dataclass(frozen=True, slots=True)
class Access:
    """How a server is reached.

    Attributes:
        service: Whose API it speaks.
        variables: Environment variables that hold its key; none: it wants no key.
        is_own: Whether the server is the user's own, so that headers which the environment sets
            for the provider (organization, project, custom ones) do not go there.
        seconds: Longest silence.
    """

    service: Service
    variables: tuple[str, ...]
    is_own: bool
    seconds: float


class Wire(httpx2.AsyncBaseTransport):
    """Sends the requests of one model.

    Args:
        access: How the server is reached.
        name: What people call the model.
        tries: How often a request that is refused for now is sent again.

    Attributes:
        record: Where the request under way is recorded.
    """

    def __init__(self, access: Access, name: str, tries: int) -> None:
        self._access = access
        self._name = name
        self._tries = tries
        self.record: Record | None = None
        self._streams: list[_Following] = []

    @property
    def seconds(self) -> float:
        """Longest silence, in seconds."""
        return self._access.seconds

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request, again if it was refused for now, until there is an answer to give."""
        record = self.record
        if record is None:
            raise ModelError("a request went out that nobody asked for")
        body = await request.aread()
        patience = Patience(self._tries, record.notes)
        while True:
            hiding = Hiding(key_of(self._access.service, self._access.variables))
            record.sent(request.method, str(request.url), hiding(body, last=True))
            response = await self._send(request, body)
            headers = _kept(response, hiding)
            record.answered(response.status_code, headers.get("content-type", ""))
            if response.is_success:
                stream = _Following(response, hiding, record)
                self._streams.append(stream)
                return httpx2.Response(response.status_code, headers=headers, stream=stream)
            refusal = await _read(response, hiding)
            record.failed(refusal)
            wait = patience.seconds(response.status_code, response.headers, refusal)
            if wait is None:
                return httpx2.Response(response.status_code, headers=headers, content=refusal)
            _log.warning("%s: %s", self._name, record.notes[-1])
            await asyncio.sleep(wait + random.uniform(0, wait / 10))  # noqa: S311

    async def _send(self, request: httpx2.Request, body: bytes) -> httpx2.Response:
        client = await client_of_loop()
        seconds = self._access.seconds
        timeout = httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds))
        outgoing = httpx2.Request(
            request.method,
            request.url,
            headers=self._headers(request.headers),
            content=body,
            extensions={"timeout": timeout.as_dict()},
        )
        return await client.send(outgoing, stream=True)

    def _headers(self, given: Mapping[str, str]) -> dict[str, str]:
        access = self._access
        headers = {
            name: value
            for name, value in given.items()
            if name.lower() in _OWN_HEADERS
            or not (access.is_own or name.lower() in (*KEY_HEADERS, "host", "content-length"))
        }
        headers["accept-encoding"] = "identity"  # what streams is passed on as it comes
        key = key_of(access.service, access.variables)
        if key is not None:
            is_bearer = access.service.header == "authorization"
            headers[access.service.header] = f"Bearer {key}" if is_bearer else key
        return headers

    async def end(self) -> None:
        """Close what is still open: not every SDK closes an answer that is left early."""
        self.record = None
        while self._streams:
            await self._streams.pop().aclose()

    def __repr__(self) -> str:
        return f"<Wire of {self._name}>"


class _Following(httpx2.AsyncByteStream):
    """An answer that is recorded while it passes."""

    def __init__(self, response: httpx2.Response, hiding: Hiding, record: Record) -> None:
        self._response = response
        self._pieces = response.aiter_bytes()
        self._hiding = hiding
        self._record = record

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for piece in self._pieces:
            length += len(piece)
            if length > LONGEST_ANSWER:
                raise httpx2.ReadError(f"the answer has more than {LONGEST_ANSWER:,} bytes")
            shown = self._hiding(piece)
            self._record.came(shown)
            if shown:
                yield shown
        rest = self._hiding(b"", last=True)
        self._record.came(rest, last=True)
        if rest:
            yield rest

    async def aclose(self) -> None:
        if self._record.is_complete:
            # An SDK stops at the last event. What ends the body is about to come, and with it
            # read the connection can be used again.
            with contextlib.suppress(TimeoutError, httpx2.HTTPError, httpx2.StreamError):
                async with asyncio.timeout(LAST_BYTES_SECONDS):
                    async for _ in self._pieces:
                        pass
        await self._response.aclose()


def _kept(response: httpx2.Response, hiding: Hiding) -> dict[str, str]:
    """The headers that still hold once the body was read and decoded."""
    gone = ("content-encoding", "content-length", "transfer-encoding", "set-cookie")
    return {
        name: hiding.text(value)
        for name, value in response.headers.items()
        if name.lower() not in gone
    }


async def _read(response: httpx2.Response, hiding: Hiding) -> bytes:
    """The first of a refusal's body."""
    found = b""
    try:
        async for piece in response.aiter_bytes():
            found += piece
            if len(found) >= LONGEST_REFUSAL:
                break
    except httpx2.TransportError:
        pass  # its status says enough
    finally:
        await response.aclose()
    return hiding(found[:LONGEST_REFUSAL], last=True)


# -- connections ---------------------------------------------------------------------------------

_CLIENTS: WeakKeyDictionary[
    asyncio.AbstractEventLoop, tuple[httpx2.AsyncClient, AsyncGenerator[None, None]]
] = WeakKeyDictionary()


async def client_of_loop() -> httpx2.AsyncClient:
    """The client of the running loop: connections belong to a loop, and are used again.

    It is closed when ``asyncio.run`` ends, which ends the asynchronous generators of its loop.
    """
    loop = asyncio.get_running_loop()
    if loop not in _CLIENTS:
        # In a thread: it reads all certificates.
        made = await asyncio.to_thread(httpx2.AsyncClient, follow_redirects=False)
        if loop not in _CLIENTS:
            keeper = _kept_open(loop, made)
            _CLIENTS[loop] = made, keeper
            await anext(keeper)
    return _CLIENTS[loop][0]


async def _kept_open(
    loop: asyncio.AbstractEventLoop, client: httpx2.AsyncClient
) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        _CLIENTS.pop(loop, None)
        await client.aclose()


async def close_connections() -> None:
    """Close the connections that the running loop keeps for the next request."""
    found = _CLIENTS.get(asyncio.get_running_loop())
    if found is not None:
        with contextlib.suppress(RuntimeError):  # it is being closed
            await found[1].aclose()
