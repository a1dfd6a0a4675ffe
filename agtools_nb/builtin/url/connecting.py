"""Connections to checked addresses only.

A name is looked up once, every address that it has is checked, and the connection is made to
one of those very addresses, not to the name: another answer of the name's server a moment
later leads nowhere else.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from functools import cache
from types import TracebackType
from typing import Any, Self

import httpcore2
import httpx2

from agtools_nb.builtin.url.addresses import Address, AllowedAddresses, read_address
from agtools_nb.errors import ToolError
from agtools_nb.jsonable import clean_text, shorten

CONNECT_SECONDS = 10.0
"""How long one address is tried."""

MOST_ADDRESSES = 4
"""Addresses of a name that are tried, one after another."""


class CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Opens connections, to allowed addresses only.

    Args:
        allowed: Which those are.
    """

    def __init__(self, allowed: AllowedAddresses) -> None:
        self._allowed = allowed
        self._backend = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 -- httpcore2's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to a host by one of its addresses.

        Raises:
            ToolError: It has an address that is not allowed, or none.
        """
        addresses = await self._looked_up(host, port)
        seconds = CONNECT_SECONDS if timeout is None else min(timeout, CONNECT_SECONDS)
        failure: Exception | None = None
        for address in addresses[:MOST_ADDRESSES]:
            try:
                stream = await self._backend.connect_tcp(
                    str(address), port, seconds, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
                continue
            await self._check_peer(stream, host)
            return stream
        assert failure is not None
        raise failure

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 -- httpcore2's signature
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Refuse: no URL leads to a socket of this machine.

        Raises:
            ToolError: Always.
        """
        raise refused_host("a socket of this machine")

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def _looked_up(self, host: str, port: int) -> list[Address]:
        """The addresses of a host, each allowed.

        One that is not allowed spoils all: who mixes them has something in mind.
        """
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise unknown_host(host) from error
        addresses: list[Address] = []
        for *_, place in found:
            address = read_address(str(place[0]))
            if address is None or not self._allowed.allow(address):
                raise refused_host(host)
            if address not in addresses:
                addresses.append(address)
        if not addresses:
            raise unknown_host(host)
        return addresses

    async def _check_peer(self, stream: httpcore2.AsyncNetworkStream, host: str) -> None:
        """Look once more at whom the connection is with."""
        peer: Any = stream.get_extra_info("server_addr")
        address = read_address(str(peer[0])) if peer else None
        if address is None or not self._allowed.allow(address):
            await stream.aclose()
            raise refused_host(host)


class CheckedTransport(httpx2.AsyncBaseTransport):
    """What an ``httpx2.AsyncClient`` sends its requests through.

    Args:
        backend: Opens the connections.
    """

    def __init__(self, backend: CheckedBackend) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=_certificates(),
            network_backend=backend,
            max_keepalive_connections=0,
        )

    async def __aenter__(self) -> Self:
        await self._pool.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        await self._pool.__aexit__(kind, error, traceback)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and return its response, the body still to come."""
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        url = request.url
        response = await self._pool.handle_async_request(
            httpcore2.Request(
                request.method,
                httpcore2.URL(
                    scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                ),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        assert isinstance(response.stream, AsyncIterable)
        return httpx2.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response.stream),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close every connection."""
        await self._pool.aclose()


@cache
def _certificates() -> ssl.SSLContext:
    """The system's certificates, read once: that takes a while."""
    return httpx2.create_ssl_context(trust_env=False)


class _Body(httpx2.AsyncByteStream):
    def __init__(self, stream: AsyncIterable[bytes]) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield part

    async def aclose(self) -> None:
        close = getattr(self._stream, "aclose", None)
        if close is not None:
            await close()


def refused_host(host: str) -> ToolError:
    """The host is none of the open internet. Says nothing of the addresses it has."""
    return ToolError(
        "address_not_allowed",
        f"{_shown(host)!r} was not read: it is not, or not only, an address of the public "
        "internet, and this tool reads nothing else.",
        category="web",
        hint="Only the author of this tool can allow it: allowed_networks=['...'].",
    )


def unknown_host(host: str) -> ToolError:
    """Nobody knows where the host is."""
    return ToolError(
        "unknown_host",
        f"{_shown(host)!r} has no address: there is no such host, or names cannot be looked up "
        "here.",
        category="web",
        retryable=True,
        hint="Check how it is written.",
    )


def _shown(host: str) -> str:
    return clean_text(shorten(str(host), 100))
