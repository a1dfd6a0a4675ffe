"""Bytes of a file as text, and back without a change to what was not edited."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

_SAMPLE = 8_192
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    # Before UTF-16: its mark is the beginning of this one.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Characters that text does not have: all below 32 but white space, bell, backspace and escape.
_CONTROLS = bytes(number for number in range(32) if number not in (7, 8, 9, 10, 12, 13, 27))
_MOST_CONTROLS = 0.01


@dataclass(frozen=True, slots=True)
class Text:
    r"""A file's text.

    Attributes:
        text: The text; every ``\r\n`` is ``\n``.
        encoding: How it is written: ``"utf-8"``, ``"utf-16-le"``, ``"utf-16-be"``,
            ``"utf-32-le"``, ``"utf-32-be"``, or ``"latin-1"`` for what is none of these.
        mark: The byte order mark before it; mostly ``b""``.
        raw: The text as it stands in the file.
    """

    text: str
    encoding: str
    mark: bytes
    raw: str

    @property
    def lines(self) -> list[str]:
        """Its lines, without their ends."""
        lines = self.text.split("\n")
        return lines if lines[-1] else lines[:-1]

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
        return self.mark + "".join([*pieces, self.raw[at:]]).encode(self.encoding)


def text_of(data: bytes) -> Text | None:
    """The text that bytes are; ``None`` if they are no text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded(data.removeprefix(mark), encoding, mark)
    if is_binary(data):
        return None
    return _decoded(data, "utf-8", b"") or _decoded(data, "latin-1", b"")


def is_binary(data: bytes) -> bool:
    """Whether bytes look like no text; a file that begins with a byte order mark is text."""
    sample = data[:_SAMPLE]
    if any(sample.startswith(mark) for mark, _ in _MARKS):
        return False
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return b"\0" in sample or controls > len(sample) * _MOST_CONTROLS


def is_wide(data: bytes) -> bool:
    """Whether bytes begin with the mark of a text whose characters have two or four of them."""
    return any(data.startswith(mark) for mark, encoding in _MARKS if encoding != "utf-8")


def _decoded(data: bytes, encoding: str, mark: bytes) -> Text | None:
    try:
        raw = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return Text(raw.replace("\r\n", "\n"), encoding, mark, raw)
