"""A notebook as it is shipped reads well where there is no kernel."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter

pytestmark = pytest.mark.notebooks

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").rglob("*.ipynb"))
NOTEBOOKS = [path for path in NOTEBOOKS if ".ipynb_checkpoints" not in path.parts]
WIDGET = "application/vnd.jupyter.widget-view+json"
# Absolute paths of anybody's machine, in pieces so that this file is no finding of the same search elsewhere.
MACHINE_PATH = re.compile(
    r"(?<![\w.])/(?:" + "work|root|tmp|home|Users|usr|opt|var" + r")/\w+|[A-Z]:\\\\\w+"
)
MAX_BYTES = 1_000_000

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)


def code_cells(path: Path) -> list[Any]:
    """Return the code cells that hold something."""
    cells = nbformat.read(path, as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code" and cell.source.strip()]


@each_notebook
def test_is_valid(path: Path) -> None:
    """It is a valid notebook of a Python kernel that every installation has."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.metadata.language_info.name == "python"


@each_notebook
def test_was_run_from_top_to_bottom(path: Path) -> None:
    """Every cell was run once, in order, in one kernel."""
    counts = [cell.execution_count for cell in code_cells(path)]
    assert counts == list(range(1, len(counts) + 1))


@each_notebook
def test_outputs_are_saved(path: Path) -> None:
    """A cell that ends in an expression has its result saved, and results carry their cell's number."""
    silent = re.compile(
        r"^(?:[\w.\[\], ]+ =|from |import |def |async def |class |@|with |for |assert |%|del |\)|\s)|;$"
    )
    for cell in code_cells(path):
        last = cell.source.rstrip().splitlines()[-1]
        if not silent.search(last):
            assert cell.outputs, f"cell [{cell.execution_count}] shows nothing for {last!r}"
        numbers = {
            output.execution_count
            for output in cell.outputs
            if output.output_type == "execute_result"
        }
        assert numbers <= {cell.execution_count}


@each_notebook
def test_no_cell_failed(path: Path) -> None:
    """A cell holds an error only where its tags say that it is meant to."""
    failed = [
        cell.execution_count
        for cell in code_cells(path)
        if any(output.output_type == "error" for output in cell.outputs)
        and "raises-exception" not in cell.metadata.get("tags", [])
    ]
    assert failed == []


@each_notebook
def test_widgets_are_saved_as_tables(path: Path) -> None:
    """What a widget showed is saved as HTML and text, and no widget model that died with its kernel is named.

    JupyterLab prefers the widget's mime type, and shows "model not found" for one that is gone.
    """
    notebook = nbformat.read(path, as_version=4)
    assert "widgets" not in notebook.metadata, (
        "widget state in the file is megabytes of our own modules"
    )
    for cell in code_cells(path):
        for output in cell.outputs:
            data = output.get("data", {})
            assert WIDGET not in data, f"cell [{cell.execution_count}]"
            if "text/html" in data:
                assert data["text/plain"].strip(), (
                    f"cell [{cell.execution_count}] has HTML without text"
                )


@each_notebook
def test_holds_no_machine_path(path: Path) -> None:
    """No path of the machine that ran it is in its outputs."""
    outputs = json.dumps([cell.outputs for cell in code_cells(path)])
    assert MACHINE_PATH.findall(outputs) == []


@each_notebook
def test_is_small(path: Path) -> None:
    """It can be cloned and read in a pull request."""
    assert path.stat().st_size < MAX_BYTES


@each_notebook
def test_converts(path: Path) -> None:
    """nbconvert draws it without a kernel, its tables included, and refers to no missing widget."""
    page, _ = HTMLExporter(embed_images=True).from_filename(str(path))
    assert "<table" in page
    assert "model not found" not in page
    assert "application/vnd.jupyter.widget-view+json" not in page
