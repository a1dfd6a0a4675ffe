"""Tools that a worker process can import."""

from __future__ import annotations

import os
import sys

from agtools_nb import ToolContext, tool


@tool
def double(n: int) -> int:
    """A decorated function: its module holds the tool under the function's name."""
    print("doubling", n)
    print("to stderr", file=sys.stderr)
    return 2 * n


def process_id() -> int:
    return os.getpid()


@tool
def fails(n: int) -> int:
    raise ValueError(f"no {n}")


class UnsendableError(Exception):
    def __init__(self, a: int, b: int) -> None:
        super().__init__("two arguments, one kept")


@tool
def fails_oddly() -> None:
    raise UnsendableError(1, 2)


@tool
def makes_unsendable() -> object:
    import threading

    return threading.Lock()


@tool
def with_context(ctx: ToolContext) -> str:
    return "never"
