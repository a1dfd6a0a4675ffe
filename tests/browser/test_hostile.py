"""Text from tools, models and servers never becomes an element of the page and never runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from browser.lab import NotebookPage
from browser.scenes import SETUP
from nbconvert import HTMLExporter
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.browser

# Each would set `window.owned`, or leave an element that nothing of ours makes.
HOSTILE = r"""
BAD = (
    "<img src=x onerror='window.owned=1'><script>window.owned=2</script></script>"
    "</textarea></style><svg onload='window.owned=3'><b id=planted>bold</b>"
    "\"><iframe srcdoc=\"<script>parent.owned=4</script>\"></iframe> ${window.owned=5} javascript:window.owned=6"
    "]]>--> &lt;i id=planted&gt; {{7*7}} \u202e\x00 end"
)
from typing import Annotated

class Choice(enum.Enum):
    BAD = BAD

def hostile(text: Annotated[str, Field(description=BAD)] = BAD, choice: Choice | None = None, **more: str) -> dict:
    print(BAD)
    return {BAD: [BAD, {BAD: BAD}]}

hostile.__doc__ = "Do harm. " + BAD
hostile = tk.tool(hostile)

@tk.tool
def fails(text: str) -> None:
    "Fail."
    raise ValueError(BAD)

@tk.tool
def writes(ctx: ToolContext) -> None:
    "Write state."
    ctx.set_state(BAD, {BAD: BAD})

@tk.tool
async def reports(ctx: ToolContext) -> None:
    "Report progress."
    await ctx.report_progress(1, 2, BAD)
    await ctx.emit_progress(BAD[:60], BAD)
    await ctx.emit_progress("stdout", BAD)
    await ctx.emit_progress("stderr", BAD)

@tk.tool(mode="dispatched")
async def later(text: str) -> dict:
    "Deliver later."
    return {BAD: text}

@tk.tool(mode="dispatched")
async def breaks(text: str) -> None:
    "Fail later."
    raise ValueError(text)
"""
CALLS = """\
results = await tk.run([
    ToolCall("hostile", {"text": BAD, BAD: BAD}),
    ToolCall("hostile", {"text": 5, "choice": BAD}),
    ToolCall("hostile", {"choice": "no " + BAD}),
    ToolCall("hostile", BAD),
    ToolCall("fails", {"text": BAD}),
    ToolCall("fails", {BAD: BAD}),
    ToolCall(BAD, {BAD: BAD}),
    ToolCall("writes"),
    ToolCall("reports"),
    ToolCall("later", {"text": BAD}),
    ToolCall("breaks", {"text": BAD}),
])
_ = tk.state.save(BAD)
tk.state.set(BAD, [BAD])
_ = tk.background.send(BAD)

"""
CELLS = [
    SETUP,
    HOSTILE,
    CALLS,
    "tk",
    "hostile",
    "form = tk.form('hostile')\nform.arguments = {'text': BAD, BAD: BAD, 'choice': 'no ' + BAD}\nform",
    "tk.inspect()",
    "results[0]",
    "results[4]",
    "tk.activity()",
    "await tk.call('reports')",
]
PLANTED = "#planted, img[src='x'], iframe[srcdoc], svg[onload]"


def assert_harmless(page: Page, where: str) -> None:
    """Nothing ran and nothing was planted."""
    page.wait_for_timeout(500)
    assert page.evaluate("window.owned") is None, where
    planted = page.locator(PLANTED)
    assert planted.count() == 0, (
        f"{where}: {planted.first.evaluate('node => node.outerHTML')[:500]}"
    )


def test_live_views(open_notebook: Callable[..., NotebookPage]) -> None:
    """In every view, closed and opened, hostile text is shown as text."""
    page = open_notebook(CELLS)
    page.run_all()
    for index in range(2, len(CELLS)):
        view = page.output(index).locator(".jp-OutputArea-output").filter(visible=True).first
        expect(view).to_be_visible()
        assert_harmless(page.page, CELLS[index])
        for closed in (
            page.output(index).locator(".agt [aria-expanded='false'], .agt summary").all()
        ):
            if closed.is_visible():
                closed.click()
        for tab in page.output(index).get_by_role("tab").all():
            if tab.is_visible():
                tab.click()
        assert_harmless(page.page, f"opened: {CELLS[index]}")
        page.screenshot(f"hostile-{index}", page.cell(index))
    look_back(page)
    form = page.output(5).locator(".agt")
    form.get_by_role("button", name="Run", exact=True).click()
    page.wait_kernel("form.result is not None", "an outcome")
    assert_harmless(page.page, "the form's outcome")
    expect(page.page.get_by_text("window.owned=1").first).to_be_attached()
    assert not page.watch.errors


def look_back(page: NotebookPage) -> None:
    """The inspector's past, its comparison and its search show hostile text as text, too."""
    view = page.output(6).locator(".agt")
    view.get_by_role("button", name="One step back").click()
    expect(view.get_by_role("status").filter(has_text="After")).to_be_visible()
    view.get_by_label("Search keys, values and history").fill("onerror")
    expect(view.get_by_text("found", exact=False).first).to_be_visible()
    view.get_by_role("button", name=re.compile("^Compare ")).first.click()
    expect(view.locator(".agt-compared .agt-change").first).to_be_visible()
    assert_harmless(page.page, "the inspector's past")


def test_static_forms(
    open_notebook: Callable[..., NotebookPage], browser: Browser, tmp_path: Path
) -> None:
    """What is saved is as harmless, opened again in JupyterLab and as nbconvert's page in a browser that trusts it."""
    page = open_notebook(CELLS)
    page.run_all()
    saved = page.save()
    path = str(page.js("return panel.context.path"))
    for cell in saved["cells"]:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    static = tmp_path / "static.ipynb"
    static.write_text(json.dumps(saved))
    again = open_notebook(static)
    again.page.wait_for_timeout(1000)
    expect(again.page.locator(".jp-OutputArea table").first).to_be_attached()
    assert_harmless(again.page, "reopened")
    html, _ = HTMLExporter().from_filename(str(static))
    converted = tmp_path / "static.html"
    converted.write_text(html, encoding="utf-8")
    context = browser.new_context()
    try:
        exported = context.new_page()
        exported.goto(converted.as_uri())
        expect(exported.get_by_text("window.owned=1").first).to_be_attached()
        assert_harmless(exported, f"nbconvert of {path}")
    finally:
        context.close()
