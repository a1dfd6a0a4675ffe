"""Our progress as MCP's: one number that only grows, and a text."""

from __future__ import annotations

from typing import NamedTuple

from agtools_nb.context import Progress
from agtools_nb.context.pieces import BAR

# By so much a report grows that says something else than how far the call is.
_LEAST = 1e-6


class Report(NamedTuple):
    """What ``notifications/progress`` says."""

    progress: float
    total: float | None
    message: str | None


class Reports:
    """Makes the reports of one call.

    MCP has one bar a call, whose value must grow with each report: it is the call's first bar.
    Further bars and text are messages.
    """

    def __init__(self) -> None:
        self._last = 0.0
        self._total: float | None = None

    def of(self, progress: Progress) -> Report:
        """The report of a piece of progress."""
        done = progress.done if progress.stream == BAR else None
        if done is not None:
            self._total = progress.total
        value = self._last + _LEAST
        if done is not None and done > self._last:
            value = done
        self._last = value
        return Report(value, self._total, progress.chunk or None)
