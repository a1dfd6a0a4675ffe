"""The handle that ``tk.run`` and ``tk.call`` give back: await it, or leave it running and watch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar

from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.notebook.asking import Place, asking_in
from agtools_nb.notebook.display import Results, mark_shown
from agtools_nb.notebook.kernel_loop import KernelLoop
from agtools_nb.notebook.live_output import LiveOutput, show_view
from agtools_nb.run import Batch
from agtools_nb.views.batch import BatchView

R = TypeVar("R", Results, ToolResult)


class ShownRun:
    """A run's view in a cell, if it has one: a long loop's later runs have none.

    Args:
        view: The view, or ``None``.
    """

    def __init__(self, view: BatchView | None) -> None:
        self.view = view
        self._output = None if view is None else LiveOutput(view)

    def show(self) -> None:
        """Show it in the running cell, once."""
        if self._output is not None:
            self._output.show()

    @property
    def is_here(self) -> bool:
        """Whether the running cell shows it."""
        return self._output is not None and self._output.is_in_running_cell

    def finish(self) -> None:
        """Draw the last word, on the page and in the saved twin."""
        if self.view is not None and self._output is not None:
            self.view.batch_finished()
            self._output.update()


_OF_A_RESULT = frozenset(ToolResult.__slots__) | {"ok", "unwrap"}


class LiveRun(Generic[R]):
    """A batch that runs on the kernel's loop, from the moment it is made.

    ``await`` it for its results; as the last line of a cell it shows itself and
    runs on while other cells are used.

    Attributes:
        view: What shows it; ``None`` after the first 25 runs of one cell.
    """

    def __init__(
        self,
        batch: Batch,
        shown: ShownRun,
        loop: KernelLoop,
        pick: Callable[[Results], R],
        place: Place,
    ) -> None:
        self.view = shown.view
        self._place = place
        self._shown = shown
        self._batch = batch
        self._pick: Callable[[Results], R] = pick
        self._results = Results()
        self._task = loop.start(self._run())

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls, each with its id."""
        return self._batch.calls

    @property
    def done(self) -> bool:
        """Whether every call has its result."""
        return self._task.done()

    def stop(self) -> None:
        """Cancel every call that has no result yet."""
        self._batch.stop()

    def __await__(self) -> Generator[Any, None, R]:
        return self._wait().__await__()

    def __repr__(self) -> str:
        count = f"{len(self.calls)} call{'' if len(self.calls) == 1 else 's'}"
        return f"<LiveRun of {count}: {'done' if self.done else 'running'}>"

    def __getattr__(self, name: str) -> Any:
        if name in _OF_A_RESULT:
            raise AttributeError(
                f"this is a call under way, whose result has .{name}: await it first, as in "
                'result = await tk.call("name")'
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _ipython_display_(self) -> None:
        if self.view is None:
            print(self)
            return
        self._shown.show()
        if not self._shown.is_here:
            show_view(self.view)  # once more: it was shown where it began

    async def _run(self) -> None:
        try:
            with asking_in(self._place):
                self._results[:] = await self._batch.run()
        finally:
            self._results[:] = [result for result in self._batch.results if result is not None]
            self._shown.finish()

    async def _wait(self) -> R:
        self._place.is_awaited = True
        self._shown.show()
        if self._shown.is_here:
            mark_shown(self._results)
        try:
            await asyncio.shield(self._task)
        except asyncio.CancelledError:
            # The cell was interrupted: its calls must not run on unseen.
            self._batch.stop()
            await asyncio.wait([self._task])
            raise asyncio.CancelledError(
                "the cell was interrupted; its calls were stopped"
            ) from None
        return self._pick(self._results)
