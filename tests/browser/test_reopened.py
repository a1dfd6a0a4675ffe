"""A notebook that its user ran and saved, opened again when its kernel is gone.

JupyterLab trusts it, prefers the widgets, and finds none of them.
"""

from __future__ import annotations

from typing import Any

import pytest
from browser.scenes import COUNTER, SETUP, TRIP
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

CELLS = [
    SETUP,
    TRIP,
    COUNTER,
    "tk",
    "plan_trip",
    "tk.form('plan_trip', city='Oslo')",
    "_ = await tk.run([('count', {'by': 41}), ('count', {'by': '1'})])",
    "tk.inspect()",
    "tk.activity()",
]
VIEWS = range(3, 9)


def test_each_view_is_one_thing_to_see(open_notebook: Any) -> None:
    """With a kernel the widget is seen, and its twin is not; without one it is the other way."""
    page = open_notebook(CELLS)
    page.run_all()
    for index in VIEWS:
        expect(page.output(index).locator(".agt")).to_be_visible()
        expect(page.output(index).locator(".agt-twin")).to_be_hidden()
    page.screenshot("reopened-0-live")
    path = page.server.root / str(page.js("return panel.context.path"))
    page.save()
    page.js("await panel.sessionContext.shutdown()")
    again = open_notebook(path)
    assert again.js(
        "return panel.content.widgets.every(cell => cell.model.type !== 'code' || cell.model.trusted)"
    )
    for index in VIEWS:
        expect(again.output(index).locator(".agt-twin")).to_be_visible()
        assert again.output(index).locator(".agt").count() == 0
    expect(again.output(6).get_by_text("42").first).to_be_visible()
    again.page.wait_for_timeout(1000)
    assert again.page.get_by_text("model not found").filter(visible=True).count() == 0
    again.screenshot("reopened-1-without-kernel")
