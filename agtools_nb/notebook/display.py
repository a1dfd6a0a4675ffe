"""What the last line of a cell shows: cards, tables of results, live views and their twins."""

from __future__ import annotations

import secrets
from typing import Any

from agtools_nb.calls import ToolResult
from agtools_nb.define import Tool
from agtools_nb.notebook.cells import ipython, running_cell
from agtools_nb.notebook.kernel_loop import KernelLoop
from agtools_nb.views.base import View
from agtools_nb.views.card import CardView
from agtools_nb.views.result import result_html, result_text

# A loop of a thousand calls must not open a thousand views.
MAX_VIEWS_A_CELL = 25


class Results(list[ToolResult]):
    """The results of a batch, in call order: a list that shows itself as a table."""

    def show(self) -> None:
        """Show the table, unless this cell has shown these results live."""
        if not _shown_here(self):
            _publish(
                {
                    "text/plain": "\n".join(map(result_text, self)),
                    "text/html": "".join(map(result_html, self)),
                }
            )

    _ipython_display_ = show


class LiveOutput:
    """A view in a cell's output, whose saved twin can be brought up to date.

    Args:
        view: What to show.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self._id = f"agtools_nb-{secrets.token_hex(8)}"
        self._is_shown = False

    def show(self) -> None:
        """Show the view in the running cell, once; a later call does nothing."""
        shell = ipython()
        if self._is_shown or shell is None or not _may_show_another():
            return
        self._is_shown = True
        _publish(self._bundle(), display_id=self._id)

    def update(self) -> None:
        """Replace the saved HTML and text by what the view shows now."""
        if self._is_shown and ipython() is not None:
            _publish(self._bundle(), display_id=self._id, update=True)

    def _bundle(self) -> dict[str, Any]:
        bundle: dict[str, Any] = self.view._repr_mimebundle_()[0]
        return bundle


def install() -> None:
    """Teach IPython how tools and results show. Safe to call again."""
    shell = ipython()
    if shell is None:
        return
    formatter = shell.display_formatter
    formatter.mimebundle_formatter.for_type(Tool, _card)
    formatter.ipython_display_formatter.for_type(ToolResult, _show_result)


def mark_shown(results: list[ToolResult]) -> None:
    """Remember that the running cell shows these results live already."""
    cell = running_cell()
    if cell is not None:
        _last_shown[:] = [(cell.run, results)]


_last_shown: list[tuple[str, list[ToolResult]]] = []
_views_shown: list[tuple[str, int]] = [("", 0)]


def _shown_here(results: list[ToolResult] | ToolResult) -> bool:
    cell = running_cell()
    for run, shown in _last_shown:
        if cell is not None and cell.run == run:
            return shown is results or any(result is results for result in shown)
    return False


def _may_show_another() -> bool:
    cell = running_cell()
    run, count = _views_shown[0]
    count = count + 1 if cell is not None and cell.run == run else 1
    _views_shown[0] = (cell.run if cell is not None else "", count)
    if count == MAX_VIEWS_A_CELL + 1:
        print(
            f"[agtools_nb: {MAX_VIEWS_A_CELL} views shown; further calls of this cell run unseen]"
        )
    return count <= MAX_VIEWS_A_CELL


def _card(tool: Tool, *_: Any, **__: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return CardView(KernelLoop(), tool)._repr_mimebundle_()


def _show_result(result: ToolResult) -> None:
    if not _shown_here(result):
        _publish({"text/plain": result_text(result), "text/html": result_html(result)})


def _publish(
    bundle: dict[str, Any], *, display_id: str | None = None, update: bool = False
) -> None:
    from IPython.display import publish_display_data

    transient = {"display_id": display_id} if display_id else {}
    publish_display_data(bundle, transient=transient, update=update)  # type: ignore[no-untyped-call]
