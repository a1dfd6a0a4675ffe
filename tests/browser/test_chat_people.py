"""A chat in which others have a say: a person who approves, subagents, the inbox, models that misbehave."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from browser.lab import NotebookPage, VoilaPage, screenshot
from browser.scenes import RULED, SETUP
from browser.test_asking import card, press
from browser.test_asking import said as answered
from browser.test_chat import fits, said, say
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

Open = Callable[..., NotebookPage]

TALK = """
from agtools_nb import Agent, Chat, HumanModel, ScriptedModel, Session, Subagent, Turn

plan = {"path": "plan.md", "text": "# Plan", "overwrite": "false"}
asking = [
    Turn("I write it down.", [("write", plan), ("delete", {"path": "old.md"})]), "Written.",
    ("write", {"path": "b.md", "text": "b"}), "Not written then.",
    ("quiz", {"kind": "one"}), "So be it.",
    [("git", {"command": ["push"]}), ("git", {"command": ["tag"]})], "Pushed.",
]
chat = tk.chat(ScriptedModel(asking))
"""
AWAITED = "reply = await chat.say('And b?')"
AGENT = """
@tk.tool
def look(path: str) -> list[str]:
    "List a folder."
    return [f"{path}/plan.md", f"{path}/notes.md"]

report = "Two files: `plan.md` and **notes.md**."
reader = Subagent(
    "reader", "Reads files.", tools=[look, git],
    model=ScriptedModel([
        Turn("I look around.", [("look", {"path": "docs"})]), ("git", {"command": ["log"]}), report,
    ]),
)
task = {"name": "reader", "task": "Which files are there, and since when?"}
agent = Agent(
    [], ScriptedModel([Turn("My reader knows.", [("start_subagent", task)]), "There are **two**."]),
    policies=[ask_user("git", reason="Commands change what others see.")],
    subagents=[reader], approve=tk.approve, answer=tk.answer,
)
await agent.start()
shown = Chat(agent)
shown
"""
NARROW = 420


def deny(place: Locator, reason: str) -> None:
    """Deny what a card asks, and say why."""
    press(place, "Deny…")
    place.get_by_role("textbox").fill(reason)
    place.get_by_role("textbox").press("Enter")


@pytest.mark.parametrize("kernel", ["python3", "older"])
def test_calls_ask_in_their_cards(open_notebook: Open, older_kernel: str, kernel: str) -> None:
    """Edited, denied, answered, approved for the session; typed on the page and from a cell that waits."""
    wide = kernel == "python3"
    page = open_notebook(
        [SETUP + RULED + TALK + "chat", AWAITED, AGENT],
        kernel=older_kernel if kernel == "older" else kernel,
        theme="dark" if wide else "light",
        width=1280 if wide else NARROW,
        height=1500,
    )
    if not wide:
        page.js("window.jupyterapp.shell.collapseLeft()")
    page.run_cell(0)
    view = page.output(0).locator(".agt-chat")
    say(view, "Write it down")
    call = view.locator(".agt-callcard", has_text="plan.md")
    ask = card(call, "write")
    expect(ask).to_contain_text("Files are yours.")
    expect(call.get_by_text("asks you", exact=True)).to_be_visible()
    fits(view)
    page.screenshot(f"chat-ask-1-{kernel}", page.output(0))
    press(ask, "Edit arguments")
    ask.get_by_label("text", exact=True).fill("# My plan")
    press(ask, "Approve these arguments")
    expect(answered(call, "with changed arguments")).to_be_visible()
    gone = view.locator(".agt-callcard", has_text="old.md")
    expect(gone.get_by_text("denied", exact=True)).to_be_visible()
    expect(gone).to_contain_text("Nothing is deleted here.")
    expect(said(view, "Written.")).to_be_visible()
    assert page.kernel("ran") == [["write", "plan.md", "# My plan"]]

    # Another cell waits: its card stands there, too, and either one may be answered.
    page.run_cell(1, wait=False)
    call = view.locator(".agt-callcard", has_text="b.md")
    expect(card(call, "write")).to_be_visible()
    expect(card(page.output(1), "write")).to_be_visible()
    deny(card(call, "write"), "Put it under docs.")
    page.wait_cell(1)
    expect(answered(page.output(1), "Put it under docs.")).to_be_visible()
    expect(call.get_by_text("denied", exact=True).first).to_be_visible()
    assert page.kernel("reply.text") == "Not written then."
    assert "Put it under docs." in page.kernel("reply.results[0].error")

    say(view, "Which colour?")
    question = view.get_by_role("region", name="Question")
    question.get_by_label("blue").check()
    press(question, "Answer")
    expect(said(view, "So be it.")).to_be_visible()
    say(view, "Push")
    push = view.locator(".agt-callcard", has_text="push")
    press(card(push, "git"), "Approve for this session")
    expect(said(view, "Pushed.")).to_be_visible()
    assert page.kernel("[one[1] for one in ran[1:]]") == [["push"], ["tag"]]
    page.screenshot(f"chat-ask-2-{kernel}", page.output(0))

    nested(page, 2, kernel)
    saved = str(page.save()["cells"][2]["outputs"])
    assert "Two files" in saved
    assert "Task" in saved
    assert not page.watch.errors


def nested(page: NotebookPage, at: int, name: str) -> None:
    """An agent's subagent asks in its own call, inside the call that has started it, and stays."""
    page.run_cell(at)
    view = page.output(at).locator(".agt-chat")
    say(view, "Which files?")
    inner = view.locator(".agt-child")
    expect(inner.get_by_text("Which files are there, and since when?")).to_be_visible()
    call = inner.locator(".agt-callcard", has_text="log")
    expect(card(call, "git")).to_be_visible()
    page.screenshot(f"chat-nested-1-{name}", page.output(at))
    press(card(call, "git"), "Approve")
    expect(said(inner, "Two files")).to_be_visible()
    expect(said(view, "There are two")).to_be_visible()
    expect(inner.locator(".agt-label", has_text="reader")).to_be_visible()
    fits(view)
    page.screenshot(f"chat-nested-2-{name}", page.output(at))


def test_voila(open_voila: Callable[..., VoilaPage]) -> None:
    """A call asks in its card when its cells have long ended."""
    page = open_voila([SETUP + RULED + TALK, "chat"])
    page.page.set_viewport_size({"width": 1280, "height": 1500})
    view = page.page.locator(".agt-chat")
    say(view, "Write it down")
    press(card(view, "write"), "Approve")
    expect(said(view, "Written.")).to_be_visible()
    screenshot(page.page, "chat-ask-voila")
    assert not page.watch.errors


INBOX = """
gates = {name: asyncio.Event() for name in ("attic", "cellar")}

@tk.tool(mode="dispatched")
async def build(name: str) -> str:
    "Build something; it takes its time."
    await gates[name].wait()
    return f"the {name} is built"

@tk.tool
async def watch(what: str):
    "Watch something."
    yield "it is calm"
    await gates["cellar"].wait()
    yield "it moves"

def model(request):
    last = request.messages[-1]
    text = getattr(last, "text", None)
    if text is None:
        return "It is under way."
    if text.startswith("build"):
        return ("build", {"name": text.split()[1]})
    if text.startswith("watch"):
        return ("watch", {"what": text.split()[1]})
    return f"I was told: {text}"
"""
FED = INBOX + "chat = tk.chat(ScriptedModel(model))\nchat"


def test_what_the_inbox_brings_is_answered(open_notebook: Open) -> None:
    """Results, values, messages and triggers; in the chat that was made last, and in the fork that is shown."""
    again = "from agtools_nb import every, ScriptedModel\n"
    page = open_notebook([SETUP + again, FED], height=1400)
    page.run_all()
    page.kernel("globals().update(first=chat)")
    page.run_cell(1)
    view = page.output(1).locator(".agt-chat")
    say(view, "build attic")
    expect(said(view, "It is under way.")).to_be_visible()
    say(view, "watch cellar")
    expect(said(view, "It is under way.")).to_have_count(2)
    page.kernel("[gate.set() for gate in gates.values()]")
    expect(said(view, "the attic is built")).to_be_visible()
    expect(view.locator(".agt-event", has_text="the attic is built")).to_be_visible()
    apart = view.locator(".agt-thread", has_text="it moves")
    expect(said(apart, "I was told:")).to_be_visible()
    page.kernel("tk.background.send('news from a cell').kind")
    expect(said(view, "I was told: news from a cell")).to_be_visible()
    page.kernel("globals().update(ticks=tk.background.add_trigger(every(0.3, 'tick')))")
    expect(said(view, "I was told: tick").first).to_be_visible()
    page.kernel("str(asyncio.ensure_future(tk.background.remove_trigger(ticks.id)))")
    page.screenshot("chat-inbox", page.output(1))
    assert page.kernel("len(first.session.messages)") == 0
    asked = view.locator(".agt-user", has_text="watch cellar")
    asked.hover()
    asked.get_by_role("button", name="Edit").click()
    view.get_by_label("Say this instead").fill("Never mind")
    view.get_by_label("Say this instead").press("Enter")
    expect(said(view, "I was told: Never mind")).to_be_visible()
    page.kernel("tk.background.send('for the fork').kind")
    expect(said(view, "I was told: for the fork")).to_be_visible()
    assert page.kernel("len(tk.background.inbox)") == 0
    assert not page.watch.errors


BAD = r"""
from agtools_nb import CallPart, EndPart, ModelError, RawPart, TextPart

@tk.tool
def add(a: int, b: int) -> int:
    "Add."
    return a + b

@tk.tool
async def wait(seconds: float) -> str:
    "Wait."
    await asyncio.sleep(seconds)
    return "waited"

class Mean:
    name = "mean"
    async def respond(self, request):
        last = request.messages[-1]
        text, told = getattr(last, "text", None), getattr(last, "results", ())
        yield RawPart({"sent": len(request.messages)}, {"got": "something"})
        if text is None:
            text = "forever" if told[0].name == "wait" else "done"
            if any(one.status == "invalid" for one in told) and len(told) == 1:
                text = said_last(request)
        if text == "unknown":
            yield CallPart("ad", {"a": 1, "b": 2}, "c1")
        elif text == "fifty":
            yield TextPart("All of them at once.")
            for n in range(50):
                yield CallPart("add", {"a": n, "b": 1 if n != 30 else "many"}, f"f{n}")
        elif text == "cut off":
            yield CallPart("add", '{"a": 1, "b', "c2")
        elif text == "doubled":
            yield TextPart("Twice, ")
            yield CallPart("add", {"a": 1, "b": 2}, "same")
            yield TextPart("and in between.")
            yield CallPart("add", {"a": 3, "b": 4}, "same")
            yield CallPart("add", {"a": 5, "b": 6})
        elif text == "forever":
            yield CallPart("wait", {"seconds": 0.02}, None)
        elif text == "broken":
            yield TextPart("It begins well, ")
            yield CallPart("add", {"a": 1, "b": 2}, "never")
            raise ModelError("the server closed the connection")
        elif text == "length":
            yield TextPart("and so on ")
            yield EndPart("length")
        else:
            yield TextPart("Done." if text == "done" else f"Still here: {text}")

def said_last(request):
    return next(m.text for m in reversed(request.messages) if hasattr(m, "event"))

chat = tk.chat(Mean(), max_turns=30)
chat
"""
CASES = [
    ("unknown", "4 answers in a row had calls that do not fit (ad)"),
    ("cut off", "4 answers in a row had calls that do not fit (add)"),
    ("length", "came to its longest"),
    ("forever", "stopped after 30 answers of the model to one message (max_turns=30)"),
]


def test_a_model_that_misbehaves(open_notebook: Open) -> None:
    """Each fault stands in the transcript in plain words, and the conversation goes on."""
    page = open_notebook([SETUP, BAD], height=1500)
    page.run_all()
    view = page.output(1).locator(".agt-chat")
    for number, (text, words) in enumerate(CASES):
        say(view, text)
        expect(view.locator(".agt-end").nth(number)).to_contain_text(words)
    page.screenshot("chat-bad-1", page.output(1))
    say(view, "fifty")
    expect(said(view, "Done.")).to_be_visible()
    many = view.locator(".agt-model", has_text="All of them at once.")
    expect(many.locator(".agt-callcard:visible")).to_have_count(5)
    expect(many.get_by_text("49 ok · 1 did not fit")).to_be_visible()
    page.screenshot("chat-bad-2", page.output(1))
    many.get_by_role("button", name="Show 45 more calls").click()
    expect(many.locator(".agt-callcard:visible")).to_have_count(50)
    many.get_by_role("button", name="Show fewer calls").click()
    say(view, "doubled")
    expect(said(view, "and in between.")).to_be_visible()
    expect(said(view, "Done.")).to_have_count(2)
    say(view, "broken")
    expect(view.get_by_text("the server closed the connection").first).to_be_visible()
    expect(view.get_by_text("the answer that asked for it broke off")).to_be_visible()
    say(view, "hello")
    expect(said(view, "Still here: hello")).to_be_visible()
    page.screenshot("chat-bad-3", page.output(1))
    ids = page.kernel("[c.id for m in chat.session.messages for c in getattr(m, 'calls', ())]")
    assert len(ids) == len(set(ids)) > 80
    assert not page.watch.errors
