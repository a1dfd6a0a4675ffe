"""The core's tests on every other CPython that this machine has, and with the lowest versions allowed.

The CPython that runs this one runs all tests. Each interpreter gets a fresh environment with the
package (the wheel under test, or this checkout) and what the core's tests import, made by uv.
Property tests run there on fewer examples.
"""

from __future__ import annotations

import faulthandler
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from registries import uv_environment
from venvs import run

pytestmark = pytest.mark.pythons

Record = Callable[[str, object], None]
Outcomes = dict[str, "Future[tuple[Path, int]]"]

ROOMS = (
    *("tests/core", "tests/cases", "tests/context", "tests/events", "tests/access"),
    *("tests/builtin", "tests/agent/test_session.py", "tests/agent/test_agent.py"),
    *("tests/agent/test_messages.py", "tests/agent/test_scripted.py", "tests/agent/test_inbox.py"),
)
LOWEST = (3, 11)
EXAMPLES = "10"
MOST_SECONDS = 900


def interpreters() -> dict[str, Path]:
    """Each CPython from 3.11 on, the newest of each: this one, those on PATH, and pyenv's."""
    places = [Path(sys.executable)]
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        places += sorted(Path(folder).glob("python3.*")) if folder else []
    if shutil.which("pyenv"):
        root = run(["pyenv", "root"], Path.cwd()).strip()
        versions = run(["pyenv", "versions", "--bare"], Path.cwd()).split()
        places += [Path(root, "versions", version, "bin", "python") for version in versions]
    found: dict[str, Path] = {}
    for place in places:
        version = _version(place)
        if version is not None:
            found.setdefault(version, place)
    in_order = sorted(found.items(), key=lambda item: _number(item[0]))
    # Of those that differ in their last number only, the newest.
    newest = {_number(version)[:2]: version for version, _ in in_order}
    return {version: place for version, place in in_order if version in newest.values()}


def others(found: dict[str, Path]) -> dict[str, Path]:
    """Without the minor version that runs all tests anyway, unless there is no other."""
    return {
        version: place
        for version, place in found.items()
        if len(found) == 1 or _number(version)[:2] != sys.version_info[:2]
    }


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def _version(python: Path) -> str | None:
    """``"3.12.1"`` of a CPython that is new enough and can make environments."""
    if not re.fullmatch(r"python(3\.\d+t?)?", python.name) or not os.access(python, os.X_OK):
        return None
    code = (
        "import sys, sysconfig, json; print(json.dumps([list(sys.version_info[:3]), "
        "sys.implementation.name, sys.version_info.releaselevel]))"
    )
    # A shim of pyenv may stand for a version that is not chosen here: it fails, and is passed over.
    done = subprocess.run(
        [python, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode:
        return None
    version, kind, level = json.loads(done.stdout)
    if tuple(version[:2]) < LOWEST or kind != "cpython" or level != "final":
        return None
    return ".".join(map(str, version))


@functools.cache
def environment() -> dict[str, str]:
    """For uv and for the tests in the environments."""
    return {**uv_environment(), "AGTOOLS_EXAMPLES": EXAMPLES, "PYTHONPATH": ""}


def uv(*arguments: str | Path, cwd: Path) -> str:
    """Run the uv that is installed beside this Python."""
    program = shutil.which(
        "uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    )
    assert program, "uv is not installed; it is one of the `test` extra's dependencies"
    return run([program, *arguments], cwd, environment(), MOST_SECONDS)


def source(repo: Path) -> str:
    """What is under test: a wheel, or this checkout."""
    wheel = os.environ.get("AGTOOLS_WHEEL")
    return str(Path(wheel).resolve()) if wheel else str(repo)


# Of the `test` extra: what drives Jupyter and browsers, and what builds and installs.
NOT_THERE = (
    *(
        "agtools_nb",
        "build",
        "nbclient",
        "nbconvert",
        "nbval",
        "notebook",
        "playwright",
        "uv",
        "voila",
    ),
)


# The providers' own libraries ask for newer versions than the package does, so that what is
# held against them is left out where the lowest versions are.
SDKS = ("anthropic", "google-genai", "mcp", "openai")
HELD_AGAINST_SDKS = ("tests/core/test_wire*.py", "tests/cases/test_mcp.py")


def needed(repo: Path, *, sdks: bool = True) -> list[str]:
    """What the core's tests import beside the package, as the ``test`` extra asks for it."""
    left_out = NOT_THERE if sdks else (*NOT_THERE, *SDKS)
    project = tomllib.loads((repo / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = [*extras["test"], *extras["watch"], *extras["web"]]
    found = [word for word in asked if re.split(r"[\[<>=~! ]", word)[0] not in left_out]
    assert {"pytest", "hypothesis"} <= {re.split("[<>=]", word)[0] for word in found}
    return found


def environment_of(python: Path, folder: Path, repo: Path, *, lowest: bool = False) -> Path:
    """A fresh environment with the package and what its core's tests need; returns its Python."""
    uv("venv", "--quiet", "--python", python, folder, cwd=folder.parent)
    inside = folder / "bin" / "python"
    package = [source(repo)] if source(repo).endswith(".whl") else ["--editable", source(repo)]
    install = ("pip", "install", "--quiet", "--python", inside)
    if not lowest:
        uv(*install, *package, *needed(repo), cwd=folder.parent)
        return inside
    # The requirements by name: those of a wheel do not count as direct ones.
    asked = tomllib.loads((repo / "pyproject.toml").read_text())["project"]["dependencies"]
    uv(*install, "--resolution", "lowest-direct", *package, *asked, cwd=folder.parent)
    # What only tests need must do with what is there now.
    kept = folder / "lowest.txt"
    there = installed(inside, list(lower_bounds(repo)))
    kept.write_text("".join(f"{name}=={version}\n" for name, version in there.items()))
    uv(*install, "--constraint", kept, *needed(repo, sdks=False), cwd=folder.parent)
    return inside


def passed(python: Path, repo: Path, *, sdks: bool = True) -> int:
    """Run the core's tests there and return how many passed; fails if one did not."""
    ignored = [] if sdks else [f"--ignore-glob={files}" for files in HELD_AGAINST_SDKS]
    # An older anyio, which watchfiles brings, has a plugin of which the newest pytest warns.
    ignored += ["-p", "no:anyio"]
    told = run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *ignored, *ROOMS],
        repo,
        environment(),
        MOST_SECONDS,
    )
    last = told.strip().splitlines()[-1]
    found = re.search(r"(\d+) passed", last)
    assert found, last
    assert "skipped" not in last, told
    return int(found[1])


def installed(python: Path, names: list[str]) -> dict[str, str]:
    """Versions there."""
    code = f"import importlib.metadata as m, json; print(json.dumps({{n: m.version(n) for n in {names!r}}}))"
    found: dict[str, str] = json.loads(run([python, "-c", code], python.parent))
    return found


PYTHONS = interpreters()
LOWEST_VERSIONS = "lowest"


@pytest.fixture(autouse=True)
def _its_own_bounds() -> None:
    """Nothing here waits longer than MOST_SECONDS for a process: pytest's own, shorter bound goes."""
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="module")
def outcomes(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcomes]:
    """The Python of each environment, and how many tests passed there; several run at once."""

    def outcome(version: str, lowest: bool) -> tuple[Path, int]:
        folder = tmp_path_factory.mktemp("python") / "venv"
        python = environment_of(PYTHONS[version], folder, repo, lowest=lowest)
        return python, passed(python, repo, sdks=not lowest)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        oldest = next(iter(PYTHONS))
        started = {LOWEST_VERSIONS: pool.submit(outcome, oldest, True)}
        started |= {version: pool.submit(outcome, version, False) for version in others(PYTHONS)}
        yield started


def test_there_are_interpreters_to_test_on(record_property: Record) -> None:
    """An empty list would pass for the wrong reason."""
    print("CPythons:", ", ".join(f"{version} ({place})" for version, place in PYTHONS.items()))
    record_property("interpreters", ", ".join(PYTHONS))
    assert PYTHONS
    assert all(_number(version) >= LOWEST for version in PYTHONS)


@pytest.mark.parametrize("version", list(others(PYTHONS)))
def test_on_each_python(version: str, outcomes: Outcomes, record_property: Record) -> None:
    """With the newest versions of everything."""
    _, count = outcomes[version].result()
    print(f"CPython {version}: {count} tests passed")
    record_property("passed", f"{version}: {count}")
    assert count > 500


def test_with_the_lowest_versions(repo: Path, outcomes: Outcomes, record_property: Record) -> None:
    """On the oldest Python here, with the lowest version that each of our own requirements allows."""
    version = next(iter(PYTHONS))
    python, count = outcomes[LOWEST_VERSIONS].result()
    lowest = lower_bounds(repo)
    there = installed(python, list(lowest))
    told = ", ".join(f"{name} {found}" for name, found in there.items())
    print(f"CPython {version}, lowest versions: {count} tests passed with {told}")
    record_property("passed", f"{version}, {told}: {count}")
    for name, bound in lowest.items():
        # "2.12.0" where "2.12" is asked for, but never another minor version.
        asked = _number(bound)
        assert _number(there[name])[: len(asked)] == asked, (name, there[name], bound)
    assert count > 500


def lower_bounds(repo: Path) -> dict[str, str]:
    """Lowest version of each of the package's own requirements."""
    project = tomllib.loads((repo / "pyproject.toml").read_text())["project"]
    pairs = (re.fullmatch(r"([\w-]+)\s*>=\s*([\d.]+).*", word) for word in project["dependencies"])
    found = {pair[1]: pair[2] for pair in pairs if pair}
    assert len(found) == len(project["dependencies"]), "a requirement without a lower bound"
    return found
