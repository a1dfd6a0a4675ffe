"""Notebook files: run from top to bottom, and saved so that they read well without a kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
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
    """Keep of each widget its HTML and text.

    A widget lives in the kernel that made it. A file that names one shows "model
    not found" in JupyterLab, in place of the table that is there too.
    """
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            bundle = output.get("data", {})
            if "text/html" in bundle:
                bundle.pop(WIDGET_VIEW, None)
