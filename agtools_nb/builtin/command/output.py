"""What a program prints: its beginning and its end are kept, however much it is."""

from __future__ import annotations

import codecs
import re

# Colours, cursor movements, window titles: ECMA-48's CSI and OSC sequences, and the short ones.
_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[@-Z\\-_])")
# What remains of control characters says nothing to a model.
_CONTROLS = dict.fromkeys(n for n in range(32) if chr(n) not in "\t\n")


class KeptOutput:
    """Takes all that comes, and keeps at most so many bytes of it.

    Args:
        most: Bytes to keep: half of them of the beginning, the others of the end.
    """

    def __init__(self, most: int) -> None:
        self.size = 0
        self._most_head = most // 2
        self._most_tail = most - self._most_head
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, data: bytes) -> None:
        """Take what came."""
        self.size += len(data)
        room = self._most_head - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._most_tail + 65_536:
            del self._tail[: -self._most_tail]

    @property
    def left_out(self) -> int:
        """How many bytes are not in the text."""
        return max(0, self.size - len(self._head) - self._most_tail)

    def text(self) -> str:
        """The text, with a line in the place of what was left out."""
        head, tail = bytes(self._head), bytes(self._tail[-self._most_tail :])
        if not self.left_out:
            return readable(head + tail)
        missing = f"\n[... {self.left_out:,} bytes left out ...]\n"
        return readable(_whole_at_end(head)) + missing + readable(_whole_at_start(tail))


def readable(data: bytes) -> str:
    """Printed bytes as a person would see them in the end.

    Colours are left out, and of a line that was written over again and again (a progress
    bar) only its last state is there. What is not UTF-8 becomes ``U+FFFD``.
    """
    text = _ESCAPES.sub("", data.decode("utf-8", "replace")).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(_last_state(line) for line in text.split("\n"))
    return text.translate(_CONTROLS)


def _last_state(line: str) -> str:
    return next((state for state in reversed(line.split("\r")) if state), "")


def _whole_at_end(data: bytes) -> bytes:
    """The bytes without a character that was cut at their end."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(data)
    pending = len(decoder.getstate()[0])
    return data[: len(data) - pending]


def _whole_at_start(data: bytes) -> bytes:
    """The bytes without the rest of a character that was cut at their beginning."""
    for at in range(min(3, len(data))):
        if data[at] & 0xC0 != 0x80:
            return data[at:]
    return data[3:]
