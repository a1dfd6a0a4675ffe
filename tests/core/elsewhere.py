"""Tools that a worker process can import."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from agtools_nb import ToolContext, tool


@tool
def double(n: int) -> int:
    """A decorated function: its module holds the tool under the function's name."""
    print("doubling", n)
    print("to stderr", file=sys.stderr)
    return 2 * n


@tool
def counts(n: int) -> Iterator[int]:
    yield from range(n)


@tool
def promises(n: int) -> Any:
    async def later() -> int:
        return n

    return later()


@tool
def warns() -> None:
    warnings.warn("from elsewhere", stacklevel=1)


@tool
def dies() -> None:
    os._exit(3)


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
