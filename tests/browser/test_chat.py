"""A conversation on the page: streamed, with calls, stopped, said differently; and a person as model."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from browser.lab import NotebookPage, VoilaPage, screenshot
from browser.pressing import press
from browser.scenes import SETUP
from browser.test_hostile import assert_harmless
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.browser

TOOLS = r'''
from agtools_nb.agent import RawPart, ScriptedModel, Session, TextPart, Turn
from agtools_nb.context import Question
from agtools_nb.notebook.chat import Chat
from agtools_nb.notebook.human import HumanModel

gate = asyncio.Event()

@tk.tool
async def forecast(city: str, days: int = 3, *, ctx: ToolContext) -> dict:
    """Say what the weather will be.

    Args:
        city: Where.
        days: How many days.
    """
    await ctx.report_progress(4, 10, "station 4")
    await gate.wait()
    return {"city": city, "mm": [3.5 * day for day in range(days)]}

@tk.tool
async def wait(seconds: float) -> str:
    "Wait."
    await asyncio.sleep(seconds)
    return "waited"

@tk.tool
def book(nights: int) -> str:
    "Book a hotel."
    raise ValueError("the hotel does not answer")

@tk.tool
async def choose(ctx: ToolContext) -> str:
    "Ask which one."
    return await tk._asking.answer(Question("Which one?", ["red", "blue"], call_id=ctx.call_id))

ANSWER = """It **will rain** in Oslo:

| day | mm |
| --- | ---: |
| today | 3.5 |

- take an [umbrella](https://example.org/umbrella)
- or `stay` home
"""

class Slow:
    "Says one word after the other, for as long as it is let."
    name = "slow"
    async def respond(self, request):
        yield RawPart({"sent": len(request.messages)}, {"got": "words"})
        for n in range(10_000):
            yield TextPart(f"word{n} ")
            await asyncio.sleep(0.03)

script = [
    Turn("Let me look.", [("forecast", {"city": "Oslo", "days": "3"})]), ANSWER,
    ("book", {"nights": "many"}), ("book", {"nights": 2}), "It failed.",
    "Paris is dry.", ("choose", {}), "Blue it is.", ("wait", {"seconds": 60}),
]
'''
CHAT = "chat = tk.chat(ScriptedModel(script), system_instructions='Be brief.')\nchat"


def say(view: Locator, text: str) -> None:
    """Type into a chat and press Enter, as a person does."""
    area = view.locator(".agt-composer textarea")
    area.click()
    area.press_sequentially(text)
    area.press("Enter")


def said(view: Locator, text: str) -> Locator:
    """What the model has said, as it is drawn."""
    return view.locator(".agt-markdown", has_text=text)


def fits(view: Locator) -> None:
    """It is no wider than its cell."""
    overflow = view.evaluate("node => node.scrollWidth - node.clientWidth")
    assert overflow <= 0, f"{overflow} px wider than its cell"


def test_a_conversation(open_notebook: Callable[..., NotebookPage]) -> None:
    """It streams, calls, repairs, tells what went over the wire, forks, stops; and is saved."""
    slow = "slow = Chat(Session(Slow()))\nslow"
    page = open_notebook([SETUP + TOOLS, CHAT, slow], height=1600)
    page.run_all()
    view = page.output(1).locator(".agt-chat")
    cells = len(page)
    # Keys that JupyterLab knows as commands are text here: "dd" deletes a cell, "b" adds one.
    say(view, "ddb Will it rain in Oslo?")
    card = view.locator(".agt-callcard").first
    expect(card.get_by_text("station 4")).to_be_visible()
    expect(card.locator(".agt-strip")).to_be_visible()
    page.screenshot("chat-0-running", page.cell(1))
    page.kernel("gate.set() is None")
    expect(card.get_by_text("1 coerced")).to_be_visible()
    expect(view.locator("strong", has_text="will rain")).to_be_visible()
    expect(view.get_by_role("link", name="umbrella")).to_have_attribute(
        "rel", "noopener noreferrer nofollow"
    )
    expect(view.locator("td", has_text="3.5")).to_be_visible()
    assert len(page) == cells
    card.get_by_role("button").first.click()
    expect(card.get_by_text("text to integer")).to_be_visible()

    view.get_by_role("button", name="Raw").first.click()
    expect(view.get_by_text("in the form of openai")).to_be_visible()
    expect(view.locator(".agt-rawpage .agt-key", has_text="messages")).to_be_visible()
    page.screenshot("chat-1-open", page.cell(1))

    say(view, "Book it")
    expect(view.get_by_text("repair 1 of 3")).to_be_visible()
    expect(view.get_by_text("ValueError: the hotel does not answer").first).to_be_visible()
    expect(said(view, "It failed.")).to_be_visible()
    fits(view)
    page.screenshot("chat-2-repair", page.cell(1))

    asked = view.locator(".agt-user", has_text="Book it")
    asked.hover()
    asked.get_by_role("button", name="Edit").click()
    editor = view.get_by_label("Say this instead")
    editor.fill("And Paris?")
    editor.press("Enter")
    expect(said(view, "Paris is dry.")).to_be_visible()
    expect(view.get_by_text("2 of 2")).to_be_visible()
    expect(said(view, "It failed.")).to_have_count(0)
    page.screenshot("chat-3-fork", page.cell(1))
    view.get_by_role("button", name="The version before").click()
    expect(said(view, "It failed.")).to_be_visible()
    view.get_by_role("button", name="The next version").click()

    say(view, "Ask me")
    card = view.locator(".agt-callcard", has_text="choose")
    card.get_by_text("blue", exact=True).click()
    expect(card.get_by_text("asks you")).to_be_visible()
    page.screenshot("chat-4-asked", page.cell(1))
    card.get_by_role("button", name="Answer", exact=True).click()
    expect(said(view, "Blue it is.")).to_be_visible()

    say(view, "Now wait")
    expect(view.locator(".agt-callcard", has_text="wait").get_by_text("running")).to_be_visible()
    view.locator(".agt-composer textarea").press("Escape")
    expect(view.get_by_text("Stopped", exact=True)).to_be_visible()
    expect(view.get_by_text("ready", exact=True)).to_be_visible()
    assert page.kernel("tk.runner.tool_names and len(chat.sessions)") == 2

    stream_and_stop(page, page.output(2).locator(".agt-chat"))
    assert not page.watch.errors
    assert not page.watch.external
    reopen(page, open_notebook)


def stream_and_stop(page: NotebookPage, view: Locator) -> None:
    """Words come as messages of what is new, not too many; Stop ends them."""
    say(view, "go")
    expect(view.get_by_text(re.compile("word60 "))).to_be_visible()
    patches = [
        message
        for message in page.watch.wire.of_kind("comm_msg", "to page")
        if "word" in str(message.content["data"].get("content", {}).get("changes", ""))
    ]
    view.get_by_role("button", name="Stop").click()
    expect(view.get_by_text("Stopped", exact=True)).to_be_visible()
    assert len(patches) > 10
    assert max(message.size for message in patches[3:]) < 4_000, "what is new, not the whole text"
    view.get_by_role("button", name="Raw").click()
    expect(view.get_by_text("sent", exact=True)).to_be_visible()
    page.screenshot("chat-5-stopped", page.cell(2))


def reopen(page: NotebookPage, open_notebook: Callable[..., NotebookPage]) -> None:
    """Saved, and opened without its kernel, it can still be read."""
    path = page.server.root / str(page.js("return panel.context.path"))
    page.save()
    page.js("await panel.sessionContext.shutdown()")
    again = open_notebook(path)
    twin = again.output(1).locator(".agt-twin")
    expect(twin).to_be_visible()
    expect(twin.get_by_text("And Paris?")).to_be_visible()
    expect(twin.locator("summary", has_text="forecast")).to_be_visible()
    assert again.output(1).locator(".agt").count() == 0
    again.screenshot("chat-6-reopened", again.cell(1))


HOSTILE = r"""
BAD = (
    "<img src=x onerror='window.owned=1'><script>window.owned=2</script>\n\n<b id=planted>bold</b>\n\n"
    "[click](javascript:window.owned=3) [data](data:text/html,<script>parent.owned=4</script>) "
    "![pixel](https://evil.invalid/pixel.png) ![x](javascript:window.owned=5) <javascript:window.owned=6> "
    "[ref] \u202e reversed \u2066 \x00 [vb](vbscript:x) [ok](https://example.org 'on<b>title') "
    "<svg onload='window.owned=7'>\n\n[ref]: javascript:window.owned=8\n\n"
    "```<img src=x onerror='window.owned=9'>\n</pre><script>window.owned=10</script>\n```\n"
)
def bad(text): return {BAD: text}
bad.__doc__ = BAD
tk.tool(bad)
deep = "> " * 3000 + "x" + "\n\n" + "*" * 20000 + "\n\n" + "[" * 20000
huge = "y" * 150_000 + BAD
mean = [Turn(BAD, [("bad", {"text": BAD}), (BAD, {BAD: BAD})]), [RawPart(BAD, {BAD: BAD}), TextPart(BAD)], deep, huge]
chat = tk.chat(ScriptedModel(mean, name=BAD), system_instructions=BAD, title=BAD)
for text in (BAD, "deep", "huge"):
    await chat.say(text)
chat
"""


def test_hostile_text(open_notebook: Callable[..., NotebookPage]) -> None:
    """What a model says runs nothing, plants nothing, fetches nothing; huge text is folded."""
    page = open_notebook([SETUP + TOOLS, HOSTILE], height=1600)
    page.run_all()
    view = page.output(1).locator(".agt-chat").last
    expect(view.get_by_text("Show all", exact=False).first).to_be_attached()
    for closed in view.locator(".agt-callcard > .agt-row > .agt-rowhead").all():
        closed.click()
    for raw in view.get_by_role("button", name="Raw").all():
        raw.click()
    expect(view.locator(".agt-rawpage").first).to_be_attached()
    assert_harmless(page.page, "the chat")
    links = view.locator("a").evaluate_all("all => all.map((a) => a.protocol + a.target + a.rel)")
    assert links
    assert set(links) == {"https:_blanknoopener noreferrer nofollow"}
    assert view.locator(".agt-markdown img").count() == 0
    assert not page.watch.external
    assert not page.watch.errors
    fits(view)
    page.screenshot("chat-hostile", page.cell(1))


@pytest.mark.parametrize("kernel", ["newest", "older"])
def test_a_person_plays_the_model(
    open_notebook: Callable[..., NotebookPage], request: pytest.FixtureRequest, kernel: str
) -> None:
    """While a cell awaits: by form, by JSON, by text; then in a chat, beside what is said."""
    name = "python3" if kernel == "newest" else request.getfixturevalue("older_kernel")
    ask = (
        "gate.set()\nme = HumanModel('anthropic')\n"
        "session = Session(me, tk.runner, system_instructions='Be brief.')\n"
        "reply = await session.chat('Will it rain in Oslo?')\n"
        "print(reply.text)"
    )
    chat = "talk = tk.chat(HumanModel())\ntalk"
    # The older kernel is offered by the light server only.
    theme, width = ("dark", 1280) if kernel == "newest" else ("light", 420)
    page = open_notebook(
        [SETUP + TOOLS, ask, chat], kernel=name, theme=theme, width=width, height=1600
    )
    if width < 1000:  # the file browser would leave a cell hardly any room
        page.js("window.jupyterapp.shell.collapseLeft()")
    page.run_cell(0)
    page.run_cell(1, wait=False)
    view = page.output(1).locator(".agt-human")
    expect(view.locator(".agt-yourturn")).to_be_visible()
    expect(view.get_by_text("Will it rain in Oslo?")).to_be_visible()
    view.get_by_role("tab", name="As JSON").click()
    expect(view.get_by_text("input_schema").first).to_be_attached()
    view.get_by_role("button", name="forecast", exact=True).click()
    city = view.get_by_label("city", exact=True).first
    expect(city).to_be_visible()
    city.click()
    city.press_sequentially("dd")
    expect(view.get_by_text('"dd"').first).to_be_visible()
    fits(view)
    page.screenshot(f"human-1-form-{kernel}", page.cell(1))
    view.get_by_role("button", name="Call forecast").click()

    expect(view.get_by_text("1 turn before this")).to_be_visible()
    view.get_by_role("tab", name="To read").click()
    expect(view.locator(".agt-is-result")).to_contain_text("3.5")
    view.get_by_role("tab", name="Write JSON").click()
    json = view.get_by_label("The answer as JSON")
    expect(json).to_have_value(re.compile("tool_use"))
    json.fill('{"name": "book", ')
    view.get_by_role("button", name="Send the JSON").click()
    expect(view.get_by_text("This is not JSON", exact=False)).to_be_visible()
    json.fill('{"name": "book", "arguments": {"nights": "many"}}')
    view.get_by_role("button", name="Send the JSON").click()
    expect(view.locator(".agt-is-result").last).to_contain_text("do not fit")
    page.screenshot(f"human-2-told-{kernel}", page.cell(1))

    view.get_by_role("tab", name="Say something").click()
    words = view.get_by_label("What the model says")
    words.click()
    words.press_sequentially("It will not.")
    words.press("Enter")
    page.wait_cell(1)
    assert "It will not." in page.text(1)
    assert page.kernel("[call.name for m in session.messages for call in getattr(m, 'calls', ())]") == ["forecast", "book"]  # fmt: skip

    page.run_cell(2)
    talk = page.output(2).locator(".agt-chat").first
    say(talk, "Hello")
    desk = talk.locator(".agt-desk")
    desk.get_by_role("button", name="book", exact=True).click()
    nights = desk.get_by_label("nights", exact=True).first
    nights.fill("2")
    nights.press("Control+Enter")
    expect(desk.locator(".agt-is-result")).to_contain_text("the hotel does not answer")
    desk.get_by_role("tab", name="Say something").click()
    desk.get_by_label("What the model says").fill("Good **morning**")
    page.screenshot(f"human-3-desk-{kernel}", page.cell(2))
    desk.get_by_role("button", name="Say it").click()
    expect(talk.locator("strong", has_text="morning")).to_be_visible()
    say(talk, "And?")
    expect(desk.locator(".agt-yourturn")).to_be_visible()
    talk.get_by_role("button", name="Stop", exact=True).click()
    expect(talk.get_by_text("Stopped", exact=True)).to_be_visible()
    expect(desk.get_by_text("Waiting for the next request.")).to_be_visible()
    assert not page.watch.errors


def use_the_chats(page: Page, views: Locator, name: str) -> None:
    """Talk to a script, and answer in a model's place."""
    scripted, human = views.nth(0), views.nth(1)
    say(scripted, "Will it rain?")
    expect(scripted.locator("strong", has_text="will rain")).to_be_visible()
    say(human, "Hello")
    human.get_by_role("button", name="book", exact=True).click()
    nights = human.get_by_label("nights", exact=True).first
    nights.fill("2")
    expect(human.get_by_label("Arguments as they came")).to_contain_text('"nights": 2')
    press(human, "Call book")
    expect(human.locator(".agt-is-result")).to_contain_text("the hotel does not answer")
    human.get_by_role("tab", name="Say something").click()
    human.get_by_label("What the model says").fill("Sorry.")
    human.get_by_role("button", name="Say it").click()
    expect(human.locator(".agt-markdown", has_text="Sorry.")).to_be_visible()
    screenshot(page, name)


CELLS = [SETUP + TOOLS + "gate.set()", CHAT, "talk = tk.chat(HumanModel('gemini'))\ntalk"]


def test_notebook_7(open_notebook: Callable[..., NotebookPage]) -> None:
    """In Notebook 7."""
    page = open_notebook(CELLS, kind="notebook", theme="dark", height=2400)
    page.run_all()
    use_the_chats(page.page, page.page.locator(".jp-OutputArea .agt-chat"), "chat-notebook7")
    assert not page.watch.errors


def test_voila(open_voila: Callable[..., VoilaPage]) -> None:
    """In Voila, where nobody sees the cells."""
    page: Any = open_voila(CELLS, theme="light")
    page.page.set_viewport_size({"width": 1280, "height": 2400})
    use_the_chats(page.page, page.page.locator(".jp-OutputArea .agt-chat"), "chat-voila")
    assert not page.watch.errors
