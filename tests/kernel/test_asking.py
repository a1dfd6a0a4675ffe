"""Who is asked in a kernel: a page if there is one, nobody in a run by a program or a cell that blocks."""

from __future__ import annotations

import time
from collections.abc import Iterator

import nbformat
import pytest
from nbclient import NotebookClient

from kernel.driver import Kernel

SETUP = """
import asyncio
from agtools_nb import Toolkit, ToolCall, ToolContext, ask_user
from agtools_nb.notebook import asking
tk = Toolkit(policies=[ask_user("push", name="confirm")])
ran = []

@tk.tool
async def push(to: str = "origin") -> str:
    "Push."
    ran.append(to)
    return "pushed"

@tk.tool
async def quiz(ctx: ToolContext) -> str:
    "Ask."
    return repr(await ctx.ask("Which?", ["red", "blue"]))

async def first_card():
    while not tk.waiting:
        await asyncio.sleep(0.01)
    return tk.waiting[0]
"""


@pytest.fixture(scope="module")
def shared() -> Iterator[Kernel]:
    with Kernel(SETUP) as kernel:
        yield kernel


@pytest.fixture
def page(shared: Kernel) -> Kernel:
    """A kernel whose cells come from a page; the driver's do not let it ask for input."""
    assert shared.run(SETUP, cell="setup").status == "ok"
    assert shared.run("asking.nobody_here = lambda: None").status == "ok"
    return shared


def test_nbclient_is_refused_at_once_and_told_how() -> None:
    cells = [SETUP, "print((await tk.call('push')).error)", "print((await tk.call('quiz')).error)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in cells])
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    approval, question = (
        "".join(out.get("text", "") for out in cell.outputs) for cell in notebook.cells[1:]
    )
    assert "the rule confirm asks a person, and nobody can be asked" in approval
    assert "run by a program" in approval
    assert "Toolkit(approve=...)" in approval
    assert "Toolkit(answer=...)" in question


@pytest.mark.parametrize("tool", ["push", "quiz"])
def test_a_blocking_cell_is_refused_at_once_with_advice(page: Kernel, tool: str) -> None:
    began = time.monotonic()
    error = page.value(f"tk.call_sync({tool!r}).error")
    assert time.monotonic() - began < 10
    assert "await tk.call(...)" in error
    assert page.value("(ran, tk.waiting)") == ([], ())


MORE = """
@tk.tool
async def by_call(tool: str) -> str:
    "Call another."
    return (await tk.call(tool)).error or "ran"

@tk.tool
async def by_runner(tool: str) -> str:
    "Call another, on the short way."
    return (await tk.runner.process_tool_calls([ToolCall(tool)]))[0].error or "ran"

async def waited(handle):
    return (await handle).error
"""


@pytest.mark.parametrize("tool", ["push", "quiz"])
@pytest.mark.parametrize("way", ["by_call", "by_runner"])
def test_a_call_inside_of_a_blocking_one_is_refused_too(page: Kernel, way: str, tool: str) -> None:
    page.run(MORE, cell="more")
    began = time.monotonic()
    error = page.value(f"tk.call_sync({way!r}, tool={tool!r}).result")
    assert time.monotonic() - began < 10
    assert "await tk.call(...)" in error
    assert page.value("(ran, tk.waiting)") == ([], ())


@pytest.mark.parametrize(
    "code",
    [
        "loop.run_until_complete(tk.runner.process_tool_calls([ToolCall('push')]))[0].error",
        "loop.run_until_complete(waited(tk.call('push')))",
        "asyncio.run(tk.runner.process_tool_calls([ToolCall('push')]))[0].error",
    ],
)
def test_a_loop_that_is_entered_again_is_refused_too(page: Kernel, code: str) -> None:
    page.run(MORE, cell="more")
    page.run("tk.call_sync('by_call', tool='none')")  # patches the loop
    page.run("loop = asyncio.get_event_loop()")
    began = time.monotonic()
    assert "await tk.call(...)" in page.value(code)
    assert time.monotonic() - began < 10
    assert page.value("(ran, tk.waiting)") == ([], ())


def test_what_was_left_running_is_asked_about_once_the_cell_has_ended(page: Kernel) -> None:
    page.run(MORE, cell="more")
    page.run("tk.call_sync('by_call', tool='none')")
    page.run("handle = tk.call('push')\nprint(tk.call_sync('by_call', tool='none').result)")
    page.run("card = await first_card()\ncard.approve()")
    assert page.value("(await handle).status") == "ok"


def test_a_card_is_answered_from_another_cell(page: Kernel) -> None:
    """The cell that began the run has ended; what the card is told then decides."""
    assert page.run("handle = tk.run([ToolCall('push'), ToolCall('push', {'to': 'fork'})])").status
    page.run("card = await first_card()\ncard.approve()\nawait asyncio.sleep(0)")
    page.run("second = await first_card()\nsecond.deny('no forks')")
    assert page.value("[one.status for one in await handle]") == ["ok", "denied"]
    assert page.value("(ran, tk.waiting)") == (["origin"], ())
    assert "no forks" in page.value("handle._results[1].error")
    assert page.value("[one.state for one in handle.view.cards]") == ["answered", "answered"]


def test_approved_for_the_session_holds_for_what_waits_already(page: Kernel) -> None:
    page.run("handle = tk.run([ToolCall('push', {'to': str(n)}) for n in range(5)])")
    page.run("card = await first_card()\ncard.approve(remember=True)")
    assert page.value("[one.status for one in await handle]") == ["ok"] * 5
    assert page.value("(await tk.call('push', to='later')).status") == "ok"
    page.run("await tk.close()")
    page.run("handle = tk.run([ToolCall('push')])\ncard = await first_card()\ncard.deny()")
    assert page.value("(await handle)[0].status") == "denied"


def test_calls_of_the_runner_itself_are_asked_about_in_the_cell(page: Kernel) -> None:
    ran = page.run(
        "task = asyncio.ensure_future(tk.runner.process_tool_calls([ToolCall('push')]))\n"
        "card = await first_card()"
    )
    assert any("waits for approval" in one.get("text/plain", "") for one in ran.shown)
    page.run("card.approve()")
    assert page.value("(await task)[0].status") == "ok"


def test_nobody_answers_in_time(page: Kernel) -> None:
    setup = SETUP.replace('"confirm")])', '"confirm")], approval_timeout=0.2)')
    page.run(setup, cell="setup")
    assert "nobody answered within 0.2 s" in page.value("(await tk.call('push')).error")
    assert "Nobody answered the question within 0.2 s" in page.value(
        "(await tk.call('quiz')).error"
    )


def test_a_late_click_does_not_undo_that_it_was_too_late(page: Kernel) -> None:
    """Whether in time or not is decided in one place: what the card says is what happens."""
    for _ in range(5):
        page.run("import time\ntk._asking.seconds = 0.05\nhandle = tk.call('push')")
        page.run("card = await first_card()\ntime.sleep(0.1)\ncard.approve()")
        said, status = page.value("(card.state, (await handle).status)")
        assert (said, status) in {("answered", "ok"), ("expired", "denied")}


def test_a_stopped_run_stops_its_cards(page: Kernel) -> None:
    page.run("handle = tk.run([ToolCall('push'), ToolCall('quiz')])\ncard = await first_card()")
    page.run("handle.stop()\nawait handle")
    assert page.value("[one.state for one in handle.view.cards]") == ["stopped", "stopped"]
    assert page.value("[one.status for one in await handle]") == ["cancelled", "cancelled"]


def test_another_loop_may_ask(page: Kernel) -> None:
    """A run on a loop of its own, in a thread, is answered on the kernel's."""
    page.run(
        "ended = asyncio.ensure_future(asyncio.to_thread(lambda: asyncio.run("
        "tk.runner.process_tool_calls([ToolCall('push')]))))\n"
        "card = await first_card()\ncard.approve()"
    )
    assert page.value("(await ended)[0].status") == "ok"


def test_the_time_of_a_person_is_not_the_tools(page: Kernel) -> None:
    page.run("handle = tk.run([ToolCall('push', timeout=0.2)])\ncard = await first_card()")
    page.run("await asyncio.sleep(0.5)\ncard.approve()")
    assert page.value("(await handle)[0].status") == "ok"
