"""What looks on while a toolkit's calls run: the counts of the registry, and a batch's view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agtools_nb.arguments import Prepared
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context import Progress
from agtools_nb.run import Batch
from agtools_nb.views.batch import BatchView


@dataclass(slots=True)
class Tally:
    """What became of the calls of one tool."""

    calls: int = 0
    failures: int = 0
    running: int = 0
    last: ToolResult | None = None


class Counter:
    """Counts the calls of one batch, for the registry."""

    def __init__(self, tally: Callable[[str], Tally], refresh: Callable[[], None]) -> None:
        self._tally = tally
        self._refresh = refresh
        self._running: set[int] = set()

    def call_started(self, index: int, call: ToolCall, prepared: Prepared) -> None:
        """A call begins."""
        self._running.add(index)
        self._tally(call.name).running += 1
        self._refresh()

    def call_finished(self, index: int, result: ToolResult) -> None:
        """A call has its result."""
        tally = self._tally(result.name)
        tally.calls += 1
        tally.failures += result.status in ("error", "invalid")
        tally.running -= index in self._running
        tally.last = result
        self._refresh()


class ViewObserver:
    """Hands what happens in a batch to its view."""

    def __init__(self, view: BatchView, batch: Batch) -> None:
        self._view = view
        self._batch = batch

    def call_started(self, index: int, call: ToolCall, prepared: Prepared) -> None:
        """A call begins."""
        tool, arguments = self._batch.attempts[index].tool, prepared.arguments or {}
        shown = None if tool is None else tool.display_text(arguments)
        self._view.call_started(index, call, arguments, prepared.changes, shown)

    def call_progress(self, index: int, progress: Progress) -> None:
        """A call reports."""
        self._view.call_progress(index, progress)

    def call_finished(self, index: int, result: ToolResult) -> None:
        """A call has its result."""
        self._view.call_finished(index, result)
