"""The wheel, the sdist, an editable install and Binder all show the same widgets."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import nbformat
import pytest
from browser.servers import free_ports
from packaging.specifiers import SpecifierSet
from venvs import copy_tracked, fresh_venv, pip_install, run, shown_views

pytestmark = pytest.mark.packaging

QUICKSTART = "notebooks/00_quickstart.ipynb"
EXECUTE = """
import sys
import nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=120, resources={"metadata": {"path": "notebooks"}}).execute()
nbformat.write(notebook, sys.argv[2])
"""
LAB_HOME = """
import sys
from jupyterlab.labapp import LabApp
server = LabApp.initialize_server(argv=["--no-browser", "--allow-root", "--ServerApp.port=" + sys.argv[1]])
print("home", server.default_url)
"""


def expected_views(repo: Path) -> dict[str, str]:
    """Return the SHA-256 of each front-end file as it stands in the repository."""
    static = sorted((repo / "agtools_nb" / "static").iterdir())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in static}


@pytest.mark.parametrize("form", ["wheel", "sdist", "editable"])
def test_install_shows_the_views(form: str, repo: Path, dist: Any, tmp_path: Path) -> None:
    """In a fresh environment each view hands the browser the bytes that are in the repository."""
    python = fresh_venv(tmp_path / "venv")
    source = copy_tracked(repo, tmp_path / "source")
    target = {"wheel": [dist.wheel], "sdist": [dist.sdist], "editable": ["-e", source]}[form]
    pip_install(python, *target, cwd=tmp_path)
    report = shown_views(python, tmp_path)
    assert report["shown"] == expected_views(repo)
    home = source if form == "editable" else tmp_path / "venv"
    assert Path(report["file"]).is_relative_to(home)


def test_binder_python_is_supported(repo: Path) -> None:
    """repo2docker's own default Python is older than ours, so runtime.txt names one that fits."""
    project = tomllib.loads((repo / "pyproject.toml").read_text())["project"]
    name, _, version = (repo / "binder" / "runtime.txt").read_text().strip().partition("-")
    assert name == "python"
    assert f"{version}.0" in SpecifierSet(project["requires-python"])


def test_binder_steps(repo: Path, tmp_path: Path) -> None:
    """What repo2docker runs works on a clone, the quickstart runs there, and JupyterLab opens on it."""
    clone = copy_tracked(repo, tmp_path / "clone")
    python = fresh_venv(tmp_path / "venv")
    inside = {
        "NB_PYTHON_PREFIX": str(tmp_path / "venv"),
        "KERNEL_PYTHON_PREFIX": str(tmp_path / "venv"),
        "PATH": f"{tmp_path / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
    }
    cached = run([python, "-m", "pip", "cache", "dir"], tmp_path).strip()
    install = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--cache-dir",
        cached,
        "-r",
        "binder/requirements.txt",
    ]
    run(install, clone, inside)
    post_build = clone / "binder" / "postBuild"
    assert post_build.stat().st_mode & stat.S_IXUSR
    run([post_build], clone, inside)

    assert shown_views(python, tmp_path)["shown"] == expected_views(repo)
    executed = tmp_path / "executed.ipynb"
    run([python, "-c", EXECUTE, QUICKSTART, executed], clone, inside)
    cells = [
        cell for cell in nbformat.read(executed, as_version=4).cells if cell.cell_type == "code"
    ]
    assert cells
    assert all(cell.execution_count for cell in cells if cell.source.strip())
    home = run([python, "-c", LAB_HOME, str(next(free_ports()))], clone, inside)
    assert home.strip().endswith(f"home /lab/tree/{QUICKSTART}")


def test_headless_quickstart(tmp_path: Path) -> None:
    """The README's headless variant executes the quickstart and writes it with its outputs."""
    run([sys.executable, "-m", "agtools_nb", "quickstart", "--headless", "out.ipynb"], tmp_path)
    cells = nbformat.read(tmp_path / "out.ipynb", as_version=4).cells
    counts = [
        cell.execution_count for cell in cells if cell.cell_type == "code" and cell.source.strip()
    ]
    assert counts == list(range(1, len(counts) + 1))
    assert any(cell.outputs for cell in cells if cell.cell_type == "code")
