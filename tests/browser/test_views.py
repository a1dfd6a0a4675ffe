"""The five views in JupyterLab: used with mouse and keyboard, in both themes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from browser.lab import NotebookPage
from browser.scenes import COUNTER, SETUP, TRIP, WAITING
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

Open = Callable[..., NotebookPage]

FORM = "form = tk.form('plan_trip')\nform"


def field(view: Locator, name: str) -> Locator:
    """Locate the control of a form's field by the property it is for."""
    return view.get_by_label(name, exact=True).first


def test_form_fills_coerces_and_runs(open_notebook: Open) -> None:
    """What is typed arrives in Python as it was typed, is coerced in sight, and Run shows the result below."""
    page = open_notebook([SETUP, TRIP, FORM, "print(form.arguments)", "form.result.status"])
    page.run_selected(0, 2)
    view = page.output(2).locator(".agt")
    expect(view).to_be_visible()
    assert page.kernel("form.arguments") == {}
    field(view, "city").fill("Oslo")
    field(view, "days").fill("12")
    page.wait_kernel(
        "form.arguments.get('city') == 'Oslo' and 'days' in form.arguments",
        "the form's values in Python",
    )
    assert page.kernel("form.arguments") in (
        {"city": "Oslo", "days": 12},
        {"city": "Oslo", "days": "12"},
    )
    view.get_by_role("button", name="Run", exact=True).click()
    page.wait_kernel("form.result is not None", "the call's result")
    assert page.kernel("form.result.status") == "ok"
    assert page.kernel("form.result.result['days']") == 12
    assert page.kernel("form.result.stdout") == "planning Oslo\n"
    expect(view.get_by_text("planning Oslo").first).to_be_visible()
    page.screenshot("form-result", page.cell(2))
    assert not page.watch.errors


def test_form_follows_python(open_notebook: Open) -> None:
    """A value set from a cell appears in the form at once, with its coercion marked."""
    page = open_notebook(
        [SETUP, TRIP, FORM, "form['days'] = '3'\nform['city'] = 'Rome'", "del form['city']"]
    )
    page.run_selected(0, 3)
    view = page.output(2).locator(".agt")
    expect(field(view, "city")).to_have_value("Rome")
    expect(view.get_by_text("integer").first).to_be_visible()
    page.screenshot("form-coercion", page.cell(2))
    page.run_cell(4)
    expect(field(view, "city")).to_have_value("")
    assert page.kernel("form.arguments") == {"days": "3"}


def test_form_with_faults_keeps_what_was_typed(open_notebook: Open) -> None:
    """Arguments that don't fit are marked, the tool does not run, and the form keeps the text."""
    page = open_notebook([SETUP, TRIP, FORM])
    page.run_selected(0, 2)
    view = page.output(2).locator(".agt")
    field(view, "days").fill("many")
    view.get_by_role("button", name="Run", exact=True).click()
    page.wait_kernel("form.result is not None", "an outcome")
    assert page.kernel("form.result.status") == "invalid"
    expect(field(view, "days")).to_have_value("many")
    page.screenshot("form-faults", page.cell(2))
    assert page.kernel("form.arguments") == {"days": "many"}


def test_form_and_json_keep_step(open_notebook: Open) -> None:
    """The JSON tab shows what the fields hold, and what is typed there reaches the fields."""
    page = open_notebook([SETUP, TRIP, FORM])
    page.run_selected(0, 2)
    view = page.output(2).locator(".agt")
    field(view, "city").fill("Bergen")
    page.wait_kernel("form.arguments == {'city': 'Bergen'}", "the value in Python")
    view.get_by_role("tab", name="JSON").click()
    text = view.get_by_role("textbox").first
    expect(text).to_have_value(re.compile("Bergen"))
    text.fill('{"city": "Turku", "days": 9007199254740993}')
    page.wait_kernel("form.arguments.get('city') == 'Turku'", "the JSON in Python")
    assert page.kernel("form.arguments['days']") == 9007199254740993
    view.get_by_role("tab", name="Fields").click()
    expect(field(view, "city")).to_have_value("Turku")
    expect(field(view, "days")).to_have_value("9007199254740993")


@pytest.mark.parametrize("kernel", ["python3", "older"])
def test_form_runs_while_a_cell_awaits(open_notebook: Open, older_kernel: str, kernel: str) -> None:
    """A form works on both ways in which ipykernel delivers widget messages, while a cell awaits and after."""
    cells = [SETUP, TRIP, FORM, "await asyncio.sleep(4)", "1"]
    page = open_notebook(cells, kernel=older_kernel if kernel == "older" else kernel)
    page.run_selected(0, 2)
    view = page.output(2).locator(".agt")
    field(view, "city").fill("Oslo")
    page.run_cell(3, wait=False)
    view.get_by_role("button", name="Run", exact=True).click()
    expect(view.get_by_text("planning Oslo").first).to_be_visible(timeout=3000)
    assert page.is_busy(3), "the result came only after the cell"
    page.wait_cell(3)
    field(view, "city").fill("Rome")
    view.get_by_role("button", name="Run", exact=True).click()
    expect(view.get_by_text("planning Rome").first).to_be_visible()
    assert not page.watch.errors


def test_inspector_follows_and_edits(open_notebook: Open) -> None:
    """The inspector shows each write as it happens and who made it; an edit there is what tools see next."""
    cells = [
        SETUP,
        COUNTER,
        "tk.inspect()",
        "await tk.call('count', by=41)",
        "result = await tk.call('count')",
    ]
    page = open_notebook([*cells, "print(result)"])
    page.run_selected(0, 2)
    view = page.output(2).locator(".agt")
    expect(view).to_be_visible()
    page.run_cell(3)
    expect(view.get_by_text("counter").first).to_be_visible()
    expect(view.get_by_text("41", exact=True).first).to_be_visible()
    expect(view.get_by_text("count", exact=True).first).to_be_visible()
    page.screenshot("inspector-changed", page.cell(2))
    view.get_by_role("button", name="Edit counter").click()
    editor = view.get_by_label("Value of counter as JSON")
    expect(editor).to_have_value("41")
    editor.fill("100")
    view.get_by_role("button", name="Save").click()
    expect(view.get_by_text("100", exact=True).first).to_be_visible()
    page.run_selected(4, 5)
    assert "101" in page.text(5)
    expect(view.get_by_text("101", exact=True).first).to_be_visible()
    assert not page.watch.errors


def test_registry_counts(open_notebook: Open) -> None:
    """The registry shows calls and outcomes as they happen, without its cell being run again."""
    page = open_notebook(
        [SETUP, WAITING, "tk", "_ = await tk.run([ToolCall('fail', {'reason': 'x'})] * 3)"]
    )
    page.run_selected(0, 3)
    view = page.output(2).locator(".agt")
    row = view.get_by_role("button").filter(has_text="Fail at once.")
    expect(row).to_contain_text("3 calls, 3 failed")
    expect(row).to_contain_text("error")
    assert not page.watch.errors


def test_card_shows_every_provider(open_notebook: Open) -> None:
    """The card's tabs show the schema and what each provider is sent, by mouse and by arrow keys."""
    page = open_notebook([SETUP, TRIP, "plan_trip"])
    page.run_selected(0, 2)
    view = page.output(2).locator(".agt")
    tabs = view.get_by_role("tab")
    names = tabs.all_inner_texts()
    assert {"OpenAI", "Anthropic", "Gemini", "MCP"} <= {name.strip() for name in names}
    view.get_by_role("tab", name="Anthropic").click()
    expect(view.get_by_role("tabpanel")).to_contain_text("input_schema")
    page.page.keyboard.press("ArrowRight")
    expect(view.get_by_role("tab", name=names[names.index("Anthropic") + 1])).to_have_attribute(
        "aria-selected", "true"
    )
    assert not page.watch.errors


def test_form_is_painted_soon(open_notebook: Open, figure: Callable[[str, float], None]) -> None:
    """A second form of a page stands there soon after ``tk.form`` (a figure, kernel and network included)."""
    page = open_notebook(
        [SETUP, TRIP, FORM, "at = time.time()\nform2 = tk.form('plan_trip')\nform2"]
    )
    page.run_selected(0, 2)
    page.js(
        "const seen = () => { const view = notebook.widgets[3].node.querySelector('.agt input');"
        "if (view && view.getBoundingClientRect().height) window.painted = Date.now() / 1000;"
        "else requestAnimationFrame(seen); }; requestAnimationFrame(seen);"
    )
    page.run_cell(3)
    page.wait_for("window.painted", "the form painted")
    took = page.page.evaluate("window.painted") - page.kernel("at")
    figure("tk.form(...) to a painted form, seconds", took)
