"""What is opened, wide and narrow: nothing is broken, hidden or out of line; the way into the past."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from browser.lab import NotebookPage
from browser.scenes import BESIDE, COUNTER, SETUP
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

Open = Callable[..., NotebookPage]

TOOLS = '''\
from collections.abc import AsyncIterator

@tk.tool(long_running=True)
async def train(epochs: int, seed: int | None = None, *, ctx: ToolContext) -> dict:
    """Train a model on what was collected.

    Args:
        epochs: How often all of it is seen.
        seed: What chance begins with. Leave it out, or null, for another one each time.
    """
    ctx.report_progress(3, 10, "epochs")
    await asyncio.Event().wait()

@tk.tool
def find(
    conditions: list[str],
    at_least: int | None = None,
    order: Literal["city", "population"] = "population",
    limit: int = Field(5, ge=1, le=20),
) -> list[str]:
    """Find cities.

    Args:
        conditions: Tests that a city must pass, all of them.
        at_least: Fewest inhabitants. Leave it out, or null, for any size.
        order: What to sort by; the largest first, when by size.
        limit: Most cities to return.
    """
    raise LookupError("the table of cities is not there, and nobody knows since when it has been gone")
'''
ACTIVITY = """\
_ = await tk.run([("train", {"epochs": 10}), ("prices", {"seconds": 0.01})])
while len(tk.background.inbox.items) < 12:
    await asyncio.sleep(0.01)
await tk.background.cancel_subscription(tk.background.subscriptions[0].id)
tk.activity()"""
FAILING = '_ = await tk.run([("find", {"conditions": ["by the sea"]}), ("find", {"conditions": 4, "limit": "many"})])'
FORM = "form = tk.form('train', epochs=10)\nform"


def top(element: Locator) -> float:
    """Where the text of an element begins."""
    return float(
        element.evaluate(
            "node => { const range = document.createRange(); range.selectNodeContents(node);"
            " return range.getClientRects()[0].bottom; }"
        )
    )


def lines(element: Locator) -> int:
    """How many lines the text of an element takes."""
    return int(
        element.evaluate(
            "node => { const range = document.createRange(); range.selectNodeContents(node);"
            " return new Set([...range.getClientRects()].map(one => Math.round(one.bottom))).size; }"
        )
    )


def too_wide(element: Locator) -> int:
    """How many pixels an element could be scrolled sideways."""
    return int(element.evaluate("node => node.scrollWidth - node.clientWidth"))


def overlap(first: dict[str, float], second: dict[str, float]) -> bool:
    """Whether two boxes have a pixel in common."""
    return all(
        first[at] < second[at] + second[size] - 0.5 and second[at] < first[at] + first[size] - 0.5
        for at, size in (("x", "width"), ("y", "height"))
    )


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 800), ("light", 560)])
def test_what_is_opened_fits(open_notebook: Open, theme: str, width: int) -> None:
    """Opened rows and forms keep their words whole, their lines straight and their columns in sight."""
    cells = [SETUP, TOOLS + BESIDE, ACTIVITY, FAILING, "tk", FORM]
    page = open_notebook(cells, theme=theme, width=width, height=1600)
    if width < 1000:
        page.js("window.jupyterapp.shell.collapseLeft()")
    page.run_all()
    names = ["activity", "batch", "registry", "form"]
    views = [page.output(at).locator(f".agt-{name}") for at, name in enumerate(names, start=2)]
    activity, batch, registry, form = views

    running = activity.locator(".agt-item.agt-open").filter(has_text="train")
    expect(running.locator(".agt-text")).to_have_text("30 % · 3 of 10 epochs")
    strip = running.locator(".agt-strip")
    assert strip.evaluate(
        "node => [node.style.getPropertyValue('--share'), node.clientHeight]"
    ) == ["0.3", 2]
    events = activity.locator(".agt-event")
    events.first.locator(".agt-rowhead").click()
    expect(events.first.get_by_text("a side conversation of its own")).to_be_visible()
    assert "child thread" not in activity.inner_text()
    assert too_wide(activity.locator(".agt-scroll")) <= 0

    for row, words in enumerate(["the table of cities is not there", "do not fit"]):
        expect(batch.locator(".agt-outcome").nth(row)).to_contain_text(words)
        expect(batch.locator(".agt-outcome").nth(row)).to_be_visible()
        assert (batch.locator(".agt-outcome").nth(row).bounding_box() or {})["width"] > 200

    for part in running, events.first:
        boxes = [
            part.locator(one).last.bounding_box() or {}
            for one in (".agt-what > .agt-tag", ".agt-text")
        ]
        assert not overlap(*boxes), "a mark stands on what is said"

    registry.locator(".agt-rowhead").filter(has_text="find").click()
    table = registry.locator(".agt-parameters")
    assert lines(table.locator(".agt-required").first) == 1
    assert lines(table.get_by_text('"population"', exact=True)) == 1

    title, about = form.locator(".agt-title"), form.locator(".agt-toolabout")
    assert abs(top(title) - top(about)) < 4, "name and description do not stand in one line"
    expect(about).to_have_text("Train a model on what was collected.")
    expect(form.locator(".agt-further")).to_contain_text("check_train")
    assert top(form.locator(".agt-further p").first) > top(about)
    expect(form.get_by_text("integer or null")).to_be_visible()

    for at, name in enumerate(names):
        page.screenshot(f"opened-{name}-{theme}-{width}", page.cell(at + 2))
        assert too_wide(views[at]) <= 0, name
    assert not page.watch.errors


def test_the_way_into_the_past_and_back(open_notebook: Open) -> None:
    """A recent write leads to its step, the other kind of step stays there; Reset waits to be pressed again."""
    source = "for by in (1, 10, 100):\n    await tk.call('count', by=by)\ntk.state.set('note', 1)\ntk.inspect()"
    page = open_notebook([SETUP, COUNTER, source])
    page.run_all()
    view = page.output(2).locator(".agt")
    slider = view.get_by_role("slider", name="History")
    view.get_by_text("Recent writes").click()
    view.get_by_role("button", name="Show the state after write 2").click()
    expect(slider).to_have_attribute("aria-valuetext", "after call 2 of 4")
    counter = view.locator(".agt-entry").filter(has_text="counter").locator(".agt-value")
    expect(counter).to_have_text("11")
    step = view.get_by_label("One step is")
    step.select_option("write")
    expect(slider).to_have_attribute("aria-valuetext", "after write 2 of 4")
    expect(counter).to_have_text("11")
    step.select_option("call")
    expect(slider).to_have_attribute("aria-valuetext", "after call 2 of 4")
    page.screenshot("opened-inspector-past", page.cell(2))
    view.get_by_role("button", name="Back to now").click()
    view.get_by_role("button", name="Reset").click()
    page.page.wait_for_timeout(4500)
    sure = view.get_by_role("button", name="Remove all keys?")
    expect(sure).to_be_visible()
    sure.press("Escape")
    view.get_by_role("button", name="Reset").click()
    sure.click()
    expect(view.get_by_text("No state now. The slider above shows what there was.")).to_be_visible()
    page.screenshot("opened-inspector-reset", page.cell(2))
    assert not page.watch.errors


def test_a_form_says_what_is_not_run_and_what_is_out_of_date(open_notebook: Open) -> None:
    """Arguments that do not fit are not run; a result is marked while the JSON text is broken, and after Clear."""
    page = open_notebook([SETUP, COUNTER, "form = tk.form('count', by=2)\nform"])
    page.run_all()
    view = page.output(2).locator(".agt")
    view.get_by_role("button", name="Run").click()
    expect(view.locator(".agt-outcome")).to_contain_text("ok")
    hint = view.get_by_text("the arguments have changed since")
    expect(hint).to_have_count(0)
    view.get_by_role("tab", name="JSON").click()
    text = view.get_by_label("arguments as JSON")
    text.fill('{"by": 2')
    expect(hint).to_be_visible()
    expect(view.get_by_text("not run: the JSON text cannot be read")).to_be_visible()
    page.screenshot("opened-form-broken", page.cell(2))
    text.fill('{"by": "two"}')
    expect(view.get_by_text("not run: the arguments do not fit")).to_be_visible()
    page.screenshot("opened-form-unfit", page.cell(2))
    view.get_by_role("button", name="Clear").click()
    expect(view.get_by_role("button", name="Undo")).to_be_visible()
    expect(hint).to_be_visible()
    page.screenshot("opened-form-clear", page.cell(2))
    assert not page.watch.errors
