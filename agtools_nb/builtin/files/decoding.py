"""Bytes of a file as text, and back without a change to what was not edited."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from agtools_nb.builtin.marks import MARKS

_SAMPLE = 8_192
# Characters that text does not have: all below 32 but white space, bell, backspace and escape.
_CONTROLS = bytes(number for number in range(32) if number not in (7, 8, 9, 10, 12, 13, 27))
_MOST_CONTROLS = 0.01
_STRAY = re.compile("[\udc80-\udcff]")
_BEYOND = re.compile(r"[^\x00-\x7f]")


@dataclass(frozen=True, slots=True)
class Text:
    r"""A file's text.

    Attributes:
        text: The text; every ``\r\n`` is ``\n``.
        encoding: How it is written: ``"utf-8"``, ``"utf-16-le"``, ``"utf-16-be"``,
            ``"utf-32-le"``, ``"utf-32-be"``, or ``"latin-1"`` for what is none of these.
        mark: The byte order mark before it; mostly ``b""``.
        raw: The text as it stands in the file.
        strays: How many bytes are no UTF-8 in a file that is UTF-8 otherwise; in
            :attr:`text` and :attr:`raw` each is a lone surrogate (PEP 383).
    """

    text: str
    encoding: str
    mark: bytes
    raw: str
    strays: int = 0

    @property
    def lines(self) -> list[str]:
        r"""Its lines to be shown, without their ends; stray bytes are ``\xff`` and the like."""
        text = _STRAY.sub(_escaped, self.text) if self.strays else self.text
        lines = text.split("\n")
        return lines if lines[-1] else lines[:-1]

    def notes(self) -> list[str]:
        """What a reader must know of its encoding."""
        if self.encoding == "latin-1":
            return ["The file is no UTF-8; it was read as Latin-1."]
        if self.strays:
            return [rf"Bytes that are no UTF-8, shown as \xff and the like: {self.strays:,}."]
        return []

    @property
    def line_end(self) -> str:
        """What ends most of its lines."""
        returns = len(self.raw) - len(self.text)
        return "\r\n" if returns * 2 > self.text.count("\n") else "\n"

    def replaced(self, spans: Sequence[tuple[int, int]], new: str) -> bytes:
        r"""The file with other text in places of :attr:`text`; all else stays, byte for byte.

        Args:
            spans: Start and end of each place, in order.
            new: What they become; its ``\n`` are written as the file has them.

        Raises:
            UnicodeEncodeError: The file's encoding has no such character.
        """
        ends = [match.start() - count for count, match in enumerate(re.finditer("\r\n", self.raw))]
        new = new.replace("\n", self.line_end)
        pieces, at = [], 0
        for start, end in spans:
            pieces += [self.raw[at : start + bisect_left(ends, start)], new]
            at = end + bisect_left(ends, end)
        return self.mark + "".join([*pieces, self.raw[at:]]).encode(
            self.encoding, "surrogateescape" if self.strays else "strict"
        )


def text_of(data: bytes) -> Text | None:
    """The text that bytes are; ``None`` if they are no text."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return _decoded(data.removeprefix(mark), encoding, mark)
    if is_binary(data):
        return None
    return _decoded(data, "utf-8", b"") or _nearly_utf8(data) or _decoded(data, "latin-1", b"")


def is_binary(data: bytes) -> bool:
    """Whether bytes look like no text; a file that begins with a byte order mark is text."""
    sample = data[:_SAMPLE]
    if any(sample.startswith(mark) for mark, _ in MARKS):
        return False
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return b"\0" in sample or controls > len(sample) * _MOST_CONTROLS


def is_wide(data: bytes) -> bool:
    """Whether bytes begin with the mark of a text whose characters have two or four of them."""
    return any(data.startswith(mark) for mark, encoding in MARKS if encoding != "utf-8")


def _nearly_utf8(data: bytes) -> Text | None:
    """A text in UTF-8 with some bytes that are none; ``None`` if it is rather something else.

    What is written one byte a character has hardly any sequence of bytes that is one of UTF-8's.
    """
    raw = data.decode("utf-8", "surrogateescape")
    strays = len(_STRAY.findall(raw))
    others = sum(1 for _ in _BEYOND.finditer(raw)) - strays
    if others <= strays:
        return None
    return Text(raw.replace("\r\n", "\n"), "utf-8", b"", raw, strays)


def _escaped(stray: re.Match[str]) -> str:
    return rf"\x{ord(stray[0]) - 0xDC00:02x}"


def _decoded(data: bytes, encoding: str, mark: bytes) -> Text | None:
    try:
        raw = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return Text(raw.replace("\r\n", "\n"), encoding, mark, raw)
