"""``python -m agtools_nb``: the first notebook in JupyterLab, or run unseen; tools served."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from agtools_nb.agent.models.local.command import add_command as add_fetch_model
from agtools_nb.mcp.serving.command import add_command as add_serve

_ABOUT = "Tools that a language model can call, in Jupyter: the tour, and tools as an MCP server."
NOTEBOOK = "00_quickstart.ipynb"
COPY = "agtools_nb_quickstart"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(prog="agtools_nb", description=_ABOUT)
    commands = parser.add_subparsers(required=True, metavar="command")
    quickstart = commands.add_parser(
        "quickstart",
        help="open the five-minute tour in JupyterLab",
        epilog="Further arguments are JupyterLab's: --no-browser, --port 8889, ...",
    )
    quickstart.add_argument(
        "--headless",
        metavar="FILE",
        type=Path,
        help="run every cell without a browser and write the notebook with its outputs to FILE",
    )
    quickstart.set_defaults(run=None)
    add_serve(commands)
    add_fetch_model(commands)
    given, for_lab = parser.parse_known_args(argv)
    if given.run is not None:
        if for_lab:
            parser.error(f"unknown: {' '.join(for_lab)}")
        return int(given.run(given))
    if given.headless is not None:
        if for_lab:
            parser.error(f"unknown with --headless: {' '.join(for_lab)}")
        return run_headless(given.headless)
    return open_in_lab(for_lab)


def run_headless(target: Path) -> int:
    """Execute the quickstart and write it, with its outputs, to ``target``."""
    _require("nbclient")
    from agtools_nb.notebook.saved import execute

    execute(_shipped() / NOTEBOOK, target)
    print(f"ran every cell of {NOTEBOOK}; it is in {target}")
    return 0


def open_in_lab(arguments: Sequence[str]) -> int:
    """Open the quickstart in JupyterLab; further arguments are JupyterLab's."""
    _require("jupyterlab")
    notebook = _own_copy() / NOTEBOOK
    # JupyterLab does not start for root unless told to, and in a container one is root.
    as_root = ["--allow-root"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    # The address that JupyterLab prints leads to the tour too, not to an empty launcher.
    url = f"--LabApp.default_url=/lab/tree/{NOTEBOOK}"
    command = [sys.executable, "-m", "jupyterlab", str(notebook), url, *as_root, *arguments]
    os.execv(sys.executable, command)  # noqa: S606 -- our own interpreter


def _shipped() -> Path:
    """The folder of notebooks: beside the package in a checkout, inside it in a wheel."""
    package = Path(__file__).parent
    inside = package / "_notebooks"
    return inside if inside.is_dir() else package.parent / "notebooks"


def _own_copy() -> Path:
    """A folder that the user may write to: the checkout's own, or a copy of the wheel's."""
    shipped = _shipped()
    if shipped.parent.name != "agtools_nb" or shipped.name != "_notebooks":
        return shipped
    copy = Path.cwd() / COPY
    if not copy.exists():
        shutil.copytree(shipped, copy)
    return copy


def _require(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise SystemExit(
            f"{module} is not installed in this environment: pip install 'agtools_nb[lab]'"
        )


if __name__ == "__main__":
    raise SystemExit(main())
