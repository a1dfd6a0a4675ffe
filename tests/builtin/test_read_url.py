"""``read_url_content``: pages of a real server, and what becomes of them."""

from __future__ import annotations

import asyncio
import gzip
import importlib.util
import ssl
import sys
import time
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builtin.web_server import Answer, WebServer, answer, redirect, web_server

from agtools_nb import ToolResult, ToolRunner, UsageError
from agtools_nb.builtin.url import read_url_content_tool
from agtools_nb.builtin.url import readable as readable_module
from agtools_nb.builtin.url.body import Inflater
from agtools_nb.builtin.url.charset import decoded
from agtools_nb.builtin.url.connecting import _certificates

ARTICLE = """<!doctype html><html><head><title>Tea &amp; cake</title><script>alert(1)</script>
<style>p {}</style></head><body><nav><a href="/a">Menu</a></nav><main><h1>Tea</h1>
<p>Leaves in <a href="https://example.org/w">hot water</a>.</p><ul><li>Green</li></ul>
<table><tr><th>A</th></tr><tr><td>1</td></tr></table>
<p hidden>unseen words</p><p style="display:none">more unseen words</p></main></body></html>"""
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


def read(routes: Mapping[str, Answer], path: str = "/", **options: Any) -> ToolResult:
    """Read a page of a server that has these routes."""
    return read_all(routes, [path], **options)[0]


def read_all(routes: Mapping[str, Answer], paths: list[str], **options: Any) -> list[ToolResult]:
    async def main() -> list[ToolResult]:
        given = {"allowed_networks": ["127.0.0.1"], **options}
        runner = ToolRunner([read_url_content_tool(**given)])
        async with web_server(routes) as server:
            calls = [("read_url_content", {"url": server.url(path)}) for path in paths]
            return await runner.process_tool_calls(calls)

    return asyncio.run(main())


def test_an_html_page_comes_as_markdown_without_what_nobody_reads() -> None:
    result = read({"/": answer(ARTICLE)}, "/#part")
    assert result.ok, result.error
    found = result.result
    assert found["title"] == "Tea & cake"
    assert found["content_type"] == "text/html"
    assert found["url"].endswith("/")
    assert "# Tea" in found["text"]
    assert "[hot water](https://example.org/w)" in found["text"]
    assert "- Green" in found["text"]
    assert "| A |" in found["text"]
    for word in ("alert", "Menu", "unseen", "p {}"):
        assert word not in found["text"]
    assert "note" not in found


def test_a_page_that_is_nothing_but_a_menu_is_shown_all_the_same() -> None:
    result = read({"/": answer("<nav><a href='/a'>Only this</a></nav>")})
    assert "Only this" in result.result["text"]


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        ("application/json", '{"a": 1}', '{"a": 1}'),
        ("application/ld+json; charset=utf-8", '{"a": 1}', '{"a": 1}'),
        ("text/csv", "a,b\n1,2", "a,b\n1,2"),
        ("text/x-python", "<b>1</b>", "<b>1</b>"),
        ("image/svg+xml", "<svg/>", None),
        ("", "just text", "just text"),
        ("application/octet-stream", "just text", "just text"),
        ("", "<p>a page</p>", "a page"),
    ],
)
def test_other_text_comes_as_it_is(kind: str, body: str, text: str | None) -> None:
    result = read({"/": answer(body, kind)})
    if text is None:
        assert result.result["image"].mime_type == kind
    else:
        assert result.result["text"] == text


def test_images_are_media_by_their_bytes() -> None:
    for kind in ("image/png", "image/jpeg", "text/html", ""):
        result = read({"/": answer(PNG, kind)})
        assert [media.mime_type for media in result.media] == ["image/png"]
        assert result.media[0].data == PNG
    big = read({"/": answer(PNG * 10, "image/png")}, max_bytes=100)
    assert "an image of more than 100 bytes" in (big.error or "")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/pdf", b"%PDF-1.7 words"),
        ("application/zip", b"PK\x03\x04"),
        ("text/html", b"a\0b"),
        ("", b"\0\1\2"),
        ("image/png", b"<html>no image</html>"),
        ("video/mp4", b"words"),
    ],
)
def test_what_is_neither_text_nor_image_is_said_to_be_so(kind: str, body: bytes) -> None:
    result = read({"/": answer(body, kind)})
    assert result.status == "error"
    assert "neither text nor an image" in (result.error or "")


def test_long_text_comes_in_parts_and_says_so() -> None:
    text = "".join(f"{n:05}" for n in range(100))

    async def main() -> None:
        tool = read_url_content_tool(allowed_networks=["127.0.0.1"], max_characters=200)
        runner = ToolRunner([tool])
        async with web_server({"/": answer(text, "text/plain")}) as server:
            parts, offset = [], 0
            while True:
                found = await runner.execute("read_url_content", url=server.url(), offset=offset)
                parts.append(found["text"])
                if "note" not in found:
                    break
                offset += 200
                assert found["note"].endswith(f"of 500; offset={offset} goes on.")
            assert "".join(parts) == text
            (beyond,) = await runner.process_tool_calls(
                [("read_url_content", {"url": server.url(), "offset": 500})]
            )
            assert "has 500 characters; offset=500 is behind its end" in (beyond.error or "")

    asyncio.run(main())


def test_a_page_longer_than_may_be_read_is_cut_and_says_so() -> None:
    result = read({"/": answer("word " * 1_000, "text/plain")}, max_bytes=1_000)
    assert len(result.result["text"]) == 1_000
    assert "only its first 1,000 bytes were read" in result.result["note"]


# -- packed pages ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("GZIP", lambda data: gzip.compress(data[:5]) + gzip.compress(data[5:])),
        ("deflate", zlib.compress),
        ("deflate", lambda data: zlib.compress(data)[2:-4]),
        ("identity", bytes),
    ],
)
def test_packed_pages_are_unpacked(encoding: str, pack: Any) -> None:
    result = read({"/": answer(pack(b"some words"), "text/plain", Content_Encoding=encoding)})
    assert result.result["text"] == "some words"


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "gzip;q=1", "compress"])
def test_other_ways_of_packing_are_refused(encoding: str) -> None:
    result = read({"/": answer(b"words", "text/plain", Content_Encoding=encoding)})
    assert "only gzip, deflate is read" in (result.error or "")


def test_what_is_not_packed_as_it_says() -> None:
    result = read({"/": answer(b"words", "text/plain", Content_Encoding="gzip")})
    assert "not packed as it says" in (result.error or "")


def test_a_bomb_is_unpacked_only_as_far_as_it_may_go(figure: Any) -> None:
    bomb = gzip.compress(b"a" * 100_000_000, 9)
    result = read({"/": answer(bomb, "text/plain", Content_Encoding="gzip")}, max_bytes=100_000)
    assert result.ok
    assert "only its first 100,000 bytes were read" in result.result["note"]
    unpacked = Inflater("gzip").unpacked(bomb, 1_000)
    assert len(unpacked) == 1_000
    figure("gzip bomb: times it would have grown", 100_000_000 / len(bomb))


def test_a_gzip_of_endless_empty_members_comes_to_an_end() -> None:
    many = gzip.compress(b"") * 10_000 + gzip.compress(b"words")
    began = time.monotonic()
    assert Inflater("gzip").unpacked(many, 100) == b""
    assert time.monotonic() - began < 5


# -- character sets ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "charset", "text", "name"),
    [
        ("é".encode(), "utf-8", "é", "utf-8"),
        ("é".encode("latin-1"), "iso-8859-1", "é", "cp1252"),
        (b"\x80", "ISO-8859-1", "€", "cp1252"),
        ("щ".encode("koi8-r"), "koi8-r", "щ", "koi8-r"),
        ("日本".encode("shift_jis"), "Shift_JIS", "日本", "shift_jis"),
        ("中".encode("gb18030"), "gb2312", "中", "gb18030"),
        (b"\xff\xfe" + "é".encode("utf-16-le"), "latin-1", "é", "utf-16-le"),
        (b"\xef\xbb\xbf\xc3\xa9", None, "é", "utf-8"),
        (b"\xc3\xa9", None, "é", "utf-8"),
        (b"\xe9", None, "é", "cp1252"),
        (b"caf\xc3", None, "cafÃ", "cp1252"),
        (b"\xc3\xa9", "no-such-set", "é", "utf-8"),
        (b"<meta charset='windows-1251'>\xe9", None, "<meta charset='windows-1251'>й", "cp1251"),
        (b"<meta charset=utf-16>\xc3\xa9", None, "<meta charset=utf-16>é", "utf-8"),
        (b"\xe9\xff", "utf-8", "\ufffd\ufffd", "utf-8"),
    ],
)
def test_character_sets(data: bytes, charset: str | None, text: str, name: str) -> None:
    assert decoded(data, charset, is_html=True) == (text, name)


@pytest.mark.parametrize(
    "charset",
    ["punycode", "idna", "utf-7", "unicode_escape", "raw_unicode_escape", "rot13", "zlib", "hex",
     "base64", "undefined", "mbcs", "a" * 5_000, "ü", "utf-8\0", ""],
)  # fmt: skip
def test_codecs_that_are_no_character_sets_are_not_used(charset: str) -> None:
    assert decoded(b"+AGE- \\x41 words", charset, is_html=False) == ("+AGE- \\x41 words", "utf-8")


# -- redirects, errors and bounds --------------------------------------------------------------


def test_redirects_are_followed_and_the_last_place_is_named() -> None:
    routes = {
        "/": redirect("/b/"),
        "/b/": redirect("../c", "301 Moved"),
        "/c": redirect("//127.0.0.1:{port}/d", "307 Temporary"),
        "/d": answer("<p>found</p>"),
    }

    async def main() -> None:
        runner = ToolRunner([read_url_content_tool(allowed_networks=["127.0.0.1"])])
        served: dict[str, Answer] = dict(routes)
        async with web_server(served) as server:
            served["/c"] = redirect(f"//127.0.0.1:{server.port}/d", "307 Temporary")
            found = await runner.execute("read_url_content", url=server.url())
            assert found["text"] == "found"
            assert found["url"] == server.url("/d")
            assert server.connections == 4

    asyncio.run(main())


@pytest.mark.parametrize(
    "to", ["http://10.0.0.1/x", "ftp://example.org/", "http://me:pw@example.org/"]
)
def test_what_is_refused_after_a_redirect_says_what_led_there(to: str) -> None:
    result = read({"/": redirect("/b"), "/b": redirect(to)})
    said = result.error or ""
    assert " was not read: " in said
    assert "/b' redirects there." in said
    direct = str(read({}, "/").error) + str(read({"/": redirect("/")}).error)
    assert "redirects there" not in direct


def test_redirects_in_a_circle_come_to_an_end() -> None:
    result = read({"/": redirect("/")})
    assert "more than 10 redirects" in (result.error or "")


@pytest.mark.parametrize("to", ["http://[bad", "http://a:99999999/", "http:// /"])
def test_a_redirect_to_what_is_no_address_is_an_error(to: str) -> None:
    result = read({"/": redirect(to)})
    assert result.status == "error"
    assert "gone elsewhere" not in str(result.result)


def test_what_a_server_says_of_an_error_is_passed_on() -> None:
    routes: dict[str, Answer] = {
        "/j": answer('{"error": "no such build"}', "application/json", "404 Not Found"),
        "/h": answer("<h1>Slow down</h1>" + "x" * 5_000, status="429 Too Many Requests"),
        "/b": answer(b"\0\1", "application/octet-stream", "500 Oops"),
        "/e": answer(b"", "", "503 Service Unavailable"),
    }
    json_, html, binary, empty = read_all(routes, ["/j", "/h", "/b", "/e"])
    assert 'answered 404 Not Found. It says: {"error": "no such build"}' in (json_.error or "")
    assert "Slow down" in (html.error or "")
    assert len(html.error or "") < 900
    assert (binary.error or "").startswith("'http://127.0.0.1")
    assert "answered 503 Service Unavailable." in (empty.error or "")
    assert not json_.exception.__cause__.retryable  # type: ignore[union-attr]
    assert html.exception.__cause__.retryable  # type: ignore[union-attr]


async def _drips(writer: asyncio.StreamWriter) -> None:
    """A body that never ends, a byte at a time."""
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.01)


async def _says_nothing(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(600)


async def _head_without_end(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-More: " + b"y" * 1_000 + b"\r\n")
        await writer.drain()


async def _floods(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while True:
        writer.write(b"x" * 65_536)
        await writer.drain()


@pytest.mark.parametrize("hostile", [_drips, _says_nothing])
def test_slow_servers_are_left_in_time(hostile: Any) -> None:
    began = time.monotonic()
    result = read({"/": hostile}, seconds=0.4)
    assert "did not come within 0.4 s" in (result.error or "")
    assert time.monotonic() - began < 5


def test_slow_redirects_have_one_time_together() -> None:
    async def later(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.2)
        writer.write(redirect("/"))
        await writer.drain()

    began = time.monotonic()
    result = read({"/": later}, seconds=0.6)
    assert "did not come within 0.6 s" in (result.error or "")
    assert time.monotonic() - began < 5


def test_servers_that_never_stop_are_left() -> None:
    head = read({"/": _head_without_end}, seconds=20)
    assert head.status == "error"
    flood = read({"/": _floods}, seconds=20, max_bytes=100_000)
    assert len(flood.result["text"]) == 20_000


@pytest.mark.parametrize(
    "raw", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"]
)
def test_what_is_no_answer_is_an_error(raw: bytes) -> None:
    result = read({"/": raw})
    assert result.status == "error"
    assert "was not read" in (result.error or "")


def test_a_stopped_call_lets_go_of_the_server() -> None:
    async def main() -> None:
        runner = ToolRunner([read_url_content_tool(allowed_networks=["127.0.0.1"])])
        async with web_server({"/": _drips}) as server:
            call = asyncio.create_task(runner.execute("read_url_content", url=server.url()))
            while not server.requests:
                await asyncio.sleep(0.01)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

    asyncio.run(main())


HOSTILE_HTML = {
    "deep": "<div>" * 50_000 + "words",
    "table": "<table>" + "<tr><td colspan=9007199254740991 rowspan=99999999>x" * 200,
    "comments": "<!--" * 100_000,
    "attributes": "<p " + " ".join(f"a{n}=1" for n in range(50_000)) + ">words",
    "misnested": "<a><p><b><table><tr>" * 5_000 + "words",
    "surrogates": "<p>\ud800 words</p>",
}


@pytest.mark.parametrize("case", HOSTILE_HTML)
def test_hostile_html_costs_no_more_than_its_call(case: str) -> None:
    page = HOSTILE_HTML[case].encode("utf-8", "surrogatepass")
    began = time.monotonic()
    result = read({"/": answer(page)})
    assert time.monotonic() - began < 30
    assert result.ok or "no text" in (result.error or "")


def test_nothing_is_taken_from_the_environment(monkeypatch: Any) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert read({"/": answer("<p>direct</p>")}).result["text"] == "direct"


def test_a_proxy_that_was_asked_for_is_used() -> None:
    async def main() -> None:
        async with web_server({"http://example.test/": answer("<p>by proxy</p>")}) as proxy:
            options: dict[str, Any] = {"proxy": proxy.url("")}
            runner = ToolRunner([read_url_content_tool(**options)])
            found = await runner.execute("read_url_content", url="http://example.test/")
            assert found["text"] == "by proxy"
            (refused,) = await runner.process_tool_calls(
                [("read_url_content", {"url": "http://127.0.0.1/"})]
            )
            assert "not, or not only, an address of the public" in (refused.error or "")

    asyncio.run(main())


def test_only_named_hosts_are_asked_also_after_a_redirect() -> None:
    async def main(server: WebServer) -> list[str]:
        tool = read_url_content_tool(
            hosts=["localhost", ".example.org"], allowed_networks=["127.0.0.1"]
        )
        runner = ToolRunner([tool])
        urls = [
            server.url("/", "127.0.0.1"),
            server.url("/away", "localhost"),
            "http://example.org/",
            "http://notexample.org/",
            "http://localhost.evil.test/",
        ]
        calls = [("read_url_content", {"url": url}) for url in urls]
        return [str(result.error) for result in await runner.process_tool_calls(calls)]

    async def serve() -> None:
        routes: dict[str, Answer] = {}
        async with web_server(routes) as server:
            routes["/away"] = redirect(server.url("/", "127.0.0.1"))
            for error in await main(server):
                assert "its host is none that this tool may ask" in error
            assert server.connections == 1

    asyncio.run(serve())


def test_many_pages_at_once_take_few_processes(monkeypatch: Any) -> None:
    running, most = 0, 0
    real = readable_module._converted

    async def counted(html: str, most_characters: int) -> bytes:
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            return await real(html, most_characters)
        finally:
            running -= 1

    monkeypatch.setattr(readable_module, "_converted", counted)
    results = read_all({"/": answer("<p>words</p>")}, ["/"] * 12)
    assert [result.result["text"] for result in results] == ["words"] * 12
    assert most == readable_module.MOST_PROCESSES


def test_a_page_that_takes_too_long_to_read_is_given_up(monkeypatch: Any, tmp_path: Path) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text("import time\ntime.sleep(600)")
    monkeypatch.setattr(readable_module, "_WORKER", worker)
    monkeypatch.setattr(readable_module, "CONVERT_SECONDS", 0.3)
    began = time.monotonic()
    result = read({"/": answer("<p>words</p>" * 100_000)})
    assert "no text could be made of its HTML" in (result.error or "")
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("code", ["import os; os._exit(3)", "print('no json')", "print('[1]')"])
def test_a_page_that_breaks_the_library_is_that_calls_failure(
    monkeypatch: Any, tmp_path: Path, code: str
) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text(code)
    monkeypatch.setattr(readable_module, "_WORKER", worker)
    result = read({"/": answer("<p>words</p>")})
    assert "no text could be made of its HTML" in (result.error or "")


def test_certificates_are_checked() -> None:
    context = _certificates()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_what_is_not_installed_is_named(monkeypatch: Any) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "html_to_markdown" else real(name)
    )
    routes: dict[str, Answer] = {"/": answer("<p>words</p>"), "/t": answer("words", "text/plain")}
    html, text = read_all(routes, ["/", "/t"])
    assert "pip install 'agtools_nb[web]'" in (html.error or "")
    assert text.result["text"] == "words"
    monkeypatch.setitem(sys.modules, "httpx2", None)
    assert "needs httpx2: pip install 'agtools_nb[web]'" in (read(routes).error or "")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"allowed_networks": "127.0.0.1"}, "is one text"),
        ({"allowed_networks": ["10.0.0.1/8"]}, "is no network"),
        ({"allowed_networks": ["localhost"]}, "is no network"),
        ({"hosts": "example.org"}, "is one text"),
        ({"hosts": ["https://example.org"]}, "is no host"),
        ({"hosts": ["*.example.org"]}, r"write 'example.org', or '\.example\.org'"),
        ({"seconds": 0}, "seconds=0 must be a number above 0"),
        ({"max_bytes": -1}, "max_bytes=-1"),
        ({"max_characters": True}, "max_characters=True"),
        ({"proxy": "localhost:3128"}, "is no URL"),
    ],
)
def test_authors_are_told_what_is_wrong(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_url_content_tool(**options)
