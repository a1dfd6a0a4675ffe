"""Pictures of the views in light and dark, wide and narrow, to be looked at."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from browser.lab import NotebookPage
from browser.scenes import BESIDE, COUNTER, RULED, SETUP, TRIP, WAITING
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

FILLED = {
    "city": "Oslo",
    "days": "3",
    "pace": "fast",
    "transport": None,
    "stops": [{"place": "Hamar", "nights": "2"}, {"place": "Lillehammer"}],
    "note": "",
}
CELLS = {
    "registry": "tk",
    "card": "plan_trip",
    "form": f"form = tk.form('plan_trip')\nform.arguments = {FILLED!r}\nform",
    "batch": """\
results = await tk.run([
    ToolCall("plan_trip", {"city": "Oslo", "days": "3"}),
    ToolCall("wait", {"seconds": 0.8}),
    ToolCall("block", {"seconds": "0.4"}),
    ToolCall("wait", {"seconds": 0.3}),
    ToolCall("fail", {"reason": "The weather service does not answer"}),
    ToolCall("plan_trip", {"days": "many"}),
    ToolCall("count", {"by": 5}),
])""",
    "inspector": "tk.inspect()",
    "activity": """\
_ = await tk.run([("backup", {"place": "attic"}), ("backup", {"place": "cellar", "seconds": 0}), ("prices", {})])
_ = tk.background.send("Is the backup done?")
await asyncio.sleep(0.5)
tk.activity()""",
    # With another toolkit, of which nothing runs before.
    "ruled": f"{RULED}tk",
    "policies": "tk.policies('git', command=['push', '--force'])",
    "approval": """\
handle = tk.run([
    ToolCall("git", {"command": ["push", "origin"], "seconds": "5"}),
    ToolCall("write", {"path": "notes/plan.md", "text": "# Plan\\n\\n1. Look at the data\\n2. Fit a\u202e model"}),
    ToolCall("delete", {"path": "notes"}),
])
handle""",
    "question": "asked = tk.run([('quiz', {'kind': kind}) for kind in ('one', 'several', 'open')])\nasked",
}
# Cards beside the view.
ASKING = {"approval": 2, "question": 3}
WRITES = """\
tk.state.set("route", {"from": "Oslo", "to": ["Hamar", "Lillehammer"], "km": 184.5, "open": True, "note": None})
_ = await tk.call("count", by=41)
_ = await tk.call("count", by="1")
"""


@pytest.mark.parametrize("width", [1280, 620])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures(open_notebook: Callable[..., NotebookPage], theme: str, width: int) -> None:
    """Every view is drawn, takes no more width than its cell has, and is photographed."""
    page = open_notebook(
        [SETUP, TRIP, COUNTER, WAITING + BESIDE, WRITES, *CELLS.values()],
        theme=theme,
        width=width,
        height=2000,
    )
    if width < 1000:  # the file browser would leave a cell hardly any room
        page.js("window.jupyterapp.shell.collapseLeft()")
    page.run_all()
    for index, name in enumerate(CELLS, start=5):
        views = page.output(index).locator(".agt")
        expect(views.nth(ASKING.get(name, 0))).to_be_visible()
        page.screenshot(f"{name}-{theme}-{width}", page.cell(index))
        for view in views.all():
            overflow = view.evaluate("node => node.scrollWidth - node.clientWidth")
            assert overflow <= 0, f"{name} is {overflow} px wider than its cell"
    assert not page.watch.errors
