"""Printed text gathered into lines: ``print`` writes a line and its end one after the other."""

from __future__ import annotations

from collections.abc import Callable

from agtools_nb.context.channel import ProgressChannel

PATIENCE_SECONDS = 0.05
"""How long the beginning of a line waits for the rest of it, a dot without an end for instance."""

LONGEST_CHARACTERS = 8 * 1024


class Lines:
    """Sends printed text on when a line has ended, when it is flushed, or after 50 ms.

    Args:
        channel: Whose lock is held for every change, and whose loop keeps the time.
        send: Given the stream and the text.
    """

    __slots__ = ("_channel", "_is_timed", "_send", "_stream", "_text")

    def __init__(self, channel: ProgressChannel, send: Callable[[str, str], None]) -> None:
        self._channel = channel
        self._send = send
        self._stream = ""
        self._text = ""
        self._is_timed = False

    def write(self, stream: str, text: str) -> None:
        """Take printed text."""
        with self._channel.lock:
            if stream != self._stream:
                self.flush()
            self._stream = stream
            if text.endswith("\n") or len(self._text) + len(text) > LONGEST_CHARACTERS:
                text, self._text = self._text + text, ""
            else:
                text, self._text = "", self._text + text
            if self._text and not self._is_timed:
                self._is_timed = True
                self._channel.call_later(PATIENCE_SECONDS, self._timed_out)
        if text:
            # Not under the lock: there may be no room, and this thread waits.
            self._send(stream, text)

    def flush(self) -> None:
        """Send the beginning of a line on."""
        with self._channel.lock:
            text, self._text = self._text, ""
            if text:
                self._send(self._stream, text)

    def _timed_out(self) -> None:
        self._is_timed = False
        self.flush()
