"""One page, over every redirect that leads to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agtools_nb.builtin.url.addresses import AllowedAddresses, read_address
from agtools_nb.builtin.url.body import ENCODINGS, read_body
from agtools_nb.builtin.url.location import bad_url, check_url, read_url, shown
from agtools_nb.errors import ToolError, UsageError
from agtools_nb.jsonable import clean_text, shorten

if TYPE_CHECKING:
    import httpx2

MOST_REDIRECTS = 10

_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5",
    "Accept-Encoding": ENCODINGS,
    "User-Agent": "agtools_nb (reads a page for a person's agent)",
}


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a page may be and cost.

    Attributes:
        seconds: For everything together: names, connections, redirects, the body.
        most_bytes: Of the body, packed and unpacked.
        allowed: Which addresses may be connected to.
        hosts: Which hosts may be asked, also after a redirect; ``None`` is any.
        proxy: URL of a proxy that asks in our place; ``None`` is none.
    """

    seconds: float
    most_bytes: int
    allowed: AllowedAddresses
    hosts: tuple[str, ...] | None = None
    proxy: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """What a URL led to.

    Attributes:
        url: Where it is, after redirects.
        status: HTTP status.
        reason: What the status is called.
        content_type: Such as ``"text/html"``; ``""`` if the server does not say.
        charset: The character set that the server says; ``None`` if it does not.
        body: The bytes, unpacked.
        is_cut: Whether there are more.
        missing: Why there are more, if it was not our bound.
    """

    url: str
    status: int
    reason: str
    content_type: str
    charset: str | None
    body: bytes
    is_cut: bool
    missing: str = ""


async def fetch(text: str, bounds: Bounds) -> Page:
    """Get a page.

    Raises:
        ToolError: It may not be read, or was not got.
        UsageError: ``httpx2`` is not installed.
    """
    try:
        import httpcore2
        import httpx2
    except ImportError:
        raise UsageError("reading web pages needs httpx2: pip install 'agtools_nb[web]'") from None
    url = read_url(text)
    try:
        async with asyncio.timeout(bounds.seconds), _client(bounds) as client:
            return await _followed(client, client.build_request("GET", url), bounds)
    except TimeoutError as error:
        raise _too_slow(url, bounds.seconds) from error
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        raise _failed(url, error) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException) as error:
        raise _failed(url, error) from error


@asynccontextmanager
async def _client(bounds: Bounds) -> AsyncIterator[httpx2.AsyncClient]:
    """Something to ask with, that takes nothing from the environment."""
    import httpx2

    from agtools_nb.builtin.url.connecting import CheckedBackend, CheckedTransport

    transport: httpx2.AsyncBaseTransport
    if bounds.proxy is None:
        transport = CheckedTransport(CheckedBackend(bounds.allowed))
    else:
        transport = httpx2.AsyncHTTPTransport(proxy=bounds.proxy, trust_env=False)
    async with httpx2.AsyncClient(
        transport=transport, headers=_HEADERS, trust_env=False, follow_redirects=False, timeout=None
    ) as client:
        yield client


async def _followed(client: httpx2.AsyncClient, request: httpx2.Request, bounds: Bounds) -> Page:
    came_from: httpx2.URL | None = None
    for _ in range(MOST_REDIRECTS + 1):
        with _naming(came_from):
            check_url(request.url)
            _check_host(request.url, bounds)
            response = await client.send(request, stream=True)
        try:
            if response.next_request is None:
                _check_led_somewhere(response)
                return await _read(response, bounds)
            came_from = request.url
            request = response.next_request  # what a redirect says itself is not read
        finally:
            await response.aclose()
    raise ToolError(
        "too_many_redirects",
        f"{shown(request.url)!r} was not read: more than {MOST_REDIRECTS} redirects led there.",
        category="web",
    )


@contextmanager
def _naming(came_from: httpx2.URL | None) -> Iterator[None]:
    """Have what is refused say which URL redirected there: the reader asked for another one."""
    try:
        yield
    except ToolError as error:
        if came_from is None:
            raise
        raise ToolError(
            error.code,
            f"{error.message} {shown(came_from)!r} redirects there.",
            category=error.category,
            retryable=error.retryable,
            hint=error.hint,
        ) from error


def _check_led_somewhere(response: httpx2.Response) -> None:
    if response.has_redirect_location:
        raise bad_url(response.headers["Location"], "a redirect names it, and it cannot be read")


def _check_host(url: httpx2.URL, bounds: Bounds) -> None:
    """Refuse a host that is none of those allowed, and behind a proxy what is an address.

    Raises:
        ToolError: It is.
    """
    from agtools_nb.builtin.url.connecting import refused_host

    host = url.host.rstrip(".").lower()
    if bounds.hosts is not None and not any(_is_host(host, one) for one in bounds.hosts):
        raise ToolError(
            "host_not_allowed",
            f"{shown(url)!r} was not read: its host is none that this tool may ask.",
            category="web",
            hint=f"Hosts: {', '.join(bounds.hosts[:20])}.",
        )
    # Without a proxy, every address is checked when it is connected to.
    address = read_address(host) if bounds.proxy is not None else None
    if address is not None and not bounds.allowed.allow(address):
        raise refused_host(host)


def _is_host(host: str, allowed: str) -> bool:
    """Whether a host is the allowed one; ``.example.org`` is every host below it."""
    return host.endswith(allowed) if allowed.startswith(".") else host == allowed


async def _read(response: httpx2.Response, bounds: Bounds) -> Page:
    kind = response.headers.get("Content-Type", "")
    encoding = response.headers.get("Content-Encoding")
    body = await read_body(response.aiter_raw(), encoding, bounds.most_bytes)
    return Page(
        str(response.url.copy_with(fragment=None)),
        response.status_code,
        clean_text(shorten(response.reason_phrase, 80)),
        kind.partition(";")[0].strip().lower(),
        response.charset_encoding,
        body.data,
        body.is_cut,
        body.missing,
    )


def checked_hosts(hosts: Iterable[str] | None) -> tuple[str, ...] | None:
    """The hosts as given, in small letters.

    Raises:
        UsageError: One of them is no host.
    """
    if hosts is None:
        return None
    if isinstance(hosts, str):
        raise UsageError(f"hosts={hosts!r} is one text; write hosts=[{hosts!r}]")
    found = tuple(str(host).strip().rstrip(".").lower() for host in hosts)
    for host in found:
        if not host or any(letter in host for letter in "/*?#@ ") or "://" in host:
            raise UsageError(
                f"hosts: {host!r} is no host; write 'example.org', or '.example.org' for every "
                "host below it"
            )
    return found


def _too_slow(url: object, seconds: float) -> ToolError:
    return ToolError(
        "timeout",
        f"{shown(url)!r} was not read: it did not come within {seconds:g} s.",
        category="web",
        retryable=True,
    )


def _failed(url: object, error: Exception) -> ToolError:
    words = clean_text(shorten(str(error) or type(error).__name__, 200))
    return ToolError(
        "not_reached", f"{shown(url)!r} was not read: {words}.", category="web", retryable=True
    )
