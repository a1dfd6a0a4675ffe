"""Bringing a saved twin up to date leaves the widget beside it alone: open rows, focus and text stay."""

from __future__ import annotations

import re
from typing import Any

import pytest
from browser.scenes import COUNTER, SETUP, TRIP, WAITING
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_an_opened_row_stays_open_when_the_batch_ends(open_notebook: Any) -> None:
    page = open_notebook([SETUP, WAITING, "results = await tk.run([('wait', {'seconds': 2})] * 3)"])
    page.run_cell(0)
    page.run_cell(1)
    page.run_cell(2, wait=False)
    rows = page.output(2).locator("[aria-expanded]")
    expect(rows).to_have_count(3)
    rows.nth(1).click()
    page.wait_cell(2)
    expect(page.output(2).get_by_text("3 ok", exact=True)).to_be_visible()
    assert [rows.nth(index).get_attribute("aria-expanded") for index in range(3)] == [
        "false",
        "true",
        "false",
    ]
    assert page.output(2).locator(".agt").count() == 1


def test_an_inspector_stays_live_and_its_file_up_to_date(open_notebook: Any) -> None:
    page = open_notebook([SETUP, COUNTER, "tk.inspect()", "await tk.call('count', by=41)"])
    for index in range(4):
        page.run_cell(index)
    expect(page.output(2).locator(".agt").get_by_text("41", exact=True).first).to_be_visible()
    assert "41" in page.outputs(2)[0]["data"]["text/html"], "what is saved shows the state of now"
    page.run_cell(3)
    expect(page.output(2).locator(".agt").get_by_text("82", exact=True).first).to_be_visible()
    assert page.output(2).locator(".agt").count() == 1


def test_typing_in_a_form_goes_on_while_cells_end(open_notebook: Any) -> None:
    page = open_notebook([SETUP, TRIP, "form = tk.form('plan_trip')\nform", "form['days'] = 5"])
    for index in range(3):
        page.run_cell(index)
    city = page.output(2).get_by_label(re.compile("^city"), exact=False).first
    city.click()
    page.page.keyboard.type("Os")
    page.run_cell(3)
    city.click()
    page.page.keyboard.press("End")
    page.page.keyboard.type("lo")
    expect(city).to_have_value("Oslo")
    assert page.output(2).locator(".agt").count() == 1
