"""What the package offers, what it imports, and which way its rooms look."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import agtools_nb

PACKAGE = Path(agtools_nb.__file__).parent
# Each room may import from those before it. What stands beside each other shares a rank.
RANKS = {
    "errors": 0,
    "jsonable": 0,
    "media": 0,
    "_version": 0,
    "calls": 0,
    "context": 2,
    "define": 3,
    "arguments": 4,
    "run": 5,
    "access": 6,
    "events": 7,
    "builtin": 8,
    "mcp": 8,
    "agent": 9,
    "views": 10,
    "notebook": 11,
    "__main__": 12,
}
HEAVY = ("IPython", "ipywidgets", "anywidget", "ipykernel", "jsonschema", "mcp", "nest_asyncio2")


def test_every_listed_name_exists() -> None:
    assert len(set(agtools_nb.__all__)) == len(agtools_nb.__all__)
    for name in agtools_nb.__all__:
        assert getattr(agtools_nb, name) is not None


def test_no_public_name_is_unlisted() -> None:
    modules = {path.stem for path in PACKAGE.iterdir()}
    found = {name for name in vars(agtools_nb) if not name.startswith("_")} - modules
    assert found - {"annotations", "importlib", "Any", "TYPE_CHECKING"} <= set(agtools_nb.__all__)


def test_type_checkers_see_the_names_that_are_imported_on_first_use() -> None:
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == agtools_nb._HOMES
    assert {*seen, "__version__"} == set(agtools_nb.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        agtools_nb.no_such_name  # noqa: B018


def test_importing_the_package_pulls_in_nothing_heavy() -> None:
    code = (
        "import sys, agtools_nb; agtools_nb.ToolRunner([lambda_ for lambda_ in ()]);"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            modules = [node.module]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"relative import: {path}"
            continue
        found |= {m.split(".")[1] for m in modules if m.startswith("agtools_nb.")}
    return found


MODULES = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if path.parent != PACKAGE or path.name != "__init__.py"
    if "_notebooks" not in path.parts
)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    own = room(path)
    for other in imported_rooms(path) - {own}:
        assert RANKS[other] < RANKS[own] or RANKS[other] == 0, f"{own} must not import {other}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_views_and_notebook_know_jupyter(path: Path) -> None:
    if room(path) in ("views", "notebook", "__main__"):
        return
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        for name in names:
            assert name.split(".")[0] not in ("IPython", "ipywidgets", "anywidget", "ipykernel")
