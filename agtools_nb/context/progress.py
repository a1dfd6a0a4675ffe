"""What a tool reports while it runs: bounded, lossy, and never in the way of its result."""

from __future__ import annotations

import time
import weakref
from collections.abc import Awaitable, Generator
from dataclasses import dataclass, replace
from typing import Protocol

from agtools_nb.context.channel import ProgressChannel, is_on_a_loop
from agtools_nb.context.lines import Lines
from agtools_nb.context.pieces import BAR, CALL_BYTES, CHUNK_BYTES, Piece, cut

MAX_HELD = 32
"""Bars of one call whose newest piece is kept where there is no room."""


@dataclass(frozen=True, slots=True)
class Progress:
    """One piece of progress of a running call.

    Attributes:
        call_id: Id of the call.
        tool_name: Name of its tool.
        index: Place of the call in its batch or stream, from 0.
        stream: ``"stdout"`` or ``"stderr"`` for what the tool printed, ``"progress"``
            (``"progress 2"``, ... for bars inside it) for bars, or the tool's own word.
        chunk: Text, at most 8 KiB of UTF-8. It came from a tool: show it as text only.
        seq: Number of the piece in its call, from 0. A gap is where pieces were dropped.
        at: Unix time in seconds.
        done: How much of a bar is done; ``None`` if this is no bar.
        total: How much there is to do; ``None`` where nobody knows.
        is_marker: Says that something of the call's progress was dropped or cut. It is the
            last piece of its call, and there is only one.
    """

    call_id: str
    tool_name: str
    index: int
    stream: str
    chunk: str
    seq: int
    at: float
    done: float | None = None
    total: float | None = None
    is_marker: bool = False


class _Bar(Protocol):
    """Something that reports where a bar stands, as long as that is open."""

    is_open: bool


class _Emitted:
    """Awaited, it lets the loop do other things once: show what was reported, take a Stop."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        yield


EMITTED: Awaitable[None] = _Emitted()


class _Waiting:
    """A piece for which there was no room; awaited, it waits for some."""

    __slots__ = ("_call", "_piece")

    def __init__(self, call: CallProgress, piece: Piece) -> None:
        self._call = call
        self._piece: Piece | None = piece

    def __await__(self) -> Generator[object, None, None]:
        piece, self._piece = self._piece, None
        if piece is not None:
            yield from self._call.offer_late(piece).__await__()


class CallProgress:
    """The progress of one call on its way into a channel. Safe to use from any thread.

    Args:
        channel: Where it goes.
        call_id: Id of the call.
        tool_name: Name of its tool.
        index: Place of the call in its batch or stream.
        shows_prints: Whether what the tool prints is progress, too.

    Attributes:
        lines: Takes what the tool prints; ``None`` if that is no progress.
    """

    # Most calls report nothing, and leave it at these.
    lines: Lines | None = None
    _seq = 0
    _offered = 0
    _dropped = 0
    _cut = 0
    # Pieces for which there was no room and of which nothing is known yet. One that is
    # never awaited stays here, and is dropped with the others at the end.
    _undecided = 0
    _printed: Progress | None = None
    _is_closed = False

    def __init__(
        self,
        channel: ProgressChannel,
        call_id: str,
        tool_name: str,
        index: int,
        shows_prints: bool = False,
    ) -> None:
        self._channel = channel
        self._call_id = call_id
        self._tool_name = tool_name
        self._index = index
        self._held: dict[str, Piece] = {}
        self._bars: dict[int, weakref.ref[_Bar]] = {}
        if shows_prints:
            self.lines = Lines(channel, self.print)

    @property
    def is_closed(self) -> bool:
        """Whether the call has its result, so that whatever comes is dropped."""
        return self._is_closed or self._channel.is_closed

    def emit(self, piece: Piece) -> Awaitable[None]:
        """Report a piece, cut to what is allowed.

        Where there is no room, a thread waits here for at most 100 ms, and a coroutine
        does when it awaits what is returned.
        """
        channel = self._channel
        with channel.lock:
            self._flush()
            allowed = None if self.is_closed else self._allowed(piece)
            if allowed is None or self._offer(allowed):
                return EMITTED
            if channel.is_stalled:
                self._drop()
                return EMITTED
            self._undecided += 1
            if is_on_a_loop():
                return _Waiting(self, allowed)
            channel.wait()
            self._decide(allowed)
        return EMITTED

    async def offer_late(self, piece: Piece) -> None:
        """Report a piece as soon as there is room, or drop it after 100 ms."""
        await self._channel.room()
        with self._channel.lock:
            self._decide(piece)

    def show(self, piece: Piece) -> Awaitable[None]:
        """Report where a bar stands. It never waits: what comes next says all that this does.

        Where there is no room, the bar's newest piece is kept, and goes at the latest
        before the call's result.
        """
        with self._channel.lock:
            self._flush()
            if not self.is_closed and (allowed := self._allowed(piece)) is not None:
                self._held.pop(piece.stream, None)
                if not self._offer(allowed):
                    self._hold(allowed)
        return EMITTED

    def bar_stream(self, bar: _Bar) -> str:
        """The stream for one more bar: ``"progress"``, or with a number if others are open."""
        number = 1
        while (of := self._bars.get(number)) and (other := of()) and other.is_open:
            number += 1
        self._bars[number] = weakref.ref(bar)
        return BAR if number == 1 else f"{BAR} {number}"

    def print(self, stream: str, text: str) -> None:
        """Report printed text whole: joined to what still waits, in as many pieces as it takes."""
        with self._channel.lock:
            at = 0 if self.is_closed else self._join(stream, text)
        while at < len(text) and not self.is_closed:
            if self._offered >= CALL_BYTES:
                with self._channel.lock:
                    self._drop()
                return
            chunk = cut(text[at : at + CHUNK_BYTES], CHUNK_BYTES)[0]
            self.emit(Piece(stream, chunk, is_printed=True))
            at += len(chunk)

    def close(self) -> None:
        """The call has its result. What was dropped of its progress is said now, once."""
        channel = self._channel
        with channel.lock:
            if self._is_closed:
                return
            self._flush()
            self._is_closed = True
            if channel.is_closed:
                return
            for piece in self._held.values():
                channel.add(self._event(piece))
            dropped = self._dropped + self._undecided
            if dropped or self._cut:
                channel.add(self._event(Piece(BAR, _told(dropped, self._cut)), is_marker=True))

    def _flush(self) -> None:
        """What was printed before comes before."""
        if self.lines is not None:
            self.lines.flush()

    def _allowed(self, piece: Piece) -> Piece | None:
        """The piece as far as it may go; ``None``, and counted, if nothing of it may."""
        left = CALL_BYTES - self._offered
        chunk, size = cut(piece.chunk, min(CHUNK_BYTES, left))
        is_cut = len(chunk) < len(piece.chunk)
        # Once something did not fit, the call's text ends, also where a smaller piece would fit.
        self._offered = CALL_BYTES if is_cut and left < CHUNK_BYTES else self._offered + size
        if is_cut and not chunk and piece.done is None:
            self._drop()
            return None
        self._cut += is_cut
        return piece._replace(chunk=chunk)

    def _join(self, stream: str, text: str) -> int:
        """Add text to the piece printed before it, if that waits yet; how much was added."""
        before = self._printed
        if before is None or before.stream != stream or self._channel.newest is not before:
            return 0
        left = min(CHUNK_BYTES - len(before.chunk.encode()), CALL_BYTES - self._offered)
        chunk, size = cut(text, left)
        if chunk:
            self._offered += size
            self._printed = replace(before, chunk=before.chunk + chunk)
            self._channel.replace_newest(self._printed)
        return len(chunk)

    def _offer(self, piece: Piece) -> bool:
        if not self._channel.has_room:
            return False
        event = self._event(piece)
        if piece.is_printed:
            self._printed = event
        self._channel.add(event, is_counted=True)
        return True

    def _hold(self, piece: Piece) -> None:
        if len(self._held) < MAX_HELD:
            self._held[piece.stream] = piece
        else:
            self._drop()

    def _decide(self, piece: Piece) -> None:
        """What becomes of a piece that waited."""
        if self.is_closed:
            return
        self._undecided -= 1
        if not self._offer(piece):
            self._drop()

    def _drop(self) -> None:
        self._dropped += 1
        self._seq += 1

    def _event(self, piece: Piece, *, is_marker: bool = False) -> Progress:
        seq = self._seq
        self._seq += 1
        return Progress(
            self._call_id,
            self._tool_name,
            self._index,
            piece.stream,
            piece.chunk,
            seq,
            time.time(),
            piece.done,
            piece.total,
            is_marker,
        )


def _told(dropped: int, shortened: int) -> str:
    counts = ((dropped, "dropped"), (shortened, "cut short"))
    words = [
        f"{count:,} {'piece' if count == 1 else 'pieces'} {word}" for count, word in counts if count
    ]
    return f"[progress is not complete: {', '.join(words)}]"
