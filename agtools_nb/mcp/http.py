"""The SDK's streamable HTTP transport with a client whose answers are bounded."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from agtools_nb.mcp.lines import MAX_BYTES, MAX_OBJECTS

_SECONDS = 30.0


class TooLargeError(httpx2.StreamError):
    """An answer that is not read to its end. The SDK makes it that request's failure."""


def http_transport(
    url: str, headers: Mapping[str, str], max_bytes: int = MAX_BYTES
) -> AbstractAsyncContextManager[Any]:
    """Connect to a server by streamable HTTP.

    Redirects are followed within the address's origin only, so that headers go nowhere else.

    Args:
        url: The server's address.
        headers: Sent with each request.
        max_bytes: Most bytes of one message; the request that a longer one answers fails.
    """

    @asynccontextmanager
    async def opened() -> AsyncIterator[Any]:
        async def bounded(response: httpx2.Response) -> None:
            response.stream = _Bounded(response, max_bytes)

        # No limit for reading: a call may take long, and has a timeout of its own. Compressed
        # answers are not asked for, since a small one can become anything.
        client = httpx2.AsyncClient(
            headers={**headers, "Accept-Encoding": "identity"},
            timeout=httpx2.Timeout(_SECONDS, read=None),
            event_hooks={"response": [bounded]},
        )
        async with (
            client,
            streamable_http_client(
                url, http_client=client, max_sse_event_size=max_bytes
            ) as streams,
        ):
            yield streams

    return opened()


class _Bounded(httpx2.AsyncByteStream):
    """The body of an answer, up to what is allowed for one message."""

    def __init__(self, response: httpx2.Response, max_bytes: int) -> None:
        self._inner = response.stream
        self._max_bytes = max_bytes
        kind = response.headers.get("content-type", "").lower()
        self._is_events = kind.startswith("text/event-stream")
        self._encoding = response.headers.get("content-encoding", "identity")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._encoding.strip().lower() not in ("", "identity"):
            raise TooLargeError("the answer is compressed, which was not asked for")
        size = objects = 0
        assert isinstance(self._inner, httpx2.AsyncByteStream)
        async for chunk in self._inner:
            # The transport counts the bytes of events, each of which is a message.
            start = _last_event(chunk) if self._is_events else -1
            if start >= 0:
                size = objects = 0
            size += len(chunk) - max(start, 0)
            objects += chunk.count(b"{", max(start, 0))
            if size > self._max_bytes and not self._is_events:
                raise TooLargeError(f"the answer has more than {self._max_bytes:,} bytes")
            if objects > MAX_OBJECTS:
                raise TooLargeError(f"the answer has more than {MAX_OBJECTS:,} objects")
            yield chunk

    async def aclose(self) -> None:
        assert isinstance(self._inner, httpx2.AsyncByteStream)
        await self._inner.aclose()


def _last_event(chunk: bytes) -> int:
    """Where the last event begins that begins in a chunk; -1 if none does."""
    return max(chunk.rfind(b"\n\n"), chunk.rfind(b"\r\n\r\n"))
