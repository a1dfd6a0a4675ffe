"""Cards that ask a person, in JupyterLab: approve, edit, deny, answer; reloaded, interrupted, too late."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from browser.lab import NotebookPage, VoilaPage, screenshot
from browser.pressing import press, settled
from browser.scenes import RULED, SETUP
from browser.test_hostile import assert_harmless
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

Open = Callable[..., NotebookPage]

THREE = """\
results = await tk.run([
    ("git", {"command": ["push"], "seconds": "5"}),
    ("write", {"path": "plan.md", "text": "# Plan"}),
    ("delete", {"path": "plan.md"}),
])"""
SESSION = """\
again = [await tk.call("git", command=["push"]), await tk.call("git", command=["push"])]
forced = await tk.call("git", command=["push", "--force"])"""
LATE = """\
tk._asking.seconds = 0.6
late = await tk.call("write", path="b", text="c")"""


def card(place: Locator, tool: str) -> Locator:
    """Locate the card that asks about a tool's call."""
    return place.get_by_role("region", name=f"Approval of {tool}")


def said(place: Locator, text: str) -> Locator:
    """Locate what an answered card says of its answer."""
    return place.locator(".agt-said").filter(has_text=text)


@pytest.mark.parametrize("kernel", ["python3", "older"])
def test_approved_edited_denied(open_notebook: Open, older_kernel: str, kernel: str) -> None:
    """Two calls ask at once while the cell awaits; what was approved is what runs; later calls as the person said."""
    name = older_kernel if kernel == "older" else kernel
    page = open_notebook([SETUP + RULED, THREE, SESSION, LATE], kernel=name)
    page.run_cell(0)
    page.run_cell(1, wait=False)
    out = page.output(1)
    git, write = card(out, "git"), card(out, "write")
    expect(git).to_contain_text("sent as")
    expect(git).to_contain_text("Commands change what others see.")
    expect(write).to_be_visible()
    press(git, "Edit arguments")
    git.get_by_label("seconds", exact=True).fill("soon")
    press(git, "Approve these arguments")
    expect(git).to_contain_text("These arguments do not fit")
    git.get_by_label("seconds", exact=True).fill("7")
    press(git, "Approve these arguments")
    expect(said(out, "with changed arguments")).to_be_visible()
    assert page.is_busy(1), "answers came only after the cell"
    press(write, "Deny…")
    page.page.keyboard.type("Put it under docs.")
    page.page.keyboard.press("Enter")
    page.wait_cell(1)
    assert page.kernel("[one.status for one in results]") == ["ok", "denied", "denied"]
    assert page.kernel("ran") == [["git", ["push"], 7]]
    assert "Put it under docs." in page.kernel("results[1].error")
    expect(said(out, "Put it under docs.")).to_be_visible()
    page.run_cell(2, wait=False)
    press(page.output(2), "Approve for this session")
    page.wait_cell(2)
    assert page.kernel("[one.status for one in [*again, forced]]") == ["ok", "ok", "denied"]
    page.run_cell(3, seconds=5)
    assert page.kernel("late.status") == "denied"
    expect(said(page.output(3), "Nobody answered in time.")).to_be_visible()
    assert not page.watch.errors


def test_a_waiting_card_outlives_its_cell_and_its_page(open_notebook: Open) -> None:
    """A run goes on when its cell has ended; the page is loaded again and its cards still ask; the file tells it."""
    page = open_notebook(
        [
            SETUP + RULED,
            "handle = tk.run([('write', {'path': path, 'text': 'b'}) for path in 'ac'])\nhandle",
            "stopped = tk.run([('write', {'path': 'c', 'text': 'd'})])\nawait stopped",
        ]
    )
    page.run_selected(0, 1)
    expect(card(page.output(1), "write")).to_have_count(2)
    page.run_cell(2, wait=False)
    expect(card(page.output(2), "write")).to_be_visible()
    expect(page.output(2).locator(".agt-batch .agt-rowbody")).to_be_hidden()  # the card has it all
    page.interrupt()
    page.wait_cell(2, 5)
    expect(said(page.output(2), "The call was stopped.")).to_be_visible()
    expect(card(page.output(2), "write")).to_have_count(0)
    waited, ended = (str(cell["outputs"]) for cell in page.save()["cells"][1:])
    assert "waited for approval" in waited
    assert "stopped: The call was stopped." in ended
    page.page.reload()
    page.wait_for(
        "window.jupyterapp?.shell?.currentWidget?.content?.widgets?.length", "the notebook"
    )
    again = card(page.output(1), "write")
    expect(again).to_have_count(2)
    approve = again.first.get_by_role("button", name="Approve", exact=True)
    expect(approve).to_be_enabled()
    # The second card moves under the pointer: the second click is not meant for it.
    settled(approve).dblclick()
    expect(again).to_have_count(1)
    page.page.wait_for_timeout(300)
    assert page.kernel("ran") == [["write", "a", "b"]]
    expect(approve).to_be_enabled()
    approve.focus()
    page.page.keyboard.press("Enter")
    expect(page.output(1).locator(".agt-answered").get_by_text("approved")).to_have_count(2)
    page.wait_kernel("handle.done", "the calls")
    assert page.kernel("ran[1]") == ["write", "c", "b"]
    assert page.kernel("stopped._results[0].status") == "cancelled"
    assert not page.watch.errors


BAD = "BAD = \"<img src=x onerror='window.owned=1'><b id=planted>\\u202e\\u200b</b><script>window.owned=2</script>\"\n"
ASKED = """
@tk.tool
async def odd(text: str, *, ctx: ToolContext) -> str:
    "Ask oddly."
    return repr(await ctx.ask(text, [text, "no"], allow_text=True))

tk2 = Toolkit(policies=[ask_user("odd", name=BAD, reason=BAD)])
tk2.tool(odd)
"""


def test_questions_and_hostile_text(open_notebook: Open) -> None:
    """Each kind of question is answered with mouse and keys; what a model or a rule says stays text in every card."""
    page = open_notebook(
        [
            SETUP + RULED + BAD + ASKED,
            "handle = tk.run([('quiz', {'kind': kind}) for kind in ('one', 'several', 'open')])\nhandle",
            "evil = tk2.run([('odd', {'text': BAD})])\nevil",
            "tk2.policies('odd', text=BAD)",
        ]
    )
    page.run_all()
    out = page.output(1)
    one, several, free = (out.get_by_role("region", name="Question").nth(at) for at in range(3))
    free.get_by_label("Your answer").fill("Apollo")
    page.page.keyboard.press("Enter")
    expect(said(out, "Apollo")).to_be_visible()
    several.get_by_label("c.txt").check()
    several.get_by_label("a.txt").check()
    several.get_by_label("And in your own words").fill("and d.txt")
    press(several, "Answer")
    expect(one.get_by_role("button", name="Answer", exact=True)).to_be_disabled()
    one.get_by_label("red").check()
    page.page.keyboard.press("ArrowDown")
    press(one, "Answer")
    page.wait_kernel("handle.done", "the answers")
    assert page.kernel("[eval(one.result) for one in handle._results]") == [
        "green",
        ["a.txt", "c.txt", "and d.txt"],
        "Apollo",
    ]
    evil = page.output(2)
    expect(card(evil, "odd").get_by_text("U+202E").first).to_be_visible()
    expect(page.output(3).get_by_text("You are asked").first).to_be_visible()
    assert_harmless(page.page, "the card and the rules")
    press(card(evil, "odd"), "Approve")
    question = evil.get_by_role("region", name="Question")
    expect(question.get_by_text("U+202E").first).to_be_visible()
    press(question, "Decline to answer")
    page.wait_kernel("evil.done", "the answer")
    for head in evil.locator(".agt-answered .agt-rowhead").all():
        head.click()
    assert_harmless(page.page, "the answered cards")
    assert page.kernel("evil._results[0].result") == "None"
    assert not page.watch.errors


ELSEWHERE = [
    SETUP + RULED,
    "form = tk.form('write', path='a', text='b')\nform",
    "handle = tk.run([('git', {'command': ['push']}), ('quiz', {'kind': 'one'})])\nhandle",
]


def answer_elsewhere(page: Page, name: str) -> None:
    """Approve a form's run and a handle's call, and answer its question."""
    form, run = (page.locator(".jp-OutputArea-output:has(.agt)").nth(at) for at in (0, 1))
    press(form, "Run")
    press(card(form, "write"), "Approve")
    expect(form.get_by_text("written").first).to_be_visible()
    screenshot(page, name)
    press(card(run, "git"), "Approve")
    question = run.get_by_role("region", name="Question")
    question.get_by_label("blue").check()
    press(question, "Answer")
    expect(run.get_by_text("2 ok")).to_be_visible()


def test_notebook_7(open_notebook: Open) -> None:
    """Cards in Notebook 7."""
    page = open_notebook(ELSEWHERE, kind="notebook", height=1800)
    page.run_all()
    answer_elsewhere(page.page, "asking-notebook7")
    assert page.kernel("ran") == [["write", "a", "b"], ["git", ["push"], 60]]
    assert not page.watch.errors


def test_voila(open_voila: Callable[..., VoilaPage]) -> None:
    """Cards in Voila, whose cells ended before the page was there; what its cells await is refused at once."""
    awaited = "denied = await tk.call('write', path='c', text='d')\nprint(denied.error)"
    page = open_voila([*ELSEWHERE, awaited])
    page.page.set_viewport_size({"width": 1280, "height": 1800})
    expect(page.page.get_by_text("a Voila page comes up only when").first).to_be_attached()
    answer_elsewhere(page.page, "asking-voila")
    assert not page.watch.errors
