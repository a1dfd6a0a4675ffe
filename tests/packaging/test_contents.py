"""What is in the wheel and in the sdist, and what is not."""

from __future__ import annotations

import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from venvs import tracked_files

pytestmark = pytest.mark.packaging

VIEWS = (
    "registry", "card", "form", "batch", "inspector", "activity", "approval", "question", "policies",
    "chat", "human",
)  # fmt: skip
STATIC = {f"{view}.{suffix}" for view in VIEWS for suffix in ("js", "css")}


@pytest.fixture(scope="session")
def in_wheel(dist: Any) -> set[str]:
    """Every path in the wheel."""
    with zipfile.ZipFile(dist.wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="session")
def in_sdist(dist: Any) -> set[str]:
    """Every path in the sdist, without its top folder."""
    with tarfile.open(dist.sdist) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def test_front_end_is_committed(repo: Path) -> None:
    """Each of the five views has its script and its style in the repository, and nothing else is there."""
    assert {Path(name).name for name in tracked_files(repo, "agtools_nb/static")} == STATIC


def test_wheel_holds_the_package(repo: Path, in_wheel: set[str]) -> None:
    """The wheel has every tracked file of the package, the front end and the type marker among them."""
    package = set(tracked_files(repo, "agtools_nb"))
    assert {"agtools_nb/py.typed", *(f"agtools_nb/static/{name}" for name in STATIC)} <= package
    assert sorted(package - in_wheel) == []


def test_wheel_holds_the_notebooks(repo: Path, in_wheel: set[str]) -> None:
    """The notebooks and the data they read come with the package."""
    notebooks = {f"agtools_nb/_{name}" for name in tracked_files(repo, "notebooks")}
    assert "agtools_nb/_notebooks/00_quickstart.ipynb" in notebooks
    assert sorted(notebooks - in_wheel) == []


def test_wheel_holds_nothing_else(in_wheel: set[str]) -> None:
    """Neither tests nor sources of the front end nor leftovers of a session are in the wheel."""
    assert (
        sorted(name for name in in_wheel if not re.match(r"agtools_nb(-[\w.]+\.dist-info)?/", name))
        == []
    )
    unwanted = re.compile(
        r"node_modules|(^|/)tests?/|widgets/|\.pyc$|\.ipynb_checkpoints|\.venv|(^|/)artifacts/|package.*\.json$"
    )
    assert sorted(filter(unwanted.search, in_wheel)) == []


def test_sdist_holds_what_a_build_and_its_tests_need(repo: Path, in_sdist: set[str]) -> None:
    """The sdist has every tracked file of each part; repository settings alone stay out."""
    left_out = {name for name in tracked_files(repo) if name not in in_sdist}
    assert sorted(left_out - {".gitignore", ".gitattributes", ".editorconfig"}) == []


def test_sdist_holds_no_leftovers(in_sdist: set[str]) -> None:
    """No installed or generated files are in the sdist."""
    unwanted = re.compile(
        r"node_modules|\.pyc$|\.ipynb_checkpoints|\.venv|^artifacts|^dist|_cache/"
    )
    assert sorted(filter(unwanted.search, in_sdist)) == []
