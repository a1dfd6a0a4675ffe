"""The driver itself, against plain ipywidgets: what it says happened did happen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from browser.lab import NotebookPage, VoilaPage
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

BUTTON = """
import ipywidgets
button, seen = ipywidgets.Button(description="Press"), ipywidgets.Label("nothing")
button.on_click(lambda _: setattr(seen, "value", "pressed"))
ipywidgets.VBox([button, seen])
"""


@pytest.mark.parametrize("kind", ["lab", "notebook"])
def test_runs_cells_and_reads_them(open_notebook: Callable[..., NotebookPage], kind: str) -> None:
    """Cells run one by one and all at once; text, errors, widgets and comms are seen."""
    page = open_notebook(["x = 20 + 1\nx * 2", "1 / 0", BUTTON, "print('last', x)"], kind=kind)
    page.run_cell(0)
    assert page.text(0) == "42"
    assert page.kernel("x") == 21
    page.run_cell(1)
    assert "ZeroDivisionError" in page.text(1)
    page.run_selected(2, 3)
    assert page.text(3) == "last 21\n"
    page.output(2).get_by_role("button", name="Press").click()
    expect(page.output(2).get_by_text("pressed", exact=True)).to_be_visible()
    assert len(page.watch.wire.comm_opens()) == page.comm_count() > 3
    page.set_source(1, "x")
    page.run_all()
    assert page.text(1) == "21"
    assert page.execution_count(3) == 8
    assert not page.watch.errors
    assert page.screenshot(f"driver-{kind}").stat().st_size > 10_000


def test_shows_a_voila_page(open_voila: Callable[..., VoilaPage]) -> None:
    """A Voila page shows the outputs, and its widgets reach their kernel."""
    page = open_voila(["print('hello from', 6 * 7)", BUTTON])
    expect(page.page.get_by_text("hello from 42")).to_be_visible()
    page.page.get_by_role("button", name="Press").click()
    expect(page.page.get_by_text("pressed", exact=True)).to_be_visible()
    assert not page.watch.errors, "\n".join(page.watch.errors)


def test_interrupts(open_notebook: Callable[..., NotebookPage]) -> None:
    """The interrupt button stops a running cell."""
    page = open_notebook(["import time\ntime.sleep(60)"])
    page.run_cell(0, wait=False)
    page.wait_busy(0)
    page.page.wait_for_timeout(500)
    page.interrupt()
    page.wait_cell(0)
    assert "KeyboardInterrupt" in page.text(0)


def test_page_errors_are_seen(open_notebook: Callable[..., NotebookPage]) -> None:
    """An exception that nothing in the page caught is on record, and nothing else is."""
    page = open_notebook(["1"])
    assert not page.watch.errors, "\n".join(page.watch.errors)
    page.page.evaluate("() => { setTimeout(() => { throw new Error('planted'); }, 0); }")
    page.page.wait_for_timeout(200)
    assert len(page.watch.errors) == 1
    assert "planted" in page.watch.errors[0]
