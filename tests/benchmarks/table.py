"""What the benchmarks share: timing in turns, and one table."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes:
        work: What was done.
        yardstick: What it is compared with.
        ours: Microseconds of our side, a median.
        theirs: Microseconds of the yardstick, a median.
        reach: The ratio that is asked for; ``None`` asks for nothing.
        at_least: Whether the ratio asked for is how many times faster ours must be.
    """

    work: str
    yardstick: str
    ours: float
    theirs: float
    reach: float | None = None
    at_least: bool = False

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours if self.at_least else self.ours / self.theirs

    @property
    def holds(self) -> bool:
        if self.reach is None:
            return True
        return self.ratio >= self.reach if self.at_least else self.ratio <= self.reach


def medians(jobs: Sequence[Callable[[], Any]], rounds: int, each: int = 1) -> list[float]:
    """Median microseconds of each job, taken in turns, so that a busy machine slows all."""
    times: list[list[float]] = [[] for _ in jobs]
    for _ in range(rounds):
        for job, taken in zip(jobs, times, strict=True):
            start = time.perf_counter()
            for _ in range(each):
                job()
            taken.append((time.perf_counter() - start) * 1e6 / each)
    return [statistics.median(taken) for taken in times]


def awaited(
    jobs: Sequence[Callable[[], Awaitable[Any]]], rounds: int, each: int = 1
) -> list[float]:
    """The same for what is awaited, all in one event loop."""

    async def main() -> list[float]:
        times: list[list[float]] = [[] for _ in jobs]
        for _ in range(rounds):
            for job, taken in zip(jobs, times, strict=True):
                start = time.perf_counter()
                for _ in range(each):
                    await job()
                taken.append((time.perf_counter() - start) * 1e6 / each)
        return [statistics.median(taken) for taken in times]

    return asyncio.run(main())


def text(rows: Sequence[Row]) -> str:
    """The rows as one table."""
    lines = [f"{'work':46} {'yardstick':38} {'ours us':>10} {'theirs us':>10} {'ratio':>7}  asked"]
    for row in rows:
        asked = "" if row.reach is None else f"{'>=' if row.at_least else '<='} {row.reach:g} x"
        mark = "" if row.holds else "  MISSED"
        ratio = f"{row.ratio:.2f} x"
        lines.append(
            f"{row.work:46} {row.yardstick:38} {row.ours:10.2f} {row.theirs:10.2f} {ratio:>7}  "
            f"{asked}{mark}"
        )
    return "\n".join(lines)
