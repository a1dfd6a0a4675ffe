"""What lasts and what goes on beside the calls, in JupyterLab: the past, progress, background work."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from browser.lab import NotebookPage
from browser.scenes import BESIDE, COUNTER, SETUP, WAITING
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

Open = Callable[..., NotebookPage]

HISTORY = """\
for by in (1, 10, 100):
    await tk.call("count", by=by)
tk.state.set("note", {"city": "Oslo", "nights": [1, 2]})
_ = tk.state.save("evening")
tk.state.delete("note")
None
"""


def entry(view: Locator, key: str) -> Locator:
    """Locate the row of one key."""
    return view.locator(".agt-entry").filter(has=view.page.get_by_text(key, exact=True))


def test_the_slider_shows_the_state_after_each_call(open_notebook: Open) -> None:
    """Arrows, keyboard and dragging move through the past; each step shows what it changed; writes go on."""
    page = open_notebook(
        [SETUP, COUNTER, HISTORY, "tk.inspect()", "await tk.call('count', by=1000)"]
    )
    page.run_selected(0, 3)
    view = page.output(3).locator(".agt")
    slider = view.get_by_role("slider", name="History")
    expect(slider).to_have_attribute("aria-valuetext", "now")
    view.get_by_role("button", name="One step back").click()
    expect(entry(view, "note")).to_contain_text("Oslo")
    expect(view.locator(".agt-change")).to_contain_text("Oslo")
    expect(view.get_by_role("button", name="Edit note")).to_have_count(0)
    slider.focus()
    page.page.keyboard.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", "after call 3 of 5")
    expect(entry(view, "counter")).to_contain_text("111")
    expect(view.locator(".agt-change")).to_contain_text("→")
    page.screenshot("inspector-past", page.cell(3))
    page.run_cell(4)
    expect(slider).to_have_attribute("aria-valuetext", "after call 3 of 6")
    expect(entry(view, "counter")).to_contain_text("111")
    slider.fill("1")
    expect(entry(view, "counter").locator(".agt-value")).to_have_text("1")
    slider.fill("0")
    expect(view.get_by_text("There was no state then.")).to_be_visible()
    view.get_by_role("button", name="Back to now").click()
    expect(entry(view, "counter")).to_contain_text("1111")
    assert len(page) == 5, "a key of the slider reached the notebook"
    assert not page.watch.errors


def test_snapshots_are_saved_compared_and_loaded(open_notebook: Open) -> None:
    """A snapshot saved from the page is in Python, its differences are listed, and loading brings it back."""
    page = open_notebook([SETUP, COUNTER, HISTORY, "tk.inspect()", "tk.state.set('counter', 7)"])
    page.run_selected(0, 3)
    view = page.output(3).locator(".agt")
    view.get_by_text("Snapshots", exact=True).click()
    view.get_by_label("Name of the snapshot").fill("before seven")
    view.get_by_role("button", name="Save snapshot").click()
    expect(view.get_by_role("button", name="Load before seven")).to_be_visible()
    page.wait_kernel("[one.name for one in tk.state.snapshots][-1] == 'before seven'", "it saved")
    page.run_cell(4)
    view.get_by_role("button", name="Compare before seven with now").click()
    change = view.locator(".agt-compared .agt-change")
    expect(change).to_have_count(1)
    expect(change).to_contain_text("111")
    page.screenshot("inspector-snapshots", page.cell(3))
    load = view.get_by_role("button", name="Load before seven")
    load.click()
    assert page.kernel("tk.state.get('counter')") == 7, "loaded without asking"
    load.click()
    page.wait_kernel("tk.state.get('counter') == 111", "the snapshot's value")
    expect(view.get_by_text("No difference.")).to_be_visible()
    assert not page.watch.errors


def test_a_search_finds_keys_values_and_writes(open_notebook: Open) -> None:
    """Typing filters keys by name and by value, lists the writes that hold the text, and one leads to its step."""
    page = open_notebook(
        [SETUP, COUNTER, HISTORY, "tk.state.set('route', {'via': ['Hamar']})", "tk.inspect()"]
    )
    page.run_selected(0, 4)
    view = page.output(4).locator(".agt")
    field = view.get_by_label("Search keys, values and history")
    field.fill("hamar")
    expect(view.locator(".agt-entry")).to_have_count(1)
    expect(view.locator(".agt-marked")).to_contain_text("Hamar")
    field.fill("oslo")
    expect(view.get_by_text("No key or value holds this text.")).to_be_visible()
    view.get_by_role("button", name=re.compile("Show the state after write")).click()
    expect(entry(view, "note")).to_contain_text("Oslo")
    page.screenshot("inspector-search", page.cell(4))
    field.press("Escape")
    expect(view.locator(".agt-entry")).to_have_count(2)
    assert not page.watch.errors


def test_rows_show_how_far_their_calls_are(open_notebook: Open) -> None:
    """A running row shows its share, an open one its bar and what it writes; at the end all is in the details."""
    cells = [
        SETUP,
        WAITING + BESIDE,
        "_ = await tk.run([('download', {'files': 40}), ('build', {'modules': 40}), ('wait', {'seconds': 1})])",
    ]
    page = open_notebook(cells)
    page.run_selected(0, 1)
    page.run_cell(2, wait=False)
    view = page.output(2).locator(".agt")
    rows = view.locator(".agt-row")
    expect(rows.nth(0)).to_contain_text(re.compile(r"[1-9]\d? %"))
    rows.nth(1).locator(".agt-rowhead").click()
    written = rows.nth(1).locator(".agt-written")
    expect(written).to_contain_text("compiling module 0")
    expect(written).to_contain_text("compiling module 20")
    page.screenshot("progress-running", page.cell(2))
    page.wait_cell(2)
    expect(rows.nth(0)).not_to_contain_text("%")
    expect(rows.nth(1)).to_contain_text("Printed")
    expect(rows.nth(1)).to_contain_text("compiling module 39")
    expect(rows.nth(1).locator(".agt-written")).to_have_count(1)
    expect(rows.nth(1).locator(".agt-written")).to_be_hidden()
    rows.nth(0).locator(".agt-rowhead").click()
    expect(rows.nth(0).get_by_role("progressbar").first).to_have_attribute("aria-valuenow", "100")
    expect(rows.nth(0).locator(".agt-detail .agt-written")).to_contain_text("fetching part 39")
    page.screenshot("progress-done", page.cell(2))
    assert not page.watch.errors


@pytest.mark.parametrize("kernel", ["python3", "older"])
def test_a_single_call_streams(open_notebook: Open, older_kernel: str, kernel: str) -> None:
    """``tk.call`` shows bar and output while it waits, on either way in which ipykernel takes messages."""
    cells = [SETUP, BESIDE, "await tk.call('download', files=60)"]
    page = open_notebook(cells, kernel=older_kernel if kernel == "older" else kernel)
    page.run_selected(0, 1)
    page.run_cell(2, wait=False)
    view = page.output(2).locator(".agt")
    expect(view.get_by_role("progressbar").first).to_have_attribute(
        "aria-valuenow", re.compile("[1-9]")
    )
    expect(view.locator(".agt-written").first).to_contain_text("fetching part 10")
    assert page.is_busy(2)
    page.wait_cell(2)
    expect(view).to_contain_text("60 files")
    assert not page.watch.errors


@pytest.mark.parametrize("kernel", ["python3", "older"])
def test_background_work_is_seen_and_cancelled(
    open_notebook: Open, older_kernel: str, kernel: str
) -> None:
    """Cancel stops a task and closes a subscription, while a cell awaits and while none runs; the inbox is live."""
    cells = [
        SETUP,
        BESIDE,
        "tk.activity()",
        "_ = await tk.run([('backup', {'place': 'attic'}), ('prices', {})])",
        "_ = tk.background.send('Is the backup done?')",
        "await asyncio.sleep(4)",
    ]
    page = open_notebook(cells, kernel=older_kernel if kernel == "older" else kernel)
    page.run_selected(0, 2)
    view = page.output(2).locator(".agt")
    expect(view.get_by_text("Nothing runs in the background.")).to_be_visible()
    page.run_selected(3, 4)
    expect(view.get_by_text("2 running")).to_be_visible()
    expect(view.get_by_text("Is the backup done?")).to_be_visible()
    page.screenshot("activity-running", page.cell(2))
    page.run_cell(5, wait=False)
    view.get_by_role("button", name="Cancel prices").click()
    expect(view.get_by_role("button", name="Cancel prices")).to_be_hidden(timeout=3000)
    assert page.is_busy(5), "cancelled only after the cell"
    page.wait_cell(5)
    assert page.kernel("closed") == ["AGT"]
    view.get_by_role("button", name="Cancel backup").click()
    expect(view.get_by_text("idle")).to_be_visible()
    assert page.kernel("[one.status for one in tk.background.tasks]") == ["cancelled"]
    expect(view.get_by_text("The call was stopped before it finished.").first).to_be_attached()
    assert not page.watch.errors
