"""The chat view: what it sends while a session goes on, and what a page may ask of it."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise

import pytest

from agtools_nb import Background, Media, ToolContext, ToolRunner, tool
from agtools_nb.agent import (
    Agent,
    RawPart,
    ScriptedModel,
    Session,
    Subagent,
    SubagentStarted,
    TextPart,
    Turn,
)
from agtools_nb.context import Question
from agtools_nb.errors import StoreError, UsageError
from agtools_nb.views import chat_entries
from agtools_nb.views.base import MESSAGE_INTERVAL
from agtools_nb.views.chat import WINDOW, ChatView
from agtools_nb.views.human import HumanView
from agtools_nb.views.question import QuestionView


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool
async def slow(ctx: ToolContext) -> str:
    """Take a while."""
    await ctx.report_progress(1, 4, "one")
    await asyncio.sleep(60)
    return "done"


def session_of(*turns, **options) -> Session:
    return Session(ScriptedModel(turns), ToolRunner([add, slow]), **options)


def entries_of(data) -> list[dict]:
    return data["lists"][str(data["root"])]


class Page:
    """A page's half of the protocol: data and patches put together."""

    def __init__(self, view) -> None:
        self.lists = {}
        self.take(view.data)

    def take(self, data) -> None:
        self.rev, self.root = data["rev"], data["root"]
        self.lists = {int(n): {e["n"]: dict(e) for e in es} for n, es in data["lists"].items()}

    def patch(self, message) -> None:
        assert message["rev"] == self.rev + 1, "a page would have to ask for everything"
        self.rev = message["rev"]
        for change in message["changes"]:
            known = self.lists.setdefault(change["list"], {})
            for entry in change["entries"]:
                old = known.get(entry["n"], {"text": ""})
                more = entry.pop("more", None)
                text = entry.get("text", old["text"]) if more is None else old["text"] + more
                known[entry["n"]] = {**old, **entry, "text": text}
            for one in change["calls"]:
                for call in one["calls"]:
                    known[one["n"]]["calls"][call["i"]] = call

    def follow(self, wire) -> None:
        """Take in what was sent since this was last called."""
        for _, _, message in wire.log:
            if message.get("method") == "update":
                self.take(message["state"]["data"])
            elif message["content"]["type"] == "patch":
                self.patch(message["content"])
        wire.log.clear()

    @property
    def entries(self) -> list[dict]:
        return list(self.lists[self.root].values())


def test_a_conversation_with_a_call(clock, wire):
    async def talk():
        session = session_of(Turn("Let me see.", [("add", {"a": "1", "b": 2})]), "It is 3.")
        view = ChatView(clock, session)
        page = Page(view)
        await view.say("1 + 2?")
        clock.turn(1)
        page.follow(wire)
        return view, page

    view, page = asyncio.run(talk())
    assert [(e["k"], e["text"]) for e in page.entries] == [
        ("user", "1 + 2?"),
        ("model", "Let me see."),
        ("model", "It is 3."),
    ]
    (call,) = page.entries[1]["calls"]
    assert (call["name"], call["status"], call["changes"], call["outcome"]) == ("add", "ok", 1, "3")
    assert json.loads(json.dumps(entries_of(view.snapshot()))) == page.entries
    assert view.data["busy"] is None


def test_text_is_streamed_as_what_is_new_and_at_most_twenty_times_a_second(clock, wire):
    words = [f"word{n} " for n in range(2_000)]

    async def talk():
        async def respond(request):
            for word in words:
                clock.turn(0.001)
                yield TextPart(word)

        model = ScriptedModel([])
        model.respond = respond
        view = ChatView(clock, Session(model))
        page = Page(view)
        await view.say("go")
        clock.turn(1)
        log = list(wire.log)
        page.follow(wire)
        return page, log

    page, log = asyncio.run(talk())
    assert page.entries[1]["text"] == "".join(words)
    times = [at for at, _, _ in log]
    assert all(b - a >= MESSAGE_INTERVAL - 1e-9 for a, b in pairwise(times))
    size = sum(len(json.dumps(message)) for _, _, message in log)
    assert size < 3 * len("".join(words)) + 1_000 * len(times)


def test_a_running_call_shows_its_progress_and_stops(clock, wire, say):
    async def talk():
        view = ChatView(clock, session_of(("slow", {}), "unused"))
        page = Page(view)
        task = asyncio.create_task(view.say("go"))
        while not any(c.row.reported for e in view._shown.entries for c in e.calls):
            await asyncio.sleep(0.01)
        clock.turn(1)
        page.follow(wire)
        running = dict(page.entries[1]["calls"][0])
        say(view, "stop")
        clock.turn(1)
        assert wire.log[-1][2]["content"]["stopping"]
        await clock.coroutines.pop()
        reply = await task
        clock.turn(1)
        page.follow(wire)
        return running, reply, page

    running, reply, page = asyncio.run(talk())
    assert running["status"] == "running"
    assert running["bars"][0]["label"] == "1 of 4"
    assert reply.reason == "cancelled"
    assert page.entries[1]["calls"][0]["status"] == "cancelled"
    assert (page.entries[-1]["k"], page.entries[-1]["reason"]) == ("end", "cancelled")


def test_repairs_are_counted_on_the_card(clock):
    async def talk():
        wrong = ("add", {"a": "x"})
        session = session_of(wrong, wrong, ("add", {"a": 1, "b": 1}), "2")
        view = ChatView(clock, session)
        await view.say("go")
        return entries_of(view.snapshot())

    entries = asyncio.run(talk())
    cards = [entry["calls"][0] for entry in entries if entry.get("calls")]
    assert [(c["status"], c.get("repair"), c.get("of")) for c in cards] == [
        ("invalid", 1, 3),
        ("invalid", 2, 3),
        ("ok", None, None),
    ]


def test_pictures_of_results_stand_in_the_closed_card(clock):
    @tool
    def draw() -> Media:
        """Draw."""
        return Media.image(b"\x89PNG\r\n\x1a\n0000", "image/png")

    async def talk():
        model = ScriptedModel([("draw", {}), "Look."])
        view = ChatView(clock, Session(model, ToolRunner([draw])))
        await view.say("go")
        return view

    view = asyncio.run(talk())
    (call,) = entries_of(view.snapshot())[1]["calls"]
    assert call["media"][0]["src"].startswith("data:image/png;base64,")
    assert "<img src=" in view.static_html()


def test_an_answer_that_breaks_off_says_so_and_its_calls_are_not_left_waiting(clock):
    async def talk():
        async def respond(request):
            yield TextPart("I will ")
            yield ("no", "part")

        model = ScriptedModel([])
        model.respond = respond
        view = ChatView(clock, Session(model))
        await view.say("go")
        return entries_of(view.snapshot())

    entries = asyncio.run(talk())
    assert entries[1]["text"] == "I will "
    assert "no part of an answer" in entries[1]["error"]
    assert entries[2]["reason"] == "model_error"


def test_a_page_that_missed_a_message_gets_everything(clock, wire, say):
    async def talk():
        view = ChatView(clock, session_of("a", "b"))
        await view.say("one")
        clock.turn(1)
        wire.log.clear()
        say(view, "ready", rev=1)
        clock.turn(1)
        return view

    asyncio.run(talk())
    (_, _, message) = wire.log[0]
    assert len(entries_of(message["state"]["data"])) == 2


def test_a_view_made_late_shows_what_was_said(clock):
    async def talk():
        session = session_of(("add", {"a": 1, "b": 2}), "3")
        await session.chat("1 + 2?")
        return ChatView(clock, session)

    view = asyncio.run(talk())
    entries = entries_of(view.data)
    assert [entry["k"] for entry in entries] == ["user", "model", "model"]
    assert entries[1]["calls"][0]["outcome"] == "3"


def test_resending_forks_and_both_versions_stay(clock, say):
    async def talk():
        session = session_of("first", "second", "third")
        view = ChatView(clock, session)
        await view.say("hello")
        await view.say("more")
        said = session.messages[2]
        say(view, "resend", id=said.id, text="something else")
        clock.turn(1)
        await clock.coroutines.pop()
        return view, session, said

    view, session, said = asyncio.run(talk())
    data = view.snapshot()
    assert [e["text"] for e in entries_of(data)] == ["hello", "first", "something else", "third"]
    assert view.session is not session
    assert view.sessions == (session, view.session)
    assert [m.text for m in session.messages] == ["hello", "first", "more", "second"]
    other = entries_of(data)[2]["id"]
    assert data["versions"] == {other: [said.id, other]}
    say(view, "switch", id=said.id)
    clock.turn(1)
    assert view.session is session
    assert [e["text"] for e in entries_of(view.data)] == ["hello", "first", "more", "second"]
    assert view.data["versions"] == {said.id: [said.id, other]}


def test_raw_is_what_the_model_tells_or_the_turn_in_a_providers_form(clock, wire, say):
    async def talk():
        told = [RawPart({"sent": 1}, {"got": 2}), TextPart("hi")]
        session = session_of(told, "there", system_instructions="Be brief.")
        view = ChatView(clock, session, provider="anthropic")
        await view.say("one")
        await view.say("two")
        return view

    view = asyncio.run(talk())
    entries = entries_of(view.snapshot())
    wire.log.clear()
    for entry in (entries[1], entries[3]):
        say(view, "raw", list=view.snapshot()["root"], n=entry["n"])
        clock.turn(1)
    own, made = (m for m in wire.custom if m["type"] == "raw")
    assert json.loads(own["request"]) == {"sent": 1}
    assert own["note"] == ""
    request = json.loads(made["request"])
    assert request["system"] == "Be brief."
    assert [m["role"] for m in request["messages"]] == ["user", "assistant", "user"]
    assert [t["name"] for t in request["tools"]] == ["add", "slow"]
    assert "anthropic" in made["note"]


def test_long_conversations_are_sent_by_the_window(clock, wire, say):
    async def talk():
        session = session_of(*["answer"] * 500)
        for n in range(500):
            await session.chat(f"message {n}")
        return ChatView(clock, session)

    view = asyncio.run(talk())
    shown = entries_of(view.data)
    assert len(shown) == WINDOW
    assert view.data["earlier"] == 1_000 - WINDOW
    say(view, "earlier", before=shown[0]["n"])
    clock.turn(1)
    (message,) = wire.custom
    earlier = message["lists"][str(view.data["root"])]
    assert len(earlier) == WINDOW
    assert earlier[-1]["n"] == shown[0]["n"] - 1
    assert message["earlier"] == 1_000 - 2 * WINDOW


def test_huge_text_is_cut_with_a_note(clock, wire):
    limit = chat_entries.TEXT_LIMIT

    async def talk():
        view = ChatView(clock, session_of("x" * (limit + 5)))
        page = Page(view)
        await view.say("go")
        clock.turn(1)
        page.follow(wire)
        return page

    page = asyncio.run(talk())
    assert len(page.entries[1]["text"]) == limit
    assert page.entries[1]["cut"] == f"first {limit:,} of {limit + 5:,} characters"


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("say", {"text": 5}),
        ("say", {"text": "  "}),
        ("say", {}),
        ("resend", {"id": "nothing"}),
        ("resend", {"id": 1, "text": "x"}),
        ("switch", {"id": ["x"]}),
        ("switch", {}),
        ("stop", {}),
        ("open", {"list": 1, "n": "x", "i": 0}),
        ("open", {"n": 2, "i": -1}),
        ("raw", {"n": 1.5}),
        ("earlier", {"before": None}),
    ],
)
def test_what_a_page_sends_is_not_trusted(clock, wire, say, kind, fields):
    async def talk():
        view = ChatView(clock, session_of("a", "b"))
        await view.say("one")
        clock.turn(1)
        wire.log.clear()
        say(view, kind, **fields)
        clock.turn(1)
        for coroutine in clock.coroutines:
            await coroutine
        return view

    view = asyncio.run(talk())
    assert wire.custom == []
    assert view.data["problem"] is None
    assert len(view.session.messages) == 2


def test_an_unknown_message_to_resend_is_shown_as_a_problem(clock, wire, say):
    async def talk():
        view = ChatView(clock, session_of("a"))
        say(view, "resend", id="nothing", text="x")
        clock.turn(1)
        await clock.coroutines.pop()
        clock.turn(1)

    asyncio.run(talk())
    assert "no such message" in wire.custom[-1]["text"]


def test_a_card_that_asks_stands_in_the_card_of_its_call(clock):
    async def talk():
        view = ChatView(clock, session_of(("add", {"a": 1, "b": 2}), "3"))
        await view.say("go")
        return view

    view = asyncio.run(talk())
    call = view._shown.entries[1].calls[0]
    card = QuestionView(clock, Question("Sure?", ["yes", "no"], call_id=call.id), lambda _: None)
    view.show_card(card)
    stray = QuestionView(clock, Question("And you?"), lambda _: None)
    view.show_card(stray)
    call.row.result = None
    view.call_asks(call.id, True)
    data = view._next_data()
    shown = entries_of(data)[1]["calls"][0]
    assert (shown["cards"], shown["status"]) == ([card.id], "asking")
    assert view.sent(call.id) == {"a": 1, "b": 2}
    assert view.sent("nothing") is None
    assert data["cards"]["ids"] == [stray.id]
    assert "Sure?" in view.static_html()
    assert "And you?" in view.static_text()


def test_a_subagent_is_nested_in_the_call_that_started_it(clock, wire):
    async def talk():
        session = session_of(("add", {"a": 1, "b": 2}), "3")
        view = ChatView(clock, session)
        await view.say("go")
        child = session_of("from the child", "again")
        await child.chat("a task")
        view.nest(session.messages[1].calls[0].id, child)
        clock.turn(1)
        page = Page(view)
        wire.log.clear()
        await child.chat("another")
        clock.turn(1)
        page.follow(wire)
        with pytest.raises(UsageError, match="no call 'x'"):
            view.nest("x", child)
        return view, page

    view, page = asyncio.run(talk())
    inner = page.lists[page.entries[1]["calls"][0]["child"]]
    assert [e["text"] for e in inner.values()] == ["a task", "from the child", "another", "again"]
    assert "from the child" in view.static_html()


def test_the_subagents_of_an_agent_are_nested_by_themselves_and_stay(clock, wire):
    @tool
    def look(path: str) -> str:
        """Look."""
        return f"{path} is empty"

    child = ScriptedModel([("look", {"path": "a"}), "Nothing **there**."])
    reader = Subagent("reader", "Reads files.", model=child, tools=[look])
    task = {"name": "reader", "task": "Look around"}

    async def talk():
        parent = ScriptedModel([("start_subagent", task), "It is empty."])
        async with Agent([], parent, subagents=[reader]) as agent:
            view = ChatView(clock, agent.session)
            page = Page(view)
            await view.say("go")
            clock.turn(1)
            page.follow(wire)
            return view, page

    view, page = asyncio.run(talk())
    (call,) = page.entries[1]["calls"]
    assert (call["status"], call["agent"]) == ("ok", "reader")
    inner = list(page.lists[call["child"]].values())
    assert [e["text"] for e in inner] == ["Look around", "", "Nothing **there**."]
    assert inner[1]["calls"][0]["outcome"] == '"a is empty"'
    whole = view.snapshot()["lists"][str(call["child"])]
    assert [e["text"] for e in whole] == [e["text"] for e in inner]
    assert "reader: Nothing **there**." in view.static_text()
    assert "Task: Look around" in view.static_text()
    assert "a is empty" in view.static_html()


def test_a_subagent_of_a_call_that_is_not_here_is_passed_over(clock):
    view = ChatView(clock, session_of())
    view.heard(SubagentStarted("elsewhere", "reader", session_of()))
    assert view._nested == []


def test_what_is_answered_apart_from_the_conversation_is_shown_where_it_came(clock, wire):
    @tool
    async def ticks():
        """Tick."""
        yield "first"
        await gate.wait()
        yield "second"

    gate = asyncio.Event()
    model = ScriptedModel([("ticks", {}), "Begun.", ("add", {"a": 1, "b": 2}), "Noted **it**."])

    async def talk():
        session = Session(model, ToolRunner([add, ticks], background=Background()))
        view = ChatView(clock, session)
        page = Page(view)
        async with session:
            await view.say("go")
            gate.set()
            while not session.threads:
                await asyncio.sleep(0)
            clock.turn(1)
            page.follow(wire)
        return session, view, page

    session, view, page = asyncio.run(talk())
    assert [e["k"] for e in page.entries] == ["user", "model", "model", "thread"]
    inner = list(page.lists[page.entries[-1]["child"]].values())
    assert inner[0]["event"] == "event"
    assert "second" in inner[0]["text"]
    assert inner[1]["calls"][0]["outcome"] == "3"
    assert inner[2]["text"] == "Noted **it**."
    assert view.snapshot()["lists"][str(page.entries[-1]["child"])] == inner
    assert "Noted **it**." not in [getattr(m, "text", "") for m in session.messages]
    assert "(Answered apart from the conversation)" in view.static_text()
    assert "Noted **it**." in view.static_html()
    assert view.headline() == "3 messages: Begun."


def test_static_forms_say_what_was_said_and_called(clock):
    async def talk():
        session = session_of(Turn("<b>Let</b> me see.", [("add", {"a": "1", "b": 2})]), "It is 3.")
        view = ChatView(clock, session)
        await view.say("1 + 2 <script>?")
        return view

    view = asyncio.run(talk())
    html, text = view.static_html(), view.static_text()
    assert "<b>Let" not in html
    assert "<script>" not in html
    assert "&lt;b&gt;Let" in html
    assert "text to integer" in html
    assert text.splitlines()[1:] == [
        "You: 1 + 2 <script>?",
        "scripted: <b>Let</b> me see.",
        '  add {"a": 1, "b": 2}: ok  3' if '{"a": 1' in text else '  add {"a": "1", "b": 2}: ok  3',
        "scripted: It is 3.",
    ]
    assert repr(view) == "<ChatView: 3 messages: It is 3.>"


def test_an_answer_that_cannot_be_kept_does_not_stay_busy_for_ever(clock, say, wire):
    async def talk():
        session = session_of("a")
        view = ChatView(clock, session)
        append = session._history.append

        def full(message):
            if message.__class__.__name__ == "ModelMessage":
                raise StoreError("the disk is full")
            append(message)

        session._history.append = full
        say(view, "say", text="hello")
        clock.turn(1)
        await clock.coroutines.pop()
        clock.turn(1)

    asyncio.run(talk())
    *_, last = (m for m in wire.custom if m["type"] == "patch")
    assert last["busy"] is None
    assert any("the disk is full" in m.get("text", "") for m in wire.custom)


def test_what_arrives_in_the_inbox_is_told_apart(clock):
    async def talk():
        session = session_of("noted")
        view = ChatView(clock, session)
        async with session:
            session.send("the backup is done")
            await session.wait_for_idle(5)
        return view

    view = asyncio.run(talk())
    entries = entries_of(view.snapshot())
    assert [(e["k"], e.get("event")) for e in entries] == [("user", "message"), ("model", None)]
    assert view.static_text().splitlines()[1] == "Message: the backup is done"


def test_a_closed_view_no_longer_follows(clock):
    async def talk():
        session = session_of("a", "b")
        view = ChatView(clock, session)
        view.close()
        await session.chat("one")
        return session

    assert asyncio.run(talk())._listeners == []


def test_an_unknown_provider_is_refused(clock):
    with pytest.raises(UsageError, match="no provider 'mcp'"):
        ChatView(clock, session_of("a"), provider="mcp")


def test_a_message_is_to_the_model_unless_the_chat_has_a_title_or_a_person_answers(clock):
    named = ScriptedModel(["a"], name="tea")
    assert ChatView(clock, Session(named, ToolRunner())).data["model"] == "tea"
    titled = ChatView(clock, Session(named, ToolRunner()), title="Tea for two")
    assert (titled.data["title"], titled.data["model"]) == ("Tea for two", "")
    person = ScriptedModel(["a"], name="human")
    person.view = HumanView(clock)
    assert ChatView(clock, Session(person, ToolRunner())).data["model"] == ""
