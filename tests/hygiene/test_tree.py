"""What the repository must not hold: this machine, a registry, files too long to read."""

from __future__ import annotations

import os
import re
import sysconfig
from pathlib import Path

import pytest
from venvs import tracked_files

import agtools_nb

# In pieces, or this file would be a finding itself.
MACHINE_PATH = re.compile(
    "|".join(rf"(?<![\w.])/{folder}/" for folder in ("work", "root", r"home/\w+", "Users"))
)
REGISTRY = re.compile(
    r"registry\.npm"
    r"js\.org|registry\.yarn"
    r"pkg\.com|(?:\w+\.)?py"
    r"pi\.org|python"
    r"hosted\.org"
)
BINARY = {".png", ".ico", ".gif", ".woff2", ".db", ".whl", ".gz"}
CONFIG = re.compile(
    r"(^|/)(package(-lock)?\.json|\.npmrc|[^/]*\.(toml|cfg|ini|lock|txt|ya?ml|mjs)|postBuild)$|^\.ci/|^binder/"
)
LONGEST = 500


def texts(repo: Path) -> dict[str, str]:
    """Return every tracked text file that exists."""
    names = [
        name
        for name in tracked_files(repo)
        if Path(name).suffix not in BINARY and (repo / name).is_file()
    ]
    return {name: (repo / name).read_text(encoding="utf-8") for name in names}


def test_no_machine_paths(repo: Path) -> None:
    """No file holds a path of the machine that it was made on."""
    found = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {text[match.start() : match.start() + 40]!r}"
        for name, text in texts(repo).items()
        for match in MACHINE_PATH.finditer(text)
    ]
    assert found == []


def test_no_registry_hosts(repo: Path) -> None:
    """Neither lock files nor settings name a registry's host: each machine has its own."""
    assert [
        name for name, text in texts(repo).items() if CONFIG.search(name) and REGISTRY.search(text)
    ] == []


@pytest.mark.parametrize("room", ["agtools_nb", "widgets"])
def test_no_endless_files(repo: Path, room: str) -> None:
    """A source file can be read in one go; built and locked files are not sources."""
    sources = {name: text for name, text in texts(repo).items() if name.startswith(f"{room}/")}
    sources = {
        name: text
        for name, text in sources.items()
        if "/static/" not in name and "lock" not in name
    }
    assert sources
    assert {
        name: text.count("\n") for name, text in sources.items() if text.count("\n") > LONGEST
    } == {}


def test_tests_the_right_package(repo: Path) -> None:
    """With AGTOOLS_WHEEL the tests see the installed wheel, else this checkout."""
    imported = Path(agtools_nb.__file__ or "").resolve()
    if os.environ.get("AGTOOLS_WHEEL"):
        assert imported.is_relative_to(Path(sysconfig.get_path("purelib")).resolve())
    else:
        assert imported.is_relative_to(repo)
