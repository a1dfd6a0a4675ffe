"""Tools of ours, served by ``python -m agtools_nb serve toolbox.py:box``."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agtools_nb import Background, Media, ToolContext, ToolError, ToolRunner, tool

print("printed while imported")


def mark(file: str, word: str) -> None:
    Path(file).write_text(word)


@dataclass
class Sum:
    total: int


@tool(read_only=True)
async def add(a: int, b: int, unit: Literal["m", "km"] = "m") -> Sum:
    """Add two lengths."""
    print("printed by a tool")
    os.write(1, b"written past Python\n")
    return Sum(a + b)


@tool
async def steps(ctx: ToolContext, count: int = 3) -> str:
    """Report some steps."""
    await ctx.emit_progress("log", "about to begin")
    for number in range(count):
        await ctx.report_progress(number + 1, count, f"step {number + 1}")
    return "done"


@tool
async def wait(seconds: float, marks: str) -> str:
    """Wait, and say in a file what becomes of that."""
    mark(marks, "began")
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        await asyncio.sleep(0.05)  # to end takes a while, too
        mark(marks, "ended")
        raise
    return "waited"


@tool(read_only=True)
def picture() -> list:
    """Draw."""
    return ["look", Media.image(b"\x89PNG\r\n\x1a\n-not-really")]


@tool
async def count(ctx: ToolContext) -> int:
    """Count the calls."""
    return ctx.update_state("calls", lambda value: value + 1, 0)


@tool
def fails() -> str:
    """Fail."""
    raise ToolError("not_found", "no such page", hint="Ask for page 1.")


@tool(mode="dispatched")
async def later() -> str:
    """Answer later."""
    await asyncio.sleep(0.01)
    return "at last"


@tool
async def ticks() -> AsyncIterator[int]:
    """Tick."""
    yield 1


box = ToolRunner(
    [add, steps, wait, picture, count, fails, later], context=ToolContext(), background=Background()
)
with_ticks = ToolRunner([add, ticks], background=Background())
