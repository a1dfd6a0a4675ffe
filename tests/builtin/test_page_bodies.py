"""Bodies of pages that are packed, and do not come as they should: none passes for whole."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from builtin.web_server import answer, web_server
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb import ToolResult, ToolRunner
from agtools_nb.builtin.url.body import Body, read_body
from agtools_nb.builtin.url.charset import decoded
from agtools_nb.builtin.url.tool import read_url_content_tool

LINES = "".join(f"line {number}\n" for number in range(5_000)).encode()


def read(page: bytes, **options: Any) -> ToolResult:
    """Read a page through the tool, from a real server."""

    async def main() -> ToolResult:
        runner = ToolRunner([read_url_content_tool(allowed_networks=["127.0.0.1"], **options)])
        async with web_server({"/": page}) as server:
            (result,) = await runner.process_tool_calls(
                [("read_url_content", {"url": server.url()})]
            )
            return result

    return asyncio.run(main())


def body_of(data: bytes, piece: int, encoding: str = "gzip", most: int = 1_000_000) -> Body:
    """What is read of a body that comes in pieces."""

    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(data), piece):
            yield data[at : at + piece]

    return asyncio.run(read_body(pieces(), encoding, most))


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, raw_deflate])
@pytest.mark.parametrize("piece", [1, 7, 100_000])
def test_what_ends_in_the_middle_says_so(pack: Callable[[bytes], bytes], piece: int) -> None:
    encoding = "gzip" if pack is gzip.compress else "deflate"
    whole = pack(LINES)
    assert body_of(whole, piece, encoding) == Body(LINES)
    assert body_of(b"", piece, encoding) == Body(b"")
    for end in (3, len(whole) // 2, len(whole) - 1):
        cut = body_of(whole[:end], piece, encoding)
        assert LINES.startswith(cut.data)
        assert cut.is_cut
        assert cut.missing == "it ended in the middle of what was packed"
    bounded = body_of(whole, piece, encoding, most=1_000)
    assert bounded == Body(LINES[:1_000], is_cut=True)


@given(
    parts=st.lists(st.binary(max_size=20), min_size=1, max_size=5),
    after=st.sampled_from([b"", b"\0", b"\0" * 512, b"more", b"\x1f", b"\x1fx"]),
    piece=st.integers(1, 60),
)
def test_what_follows_a_whole_stream_takes_nothing_away(
    parts: list[bytes], after: bytes, piece: int
) -> None:
    """Blocks are filled with zeros; members of gzip follow each other."""
    data = b"".join(map(gzip.compress, parts)) + after
    assert body_of(data, piece) == Body(b"".join(parts))
    assert body_of(zlib.compress(parts[0]) + after, piece, "deflate") == Body(parts[0])


@pytest.mark.parametrize("piece", [1, 30, 1_000_000])
def test_more_members_than_are_unpacked_say_so(piece: int) -> None:
    found = body_of(gzip.compress(b"a") * 100, piece)
    assert found == Body(b"a" * 100)
    found = body_of(gzip.compress(b"a") * 101, piece)
    assert found.data == b"a" * 100
    assert "more than 100 parts" in found.missing


def test_a_model_is_told_that_a_page_is_not_whole() -> None:
    packed = gzip.compress(LINES)
    result = read(
        answer(packed[: len(packed) // 2], "text/plain", Content_Encoding="gzip"),
        max_characters=1_000_000,
    )
    assert result.unwrap()["note"] == (
        "The page is not whole: it ended in the middle of what was packed."
    )
    image = gzip.compress(b"\x89PNG\r\n\x1a\n" + b"x" * 100)[:-9]
    result = read(answer(image, "image/png", Content_Encoding="gzip"))
    assert "is an image that is not whole" in (result.error or "")


def test_a_page_without_text_as_far_as_it_was_read_says_how_far() -> None:
    page = b"<div></div>" * 500 + b"<p>words</p>"
    result = read(answer(page, "text/html"), max_bytes=1_000)
    assert "only its first 1,000 bytes were read" in (result.error or "")
    assert "browser" not in (result.error or "")


@pytest.mark.parametrize("name", ["utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"])
def test_marks_of_wide_characters(name: str) -> None:
    assert decoded("\ufeffaé→".encode(name), None, is_html=False) == ("aé→", name)
    result = read(answer("\ufeffaé→".encode(name), "text/plain"))
    assert result.unwrap()["text"] == "aé→"
