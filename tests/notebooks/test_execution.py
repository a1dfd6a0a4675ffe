"""Every notebook of the workshop runs, and gives what its saved outputs say."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from venvs import run

pytestmark = pytest.mark.notebooks

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").rglob("*.ipynb"))
NOTEBOOKS = [path for path in NOTEBOOKS if ".ipynb_checkpoints" not in path.parts]
SANITIZE = Path(__file__).with_name("sanitize.cfg")


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    """Return the code cells that hold something."""
    cells = nbformat.read(path, as_version=4).cells
    return [cell for cell in cells if cell.cell_type == "code" and cell.source.strip()]


def test_there_are_notebooks() -> None:
    """The tests of this file are about something."""
    assert [path.name for path in NOTEBOOKS][:1] == ["00_quickstart.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_executes(path: Path) -> None:
    """Run from top to bottom in a fresh kernel, no cell fails."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=120, resources={"metadata": {"path": str(path.parent)}}
    ).execute()
    assert any(cell.outputs for cell in notebook.cells if cell.cell_type == "code")


def test_gives_what_is_saved(repo: Path, tmp_path: Path) -> None:
    """nbval runs every code cell of every notebook, and no output differs from the saved one.

    Times and generated ids do differ: ``sanitize.cfg`` takes them out on both sides.
    """
    settings = tmp_path / "pytest.ini"  # not the project's: nbval itself raises warnings
    settings.write_text("[pytest]\n")
    report = run(
        [
            *(
                sys.executable,
                "-m",
                "pytest",
                "-c",
                settings,
                "--rootdir",
                repo,
                "-p",
                "no:cacheprovider",
                "-v",
            ),
            *(
                "--nbval",
                "--nbval-current-env",
                "--nbval-sanitize-with",
                SANITIZE,
                "--nbval-cell-timeout",
                "120",
            ),
            *NOTEBOOKS,
        ],
        tmp_path,
    )
    ran = re.findall(r"^(\S+)::ipynb::Cell \d+ PASSED", report, re.MULTILINE)
    assert {Path(name).name for name in ran} == {path.stem for path in NOTEBOOKS}
    every_cell = [cell for path in NOTEBOOKS for cell in nbformat.read(path, as_version=4).cells]
    assert len(ran) == sum(cell.cell_type == "code" for cell in every_cell)
