"""The bytes of a response, unpacked only as far as they may go."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from agtools_nb.errors import ToolError
from agtools_nb.jsonable import brief_repr

ENCODINGS = "gzip, deflate"
"""The ways of packing that are asked for."""

_GZIP = 16 + zlib.MAX_WBITS
_MAGIC = b"\x1f\x8b"
_MOST_MEMBERS = 100


@dataclass(frozen=True, slots=True)
class Body:
    """What was read of a body.

    Attributes:
        data: The bytes, unpacked.
        is_cut: Whether there is more, or should have been.
        missing: Why it is not whole, in words: ``"..."`` after "The page is not whole: ".
    """

    data: bytes
    is_cut: bool = False
    missing: str = ""


class Inflater:
    """Unpacks gzip or deflate, and never more at once than there is room for.

    Args:
        encoding: ``"gzip"`` or ``"deflate"``.
    """

    def __init__(self, encoding: str) -> None:
        self._bits = _GZIP if encoding == "gzip" else zlib.MAX_WBITS
        self._unpacker = zlib.decompressobj(self._bits)
        self._may_be_raw = encoding == "deflate"
        self._members = 1
        self._has_begun = False
        self._start = b""
        self._after = b""
        self._is_full = False

    @property
    def missing(self) -> str:
        """Why what came so far is not all, in words; ``""`` if it is all."""
        if self._is_full:
            return f"it is packed in more than {_MOST_MEMBERS} parts, and no more were unpacked"
        if self._has_begun and not self._unpacker.eof:
            return "it ended in the middle of what was packed"
        return ""

    def unpacked(self, data: bytes, room: int) -> bytes:
        """What this data unpacks to, at most ``room`` bytes.

        Raises:
            ToolError: It is not packed as it says.
        """
        out = bytearray()
        self._has_begun = self._has_begun or bool(data)
        if self._unpacker.eof:
            data = self._next_member(data)
        elif self._may_be_raw:
            # Two bytes tell whether there is a header; they may come one by one.
            data = self._start = self._start + data
            if len(data) < 2:
                return b""
        while data and len(out) < room:
            out += self._some(data, room - len(out))
            data = self._unpacker.unconsumed_tail
            if self._unpacker.eof:
                data = self._next_member(self._unpacker.unused_data)
        return bytes(out)

    def _some(self, data: bytes, room: int) -> bytes:
        try:
            unpacked = self._unpacker.decompress(data, room)
        except zlib.error as error:
            if not self._may_be_raw:
                raise _bad_encoding("what came is not packed as it says") from error
            # Some servers leave out deflate's own header.
            self._unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
            self._may_be_raw = False
            return self._some(data, room)
        self._may_be_raw = False
        return unpacked

    def _next_member(self, data: bytes) -> bytes:
        """The packed data after an end, of which gzip may have several.

        What is no packed data is none of the page: zeros that fill a block, mostly.
        """
        rest = self._after + data
        if self._bits != _GZIP or not rest.startswith(_MAGIC):
            # The first of the two bytes may have come alone; whatever else came is the end.
            self._after = rest[:2]
            return b""
        if self._members >= _MOST_MEMBERS:
            self._is_full = True
            return b""
        self._after = b""
        self._members += 1
        self._unpacker = zlib.decompressobj(self._bits)
        return rest


async def read_body(chunks: AsyncIterator[bytes], encoding: str | None, most_bytes: int) -> Body:
    """Read a body to its end or to a bound, packed and unpacked.

    Args:
        chunks: The bytes as they come.
        encoding: The header ``Content-Encoding``.
        most_bytes: Bytes to take, and bytes to unpack.

    Raises:
        ToolError: It is packed in another way than was asked for.
    """
    inflater = _inflater(encoding)
    body = bytearray()
    taken = 0
    async for chunk in chunks:
        taken += len(chunk)
        # One byte more than there is room for tells that there is more.
        room = most_bytes - len(body) + 1
        body += chunk[:room] if inflater is None else inflater.unpacked(chunk, room)
        if len(body) > most_bytes or taken > most_bytes:
            return Body(bytes(body[:most_bytes]), is_cut=True)
    missing = "" if inflater is None else inflater.missing
    return Body(bytes(body), is_cut=bool(missing), missing=missing)


def _inflater(encoding: str | None) -> Inflater | None:
    name = (encoding or "").strip().lower().removeprefix("x-")
    if name in ("", "identity"):
        return None
    if name in ("gzip", "deflate"):
        return Inflater(name)
    raise _bad_encoding(f"it is packed as {brief_repr(name)}, and only {ENCODINGS} is read")


def _bad_encoding(why: str) -> ToolError:
    return ToolError("bad_encoding", f"The page could not be unpacked: {why}.", category="web")
