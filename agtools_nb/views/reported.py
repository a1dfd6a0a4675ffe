"""What a running call reports, kept as far as a page shows it: bars, and the end of its output."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from typing import Any

from agtools_nb.context import Progress
from agtools_nb.jsonable import shorten

KEPT_CHARACTERS = 64_000
"""Characters of a call's output that are kept; older ones are forgotten."""

SENT_CHARACTERS = 16_000
"""Characters of further output that go into one message; more than that is passed over."""

JOINED = 2_000
"""Characters up to which what comes on the same stream is joined to what came before."""

BARS_KEPT = 8
LINE_LIMIT = 200


class Reported:
    """What one call has reported.

    Attributes:
        end: Characters of output that have come, those that were forgotten included.
        note: What the runner says was dropped; ``""`` if nothing was.
    """

    def __init__(self) -> None:
        self.end = 0
        self.note = ""
        self._bars: dict[str, Progress] = {}
        self._pieces: deque[tuple[str, str]] = deque()
        self._kept = 0

    def add(self, progress: Progress) -> None:
        """Take in a piece of progress."""
        if progress.is_marker:
            self.note = shorten(progress.chunk, 500)
        elif progress.done is not None:
            if progress.stream in self._bars or len(self._bars) < BARS_KEPT:
                self._bars[progress.stream] = progress
        elif progress.chunk:
            self._add_text(progress.stream, progress.chunk)

    def _add_text(self, stream: str, text: str) -> None:
        if self._pieces and self._pieces[-1][0] == stream and len(self._pieces[-1][1]) < JOINED:
            self._pieces[-1] = stream, self._pieces[-1][1] + text
        else:
            self._pieces.append((stream, text))
        self.end += len(text)
        self._kept += len(text)
        while self._kept - len(self._pieces[0][1]) > KEPT_CHARACTERS:
            self._kept -= len(self._pieces.popleft()[1])

    def bars(self) -> list[dict[str, Any]]:
        """Return each bar: how far it is, and that in words."""
        return [_bar(progress) for progress in self._bars.values()]

    def line(self) -> str:
        """Return the line that was written last, or what the first bar says."""
        for _, text in reversed(self._pieces):
            # A carriage return begins the line anew.
            lines = [line.rsplit("\r", 1)[-1].strip() for line in text.rstrip().splitlines()]
            if lines and lines[-1]:
                return shorten(lines[-1], LINE_LIMIT)
        return next((shorten(one.chunk, LINE_LIMIT) for one in self._bars.values()), "")

    def output(self, limit: int, left_out: Collection[str] = ()) -> dict[str, Any]:
        """Return the last ``limit`` characters as ``[stream, text]`` pieces.

        Args:
            limit: Characters.
            left_out: Streams that are shown elsewhere.
        """
        return self._from(self.end - limit, left_out)

    def since(self, offset: int) -> dict[str, Any]:
        """Return what came after the first ``offset`` characters, cut to what one message holds."""
        return self._from(max(offset, self.end - SENT_CHARACTERS))

    def _from(self, offset: int, left_out: Collection[str] = ()) -> dict[str, Any]:
        at = max(offset, self.end - self._kept, 0)
        pieces: list[list[str]] = []
        end = self.end
        for stream, text in reversed(self._pieces):
            if end <= at:
                break
            begin = end - len(text)
            shown = text[max(at - begin, 0) :]
            end = begin
            if stream in left_out:
                continue
            if pieces and pieces[-1][0] == stream:
                pieces[-1][1] = shown + pieces[-1][1]
            else:
                pieces.append([stream, shown])
        return {"from": at, "to": self.end, "pieces": pieces[::-1]}


def share_of(done: float | None, total: float | None) -> float | None:
    """Return which part is done, 0 to 1; ``None`` where nobody said how much there is."""
    return None if total is None else _share(done or 0, total)


def percent(share: float) -> str:
    """Return a share in words, rounded down: all is done only when it is."""
    return f"{int(share * 100)} %"


def _bar(progress: Progress) -> dict[str, Any]:
    done, total = progress.done or 0, progress.total
    share = share_of(done, total)
    label = _number(done) if total is None else f"{_number(done)} of {_number(total)}"
    return {
        "stream": progress.stream,
        "share": share,
        "label": label,
        "text": shorten(progress.chunk, LINE_LIMIT),
    }


def bar_text(bar: dict[str, Any]) -> str:
    """Return a bar in words: ``"42 of 100 · 42 %"``."""
    share = "" if bar["share"] is None else percent(bar["share"])
    return " · ".join(filter(None, (bar["label"], share, bar["text"])))


def _share(done: float, total: float) -> float:
    if done >= total:
        return 1.0
    try:
        return done / total
    except OverflowError:
        return 0.0


def _number(value: float) -> str:
    whole = int(value)
    if value != whole:
        return f"{value:,.2f}"
    if whole < 10**15:
        return f"{whole:,}"
    return f"{float(value):.3g}" if value < 10**300 else "a great many"
