"""Lines of files that are too large to be read whole: by going through them until they come."""

from __future__ import annotations

import codecs
import time
from io import BufferedReader

MAX_READ = 5_000_000_000
"""Bytes of a file that are gone through to come to a line."""

READ_SECONDS = 10.0
"""How long that may take."""

_CHUNK = 1_048_576


class LineReader:
    """Reads lines of a large file, with little memory however long they are.

    Args:
        file: Opened to be read, at its beginning.
        most: Characters of a line to keep.

    Attributes:
        passed: How many lines were gone through.
        is_whole: Whether the file's end was reached.
        is_over: Whether it was too much to read on.
        has_cut: Whether a line that was read is longer than what was kept of it.
        is_utf8: Whether all lines that were read are UTF-8; those that are not are Latin-1.
    """

    def __init__(self, file: BufferedReader, most: int) -> None:
        self._file = file
        self._most = most
        self._until = time.monotonic() + READ_SECONDS
        self.passed = 0
        self.is_whole = False
        self.has_cut = False
        self.is_utf8 = True
        if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
            file.seek(0)

    @property
    def is_over(self) -> bool:
        """Whether it was too much to read on; looks at the clock."""
        return self._file.tell() > MAX_READ or time.monotonic() > self._until

    def skip(self, count: int) -> None:
        """Go behind so many lines, or as far as can be."""
        is_inside = False
        while self.passed < count and not self.is_over:
            chunk = self._file.read(_CHUNK)
            if not chunk:
                self.is_whole = True
                self.passed += is_inside
                return
            ends = chunk.count(b"\n")
            if self.passed + ends >= count:
                self._file.seek(self._behind(chunk, count - self.passed) - len(chunk), 1)
                self.passed = count
            else:
                self.passed += ends
                is_inside = not chunk.endswith(b"\n")

    @staticmethod
    def _behind(chunk: bytes, count: int) -> int:
        """Where in a chunk the line after so many ends begins."""
        at = 0
        for _ in range(count):
            at = chunk.index(b"\n", at) + 1
        return at

    def line(self) -> str | None:
        """The next line without its end; ``None`` if there is none, or it is too far to its end.

        Of a long one its beginning, and how many bytes it has.
        """
        # A character has at most four bytes: with one more, what is cut is seen to be longer.
        kept = data = self._file.readline(4 * self._most + 4)
        size = len(data)
        while data and not data.endswith(b"\n"):
            if self.is_over:
                return None
            data = self._file.readline(_CHUNK)
            size += len(data)
        if not kept:
            self.is_whole = True
            return None
        self.passed += 1
        kept = kept.removesuffix(b"\r\n").removesuffix(b"\n")
        return self._text(kept, size)

    def looks_ahead(self) -> None:
        """See whether the end was reached."""
        if not self._file.peek(1):
            self.is_whole = True

    def _text(self, kept: bytes, size: int) -> str:
        is_part = size > len(kept) + 2
        try:
            text = codecs.getincrementaldecoder("utf-8")().decode(kept, final=not is_part)
        except UnicodeDecodeError:
            self.is_utf8 = False
            text = kept.decode("latin-1")
        if len(text) <= self._most and not is_part:
            return text
        self.has_cut = True
        return f"{text[: self._most]}… [cut: {size:,} bytes]"
