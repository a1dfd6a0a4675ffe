"""A tool that reports a gigabyte to one who never reads: how much memory and time that takes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

MEBIBYTE = 1024 * 1024
# The longest that whoever does not read may cost a tool, and what a busy machine adds.
SECONDS = 20.0
# How many pieces may have taken 90 ms: one waits for room, and a busy machine may stop others.
SLOW = 20

CHILD = """
import asyncio, json, sys, threading, time, tracemalloc
from contextlib import aclosing
from agtools_nb import ToolContext, ToolResult, ToolRunner, tool

CHUNKS = 131_072  # of 8 KiB: a gigabyte
how, reads, is_traced = sys.argv[1], sys.argv[2] == "reads", sys.argv[3] == "traced"
done = threading.Event()
waits = []

def fresh(n):
    return f"{n:8192d}"

def timed(emit, chunk):
    start = time.perf_counter()
    emit("log", chunk)
    wait = time.perf_counter() - start
    if wait > 0.01:  # a list of all of them would be what is measured
        waits.append(wait)

@tool
def thread(ctx: ToolContext) -> int:
    for n in range(CHUNKS):
        timed(ctx.emit_progress, fresh(n))
    done.set()
    return CHUNKS

@tool
async def on_loop(ctx: ToolContext) -> int:
    for n in range(CHUNKS):
        await ctx.emit_progress("log", fresh(n))
    done.set()
    return CHUNKS

@tool
def once(ctx: ToolContext) -> int:
    text = "\\N{EURO SIGN}" * (CHUNKS * 4096)  # two bytes each in memory
    base[0] = measure(afresh=True)
    ctx.emit_progress("log", text)
    measured.append(measure())
    done.set()
    return CHUNKS

@tool(capture="progress")
def prints() -> int:
    for n in range(CHUNKS):
        print(fresh(n))
    done.set()
    return CHUNKS

@tool
def small(ctx: ToolContext) -> int:
    for n in range(4_000):
        timed(ctx.emit_progress, str(n))
    done.set()
    return CHUNKS

@tool
async def warm(ctx: ToolContext) -> None:
    await ctx.emit_progress("log", fresh(1))

@tool
def warm_thread() -> None:
    print(fresh(1))

def measure(afresh=False):
    if is_traced:
        return tracemalloc.get_traced_memory()[1] / 1024
    if afresh:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # the highest resident size so far is forgotten
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))

async def main():
    tools = [thread, on_loop, once, prints, small, warm, warm_thread]
    runner = ToolRunner(tools, context=ToolContext())
    # The first call of a process imports and starts things that are not progress.
    await runner.process_tool_calls([("warm", {}), ("warm_thread", {})])
    if is_traced:
        tracemalloc.start()
    base[0] = measure(afresh=True)
    items = []
    start = time.perf_counter()
    async with aclosing(runner.stream([(how, {})], progress=True)) as stream:
        async for item in stream:
            items.append((type(item).__name__, getattr(item, "is_marker", False)))
            if not reads and len(items) == 1:
                while not done.is_set():
                    await asyncio.sleep(0.005)
                seconds = time.perf_counter() - start
    if reads:
        seconds = time.perf_counter() - start
    assert item.result == CHUNKS, item
    measured.append(measure())
    print(json.dumps({
        "kibibytes": max(measured) - base[0], "seconds": seconds, "items": len(items),
        "markers": sum(marker for _, marker in items),
        "slow": sum(wait > 0.09 for wait in waits),
    }))

base, measured = [0], []
asyncio.run(main())
"""


def measured(how: str, reads: bool, traced: bool = False) -> dict[str, Any]:
    arguments = [how, "reads" if reads else "never", "traced" if traced else "resident"]
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("reads", [False, True], ids=["never reads", "reads"])
@pytest.mark.parametrize("how", ["thread", "on_loop", "prints"])
def test_a_gigabyte_of_progress_takes_a_few_mebibytes(
    how: str, reads: bool, figure: Callable[[str, float], None]
) -> None:
    """1 MiB of it is kept, once; ``prints`` keeps another MiB for the result."""
    found = measured(how, reads)
    who = "one who reads" if reads else "one who never reads"
    figure(f"MiB more resident, 1 GiB of progress ({how}) to {who}", found["kibibytes"] / 1024)
    figure(f"seconds, the same ({how}, {who})", found["seconds"])
    assert found["kibibytes"] < 16 * 1024
    assert found["markers"] == 1
    assert found["items"] <= 256 + 2
    assert found["slow"] < SLOW
    assert found["seconds"] < SECONDS


def test_python_itself_allocates_no_more_than_the_queue(
    figure: Callable[[str, float], None],
) -> None:
    found = measured("thread", reads=False, traced=True)
    figure(
        "MiB allocated at most, 1 GiB of progress to one who never reads", found["kibibytes"] / 1024
    )
    assert found["kibibytes"] < 4 * 1024


def test_one_chunk_of_a_gigabyte_is_not_copied(figure: Callable[[str, float], None]) -> None:
    found = measured("once", reads=False)
    figure("MiB more resident, one chunk of 1 GiB", found["kibibytes"] / 1024)
    assert found["kibibytes"] < 8 * 1024
    assert found["markers"] == 1


def test_thousands_of_small_pieces_wait_once(figure: Callable[[str, float], None]) -> None:
    """Without its own limit, each of 3,700 pieces would wait 100 ms: over six minutes."""
    found = measured("small", reads=False)
    figure("seconds, 4,000 pieces to one who never reads", found["seconds"])
    assert found["slow"] < SLOW
    assert found["seconds"] < SECONDS
    assert found["markers"] == 1
