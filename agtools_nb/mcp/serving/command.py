"""``python -m agtools_nb serve module:toolkit``."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

from agtools_nb import ToolRunner
from agtools_nb.define import Tool
from agtools_nb.errors import AgtoolsError, UsageError
from agtools_nb.mcp.serving.serve import serve

TOKEN_VARIABLE = "AGTOOLS_TOKEN"  # noqa: S105 -- the variable's name


def add_command(commands: Any) -> None:
    """Add ``serve`` to the command line's commands."""
    parser = commands.add_parser(
        "serve",
        help="serve the tools of a module as an MCP server",
        description="Serve tools by the Model Context Protocol: on standard input and output, "
        f"or with --http on a port. With the variable {TOKEN_VARIABLE}, clients of --http must "
        "send 'Authorization: Bearer <its value>'.",
    )
    parser.add_argument(
        "target",
        help="module:name or file.py:name of a Toolkit, a ToolRunner or a list of tools; "
        "without :name, the only one that is there",
    )
    parser.add_argument("--http", action="store_true", help="streamable HTTP instead of stdio")
    parser.add_argument("--host", default="127.0.0.1", help="for --http; default %(default)s")
    parser.add_argument("--port", type=int, default=8000, help="for --http; default %(default)s")
    parser.add_argument("--name", help="what the server is called; default: the target's name")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Serve until the client leaves or Ctrl-C; returns the exit code."""
    try:
        # What the module prints while it is imported is no message of the protocol.
        with contextlib.redirect_stdout(sys.stderr):
            tools, name = load(given.target)
        asyncio.run(
            serve(
                tools,
                "http" if given.http else "stdio",
                name=given.name or name,
                host=given.host,
                port=given.port,
                token=os.environ.get(TOKEN_VARIABLE),
                ready=lambda url: print(f"serving at {url}", file=sys.stderr, flush=True),
            )
        )
    except KeyboardInterrupt:
        return 0
    except AgtoolsError as error:
        print(f"agtools_nb serve: {error}", file=sys.stderr)
        return 2
    return 0


def load(target: str) -> tuple[Any, str]:
    """Import what is to be served.

    Returns:
        It, and the name of its module.

    Raises:
        UsageError: There is no such module, or nothing in it to be served.
    """
    where, _, name = target.rpartition(":") if ":" in target[2:] else (target, "", "")
    module = _imported(where)
    short = module.__name__.rpartition(".")[2]
    if name:
        try:
            return getattr(module, name), short
        except AttributeError:
            raise UsageError(
                f"{where} has no {name!r}; {_there_are(_candidates(module))}"
            ) from None
    found = _candidates(module)
    if len(found) != 1:
        raise UsageError(f"say which: {where}:name; {_there_are(found)}")
    return next(iter(found.values())), short


def _imported(where: str) -> Any:
    if where.endswith(".py"):
        path = Path(where)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise UsageError(f"there is no file {where}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        sys.path.insert(0, str(path.resolve().parent))
        spec.loader.exec_module(module)
        return module
    sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(where)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{where}.".startswith(f"{error.name}."):
            raise  # something that it imports is missing
        raise UsageError(f"there is no module {where!r}; write file.py:name for a file") from None


def _candidates(module: Any) -> dict[str, Any]:
    """What in a module can be served, by name; of several kinds, only the first that is there."""
    public = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    holders = {
        name: value
        for name, value in public.items()
        if isinstance(value, ToolRunner) or isinstance(getattr(value, "runner", None), ToolRunner)
    }
    tools = [value for value in public.values() if isinstance(value, Tool)]
    return holders or ({"its tools": tools} if tools else {})


def _there_are(found: dict[str, Any]) -> str:
    return f"there are: {', '.join(found)}" if found else "there is nothing in it to be served"
