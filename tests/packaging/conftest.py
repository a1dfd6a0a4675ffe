"""The wheel and the sdist, built once a session."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from venvs import run


@dataclass(frozen=True)
class Dist:
    """What was built."""

    wheel: Path
    sdist: Path


@pytest.fixture(scope="session")
def dist(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Dist:
    """Build both, or take those in the directory that ``AGTOOLS_DIST`` names (CI has built them already)."""
    given = os.environ.get("AGTOOLS_DIST")
    folder = Path(given).resolve() if given else tmp_path_factory.mktemp("dist")
    if not given:
        run([sys.executable, "-m", "build", "--outdir", folder], repo)
    (wheel,) = folder.glob("agtools_nb-*.whl")
    (sdist,) = folder.glob("agtools_nb-*.tar.gz")
    return Dist(wheel, sdist)
