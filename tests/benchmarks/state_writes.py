"""What an open inspector costs a tool that writes 10,000 times a second: ``python tests/benchmarks/state_writes.py``.

Two toolkits in one kernel run the same tool in turns, a fifth of a second each: work of about
0.1 ms, a write, and so on. The inspector of the one is open in JupyterLab. ``cost`` is the
median, over all pairs of turns, of how much more time the watched one took, by the clock on the
wall and in CPU time of the whole kernel; ``noise`` is the same for the unwatched against itself.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))

from browser.lab import NotebookPage, chromium, write_notebook  # noqa: E402
from browser.servers import serve  # noqa: E402

SETUP = """\
import asyncio, statistics, time
from agtools_nb import Toolkit, ToolContext, tool

def turn(steps):
    "Work that takes about 0.1 ms with its write."
    value = 1
    for n in range(steps):
        value = value * 31 % 1_000_003
    return value

@tool
def blocking(writes: int, steps: int, ctx: ToolContext) -> None:
    "Write from a thread."
    for n in range(writes):
        ctx.set_state(f"key {n % 20}", {"n": n, "value": turn(steps)})

@tool
async def awaiting(writes: int, steps: int, ctx: ToolContext) -> None:
    "Write from the loop, which gets its turn every millisecond."
    for n in range(writes):
        ctx.set_state(f"key {n % 20}", {"n": n, "value": turn(steps)})
        if n % 10 == 9:
            await asyncio.sleep(0)

watched, alone = Toolkit(), Toolkit()
for tk in (watched, alone):
    tk.tool(blocking)
    tk.tool(awaiting)

async def taken(tk, name):
    "Seconds on the wall and of CPU."
    began = time.perf_counter(), time.process_time()
    await tk.runner.execute(name, writes=2_000, steps=steps)
    return time.perf_counter() - began[0], time.process_time() - began[1]

async def compare(name, pairs):
    "What the watched one takes beyond the other, the other beyond itself, and seconds watched."
    costs, noise, seconds = ([], []), ([], []), 0.0
    for _ in range(pairs):
        first = await taken(alone, name)
        shown = await taken(watched, name)
        second = await taken(alone, name)
        seconds += shown[0]
        for at in (0, 1):
            costs[at].append(2 * shown[at] / (first[at] + second[at]) - 1)
            noise[at].append(second[at] / first[at] - 1)
    return [statistics.median(all) for all in (*costs, *noise)], seconds

steps = 100
for name in ("awaiting", "blocking") * 3:  # both are warm, and a write takes 0.1 ms
    steps = round(steps * 0.2 / (await taken(alone, name))[1])
"""


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=40)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        serve("lab", "light", Path(folder)) as server,
        chromium() as browser,
    ):
        write_notebook(server.root / "writes.ipynb", [SETUP, "watched.inspect()", ""])
        page = NotebookPage(browser.new_page(), server)
        page.open("writes.ipynb")
        page.run_cell(0, seconds=120)
        page.run_cell(1)
        for name in ("blocking", "awaiting"):
            report(page, name, options.pairs)
        page.close()


def report(page: NotebookPage, name: str, pairs: int) -> None:
    """Measure one tool and print its line."""
    before = sum(1 for _ in page.watch.wire.of_kind("comm_msg", "to page"))
    page.set_source(2, f"found, seconds = await compare({name!r}, {pairs})")
    page.run_cell(2, seconds=600)
    messages = sum(1 for _ in page.watch.wire.of_kind("comm_msg", "to page")) - before
    wall, cpu, wall_noise, cpu_noise = page.kernel("found")
    seconds = float(page.kernel("seconds"))
    print(
        f"{name:9} {2_000 * pairs / seconds:7,.0f} writes a second; "
        f"cost {wall:5.1%} (noise {wall_noise:5.1%}), "
        f"in CPU {cpu:5.1%} (noise {cpu_noise:5.1%}); "
        f"{messages / seconds:.1f} messages a second"
    )


if __name__ == "__main__":
    main()
