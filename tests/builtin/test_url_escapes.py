"""Ways into the network that ``read_url_content`` runs in, each tried and stopped.

Behind most of them a server listens, on every address of this machine, that must not be reached;
and every connection that is so much as begun is written down.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import pytest
from builtin.web_server import Answer, answer, redirect, web_server
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb import ToolRunner
from agtools_nb.builtin.url import read_url_content_tool
from agtools_nb.builtin.url.addresses import (
    AllowedAddresses,
    embedded,
    is_public,
    read_address,
)

SECRET = "what nobody outside may read"
OWN = "127.0.0.5"  # the one address that may be asked here

# What a name's server says, the first time and from then on.
NAMES: dict[str, list[list[str]]] = {
    "loopback.test": [["127.0.0.1"]],
    "loopback6.test": [["::1"]],
    "intranet.test": [["10.1.2.3"]],
    "metadata.test": [["169.254.169.254"]],
    "mixed.test": [["93.184.215.14", "127.0.0.1"]],
    "mixed6.test": [["2606:2800:21f:cb07:6820:80da:af6b:8b2c", "::1"]],
    "mapped.test": [["::ffff:127.0.0.1"]],
    "nat64.test": [["64:ff9b::7f00:1"]],
    "zone.test": [["fe80::1%lo"]],
    "zero.test": [["0.0.0.0"]],
    "xn--bcher-kva.test": [["127.0.0.1"]],
    "rebinding.test": [[OWN], ["127.0.0.1"]],
}

# Each is led to the canary, but for what cannot name a port.
ESCAPES = [
    # this machine, and how else it can be written
    "http://127.0.0.1:{port}/",
    "http://127.0.0.2:{port}/",
    "http://127.255.255.254:{port}/",
    "http://localhost:{port}/",
    "http://LOCALHOST:{port}/",
    "http://localhost.:{port}/",
    "http://127.1:{port}/",
    "http://127.0.1:{port}/",
    "http://2130706433:{port}/",
    "http://017700000001:{port}/",
    "http://0x7f000001:{port}/",
    "http://0x7f.0.0.1:{port}/",
    "http://0177.0.0.1:{port}/",
    "http://0x7f.1:{port}/",
    "http://127.0.0.1.:{port}/",
    "http://%31%32%37.0.0.1:{port}/",
    "http://127。0。0。1:{port}/",
    "http://１２７.０.０.１:{port}/",
    "http://①②⑦.⓪.⓪.①:{port}/",
    "http://0.0.0.0:{port}/",
    "http://0:{port}/",
    "http://[::1]:{port}/",
    "http://[0:0:0:0:0:0:0:1]:{port}/",
    "http://[::]:{port}/",
    "http://[::ffff:127.0.0.1]:{port}/",
    "http://[::ffff:7f00:1]:{port}/",
    "http://[0:0:0:0:0:ffff:127.0.0.1]:{port}/",
    "http://[::127.0.0.1]:{port}/",
    "http://[64:ff9b::127.0.0.1]:{port}/",
    "http://[64:ff9b:1::7f00:1]:{port}/",
    "http://[2002:7f00:1::]:{port}/",
    "http://[fe80::5efe:127.0.0.1]:{port}/",
    "http://[fe80::1%25lo]:{port}/",
    "http://[::1%25lo]:{port}/",
    # private networks, link-local, clouds' own services
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://2852039166/",
    "http://0xA9FEA9FE/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://100.64.0.1/",
    "http://100.100.100.200/",
    "http://192.0.0.192/",
    "http://168.63.129.16/",
    "http://[fc00::1]/",
    "http://[fe80::1]/",
    "http://[fec0::1]/",
    # reserved, for many at once, for nobody
    "http://198.18.0.1/",
    "http://192.0.2.1/",
    "http://203.0.113.1/",
    "http://224.0.0.1/",
    "http://239.255.255.250/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://[ff02::1]/",
    "http://[ff0e::1]/",
    "http://[2001:db8::1]/",
    "http://[100::1]/",
    # names that lead there
    "http://loopback.test:{port}/",
    "http://LoopBack.TEST:{port}/",
    "http://loopback6.test:{port}/",
    "http://intranet.test/",
    "http://metadata.test/",
    "http://mixed.test:{port}/",
    "http://mixed6.test:{port}/",
    "http://mapped.test:{port}/",
    "http://nat64.test:{port}/",
    "http://zone.test:{port}/",
    "http://zero.test:{port}/",
    "http://bücher.test:{port}/",
    # what programs read in different ways
    "http://user@127.0.0.1:{port}/",
    "http://user:password@example.org/",
    "http://example.org@127.0.0.1:{port}/",
    "http://example.org:80@127.0.0.1:{port}/",
    "http://example.org:80%40127.0.0.1:{port}/",
    "http://@127.0.0.1:{port}/",
    "http://example.org#@127.0.0.1:{port}/../x\n",
    "http://127.0.0.1:{port}\\@example.org/",
    "http:\\\\127.0.0.1:{port}/",
    "http://example.org\\.127.0.0.1:{port}/",
    "http://example.org\t@127.0.0.1:{port}/",
    "http://127.0.0.1:{port}/\r\nHost: example.org",
    "http://127.0.0.1 :{port}/",
    "http://127.0.0.1\0.example.org:{port}/",
    "http://[::1:{port}/",
    "http://127.0.0.1:{port}:80/",
    "http://127.0.0.1:999999/",
    "http://:{port}/",
    "http:///127.0.0.1:{port}/",
    "//127.0.0.1:{port}/",
    "http:127.0.0.1:{port}/",
    "127.0.0.1:{port}",
    "\u200bhttp://127.0.0.1:{port}/",
    # other ways of asking
    "file:///etc/passwd",
    "file://127.0.0.1/etc/passwd",
    "ftp://127.0.0.1:{port}/",
    "gopher://127.0.0.1:{port}/_GET",
    "dict://127.0.0.1:{port}/info",
    "ws://127.0.0.1:{port}/",
    "data:text/html,words",
    "javascript:alert(1)",
    "jar:http://127.0.0.1:{port}/!/",
    "unix:///var/run/docker.sock",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/info",
    "HTTPS://127.0.0.1:{port}/",
    "https://[::1]:{port}/",
    "",
    " ",
    "http://" + "a" * 9_000 + "/",
]

# These lead to the server that may be asked if it says them itself: they name no other host.
_RELATIVE = {
    "",
    " ",
    "//127.0.0.1:{port}/",
    "127.0.0.1:{port}",
    "http:127.0.0.1:{port}/",
    "http://:{port}/",
    "http:///127.0.0.1:{port}/",
    "\u200bhttp://127.0.0.1:{port}/",
}
# A header cannot hold them.
_NOT_IN_A_HEADER = ("\n", "\r", "\0")


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a connection was begun to; and names are known from ``NAMES``."""
    found: list[str] = []
    asked: dict[str, int] = {}
    real_lookup = socket.getaddrinfo
    real_connect = asyncio.SelectorEventLoop.sock_connect

    def look_up(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else str(host)
        if name.lower() not in NAMES:
            return real_lookup(host, port, *args, **kwargs)
        answers = NAMES[name.lower()]
        times = asked[name] = asked.get(name, 0) + 1
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (one, port, 0, 0))
            if ":" in one
            else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port))
            for one in answers[min(times, len(answers)) - 1]
        ]

    async def connect(loop: Any, sock: Any, address: Any) -> None:
        found.append(address[0])
        await real_connect(loop, sock, address)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(asyncio.SelectorEventLoop, "sock_connect", connect)
    return found


def canary_hosts() -> tuple[str, ...]:
    """Every address of this machine that a server can listen on."""
    hosts = ("0.0.0.0",)
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return (*hosts, "::1")
    except OSError:
        return hosts


async def tried(make: Callable[[int], list[str]], allowed: list[str]) -> tuple[list[Any], int]:
    """The results of reading these URLs, and how often the canary was reached."""
    runner = ToolRunner([read_url_content_tool(allowed_networks=allowed, seconds=20)])
    async with web_server({"/": answer(SECRET, "text/plain")}, canary_hosts()) as canary:
        calls = [("read_url_content", {"url": url}) for url in make(canary.port)]
        return await runner.process_tool_calls(calls), canary.connections


def test_no_url_leads_inside(begun: list[str], figure: Any) -> None:
    async def main() -> tuple[list[Any], int]:
        return await tried(lambda port: [url.format(port=port) for url in ESCAPES], [])

    results, reached = asyncio.run(main())
    assert len(results) == len(ESCAPES) >= 100
    out = [
        (url, result)
        for url, result in zip(ESCAPES, results, strict=True)
        if result.ok or SECRET in str(result.error)
    ]
    assert out == []
    assert begun == []
    assert reached == 0
    figure("URL escapes tried", len(results))
    figure("URL escapes that got out", len(out) + reached)


def test_no_redirect_leads_inside(begun: list[str], figure: Any) -> None:
    """A page that may be read sends the reader on."""
    targets = [
        url
        for url in ESCAPES
        if url not in _RELATIVE and not any(one in url for one in _NOT_IN_A_HEADER)
    ]

    async def main() -> tuple[list[Any], int]:
        routes: dict[str, Answer] = {}
        async with web_server(routes, (OWN,)) as server:

            def urls(port: int) -> list[str]:
                for at, url in enumerate(targets):
                    routes[f"/{at}"] = redirect(url.format(port=port))
                return [server.url(f"/{at}", OWN) for at in range(len(targets))]

            results, reached = await tried(urls, [OWN])
            assert server.connections == len(targets)
            return results, reached

    results, reached = asyncio.run(main())
    out = [
        (url, result)
        for url, result in zip(targets, results, strict=True)
        if result.ok or SECRET in str(result.error)
    ]
    assert out == []
    assert set(begun) == {OWN}
    assert reached == 0
    figure("redirects inside tried", len(results))
    figure("redirects inside that got there", len(out) + reached)


def test_a_name_that_changes_its_mind_is_asked_once(begun: list[str]) -> None:
    """The first answer may be asked, the second is this machine."""

    async def main() -> None:
        runner = ToolRunner([read_url_content_tool(allowed_networks=[OWN])])
        async with web_server({"/": answer("<p>outside</p>")}, (OWN,)) as server:
            url = server.url("/", "rebinding.test")
            found = await runner.execute("read_url_content", url=url)
            assert found["text"] == "outside"
            assert "Host: rebinding.test" in server.requests[0]
            assert begun == [OWN]
            (again,) = await runner.process_tool_calls([("read_url_content", {"url": url})])
            assert "address of the public" in (again.error or "")
            assert begun == [OWN]

    asyncio.run(main())


def test_what_is_refused_says_nothing_of_the_network(begun: list[str]) -> None:
    async def main() -> list[str]:
        results, _ = await tried(
            lambda port: ["http://intranet.test/", "http://127.0.0.1:1/", f"http://[::1]:{port}/"],
            [],
        )
        return [str(result.error) for result in results]

    errors = asyncio.run(main())
    assert all("not, or not only, an address of the public internet" in error for error in errors)
    assert "10.1.2.3" not in errors[0]


# -- addresses ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["8.8.8.8", "1.1.1.1", "93.184.215.14", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8",
     "64:ff9b::8.8.8.8", "172.32.0.1", "100.128.0.1", "198.20.0.1"],
)  # fmt: skip
def test_the_open_internet_may_be_asked(text: str) -> None:
    address = read_address(text)
    assert address is not None
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_judged_alike_however_it_is_wrapped(address: Any) -> None:
    number = int(address)
    mapped = read_address(f"::ffff:{address}")
    translated = read_address(f"64:ff9b::{address}")
    assert mapped is not None
    assert translated is not None
    assert embedded(mapped) == embedded(translated) == address
    assert is_public(mapped) == is_public(translated) == is_public(address)
    six_to_four = read_address(f"2002:{number >> 16:x}:{number & 0xFFFF:x}::1")
    assert six_to_four is not None
    assert embedded(six_to_four) == address
    assert is_public(address) or not is_public(six_to_four)
    for inside in ("::{}", "fe80::5efe:{}", "2001:0:1::{}"):
        wrapped = read_address(inside.format(address))
        assert wrapped is not None
        assert not is_public(wrapped)


@given(st.ip_addresses(network="10.0.0.0/8") | st.ip_addresses(network="fd00::/8"))
def test_what_was_allowed_may_be_asked_and_nothing_beside_it(address: Any) -> None:
    assert AllowedAddresses([str(address)]).allow(address)
    assert not AllowedAddresses().allow(address)
    assert not AllowedAddresses(["10.0.0.0/32", "fd00::/128"]).allow(address) or int(address) in (
        int(read_address("10.0.0.0") or 0),
        int(read_address("fd00::") or 0),
    )
