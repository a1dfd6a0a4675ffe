"""A chat whose conversation lasts in a store."""

from __future__ import annotations

import asyncio
import gc

from agtools_nb.agent import ScriptedModel, Session, UserMessage
from agtools_nb.views.chat import ChatView

REMARK = "this version is kept until the kernel ends"


def test_a_fork_of_what_lasts_says_that_it_does_not(clock, say, tmp_path):
    async def talk(store):
        session = Session(ScriptedModel(["first", "second", "third"]), store=store)
        view = ChatView(clock, session)
        await view.say("hello")
        await view.say("more")
        assert REMARK not in view.snapshot()["title"] + view.static_text() + view.static_html()
        said = session.messages[2].id
        view.resend(said)
        await view.say("something else")
        return view, said

    view, said = asyncio.run(talk(tmp_path / "work.db"))
    assert view.snapshot()["title"].endswith(REMARK)
    assert REMARK in view.static_text()
    assert REMARK in view.static_html()
    say(view, "switch", id=said)
    clock.turn(1)
    assert REMARK not in view.snapshot()["title"]
    view, _ = asyncio.run(talk(None))
    assert REMARK not in view.snapshot()["title"] + view.static_text()


def test_a_chat_made_again_while_the_first_answers_shows_the_answer(clock, tmp_path):
    async def talk():
        free = asyncio.Event()

        class Waits:
            async def respond(self, request):
                await free.wait()
                async for part in ScriptedModel(["answered"]).respond(request):
                    yield part

        first = Session(Waits(), store=tmp_path / "work.db")
        chat = asyncio.create_task(first.chat("hello"))
        await asyncio.sleep(0.01)
        view = ChatView(clock, Session(Waits(), store=tmp_path / "work.db"))
        assert view.snapshot()["busy"] is not None
        free.set()
        await chat
        return view

    view = asyncio.run(talk())
    data = view.snapshot()
    assert [one["text"] for one in data["lists"][str(data["root"])]] == ["hello", "answered"]
    assert data["busy"] is None


def test_what_is_answered_after_a_restart_stands_there_once(clock, tmp_path):
    path = tmp_path / "work.db"

    async def ask():
        Session(ScriptedModel([]), store=path, messages=[UserMessage("news", event="message")])

    async def answer():
        session = Session(ScriptedModel(["heard"]), store=path)
        view = ChatView(clock, session)
        async with session:
            await session.wait_for_idle(10)
        return view

    asyncio.run(ask())
    gc.collect()  # as after a restart, nobody has the history any more
    view = asyncio.run(answer())
    data = view.snapshot()
    assert [one["text"] for one in data["lists"][str(data["root"])]] == ["news", "heard"]
