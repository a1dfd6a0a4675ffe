"""Background work in a real kernel: cells go on beside it, and the kernel's end closes it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agtools_nb.notebook.kernel_loop import KernelLoop
from kernel.driver import Kernel

SETUP = """
import asyncio
from agtools_nb import Toolkit, ToolCall, every
tk = Toolkit()

@tk.tool
async def watch(path: str):
    "Send one value and wait."
    try:
        yield "watching"
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)  # cleaning up may wait for something
        open(path, "a").write("closed\\n")

@tk.tool(mode="dispatched")
async def later(number: int) -> int:
    "Answer later."
    await asyncio.sleep(0.05)
    return number

@tk.tool(long_running=True)
async def build(name: str) -> str:
    "Build."
    await asyncio.sleep(0.05)
    return name
"""


def test_work_goes_on_beside_the_cells() -> None:
    with Kernel(SETUP) as kernel:
        assert kernel.value("tk.tool_names") == (
            "watch", "cancel_subscription", "later", "build", "check_build",
        )  # fmt: skip
        status = "(await tk.call('later', number=3)).result['status']"
        assert kernel.value(status) == "dispatched"
        assert kernel.value("(await tk.inbox.receive(10)).content") == 3
        kernel.run("task = (await tk.call('build', name='x')).result['task_id']")
        asked = "(await tk.call('check_build', task_id=task, wait=10)).result['result']"
        assert kernel.value(asked) == "x"
        kernel.run("running = tk.background.add_trigger(every(0.01, 'tick'))")
        assert kernel.value("(await tk.inbox.receive(10)).content") == "tick"
        kernel.run("await tk.background.remove_trigger(running.id)")
        # A blocking call re-enters the loop; what runs beside it goes on.
        status = "tk.call_sync('later', number=4).result['status']"
        assert kernel.value(status) == "dispatched"
        kernel.run("while tk.inbox.items[-1].kind != 'result': await asyncio.sleep(0.01)")
        assert kernel.value("tk.inbox.items[-1].content") == 4


def test_running_the_cell_again_replaces_the_tool_and_its_companion() -> None:
    cell = "@tk.tool(long_running=True)\nasync def make() -> str:\n    'Make.'\n    return 'x'"
    with Kernel(SETUP) as kernel:
        for _ in range(2):
            assert kernel.run(cell, "make").status == "ok"
            assert kernel.value("tk.tool_names")[-2:] == ("make", "check_make")
        kernel.run("nothing = 1", "make")
        assert kernel.value("tk.tool_names")[-2:] == ("build", "check_build")


def test_the_end_of_the_kernel_closes_subscriptions(tmp_path: Path) -> None:
    """Their ``finally`` runs, whether the loop idles or a cell had to re-enter it."""
    for number, before in enumerate(("1", "tk.call_sync('later', number=1)")):
        path = tmp_path / f"{number}.txt"
        kernel = Kernel(SETUP)
        assert kernel.run(before).status == "ok"
        for _ in range(2):
            asked = f"(await tk.call('watch', path={str(path)!r})).result"
            assert kernel.value(asked) == "watching"
        kernel.client.stop_channels()
        kernel.manager.shutdown_wait_time = 60  # it is killed after that: a busy machine is slow
        kernel.manager.shutdown_kernel(now=False)
        kernel.manager.cleanup_resources()
        assert path.read_text() == "closed\n" * 2


def test_an_order_to_stop_that_is_heard_late_cuts_nothing_off() -> None:
    """ipykernel gives two; under load the second one came when the loop had stopped already."""
    loop = asyncio.new_event_loop()
    done: list[str] = []

    async def take() -> KernelLoop:
        return KernelLoop()

    async def last_words() -> None:
        await asyncio.sleep(0.01)
        done.append("said")

    taken = loop.run_until_complete(take())
    loop.call_soon(loop.stop)
    taken.finish(last_words(), 10)
    assert done == ["said"]
    stays = asyncio.Event()

    async def for_ever() -> None:
        try:
            await stays.wait()
        finally:
            done.append("left")

    taken.finish(for_ever(), 0.05)
    assert done == ["said"], "it is left where it is after its time"
    for task in asyncio.all_tasks(loop):
        task.cancel()
        loop.run_until_complete(asyncio.wait({task}))
    loop.close()
