"""Conversations in a real kernel: shown by the cell that talks, and refused where nobody is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kernel.driver import Kernel

SETUP = """
from agtools_nb import Toolkit
from agtools_nb.agent import ScriptedModel, Session
from agtools_nb.notebook.chat import Chat
from agtools_nb.notebook.human import HumanModel
tk = Toolkit()

@tk.tool
def add(a: int, b: int) -> int:
    "Add."
    return a + b
"""
WIDGET = "application/vnd.jupyter.widget-view+json"
SCRIPT = "ScriptedModel([('add', {'a': 1, 'b': 2}), 'It is 3.', 'again'])"


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    with Kernel(SETUP) as kernel:
        yield kernel


def widgets(shown: list[dict]) -> list[dict]:
    return [bundle for bundle in shown if WIDGET in bundle]


def test_the_cell_that_talks_shows_the_conversation_once(kernel: Kernel) -> None:
    """And what was said last stands in the saved twin."""
    code = f"chat = tk.chat({SCRIPT})\nreply = await chat.say('1 + 2?')\nprint(reply)\nchat"
    ran = kernel.run(code, "talk")
    assert (ran.status, ran.text.strip()) == ("ok", "It is 3.")
    assert len(widgets(ran.shown)) == 1
    assert ran.comms == 1
    assert "It is 3." in ran.updated[-1]["text/html"]
    further = kernel.run("print(await chat.say('more'))", "more")
    assert further.text.strip() == "again"
    assert widgets(further.shown) == []


def test_its_calls_are_counted_in_the_registry(kernel: Kernel) -> None:
    kernel.run(f"counted = Toolkit()\ncounted.tool(add)\nchat = counted.chat({SCRIPT})", "counted")
    assert kernel.value("(await chat.say('1 + 2?')).text") == "It is 3."
    assert kernel.value("counted._tally('add').calls") == 1


def test_another_conversation_goes_on_with_a_store(kernel: Kernel, tmp_path) -> None:
    make = f"kept = Toolkit(store={str(tmp_path / 'work.db')!r})\n"
    assert kernel.run(make + f"chat = kept.chat({SCRIPT})").status == "ok"
    assert kernel.value("(await chat.say('hello')).text") == "It is 3."
    assert kernel.run("chat = kept.chat(ScriptedModel(['and on']))").status == "ok"
    assert kernel.value("(await chat.say('hello again')).text") == "and on"
    assert kernel.value("len(chat.session.messages)") == 6


def test_a_program_is_told_at_once_that_nobody_plays_the_model(kernel: Kernel) -> None:
    ran = kernel.run(
        "reply = await Session(HumanModel(), tk.runner).chat('hello')\nprint(reply)", "human"
    )
    assert ran.status == "ok"
    assert "run by a program" in ran.text
    assert "ScriptedModel" in ran.text
    assert widgets(ran.shown) == []


def test_what_is_no_session_is_refused(kernel: Kernel) -> None:
    ran = kernel.run("Chat(tk)", "wrong")
    assert ran.error
    assert "is no session" in ran.error


FEED = """
from agtools_nb import Background
def echo(request):
    return "heard " + request.messages[-1].text
fed = Toolkit()
one = fed.chat(ScriptedModel(echo))
"""


def texts(kernel: Kernel, chat: str) -> list[str]:
    found: list[str] = kernel.value(f"[m.text for m in {chat}.session.messages]")
    return found


def test_the_inbox_feeds_the_chat_that_was_made_last(kernel: Kernel) -> None:
    """A cell that is run again leaves no second one that takes events away."""
    assert kernel.run(FEED, "fed").status == "ok"
    kernel.run("fed.background.send('a')\nawait one.session.wait_for_idle(5)")
    assert texts(kernel, "one") == ["a", "heard a"]
    assert kernel.run("two = fed.chat(ScriptedModel(echo))").status == "ok"
    kernel.run(
        "for word in 'bcd':\n    fed.background.send(word)\nawait two.session.wait_for_idle(5)"
    )
    assert texts(kernel, "one") == ["a", "heard a"]
    assert texts(kernel, "two") == ["b", "heard b", "c", "heard c", "d", "heard d"]


def test_closing_a_chat_leaves_what_the_toolkit_runs(kernel: Kernel) -> None:
    code = (
        "from agtools_nb import every\n"
        "closing = Toolkit()\nchat = closing.chat(ScriptedModel(['a']))\n"
        "closing.background.add_trigger(every(3600, 'look'))\n"
        "await chat.session.close()\nchat.close()"
    )
    assert kernel.run(code).status == "ok"
    assert kernel.value("len(closing.background.triggers)") == 1


def test_what_arrives_is_answered_in_the_fork_that_is_shown(kernel: Kernel) -> None:
    code = FEED + (
        "await one.say('first')\n"
        "fork = one.resend(one.session.messages[0].id)\n"
        "fed.background.send('b')\nfork.send('c')\n"
        "await one.sessions[0].wait_for_idle(5)\nawait fork.wait_for_idle(5)"
    )
    assert kernel.run(code, "forked").status == "ok"
    assert sorted(texts(kernel, "one")) == ["b", "c", "heard b", "heard c"]
    assert kernel.value("len(one.sessions[0].messages)") == 2


def test_an_agent_asks_by_the_toolkits_cards_and_a_program_is_refused(kernel: Kernel) -> None:
    code = (
        "from agtools_nb import Agent, ask_user\n"
        f"agent = Agent([add], {SCRIPT}, policies=[ask_user('add')], approve=tk.approve)\n"
        "reply = await agent.chat('1 + 2?')\n"
        "print(reply.results[0].status, reply.results[0].error)"
    )
    ran = kernel.run(code, "agent")
    assert ran.text.startswith("denied")
    assert "run by a program" in ran.text
