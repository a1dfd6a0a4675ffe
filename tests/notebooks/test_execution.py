"""Every notebook of the workshop runs, and gives what its saved outputs say."""

from __future__ import annotations

import functools
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbval.plugin import get_sanitize_patterns
from venvs import run

pytestmark = pytest.mark.notebooks

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").rglob("*.ipynb"))
NOTEBOOKS = [path for path in NOTEBOOKS if ".ipynb_checkpoints" not in path.parts]
SANITIZE = Path(__file__).with_name("sanitize.cfg")


def code_cells(notebook: Any) -> list[Any]:
    """Return the code cells that hold something."""
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def test_there_are_notebooks() -> None:
    """The tests of this file are about something."""
    assert [path.name for path in NOTEBOOKS][:1] == ["00_quickstart.ipynb"]


@pytest.fixture(scope="module")
def executed() -> Callable[[Path], Any]:
    """Give a notebook as it is after a run from top to bottom in a fresh kernel; each runs once."""

    @functools.cache
    def execute(path: Path) -> Any:
        notebook = nbformat.read(path, as_version=4)
        folder = {"metadata": {"path": str(path.parent)}}
        return NotebookClient(notebook, timeout=120, resources=folder).execute()

    return execute


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_gives_what_is_saved(path: Path, executed: Callable[[Path], Any]) -> None:
    """No cell fails, and each gives the output that is saved, but for times and generated ids."""
    saved, now = code_cells(nbformat.read(path, as_version=4)), code_cells(executed(path))
    assert any(cell.outputs for cell in now)
    for before, after in zip(saved, now, strict=True):
        shown = [compared(cell.outputs) for cell in (before, after)]
        assert shown[0] == shown[1], f"cell [{before.execution_count}]: {before.source}"


def test_nbval(repo: Path, tmp_path: Path) -> None:
    """nbval runs every code cell of every notebook and finds the saved outputs.

    It knows no display updates, by which a live view keeps its static twin up to
    date, so the outputs of views are compared above and passed over here.
    """
    copies = tmp_path / "notebooks"
    shutil.copytree(repo / "notebooks", copies)
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        for cell in code_cells(notebook):
            if any("text/html" in output.get("data", {}) for output in cell.outputs):
                cell.metadata.setdefault("tags", []).append("nbval-ignore-output")
        nbformat.write(notebook, copies / path.relative_to(repo / "notebooks"))
    settings = tmp_path / "pytest.ini"  # not the project's: nbval itself raises warnings
    settings.write_text("[pytest]\n")
    pytest_command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        settings,
        "-p",
        "no:cacheprovider",
        "-v",
    ]
    nbval = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout", "120"]
    report = run([*pytest_command, *nbval, "--nbval-sanitize-with", SANITIZE, copies], tmp_path)
    ran = re.findall(r"^(\S+)::ipynb::Cell \d+ PASSED", report, re.MULTILINE)
    assert {Path(name).name for name in ran} == {path.stem for path in NOTEBOOKS}
    every_cell = [cell for path in NOTEBOOKS for cell in nbformat.read(path, as_version=4).cells]
    assert len(ran) == sum(cell.cell_type == "code" for cell in every_cell)


def compared(outputs: list[Any]) -> list[dict[str, str]]:
    """Return what is compared of a cell's outputs: everything but widgets, times and generated ids."""
    patterns = get_sanitize_patterns(SANITIZE.read_text())
    shown = []
    for output in outputs:
        assert output.output_type != "error", output.evalue
        parts = dict(output.get("data", {}), **({"text": output.text} if "text" in output else {}))
        if "application/vnd.jupyter.widget-view+json" in parts:
            continue  # a view's widget; what is saved of it is the output before
        shown.append({mime: sanitized(str(text), patterns) for mime, text in parts.items()})
    return shown


def sanitized(text: str, patterns: list[tuple[str, str]]) -> str:
    """Replace what differs from run to run, as nbval does."""
    for pattern, replacement in patterns:
        text = re.sub(pattern, replacement, text)
    return text
