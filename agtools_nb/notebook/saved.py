"""Notebook files: run from top to bottom, and saved so that they read well without a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agtools_nb.notebook.live_output import WIDGET_VIEW

CELL_SECONDS = 120


def execute(source: Path, target: Path) -> None:
    """Run every cell of ``source`` in a fresh kernel, in its folder, and write it to ``target``.

    Args:
        source: A notebook file.
        target: Where it goes, with its outputs, its widgets as their static twins.

    Raises:
        nbclient.exceptions.CellExecutionError: A cell failed; nothing is written.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(source, as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(source.parent)}},
        store_widget_state=False,
        record_timing=False,
    )
    client.execute()
    without_widgets(notebook)
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target)  # type: ignore[no-untyped-call]


def without_widgets(notebook: Any) -> None:
    """Keep of each view its HTML and text: its widget died with the kernel."""
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [out for out in cell.outputs if WIDGET_VIEW not in out.get("data", {})]
