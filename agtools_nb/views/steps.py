"""The history of a store as positions of a slider: one a write, or one a call."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

from agtools_nb.context import StateWrite
from agtools_nb.context.history import HISTORY_LIMIT

By = Literal["call", "write"]


@dataclass(slots=True)
class Span:
    """Writes in a row that count as one step.

    Attributes:
        first: ``seq`` of the first.
        last: ``seq`` of the last.
    """

    first: int
    last: int


class Steps:
    """Numbers the steps of a history as it grows, each number once and for all.

    Writes in a row by one call are one step of ``"call"``; a write by no call is one by
    itself. Steps of ``"write"`` are numbered as the writes are. Position ``first - 1`` of
    :meth:`bounds` is what was there before the first step that is kept.
    """

    def __init__(self) -> None:
        self._spans: deque[Span] = deque(maxlen=HISTORY_LIMIT)
        self._count = 0
        self._call: str | None = None
        self._first = 1
        self._last = 0

    def take(self, history: tuple[StateWrite, ...]) -> tuple[StateWrite, ...]:
        """Bring the steps in step with a history, and return the writes that are new."""
        if not history:
            return ()
        news = min(history[-1].seq - self._last, len(history))
        fresh = history[-news:] if news > 0 else ()
        for write in fresh:
            self._add(write)
        self._first = history[0].seq
        while self._spans and self._spans[0].last < self._first:
            self._spans.popleft()
        return fresh

    def _add(self, write: StateWrite) -> None:
        follows = write.seq == self._last + 1 and write.call_id is not None
        self._last = write.seq
        if follows and write.call_id == self._call:
            self._spans[-1].last = write.seq
            return
        self._call = write.call_id
        self._spans.append(Span(write.seq, write.seq))
        self._count += 1

    def bounds(self, by: By) -> tuple[int, int]:
        """Return the numbers of the first and the last step; with no step the last is less."""
        if by == "write":
            return self._first, self._last
        return self._count - len(self._spans) + 1, self._count

    def span(self, by: By, at: int) -> Span | None:
        """Return the writes of a step; ``None`` for what was there before the first.

        Positions beyond either end are taken as that end: the history may have moved on.
        """
        first, last = self.bounds(by)
        at = min(max(at, first - 1), last)
        if at < first:
            return None
        if by == "write":
            return Span(at, at)
        span = self._spans[at - first]
        return Span(max(span.first, self._first), span.last)

    def number(self, by: By, seq: int) -> int:
        """Return the step that a write belongs to, within the bounds.

        What is no longer kept belongs to the position before the first step.
        """
        first, last = self.bounds(by)
        if seq < self._first:
            return first - 1
        if by == "write":
            return min(seq, last)
        low, high = 0, len(self._spans)
        while low < high:
            middle = (low + high) // 2
            if self._spans[middle].last < seq:
                low = middle + 1
            else:
                high = middle
        return min(first + low, last)

    @property
    def first_write(self) -> int:
        """``seq`` of the first write that is kept."""
        return self._first
