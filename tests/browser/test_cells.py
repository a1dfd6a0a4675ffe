"""Cells that are edited and run again, and a notebook that is opened without being run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from browser.lab import NotebookPage
from browser.scenes import COUNTER, SETUP, TRIP
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

Open = Callable[..., NotebookPage]

QUICKSTART = Path(__file__).parents[2] / "notebooks" / "00_quickstart.ipynb"

GREET = '@tk.tool\ndef greet(name: str) -> str:\n    "Greet somebody."\n    return "hello " + name'
NAMES = "print([tool.name for tool in tk.tools])"


def test_rerunning_a_cell_replaces_its_tools(open_notebook: Open) -> None:
    """An edited cell's tool takes the place of the old one, in the order it had, also in an open form."""
    other = '@tk.tool\ndef other() -> int:\n    "Another."\n    return 1'
    page = open_notebook(
        [
            SETUP,
            GREET,
            other,
            "form = tk.form('greet')\nform",
            NAMES,
            "await tk.call('greet', name='Ada')",
        ]
    )
    page.run_selected(0, 5)
    expect(page.output(5)).to_contain_text("hello Ada")
    page.set_source(
        1, GREET.replace("hello", "good day").replace("name: str", "name: str, loud: bool = False")
    )
    page.run_cell(1)
    page.run_selected(4, 5)
    assert page.text(4) == "['greet', 'other']\n"
    expect(page.output(5)).to_contain_text("good day Ada")
    expect(page.output(3).locator(".agt")).to_contain_text("loud")
    assert not page.watch.errors


def test_a_renamed_tool_is_gone(open_notebook: Open) -> None:
    """A name that the edited cell no longer defines disappears, from the registry and for callers."""
    page = open_notebook([SETUP, GREET, NAMES, "result = await tk.call('greet', name='Ada')", "tk"])
    page.run_selected(0, 2)
    page.run_cell(4)
    page.set_source(1, GREET.replace("greet(", "salute("))
    page.run_selected(1, 2)
    assert page.text(2) == "['salute']\n"
    expect(page.output(4).locator(".agt")).to_contain_text("salute")
    expect(page.output(4).locator(".agt")).not_to_contain_text("greet")
    page.run_cell(3)
    assert "greet" in page.text(3) + page.output(3).inner_text()
    page.set_source(1, "# no tool any more")
    page.run_selected(1, 2)
    assert page.text(2) == "[]\n"


def test_a_second_cell_with_the_name_is_refused(open_notebook: Open) -> None:
    """Another cell that takes the name gets an error that says where the first one came from; the first stays."""
    page = open_notebook(
        [SETUP, GREET, GREET.replace("hello", "bye"), "await tk.call('greet', name='Ada')"]
    )
    page.run_selected(0, 1)
    page.run_cell(2)
    error = page.outputs(2)[-1]
    assert error["output_type"] == "error"
    assert "greet" in error["evalue"]
    assert f"[{page.execution_count(1)}]" in error["evalue"], "the message names the first cell"
    page.run_cell(3)
    expect(page.output(3)).to_contain_text("hello Ada")
    page.run_cell(1)
    page.run_cell(3)
    expect(page.output(3)).to_contain_text("hello Ada")


def test_restarted_kernel(open_notebook: Open) -> None:
    """After a restart the views of the old kernel say that they are cut off; run again, they live."""
    page = open_notebook([SETUP, TRIP, "form = tk.form('plan_trip')\nform"])
    page.run_all()
    page.restart()
    view = page.output(2).locator(".agt")
    run = view.get_by_role("button", name="Run", exact=True)
    if run.is_enabled():  # JupyterLab does not tell widgets of a restart: the first press finds out
        run.click()
    expect(view.get_by_text("not connected").first).to_be_visible()
    page.screenshot("form-after-restart", page.cell(2))
    assert not page.watch.errors
    page.run_all()
    view.get_by_label("city", exact=True).first.fill("Oslo")
    page.wait_kernel("form.arguments == {'city': 'Oslo'}", "the new form reaches the new kernel")


def test_saved_notebook_reads_without_running(open_notebook: Open) -> None:
    """The shipped quickstart, just opened, shows its tables, and no widget that isn't there."""
    page = open_notebook(QUICKSTART)
    page.page.wait_for_timeout(2000)
    body = page.page.locator(".jp-Notebook")
    expect(body.locator(".jp-OutputArea table").first).to_be_attached()
    for words in ("model not found", "Error displaying widget", "Loading widget"):
        expect(body.get_by_text(words)).to_have_count(0)
    page.screenshot("quickstart-saved")
    assert not page.watch.errors


def test_notebook_saved_by_the_user_reads_without_running(open_notebook: Open) -> None:
    """What JupyterLab itself saves holds each view as HTML and text besides the widget."""
    cells = [
        SETUP,
        TRIP,
        COUNTER,
        "tk",
        "plan_trip",
        "tk.form('plan_trip')",
        "await tk.run([ToolCall('count')])",
        "tk.inspect()",
    ]
    page = open_notebook(cells)
    page.run_all()
    saved = page.save()
    for cell in saved["cells"][3:]:
        shown = [output["data"] for output in cell["outputs"] if "data" in output]
        twins = [data for data in shown if "text/html" in data]
        assert twins, cell["source"]
        assert all("".join(data["text/plain"]).strip() for data in twins), cell["source"]
    nbformat.validate(nbformat.reads(json.dumps(saved), as_version=4))


def test_quickstart_runs_from_top_to_bottom(
    open_notebook: Open, figure: Callable[[str, float], None]
) -> None:
    """Run All on the quickstart: every cell ends, none fails, every view is drawn, one comm a view."""
    page = open_notebook(QUICKSTART, height=1100)
    page.js("window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    page.run_all(check=False)
    cells = nbformat.read(QUICKSTART, as_version=4).cells
    meant_to_fail = {
        index
        for index, cell in enumerate(cells)
        if "raises-exception" in cell.metadata.get("tags", [])
    }
    for index, cell in enumerate(cells):
        if cell.cell_type == "code" and cell.source.strip():
            assert page.failed(index) == (index in meant_to_fail), page.text(index)
            assert page.execution_count(index) is not None
    views = page.page.locator(".jp-Notebook .jp-OutputArea .agt")
    expect(views.first).to_be_visible()
    figure("comms opened by the quickstart", page.comm_count())
    assert len(page.watch.wire.comm_opens()) == page.comm_count() == views.count()
    for index in range(views.count()):
        page.screenshot(f"quickstart-{index:02d}", views.nth(index))
    assert not page.watch.errors
    outside = [url for url in page.watch.external if not url.endswith("/badge_logo.svg")]
    assert outside == [], "nothing comes from a CDN"
