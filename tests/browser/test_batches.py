"""Batches in JupyterLab: watched, stopped, interrupted, and between other cells."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from browser.lab import NotebookPage
from browser.scenes import SETUP, WAITING, batch
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

Open = Callable[..., NotebookPage]

# The kernel's handler for SIGINT runs as soon as the signal does; it is replaced for each cell,
# so the stamp is put around whichever is in place while the batch runs.
STAMP = """
import signal
pressed = []

@tk.tool
async def stamp() -> None:
    "Note when the kernel is interrupted."
    handler = signal.getsignal(signal.SIGINT)
    def stamped(number, frame):
        pressed.append(time.monotonic())
        return handler(number, frame)
    signal.signal(signal.SIGINT, stamped)
"""
MIXED = """\
results = await tk.run([
    ToolCall("wait", {"seconds": "1.5"}),
    ToolCall("block", {"seconds": 1.5}),
    ToolCall("wait", {"seconds": 0.1}),
    ToolCall("fail", {"reason": "out of cheese"}),
    ToolCall("wait", {"minutes": 1}),
])
"""
# Each of the long ones had begun before the other ended.
OVERLAPPED = (
    "max(r.started_at for r in results[:2]) < min(r.started_at + r.duration for r in results[:2])"
)


def test_watching_a_batch(open_notebook: Open) -> None:
    """Each call has its row while it runs; what ended says how, and opening a row shows the outcome."""
    page = open_notebook([SETUP, WAITING, MIXED, "[r.status for r in results]", OVERLAPPED])
    page.run_selected(0, 1)
    page.run_cell(2, wait=False)
    view = page.output(2).locator(".agt")
    expect(view).to_be_visible()
    expect(view.get_by_text(re.compile("running", re.IGNORECASE)).first).to_be_visible()
    expect(view.get_by_text("out of cheese").first).to_be_visible()
    page.screenshot("batch-running", page.cell(2))
    page.wait_cell(2)
    page.run_selected(3, 4)
    assert page.text(3) == "['ok', 'ok', 'ok', 'error', 'invalid']"
    assert page.text(4) == "True", "the calls did not overlap"
    expect(view.get_by_text(re.compile("running", re.IGNORECASE))).to_have_count(0)
    expect(view.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    view.get_by_text("out of cheese").first.click()
    expect(
        view.locator(".agt-rowbody").get_by_text("ValueError: out of cheese").first
    ).to_be_visible()
    page.screenshot("batch-done", page.cell(2))
    assert not page.watch.errors


def test_a_batch_is_one_comm_however_many_calls(open_notebook: Open) -> None:
    """A batch of a hundred calls opens one comm, and sends no flood of messages."""
    page = open_notebook(
        [SETUP, WAITING, f"results = await tk.run({batch('wait', 100, seconds=0.5)})"]
    )
    page.run_selected(0, 1)
    before = page.comm_count()
    page.run_cell(2)
    page.page.wait_for_timeout(300)
    assert page.comm_count() == before + 1
    assert len(page.watch.wire.comm_opens()) == 1
    messages = list(page.watch.wire.of_kind("comm_msg", "to page"))
    assert len(messages) < 40, "twenty a second for about a second"


@pytest.mark.parametrize("kernel", ["python3", "older"])
def test_stop_in_mid_batch(open_notebook: Open, older_kernel: str, kernel: str) -> None:
    """The Stop button works while the cell awaits: every call is cancelled, the cell ends, the next one runs."""
    cells = [
        SETUP,
        WAITING,
        f"at = time.monotonic()\nresults = await tk.run({batch('wait', 5, seconds=60)})",
        "print([r.status for r in results], time.monotonic() - at < 30)",
        "len(stopped)",
    ]
    page = open_notebook(cells, kernel=older_kernel if kernel == "older" else kernel)
    page.run_selected(0, 1)
    page.run_cell(2, wait=False)
    page.page.wait_for_timeout(500)
    page.output(2).locator(".agt").get_by_role("button", name="Stop", exact=True).click()
    page.wait_cell(2, 10)
    page.run_selected(3, 4)
    assert page.text(3) == f"{['cancelled'] * 5} True\n"
    assert page.text(4) == "5"
    expect(
        page.output(2)
        .locator(".agt")
        .get_by_text(re.compile("cancelled|stopped", re.IGNORECASE))
        .first
    ).to_be_visible()
    assert not page.watch.errors


@pytest.mark.parametrize("kernel", ["python3", "older"])
def test_interrupt_in_mid_batch(
    open_notebook: Open,
    older_kernel: str,
    kernel: str,
    figure: Callable[[str, float], None],
) -> None:
    """Interrupting the kernel cancels every call, soon (a figure, meant to be below 0.2 s); the next cell runs."""
    cells = [
        SETUP,
        WAITING + STAMP,
        f"results = await tk.run([ToolCall('stamp')] + {batch('wait', 5, seconds=60)})",
        "print('next', len(pressed), len(stopped))",
        "await tk.call('wait', seconds=0.1)",
    ]
    page = open_notebook(cells, kernel=older_kernel if kernel == "older" else kernel)
    page.run_selected(0, 1)
    page.run_cell(2, wait=False)
    page.page.wait_for_timeout(1000)
    page.interrupt()
    page.wait_cell(2, 10)
    page.run_selected(3, 4)
    assert page.text(3) == "next 1 5\n"
    took = page.kernel("max(stopped) - pressed[0]")
    figure(f"interrupt to last call cancelled, {kernel}, seconds", took)
    assert (
        page.kernel(
            "[t.get_name() for t in asyncio.all_tasks() if t.get_name().startswith('call ')]"
        )
        == []
    )
    expect(
        page.output(2)
        .locator(".agt")
        .get_by_text(re.compile("cancelled|stopped", re.IGNORECASE))
        .first
    ).to_be_visible()
    expect(page.output(4)).to_contain_text("waited 0.1 s")
    assert not page.watch.errors


def test_interrupt_stops_blocking_calls_for_the_cell(open_notebook: Open) -> None:
    """A cell that waits for a blocked thread ends on interrupt all the same, with the call cancelled."""
    cells = [
        SETUP,
        WAITING,
        f"results = await tk.run({batch('block', 2, seconds=8)})",
        "print('next')",
    ]
    page = open_notebook(cells)
    page.run_selected(0, 1)
    page.run_cell(2, wait=False)
    page.page.wait_for_timeout(1000)
    page.interrupt()
    page.wait_cell(2, 4)
    page.run_cell(3)
    assert page.text(3) == "next\n"


def test_run_left_alone_while_the_next_cell_is_used(open_notebook: Open) -> None:
    """A batch that nobody awaits runs on below its cell; other cells run meanwhile, and Stop still works."""
    cells = [
        SETUP,
        WAITING,
        f"handle = tk.run({batch('wait', 3, seconds=60)})\nhandle",
        "6 * 7",
        "results = await handle",
    ]
    page = open_notebook(cells)
    page.run_selected(0, 2)
    page.run_cell(3)
    assert page.text(3) == "42"
    page.output(2).locator(".agt").get_by_role("button", name="Stop", exact=True).click()
    page.run_cell(4, seconds=5)
    assert page.kernel("[r.status for r in results]") == ["cancelled"] * 3


@pytest.mark.parametrize("kernel", ["python3", "older"])
def test_run_all_with_a_blocking_twin_in_the_middle(
    open_notebook: Open, older_kernel: str, kernel: str
) -> None:
    """Cells queued behind a blocking batch all run, once and in order."""
    blocking = (
        f"results = tk.run_sync({batch('wait', 3, seconds=0.5)})\n[r.status for r in results]"
    )
    cells = [SETUP, WAITING, "order = ['a']", blocking, *(f"order.append({n})" for n in range(6))]
    cells += ["tk.call_sync('wait', seconds=0.2)", "order.append('z')", "print(order)"]
    page = open_notebook(cells, kernel=older_kernel if kernel == "older" else kernel)
    page.run_all()
    assert [page.execution_count(index) for index in range(len(cells))] == list(
        range(1, len(cells) + 1)
    )
    assert page.text(len(cells) - 1) == f"{['a', *range(6), 'z']}\n"
    assert "['ok', 'ok', 'ok']" in page.text(3)
    expect(page.output(3).get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    page.run_all()
    assert page.execution_count(len(cells) - 1) == 2 * len(cells)
    assert not page.watch.errors
