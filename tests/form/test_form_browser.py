"""Typing, clicking and keys in a form, in JupyterLab."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from browser.lab import NotebookPage
    from playwright.sync_api import Locator

pytestmark = pytest.mark.browser

Open = Callable[..., "NotebookPage"]

SETUP = """\
import asyncio, time
from typing import Literal
from pydantic import BaseModel, Field
from agtools_nb import Toolkit
tk = Toolkit()

class Stop(BaseModel):
    place: str
    nights: int = Field(1, ge=0, le=30)
    inner: list["Stop"] = []

@tk.tool
async def trip(
    city: str,
    days: int,
    direct: bool,
    mode: Literal["train", "boat"],
    home: Stop,
    note: str | None = None,
    stops: list[Stop] = [],
    limit: str | int = 1,
    labels: dict[str, int] = {},
    units: Literal["km", "mi"] = "km",
) -> dict:
    "Plan a trip."
    await asyncio.sleep(0.3)
    return {"city": city, "days": days}

form = tk.form("trip")
"""


@pytest.fixture
def scene(open_notebook: Open) -> tuple[NotebookPage, Locator]:
    """A notebook that shows the form of ``trip``, and the form."""
    page = open_notebook([SETUP, "form", "form", "x = 1"], height=1600)
    page.run_selected(0, 1)
    view = page.output(1).locator(".agt-form")
    expect(view).to_be_visible()
    return page, view


def field(view: Locator, name: str) -> Locator:
    """The control of a field."""
    return view.get_by_label(name, exact=True).first


def state(view: Locator, name: str) -> Locator:
    """The state of a field: unset, null, empty text, set, JSON."""
    return view.get_by_label(f"state of {name}", exact=True).first


def holds(page: NotebookPage, value: object) -> None:
    """Wait until the form holds exactly this."""
    page.wait_kernel(f"form.arguments == {value!r}", f"{value!r} in the form")


def test_typing_is_never_disturbed(scene: tuple[NotebookPage, Locator]) -> None:
    """Python's echo comes many times while one types, and other fields change from Python."""
    page, view = scene
    text = "The quick brown fox jumps over the lazy dog, twice a day."
    field(view, "note").click()
    field(view, "note").evaluate("element => { window.typedInto = element; }")
    page.page.keyboard.type(text, delay=25)
    expect(field(view, "note")).to_have_value(text)
    holds(page, {"note": text})
    page.page.keyboard.press("Home")
    page.page.keyboard.type("> ")
    holds(page, {"note": f"> {text}"})
    assert page.page.evaluate("document.activeElement.selectionStart") == 2
    assert page.page.evaluate("document.activeElement === window.typedInto")


def test_keys_go_to_the_field_and_not_to_the_notebook(scene: tuple[NotebookPage, Locator]) -> None:
    """a, b, dd, Enter, Shift+Enter and arrow keys are commands of the notebook elsewhere."""
    page, view = scene
    cells = len(page)
    field(view, "note").click()
    page.page.keyboard.type("abddxyzm1")
    page.page.keyboard.press("Enter")
    page.page.keyboard.press("Shift+Enter")
    page.page.keyboard.type("c")
    page.page.keyboard.press("ArrowUp")
    page.page.keyboard.press("Escape")
    holds(page, {"note": "abddxyzm1\nc"})
    assert len(page) == cells
    assert page.execution_count(2) is None
    page.page.keyboard.press("Control+a")
    page.page.keyboard.press("Control+x")
    holds(page, {})
    state(view, "note").focus()
    page.page.keyboard.press("d")
    page.page.keyboard.press("d")
    assert len(page) == cells


def test_control_enter_runs_the_tool_and_not_the_cell(scene: tuple[NotebookPage, Locator]) -> None:
    page, view = scene
    count = page.execution_count(1)
    field(view, "days").fill("3")
    view.get_by_text("true", exact=True).click()
    field(view, "mode").select_option("boat")
    field(view, "place").fill("Bodø")
    field(view, "days").press("Control+Enter")
    expect(view.get_by_text("running")).to_be_visible()
    expect(view.locator(".agt-outcome .agt-ok")).to_be_visible()
    assert page.execution_count(1) == count
    assert page.kernel("form.result.result") == {"city": "", "days": 3}
    assert page.kernel("form.arguments") == {
        "days": 3,
        "direct": True,
        "mode": "boat",
        "home": {"place": "Bodø"},
    }
    assert page.watch.errors == []


def test_unset_null_empty_and_set_are_kept_apart(scene: tuple[NotebookPage, Locator]) -> None:
    page, view = scene
    expect(state(view, "note")).to_have_value("unset")
    expect(state(view, "city")).to_have_value("left")  # required: Run sends ""
    state(view, "note").select_option("null")
    holds(page, {"note": None})
    expect(field(view, "note")).to_have_attribute("placeholder", "null")
    state(view, "note").select_option("empty")
    holds(page, {"note": ""})
    field(view, "note").fill("x")
    holds(page, {"note": "x"})
    field(view, "note").fill("")
    holds(page, {})
    expect(state(view, "note")).to_have_value("unset")
    expect(field(view, "units")).to_have_value("")
    expect(field(view, "units").locator("option").first).to_have_text("default: km")
    expect(field(view, "mode").locator("option").first).to_have_text("choose")


def test_items_keys_branches_and_json(scene: tuple[NotebookPage, Locator]) -> None:
    page, view = scene
    field(view, "Add item: stops").click()
    expect(view.get_by_label("place", exact=True).nth(1)).to_be_focused()
    page.page.keyboard.type("Narvik")
    holds(page, {"stops": [{"place": "Narvik"}]})
    state(view, "labels").select_option("value")
    key = view.get_by_label("new key of labels", exact=True)
    key.fill("a")
    key.press("Enter")
    field(view, "this key").fill("5")
    holds(page, {"stops": [{"place": "Narvik"}], "labels": {"a": 5}})
    key.fill("a")
    key.press("Enter")
    expect(view.get_by_text('the key "a" is there already')).to_be_visible()
    expect(key).to_have_value("a")
    view.get_by_role("button", name="Clear").click()
    holds(page, {})
    view.get_by_role("button", name="Undo").click()
    holds(page, {"stops": [{"place": "Narvik"}], "labels": {"a": 5}})
    view.get_by_role("button", name="Clear").click()
    field(view, "limit").fill("5")
    holds(page, {"limit": "5"})
    field(view, "type of limit").select_option(label="integer")
    holds(page, {"limit": 5})
    state(view, "stops").select_option("as_json")
    view.get_by_label("stops", exact=True).fill('[{"place": "A"')
    expect(view.get_by_text("not JSON")).to_be_visible()
    expect(field(view, "stops")).to_have_attribute("aria-invalid", "true")
    field(view, "stops").fill('[{"place": "A", "nights": 12345678901234567890}]')
    state(view, "stops").select_option("value")
    expect(field(view, "nights")).to_be_visible()
    holds(page, {"limit": 5, "stops": [{"place": "A", "nights": 12345678901234567890}]})


def test_two_views_of_one_form_keep_step(scene: tuple[NotebookPage, Locator]) -> None:
    page, view = scene
    page.run_cell(2)
    other = page.output(2).locator(".agt-form")
    field(view, "city").fill("Oslo")
    expect(field(other, "city")).to_have_value("Oslo")
    field(other, "city").fill("Rome")
    expect(field(view, "city")).to_have_value("Rome")


def test_a_field_that_cannot_be_drawn_is_json_alone(scene: tuple[NotebookPage, Locator]) -> None:
    page, view = scene
    page.set_source(
        3, "plan = tk.form('trip').plan\nplan['root']['fields'][3]['options'] = 5\nform.plan = plan"
    )
    page.run_cell(3)
    expect(view.locator(".agt-json")).to_have_count(1)
    field(view, "mode").fill('"boat"')
    holds(page, {"mode": "boat"})
    expect(field(view, "city")).to_be_editable()


def test_faults_are_told_to_screen_readers(scene: tuple[NotebookPage, Locator]) -> None:
    _, view = scene
    field(view, "days").fill("many")
    expect(field(view, "days")).to_have_attribute("aria-invalid", "true")
    described = str(field(view, "days").get_attribute("aria-describedby")).split()
    texts = [view.locator(f"[id='{name}']").text_content() for name in described]
    assert 'expected an integer, got "many" (a string)' in texts
    expect(field(view, "days")).to_have_attribute("aria-required", "true")
    unnamed = view.locator("input, textarea, select, button").evaluate_all(
        "all => all.filter(e => !(e.getAttribute('aria-label') || e.labels?.length || e.textContent))"
        ".map(e => e.outerHTML)"
    )
    assert unnamed == []


def test_a_dead_kernel_disables_what_cannot_work(scene: tuple[NotebookPage, Locator]) -> None:
    page, view = scene
    field(view, "city").fill("Oslo")
    holds(page, {"city": "Oslo"})
    page.restart()
    expect(view.get_by_text("Not connected")).to_be_visible()
    expect(field(view, "city")).to_be_disabled()
    expect(field(view, "city")).to_have_value("Oslo")
    expect(view.get_by_role("button", name="Run", exact=True)).to_be_disabled()
