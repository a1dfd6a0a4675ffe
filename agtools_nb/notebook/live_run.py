"""The handle that ``tk.run`` and ``tk.call`` give back: await it, or leave it running and watch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar

from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.notebook.display import LiveOutput, Results, mark_shown
from agtools_nb.notebook.kernel_loop import KernelLoop
from agtools_nb.run import Batch
from agtools_nb.views.batch import BatchView

R = TypeVar("R", Results, ToolResult)


class LiveRun(Generic[R]):
    """A batch that runs on the kernel's loop, from the moment it is made.

    ``await`` it for its results; as the last line of a cell it shows itself and
    runs on while other cells are used.

    Attributes:
        view: What shows it.
    """

    def __init__(
        self,
        batch: Batch,
        view: BatchView,
        loop: KernelLoop,
        pick: Callable[[Results], R],
    ) -> None:
        self.view = view
        self._batch = batch
        self._pick: Callable[[Results], R] = pick
        self._results = Results()
        self._output = LiveOutput(view)
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
        return self.view.static_text()

    def _ipython_display_(self) -> None:
        self._output.show()

    async def _run(self) -> None:
        try:
            self._results[:] = await self._batch.run()
        finally:
            self._results[:] = [result for result in self._batch.results if result is not None]
            self.view.batch_finished()
            self._output.update()

    async def _wait(self) -> R:
        self._output.show()
        mark_shown(self._results)
        try:
            await asyncio.shield(self._task)
        except asyncio.CancelledError:
            # The cell was interrupted: its calls must not run on unseen.
            self._batch.stop()
            await asyncio.wait([self._task])
            raise
        return self._pick(self._results)
