"""The toolkit in a real kernel: cells that run again, live runs, blocking twins, interrupts."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from kernel.driver import Kernel

SETUP = """
import asyncio, time
from agtools_nb import Toolkit, ToolContext, tool
tk = Toolkit()

@tk.tool
async def nap(seconds: float) -> float:
    await asyncio.sleep(seconds)
    return seconds

@tk.tool
def count(ctx: ToolContext, by: int = 1) -> int:
    return ctx.update_state("n", lambda n: n + by, 0)
"""
WIDGET = "application/vnd.jupyter.widget-view+json"


def greet(word: str, name: str = "greet") -> str:
    return f'@tk.tool\ndef {name}(who: str) -> str:\n    "Greet."\n    return "{word} " + who'


@pytest.fixture(scope="module")
def shared() -> Iterator[Kernel]:
    with Kernel(SETUP) as kernel:
        yield kernel


@pytest.fixture
def kernel(shared: Kernel) -> Kernel:
    """The shared kernel with a toolkit as new."""
    assert shared.run(SETUP, cell="setup").status == "ok"
    return shared


class TestCells:
    """Running a cell again replaces its own tools, and no others."""

    def test_again_replaces(self, kernel: Kernel) -> None:
        assert kernel.run(greet("hello"), "a").status == "ok"
        assert kernel.run(greet("bye"), "a").status == "ok"
        assert kernel.value("(await tk.call('greet', who='Ada')).result") == "bye Ada"
        assert kernel.value("tk.tool_names") == ("nap", "count", "greet")

    def test_a_tool_renamed_in_its_cell_disappears(self, kernel: Kernel) -> None:
        kernel.run(greet("hello"), "a")
        kernel.run(greet("hello", "welcome"), "a")
        assert kernel.value("tk.tool_names") == ("nap", "count", "welcome")

    def test_an_emptied_cell_has_no_tools(self, kernel: Kernel) -> None:
        kernel.run(greet("hello"), "a")
        kernel.run("1", "a")
        assert kernel.value("tk.tool_names") == ("nap", "count")

    def test_a_cell_that_fails_keeps_what_it_had(self, kernel: Kernel) -> None:
        kernel.run(greet("hello"), "a")
        assert kernel.run("1 / 0\n" + greet("bye"), "a").status == "error"
        assert kernel.value("(await tk.call('greet', who='Ada')).result") == "hello Ada"

    def test_another_cell_gets_an_error_that_names_the_first(self, kernel: Kernel) -> None:
        first = kernel.run(greet("hello"), "a")
        refused = kernel.run(greet("bye"), "b")
        assert refused.status == "error"
        number = first.number
        assert refused.error.startswith(
            f"DuplicateToolError: the name 'greet' is taken by the tool defined in cell [{number}], line 1; "
            f"this one is defined in cell [{number + 1}], line 1."
        )
        assert "tk.remove('greet')" in refused.error
        assert kernel.value("(await tk.call('greet', who='Ada')).result") == "hello Ada"
        assert kernel.run("tk.remove('greet')\n" + greet("bye"), "b").status == "ok"

    def test_twice_in_one_run_is_an_error(self, kernel: Kernel) -> None:
        assert "DuplicateToolError" in kernel.run(greet("a") + "\n" + greet("b"), "a").error

    def test_where_no_ids_are_sent_a_redefinition_replaces(self, kernel: Kernel) -> None:
        assert kernel.run(greet("hello")).status == "ok"
        assert kernel.run(greet("bye")).status == "ok"
        assert kernel.value("(await tk.call('greet', who='Ada')).result") == "bye Ada"

    def test_an_open_form_gets_the_new_tool(self, kernel: Kernel) -> None:
        kernel.run(greet("hello"), "a")
        kernel.run("form = tk.form('greet', who='Ada')", "f")
        kernel.run(greet("hello").replace("who: str", "who: str, loud: bool = False"), "a")
        assert kernel.value("[p.name for p in form.tool.parameters]") == ["who", "loud"]
        assert kernel.value("form.arguments") == {"who": "Ada"}


class TestShowing:
    """Each view is one comm, with HTML and text beside the widget."""

    @pytest.mark.parametrize(
        "code", ["tk", "nap", "tk.form('nap')", "tk.inspect()", "tk.run([('nap', {'seconds': 0})])"]
    )
    def test_a_view_is_one_comm_with_a_static_twin(self, kernel: Kernel, code: str) -> None:
        ran = kernel.run(code)
        assert ran.status == "ok"
        assert ran.comms == 1
        assert [set(shown) for shown in ran.shown] == [
            {"text/html", "text/plain"},
            {WIDGET, "text/plain"},
        ]
        assert ran.shown[1]["text/plain"] == "", "where there are no widgets, the twin is enough"

    def test_an_awaited_call_is_shown_once(self, kernel: Kernel) -> None:
        ran = kernel.run("await tk.call('nap', seconds='0')")
        assert (len(ran.shown), ran.comms) == (2, 1)
        assert "text to number" in ran.updated[-1]["text/plain"], "the saved twin holds the outcome"

    def test_an_awaited_batch_is_shown_once(self, kernel: Kernel) -> None:
        assert len(kernel.run("await tk.run([('nap', {'seconds': 0})] * 3)").shown) == 2

    def test_results_show_themselves_in_a_later_cell(self, kernel: Kernel) -> None:
        kernel.run("results = await tk.run([('nap', {'seconds': 0})] * 2)")
        [shown] = kernel.run("results").shown
        assert shown["text/plain"].count("nap: ok") == 2
        [shown] = kernel.run("results[0]").shown
        assert "<" in shown["text/html"]

    def test_a_loop_of_calls_does_not_flood_the_page(self, kernel: Kernel) -> None:
        ran = kernel.run("for _ in range(30): await tk.call('nap', seconds=0)")
        assert (len(ran.shown), ran.comms) == (50, 25)
        assert "25 runs shown; further ones of this cell are not" in ran.text


class TestRunning:
    def test_a_handle_runs_on_while_other_cells_do(self, kernel: Kernel) -> None:
        kernel.run("handle = tk.run([('nap', {'seconds': 0.2})] * 3)")
        assert kernel.value("handle.done") is False
        assert kernel.value("[r.result for r in await handle]") == [0.2] * 3

    def test_a_failure_is_a_result(self, kernel: Kernel) -> None:
        assert kernel.value("(await tk.call('nap', seconds='soon')).status") == "invalid"
        assert (
            kernel.value("(await tk.call('nope')).error")
            == "There is no tool named 'nope'. Tools: nap, count."
        )

    def test_a_megabyte_of_print_and_an_odd_result_do_no_harm(self, kernel: Kernel) -> None:
        kernel.run(
            "@tk.tool\ndef odd():\n    print('x' * 3_000_000)\n    loop = {}\n    loop['self'] = loop\n    loop['o'] = object()\n    return loop",
            "a",
        )
        ran = kernel.run("result = await tk.call('odd')\nprint(result.status)")
        assert ran.text == "ok\n"
        assert sum(len(str(bundle)) for bundle in [*ran.shown, *ran.updated]) < 300_000

    def test_tasks_of_an_ended_run_are_gone(self, kernel: Kernel) -> None:
        kernel.run(
            "before = len(asyncio.all_tasks())\nawait tk.run([('nap', {'seconds': 0})] * 50)\nafter = len(asyncio.all_tasks())"
        )
        assert kernel.value("after - before") == 0

    def test_a_result_that_lies_about_itself_and_an_interrupt_raised_by_a_tool(
        self, kernel: Kernel
    ) -> None:
        kernel.run(
            "class Lies:\n    @property\n    def __class__(self): return str\n"
            "@tk.tool\nasync def lies(): return Lies()\n"
            "@tk.tool\nasync def interrupts(): raise KeyboardInterrupt",
            "a",
        )
        kernel.run("tk", "registry")
        ran = kernel.run("results = await tk.run([('lies',), ('interrupts',)])")
        assert ran.status == "ok"
        assert kernel.value("[r.status for r in results]") == ["ok", "cancelled"]

    def test_a_stop_that_comes_at_once(self, kernel: Kernel) -> None:
        kernel.run("handle = tk.run([('nap', {'seconds': 60})] * 3)\nhandle.stop()")
        assert kernel.value("[r.status for r in await handle]") == ["cancelled"] * 3

    def test_an_open_inspector_does_not_wait_for_a_tool_that_holds_the_state(
        self, kernel: Kernel
    ) -> None:
        kernel.run(
            "@tk.tool\ndef holds(ctx: ToolContext):\n"
            "    with ctx:\n        ctx.set_state('a', 1)\n"
            "        return tk.call_sync('nap', seconds=0).result",
            "a",
        )
        kernel.run("tk.inspect()", "inspector")
        assert kernel.value("(await tk.call('holds')).status") == "ok"


class TestBlockingTwins:
    def test_work_in_a_plain_cell(self, kernel: Kernel) -> None:
        assert kernel.value("tk.call_sync('nap', seconds='0.01').result") == 0.01
        assert kernel.value(
            "[r.status for r in tk.run_sync([('nap', {'seconds': 0.01}), ('nope',)])]"
        ) == ["ok", "invalid"]

    def test_run_at_the_same_time(self, kernel: Kernel) -> None:
        assert kernel.value(
            "[(s := time.time()), tk.run_sync([('nap', {'seconds': 0.5})] * 8), time.time() - s][2] < 2.5"
        )

    def test_no_cell_queued_behind_one_is_lost(self, kernel: Kernel) -> None:
        """Run All: all cells are sent at once, a blocking twin and awaits among them."""
        cells = [
            "log = []",
            "log.append(tk.call_sync('nap', seconds=0.1).result)",
            "log.append('b')",
            "await asyncio.sleep(0.05); log.append('c')",
            "tk.run_sync([('nap', {'seconds': 0.1})] * 3); log.append('d')",
            "log.append('e')",
        ]
        runs = [kernel.send(code) for code in cells]
        assert [kernel.finish(run).status for run in runs] == ["ok"] * len(cells)
        assert kernel.value("log") == [0.1, "b", "c", "d", "e"]

    def test_have_no_stop_button(self, kernel: Kernel) -> None:
        kernel.run("import agtools_nb.notebook.toolkit as t, unittest.mock as m")
        kernel.run(
            "with m.patch.object(t, 'BatchView', wraps=t.BatchView) as made: tk.call_sync('nap', seconds=0)"
        )
        assert kernel.value("made.call_args.args[2]") is None

    def test_from_a_thread_of_the_kernel(self, kernel: Kernel) -> None:
        kernel.run("result = await asyncio.to_thread(tk.call_sync, 'nap', seconds=0.01)")
        assert kernel.value("result.result") == 0.01


class TestInterrupt:
    """All calls are cancelled within 200 ms, and the next cell runs."""

    @pytest.mark.parametrize(
        "code",
        [
            "await tk.run([('nap', {'seconds': 30})] * 5)",
            "await tk.call('nap', seconds=30)",
            "tk.run_sync([('nap', {'seconds': 30})] * 5)",
        ],
    )
    def test_stops_the_batch(self, kernel: Kernel, code: str) -> None:
        kernel.run("ended = []")
        kernel.run(
            "@tk.tool\nasync def watched(seconds: float):\n"
            "    try:\n        await asyncio.sleep(seconds)\n"
            "    finally:\n        ended.append(time.time())",
            "w",
        )
        run = kernel.send(code.replace("nap", "watched"))
        time.sleep(1)  # the kernel must be in the middle of it
        at = time.time()
        kernel.manager.interrupt_kernel()
        assert kernel.finish(run, 10).status == "error"
        ended = kernel.value("ended")
        assert len(ended) == (1 if "call(" in code else 5)
        assert max(ended) - at < 0.2
        assert kernel.value("6 * 7") == 42
        assert kernel.value("(await tk.call('nap', seconds=0)).status") == "ok"


def test_an_old_nest_asyncio_gets_a_warning_that_names_the_remedy() -> None:
    with Kernel() as kernel:
        setup = "import sys, types, asyncio\nold = types.ModuleType('nest_asyncio')\nsys.modules['nest_asyncio'] = old\n"
        kernel.run(
            setup
            + "def run(main, *, debug=False): ...\nrun.__module__ = 'nest_asyncio'\nasyncio.run = run"
        )
        kernel.run(SETUP)
        ran = kernel.run("tk.call_sync('nap', seconds=0)")
        assert "remove nest_asyncio.apply() and restart the kernel" in ran.text
