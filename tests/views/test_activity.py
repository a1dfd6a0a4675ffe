"""The activity view: what runs beside the calls, the inbox, and Cancel."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from agtools_nb import ToolContext, ToolRunner, tool
from agtools_nb.events import Background, Event, every
from agtools_nb.views import activity
from agtools_nb.views.activity import ActivityView
from agtools_nb.views.base import DirectScheduler


@tool(mode="dispatched")
async def backup(place: str) -> str:
    """Copy everything."""
    await asyncio.Event().wait()
    return place


@tool(long_running=True)
async def train(epochs: int) -> dict[str, int]:
    """Train a model."""
    if epochs < 0:
        raise ValueError("a negative number of epochs")
    return {"epochs": epochs}


@tool
async def prices(symbol: str) -> AsyncIterator[dict[str, Any]]:
    """Follow a price."""
    for n in range(3):
        yield {"symbol": symbol, "price": n}
    await asyncio.Event().wait()


class Session:
    """A background, its runner, and a view of it."""

    def __init__(self, scheduler: Any) -> None:
        self.background = Background()
        self.runner = ToolRunner([backup, train, prices], background=self.background)
        self.view = ActivityView(scheduler, self.background)

    async def settled(self, done: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not done():
                await asyncio.sleep(0)

    def rows(self, part: str) -> list[dict[str, Any]]:
        return list(self.view.snapshot()[part])


def in_a_session(scheduler: Any, scenario: Any) -> Any:
    """Run a scenario with a session, and close everything that it started."""

    async def run() -> Any:
        session = Session(scheduler)
        try:
            return await scenario(session)
        finally:
            session.view.close()
            await session.background.close()

    return asyncio.run(run())


def test_what_runs_is_shown_with_its_arguments_and_ended_work_with_its_result(clock):
    async def scenario(session):
        await session.runner.execute("backup", place="attic")
        await session.runner.execute("train", epochs=3)
        await session.runner.execute("train", epochs=-1)
        await session.runner.execute("prices", symbol="AGT")
        await session.settled(lambda: len(session.background.inbox) == 2)
        await session.settled(lambda: not session.background.tasks[2].is_open)
        backup_row, prices_row = session.rows("running")
        assert (backup_row["kind"], backup_row["name"]) == ("dispatched", "backup")
        assert (backup_row["args"], backup_row["word"]) == ('{"place": "attic"}', "running")
        assert (prices_row["kind"], prices_row["text"]) == ("subscription", "2 events")
        by_word = {row["word"]: row for row in session.rows("ended")}
        assert by_word["done"]["text"] == '{"epochs": 3}'
        assert by_word["done"]["ended"] >= by_word["done"]["began"]
        assert "negative number of epochs" in by_word["failed"]["text"]
        newest, older = session.rows("events")
        assert (newest["id"], newest["kind"], newest["word"]) == (2, "event", "to handle")
        assert older["text"] == '{"symbol": "AGT", "price": 1}'
        assert session.view.snapshot()["to_handle"] == 2

    in_a_session(clock, scenario)


@pytest.mark.parametrize(("name", "way"), [("backup", "task"), ("prices", "subscription")])
def test_cancel_stops_it_and_only_it(say, name, way):
    async def scenario(session):
        await session.runner.execute("backup", place="attic")
        await session.runner.execute("prices", symbol="AGT")
        (row,) = (row for row in session.rows("running") if row["name"] == name)
        assert row["way"] == way
        say(session.view, "cancel", way=way, id=row["id"])
        say(session.view, "cancel", way=way, id=row["id"])
        await session.settled(lambda: len(session.rows("running")) == 1)
        (ended,) = session.rows("ended")
        assert (ended["name"], ended["word"], ended["status"]) == (name, "cancelled", "cancelled")

    in_a_session(DirectScheduler(), scenario)


def test_while_it_is_being_cancelled_the_row_says_so(clock, say):
    async def scenario(session):
        await session.runner.execute("backup", place="attic")
        (row,) = session.rows("running")
        say(session.view, "cancel", way="task", id=row["id"])
        clock.turn(1)
        (pending,) = clock.coroutines
        task = asyncio.ensure_future(pending)
        await asyncio.sleep(0)
        assert [row["cancelling"] for row in session.rows("running")] == [True]
        await task
        assert session.rows("running") == []

    in_a_session(clock, scenario)


def test_a_trigger_is_shown_and_removed(say):
    async def scenario(session):
        session.background.add_trigger(every(3_600, "look again"))
        (row,) = session.rows("running")
        assert (row["kind"], row["name"], row["text"]) == ("trigger", "every 3600 s", "0 messages")
        say(session.view, "cancel", way="trigger", id=row["id"])
        await session.settled(lambda: not session.rows("running"))
        assert session.background.triggers == ()

    in_a_session(DirectScheduler(), scenario)


@pytest.mark.parametrize(
    "content",
    [{}, {"way": "task", "id": "none"}, {"way": [], "id": {}}, {"way": "event", "id": 9}],
)
def test_what_is_not_there_is_neither_opened_nor_cancelled(clock, wire, say, content):
    async def scenario(session):
        await session.runner.execute("backup", place="attic")
        clock.turn(1)
        wire.log.clear()
        say(session.view, "open", **content)
        say(session.view, "cancel", **content)
        clock.turn(1)
        for coroutine in clock.coroutines:
            await coroutine
        clock.turn(1)
        assert wire.custom == []
        assert len(session.rows("running")) == 1

    in_a_session(clock, scenario)


def test_a_task_that_runs_says_how_far_it_is(clock: Any) -> None:
    @tool(long_running=True)
    async def bake(ctx: ToolContext) -> None:
        """Bake."""
        ctx.report_progress(3, 10, "<b>cakes</b>")
        await asyncio.Event().wait()

    async def scenario(session: Session) -> None:
        session.runner.set_context(ToolContext())
        session.runner.register(bake)
        await session.runner.execute("bake")
        await session.settled(lambda: bool(session.background.tasks[0].progress))
        [row] = session.rows("running")
        assert (row["share"], row["text"]) == (0.3, "30 % · 3 of 10 <b>cakes</b>")
        assert "<b>" not in session.view.static_html()

    in_a_session(clock, scenario)


@pytest.mark.parametrize(
    ("done", "total", "share", "text"),
    [
        (7, None, None, "7 rows"),
        (0, 4, 0.0, "0 % · 0 of 4 rows"),
        (999, 1_000, 0.999, "99 % · 999 of 1000 rows"),
        (5, 4, 1.0, "100 % · 5 of 4 rows"),
    ],
)
def test_a_share_is_known_where_the_total_is(clock, done, total, share, text):
    @tool(mode="dispatched")
    async def copy(ctx: ToolContext) -> None:
        """Copy."""
        ctx.report_progress(done, total, "rows")
        await asyncio.Event().wait()

    async def scenario(session):
        session.runner.set_context(ToolContext())
        session.runner.register(copy)
        await session.runner.execute("copy")
        assert session.rows("running")[0]["share"] is None, "nothing was reported yet"
        await session.settled(lambda: bool(session.background.tasks[0].progress))
        (row,) = session.rows("running")
        assert (row["share"], row["text"]) == (share, text)

    in_a_session(clock, scenario)


def test_what_an_event_is_for_is_said_without_jargon(clock, wire, say):
    @tool(associative=True)
    async def news(topic: str) -> AsyncIterator[str]:
        """Follow the news."""
        yield topic
        yield f"{topic} again"
        await asyncio.Event().wait()

    async def scenario(session):
        session.runner.register(news)
        await session.runner.execute("prices", symbol="AGT")
        await session.runner.execute("news", topic="rain")
        await session.settled(lambda: len(session.background.inbox) == 3)
        clock.turn(1)
        for event in session.background.inbox.items:
            say(session.view, "open", way="event", id=event.seq)
            clock.turn(1)
            (fact,) = (one for one in wire.custom[-1]["detail"]["facts"] if one[0] == "for")
            ours = event.tool_name == "news"
            who = "the conversation that subscribed" if ours else "a side conversation of its own"
            assert fact[1] == who
            assert "associative=True" in fact[2], "what it means, and what declares it"

    in_a_session(clock, scenario)


def test_details_come_when_a_row_is_opened(clock, wire, say):
    async def scenario(session):
        await session.runner.execute("train", epochs=3)
        await session.settled(lambda: bool(session.rows("ended")))
        event = session.background.send({"hello": "x" * 1_000})
        (row,) = session.rows("ended")
        clock.turn(1)
        say(session.view, "open", way="task", id=row["id"])
        clock.turn(1)
        detail = wire.custom[-1]["detail"]
        assert [part["title"] for part in detail["parts"]] == ["Arguments", "Result"]
        assert json.loads(detail["parts"][1]["json"]) == {"epochs": 3}
        say(session.view, "open", way="event", id=1)
        clock.turn(1)
        detail = wire.custom[-1]["detail"]
        assert json.loads(detail["parts"][0]["json"]) == {"hello": "x" * 1_000}
        assert ["id", event.id] in detail["facts"]

    in_a_session(clock, scenario)


def test_events_go_from_waiting_to_handled_and_a_hold_is_shown(clock):
    async def scenario(session):
        session.background.send("first")
        session.background.inbox.put(Event("result", None, error="<b>it broke</b>", tool_name="t"))
        taken = session.background.inbox.take()
        assert [row["word"] for row in session.rows("events")] == ["to handle", "being handled"]
        session.background.inbox.settle(taken)
        assert [row["word"] for row in session.rows("events")] == ["to handle", "handled"]
        assert session.rows("events")[0]["error"] == "<b>it broke</b>"
        session.background.inbox.hold()
        assert session.view.snapshot()["held"] is True
        session.background.inbox.let_go()
        assert session.view.snapshot()["held"] is False

    in_a_session(clock, scenario)


def test_a_flood_of_events_is_20_messages_a_second_of_bounded_size(clock, wire):
    async def scenario(session):
        for n in range(1_000):
            session.background.send({"n": n, "text": "y" * 500})
            clock.turn(0.001)
        clock.turn(1)
        assert len(wire.log) <= 22
        data = session.view.data
        assert len(data["events"]) == activity.EVENTS_SHOWN
        assert data["more_events"] == 900
        assert data["events"][0]["id"] == 1_000
        assert len(json.dumps(data)) < 100_000

    in_a_session(clock, scenario)


def test_a_row_that_has_not_changed_is_not_made_again(clock, monkeypatch):
    async def scenario(session):
        session.background.send("one")
        session.rows("events")
        made = []
        monkeypatch.setattr(activity, "event_row", lambda event: made.append(event) or {"id": 0})
        session.background.send("two")
        session.rows("events")
        assert [event.content for event in made] == ["two"]

    in_a_session(clock, scenario)


def test_a_closed_view_stops_watching(clock):
    async def scenario(session):
        session.view.close()
        assert len(session.background._watchers) == 0

    in_a_session(clock, scenario)


def test_static_forms(clock):
    async def scenario(session):
        view = session.view
        assert view.static_text() == "Activity: 0 running · 0 events to handle"
        await session.runner.execute("backup", place="<i>attic</i>")
        session.background.send("<script>alert(1)</script>")
        html, text = view.static_html(), view.static_text()
        for raw in ("<i>", "<script>"):
            assert raw not in html
        assert "1 running · 1 event to handle" in html
        assert "&lt;i&gt;attic" in html
        assert " UTC" in html
        assert "dispatched" in text
        assert "alert(1)" in text

    in_a_session(clock, scenario)
