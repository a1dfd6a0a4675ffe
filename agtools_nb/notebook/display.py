"""What the last line of a cell shows: tools as cards, results as tables, views live."""

from __future__ import annotations

from agtools_nb.calls import ToolResult
from agtools_nb.define import Tool
from agtools_nb.notebook.cells import ipython, running_cell
from agtools_nb.notebook.kernel_loop import KernelLoop
from agtools_nb.notebook.live_output import publish, show_view
from agtools_nb.views.base import View
from agtools_nb.views.card import CardView
from agtools_nb.views.result import result_html, result_text

MAX_RESULTS_SHOWN = 100


class Results(list[ToolResult]):
    """The results of a batch, in call order: a list that shows itself as a table."""

    def show(self) -> None:
        """Show the table, unless this cell has shown these results live."""
        if not _shown_here(self):
            shown, more = self[:MAX_RESULTS_SHOWN], len(self) - MAX_RESULTS_SHOWN
            note = f"... and {more:,} more" if more > 0 else ""
            publish(
                {
                    "text/plain": "\n".join([*map(result_text, shown), note]).rstrip(),
                    "text/html": "".join(map(result_html, shown)) + note,
                }
            )

    _ipython_display_ = show


def install() -> None:
    """Teach IPython how tools and results show. Safe to call again."""
    shell = ipython()
    if shell is None:
        return
    formatter = shell.display_formatter
    formatter.ipython_display_formatter.for_type(Tool, _show_card)
    formatter.ipython_display_formatter.for_type(ToolResult, _show_result)
    formatter.ipython_display_formatter.for_type(View, _show_view)


def mark_shown(results: list[ToolResult]) -> None:
    """Remember that the running cell shows these results live already."""
    cell = running_cell()
    if cell is not None:
        _last_shown[:] = [(cell.run, results)]


_last_shown: list[tuple[str, list[ToolResult]]] = []


def _shown_here(results: list[ToolResult] | ToolResult) -> bool:
    cell = running_cell()
    for run, shown in _last_shown:
        if cell is not None and cell.run == run:
            return shown is results or any(result is results for result in shown)
    return False


def _show_view(view: View) -> None:
    own = getattr(view, "_ipython_display_", None)  # of a view that knows where it was shown
    if own is None:
        show_view(view)
    else:
        own()


def _show_card(tool: Tool) -> None:
    show_view(CardView(KernelLoop(), tool))


def _show_result(result: ToolResult) -> None:
    if not _shown_here(result):
        publish({"text/plain": result_text(result), "text/html": result_html(result)})
