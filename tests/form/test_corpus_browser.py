"""The forms of 995 real schemas in JupyterLab, with a real kernel: drawn, filled, read back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from form.schema_tool import corpus, tool_name

if TYPE_CHECKING:
    from browser.lab import NotebookPage

pytestmark = pytest.mark.browser

TOOLS, INSTANCES = 995, 2485
CHUNK = 48  # JupyterLab shows no more than 50 outputs of a cell at once
TESTS = Path(__file__).resolve().parent.parent

SETUP = f"""\
import json, sys
sys.path.insert(0, {str(TESTS)!r})
from form.schema_tool import corpus, corpus_tools, leaves
from agtools_nb.notebook.kernel_loop import KernelLoop
from agtools_nb.views.form import FormView

loop, rows, tools, forms = KernelLoop(), corpus(), corpus_tools(), []

def load(start, stop):
    global forms
    for form in forms:
        form.close()
    forms = [FormView(loop, tool) for tool in tools[start:stop]]
    shown = rows[start:stop]
    globals().update(shown=shown)
    display(*forms)

def fill(k):
    "Set instance k of each form that has one; return the leaves that the page must show."
    expected = []
    for form, row in zip(forms, shown):
        if k < len(row["instances"]):
            form.arguments = row["instances"][k]["value"]
            expected.append([as_seen(leaf) for leaf in leaves(row["instances"][k]["value"])])
        else:
            expected.append(None)
    return expected

def as_seen(leaf):
    if isinstance(leaf, str):
        return leaf
    return {{"{{}}": "0 keys", "[]": "0 items"}}.get(json.dumps(leaf), json.dumps(leaf))

def wrong(k):
    "Forms whose arguments are not exactly instance k ({{}} for k = -1)."
    found = []
    for form, row in zip(forms, shown):
        if k < len(row["instances"]):
            value = row["instances"][k]["value"] if k >= 0 else {{}}
            if json.dumps(form.arguments) != json.dumps(value):
                found.append([row["id"], form.arguments, value])
    return found

def edits():
    return sum(sum(form._seen.values()) for form in forms)
"""


def settled(page: NotebookPage, enough: int) -> int:
    """Wait until the kernel has taken all edits that are on their way; return how many."""
    seen = -1
    for _ in range(200):
        page.page.wait_for_timeout(150)  # typed text waits that long for more
        now = int(page.kernel("edits()"))
        if now == seen and now >= enough:
            return now
        seen = now
    raise AssertionError(f"{seen} edits arrived, not {enough}")


def touch(page: NotebookPage) -> int:
    """Fire the events of every control; return how many controls there were."""
    before = int(page.kernel("edits()"))
    count = int(page.page.evaluate("corpusForms.touch()"))
    settled(page, before + 1)
    return count


def missing(expected: list[str], shown: list[str]) -> Counter[str]:
    """The leaves that the page does not show."""
    # A textarea shows every line ending as a line feed; none of the corpus has another.
    return Counter(expected) - Counter(shown)


@pytest.fixture
def page(open_notebook: Callable[..., NotebookPage]) -> NotebookPage:
    """A notebook with a cell for each chunk of the corpus."""
    chunks = [f"load({at}, {at + CHUNK})" for at in range(0, TOOLS, CHUNK)]
    page = open_notebook([SETUP, *chunks])
    page.page.add_script_tag(path=str(Path(__file__).with_name("corpus_page.js")))
    page.run_cell(0)
    return page


def check_drawn(page: NotebookPage, rows: tuple[dict[str, Any], ...]) -> None:
    """Each form of a chunk is there, with fields and without a notice."""
    page.wait_for(f"corpusForms.states().length === {len(rows)}", "the chunk's forms", 60)
    for row, state in zip(rows, page.page.evaluate("corpusForms.states()"), strict=True):
        where = (row["id"], state)
        assert state["title"] == tool_name(row["name"]), where
        assert (state["root"], state["json"], state["notices"]) == ("object", 0, ""), where
        assert state["height"] > 0, where


def check_round_trip(page: NotebookPage, k: int) -> tuple[int, int]:
    """Each form's instance ``k`` is shown leaf by leaf and comes back exactly."""
    expected: list[list[str] | None] = page.kernel(f"fill({k})")
    there = [leaves for leaves in expected if leaves is not None]
    lost: list[Any] = []
    for _ in range(600):  # a busy machine may take its time
        shown: list[list[str]] = page.page.evaluate("corpusForms.shown()")
        lost = [
            (at, missing(leaves, values))
            for at, (leaves, values) in enumerate(zip(expected, shown, strict=True))
            if leaves is not None and missing(leaves, values)
        ]
        if not lost:
            break
        page.page.wait_for_timeout(100)
    assert not lost, lost[:5]
    touch(page)
    assert page.kernel(f"wrong({k})") == []
    return len(there), sum(map(len, there))


def test_every_form_draws_and_every_instance_comes_back(
    page: NotebookPage, record_property: Callable[[str, object], None]
) -> None:
    """Untouched forms stay ``{}``, and instances survive an event on each of their controls."""
    forms = controls = instances = leaves = 0
    for at, start in enumerate(range(0, TOOLS, CHUNK), 1):
        rows = corpus()[start : start + CHUNK]
        page.run_cell(at, seconds=60)
        check_drawn(page, rows)
        controls += touch(page)
        assert page.kernel("wrong(-1)") == []
        for k in range(max(len(row["instances"]) for row in rows)):
            found, seen = check_round_trip(page, k)
            instances += found
            leaves += seen
        forms += len(rows)
        page.js("notebook.widgets[argument].model.clearExecution()", at)
    assert page.watch.errors == []
    assert (forms, instances) == (TOOLS, INSTANCES)
    for name, count in {"forms": forms, "controls": controls, "instances": instances}.items():
        record_property(name, count)
    record_property("leaves", leaves)
    print(f"{forms} forms, {controls} controls, {instances} instances, {leaves} leaves")
