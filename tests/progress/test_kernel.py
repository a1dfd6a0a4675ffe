"""Progress in a real kernel, where ``tqdm.auto`` would draw a widget for each bar."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kernel.driver import Kernel

SETUP = """
import asyncio, sys
from agtools_nb import ToolContext, ToolResult, ToolRunner, tool
from agtools_nb.context import Progress
from tqdm.auto import tqdm

@tool
def thread(n: int = 3) -> int:
    for outer in tqdm(range(n), desc="outer", mininterval=0, miniters=1):
        for inner in tqdm(range(2), desc="inner", leave=False, mininterval=0, miniters=1):
            pass
    return n

@tool
async def on_loop(n: int = 3) -> int:
    for _ in tqdm(range(n), desc="loop", mininterval=0, miniters=1):
        await asyncio.sleep(0)
    return n

@tool
def fails() -> None:
    for n in tqdm(range(10), mininterval=1e9):
        if n == 4:
            raise ValueError("at four")

@tool(capture="progress")
def talks(ctx: ToolContext) -> None:
    print("printed")
    ctx.emit_progress("log", "emitted")

async def items_of(name):
    runner = ToolRunner([thread, on_loop, fails, talks], context=ToolContext())
    return [item async for item in runner.stream([(name, {})], progress=True)]

def bars(items):
    return [(p.stream, p.done, p.total, p.chunk) for p in items if isinstance(p, Progress)]
"""


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with Kernel(SETUP) as kernel:
        yield kernel


def test_tqdm_auto_is_a_notebooks_here(kernel: Kernel) -> None:
    """Outside of a call a bar draws its widget, before calls and after them."""
    assert kernel.value("[base.__name__ for base in tqdm.__mro__][1]") == "tqdm_notebook"
    for _ in range(2):
        ran = kernel.run("for _ in tqdm(range(3)): pass")
        assert ran.status == "ok"
        assert ran.comms > 0
        kernel.run("await items_of('thread')")


@pytest.mark.parametrize("name", ["thread", "on_loop"])
def test_bars_in_a_call_are_progress_and_no_widgets(kernel: Kernel, name: str) -> None:
    ran = kernel.run(f"items = await items_of({name!r})")
    assert ran.status == "ok"
    assert (ran.comms, ran.shown, ran.text) == (0, [], "")
    assert kernel.value("items[-1].result") == 3
    assert kernel.value("(items[-1].stdout, items[-1].stderr)") == ("", "")
    word = "outer" if name == "thread" else "loop"
    found = kernel.value("bars(items)")
    assert [bar for bar in found if bar[3] == word] == [("progress", n, 3, word) for n in range(4)]
    inner = [bar for bar in found if bar[3] == "inner"]
    assert inner == [("progress 2", n, 2, "inner") for n in range(3)] * (name == "thread") * 3


def test_a_bar_of_a_tool_that_raised_stands_where_it_was(kernel: Kernel) -> None:
    ran = kernel.run("items = await items_of('fails')")
    assert (ran.comms, ran.shown, ran.text) == (0, [], "")
    assert kernel.value("bars(items)") == [("progress", 0, 10, ""), ("progress", 4, 10, "")]
    assert kernel.value("items[-1].error") == "ValueError: at four"


def test_prints_and_reports_come_in_order(kernel: Kernel) -> None:
    ran = kernel.run("items = await items_of('talks')")
    assert ran.text == ""
    assert kernel.value("[(p.stream, p.chunk) for p in items[:-1]]") == [
        ("stdout", "printed\n"),
        ("log", "emitted"),
    ]


def test_a_run_of_the_toolkit_shows_no_stray_widget(kernel: Kernel) -> None:
    made = kernel.run("from agtools_nb import Toolkit; tk = Toolkit(); added = tk.tool(thread)")
    assert made.status == "ok", made.error
    ran = kernel.run("result = await tk.call('thread')")
    assert ran.status == "ok", ran.error
    assert kernel.value("result.result") == 3
    views = [data for data in ran.shown if "application/vnd.jupyter.widget-view+json" in data]
    assert len(views) == 1
    assert ran.text == ""


@pytest.mark.parametrize("name", ["thread", "on_loop", "talks"])
def test_the_blocking_twin_passes_progress_on_while_it_waits(kernel: Kernel, name: str) -> None:
    code = f"""
from agtools_nb import Toolkit
tk = Toolkit()
for made in (thread, on_loop, talks):
    tk.tool(made)
seen = []
class Follower:
    def call_started(self, *_): ...
    def call_progress(self, index, progress): seen.append(progress)
    def call_finished(self, index, result): seen.append(result)
plain = tk.runner.batch
def batch(calls, *, observers=(), **options):
    return plain(calls, observers=(*observers, Follower()), **options)
tk.runner.batch = batch
result = tk.call_sync({name!r})
"""
    ran = kernel.run(code)
    assert ran.status == "ok", ran.error
    assert kernel.value("result.ok and type(seen[-1]) is ToolResult")
    assert kernel.value("len(seen)") > 2
