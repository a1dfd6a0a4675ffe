"""Live views in cell outputs, each with a twin in HTML and text that a saved notebook keeps.

A widget lives in the kernel that made it; JupyterLab shows "model not found" for one
that is gone, whatever else its output holds. So a view is two outputs: the twin, then
the widget. While the widget is there, the twin is hidden; when it is not, the error is.
A twin is written again, with ``update_display_data``, when its view has changed: at the
end of each cell, of a batch, and of a form's run. The widget is not drawn anew for it.
"""

from __future__ import annotations

import secrets
from collections import deque
from typing import Any

from agtools_nb.notebook.cells import Cell, ipython, on_cell_end, running_cell
from agtools_nb.views.base import View

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
# JupyterLab, Notebook 7 and Voila put each output into a .jp-OutputArea-child. Where styles are
# not trusted, or there are no such elements, the twin just stays.
_STYLE = (
    "<style>"
    ".jp-OutputArea-child:has(.agt-twin):has(+ .jp-OutputArea-child .agt),"
    ".jp-OutputArea-child:has(.agt-twin) + .jp-OutputArea-child:not(:has(.jp-OutputArea-output *))"
    "{display:none}</style>"
)
# A loop of a thousand calls must not open a thousand views.
MAX_RUNS_A_CELL = 25
# Views of a long session that are still kept up to date in the file.
MAX_TRACKED = 200


class LiveOutput:
    """A view in a cell's output.

    Args:
        view: What to show.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self.cell: Cell | None = None
        self._id = f"agtools_nb-{secrets.token_hex(8)}"
        self._revision = -1
        # Whether the last word was sent from the end of a cell. nbclient keeps only what is
        # sent from the cell that runs; a batch that runs on speaks for the cell it began in.
        self._is_kept = True

    @property
    def is_in_running_cell(self) -> bool:
        """Whether it was shown in the cell that runs now."""
        running = running_cell()
        return self.cell is not None and running is not None and self.cell.run == running.run

    def show(self) -> None:
        """Show the view in the running cell, once; a later call does nothing."""
        if self.cell is not None or ipython() is None:
            return
        self.cell = running_cell()
        self._publish_twin(update=False)
        bundle = self.view._repr_mimebundle_()[0]
        publish({WIDGET_VIEW: bundle[WIDGET_VIEW], "text/plain": ""})
        _outputs.append(self)

    def update(self) -> None:
        """Write the saved HTML and text again, if the view has changed since."""
        if self.cell is not None and self.view.revision != self._revision:
            self._publish_twin(update=True)
            self._is_kept = False

    def keep(self) -> None:
        """The same from the end of a cell, and also what was written since the last one."""
        changed = self.cell is not None and self.view.revision != self._revision
        if changed or not self._is_kept:
            self._publish_twin(update=True)
            self._is_kept = True

    def _publish_twin(self, *, update: bool) -> None:
        self._revision = self.view.revision
        bundle = self.view._repr_mimebundle_()[0]
        twin = {
            "text/plain": bundle["text/plain"],
            "text/html": f'{_STYLE}<div class="agt-twin">{bundle["text/html"]}</div>',
        }
        publish(twin, display_id=self._id, update=update)


def show_view(view: View) -> None:
    """Show a view in the running cell: what IPython does with one on the last line."""
    LiveOutput(view).show()


def update_outputs_of(view: View) -> None:
    """Bring the saved twins of one view up to date."""
    for output in list(_outputs):
        if output.view is view:
            output.update()


def publish(bundle: dict[str, Any], *, display_id: str | None = None, update: bool = False) -> None:
    """Send display data from the running cell."""
    from IPython.display import publish_display_data

    transient = {"display_id": display_id} if display_id else {}
    publish_display_data(bundle, transient=transient, update=update)  # type: ignore[no-untyped-call]


_outputs: deque[LiveOutput] = deque(maxlen=MAX_TRACKED)
_runs: list[tuple[str, int]] = [("", 0)]


def may_show_another_run() -> bool:
    """Count a run of the running cell, and say whether it is one of the first 25.

    Outside of a notebook nothing is shown.
    """
    cell = running_cell()
    if cell is None:
        return False
    run, count = _runs[0]
    count = count + 1 if cell.run == run else 1
    _runs[0] = (cell.run, count)
    if count == MAX_RUNS_A_CELL + 1:
        print(f"[agtools_nb: {MAX_RUNS_A_CELL} runs shown; further ones of this cell are not]")
    return count <= MAX_RUNS_A_CELL


@on_cell_end
def _bring_up_to_date(cell: Cell, failed: bool) -> None:
    """Write the twins of what changed; forget what an earlier run of this cell showed."""
    for output in list(_outputs):
        shown_in = output.cell
        if shown_in is not None and shown_in.id == cell.id is not None and shown_in.run != cell.run:
            _outputs.remove(output)
        else:
            output.keep()
