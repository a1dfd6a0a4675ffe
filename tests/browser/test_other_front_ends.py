"""The same short test in Notebook 7 and in Voila: form, batch with Stop, inspector."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from browser.lab import NotebookPage, VoilaPage, screenshot
from browser.scenes import COUNTER, SETUP, TRIP, WAITING, batch
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

CELLS = [
    SETUP + TRIP + COUNTER + WAITING,
    "form = tk.form('plan_trip')\nform",
    "counting = tk.form('count')\ncounting",
    "tk.inspect()",
    f"handle = tk.run({batch('wait', 3, seconds=60)})\nhandle",
]


def use_the_views(page: Page, views: Locator, name: str) -> None:
    """Fill and run a form, see the inspector change, stop a batch."""
    expect(views).to_have_count(4)
    form, counting, inspector, running = (views.nth(index) for index in range(4))
    form.get_by_label("city", exact=True).first.fill("Oslo")
    form.get_by_role("button", name="Run", exact=True).click()
    expect(form.get_by_text("planning Oslo").first).to_be_visible()
    counting.get_by_label("by", exact=True).first.fill("41")
    counting.get_by_role("button", name="Run", exact=True).click()
    expect(inspector.get_by_text("counter").first).to_be_visible()
    expect(inspector.get_by_text("41", exact=True).first).to_be_visible()
    running.get_by_role("button", name="Stop", exact=True).click()
    expect(
        running.get_by_text(re.compile("cancelled|stopped", re.IGNORECASE)).first
    ).to_be_visible()
    expect(running.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    screenshot(page, name)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_notebook_7(open_notebook: Callable[..., NotebookPage], theme: str) -> None:
    """In Notebook 7."""
    page = open_notebook(CELLS, kind="notebook", theme=theme, height=2400)
    page.run_all()
    use_the_views(page.page, page.page.locator(".jp-OutputArea .agt"), f"notebook7-{theme}")
    assert page.kernel("form.result.status") == "ok"
    assert not page.watch.errors


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_voila(open_voila: Callable[..., VoilaPage], theme: str) -> None:
    """In Voila, where nobody sees the cells."""
    page = open_voila(CELLS, theme=theme)
    page.page.set_viewport_size({"width": 1280, "height": 2400})
    use_the_views(page.page, page.page.locator(".jp-OutputArea .agt"), f"voila-{theme}")
    assert not page.watch.errors
