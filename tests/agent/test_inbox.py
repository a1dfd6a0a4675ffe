"""What arrives in the inbox of a session, and conversations that last in a file."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agtools_nb import (
    Background,
    Event,
    Store,
    SubscriptionEvent,
    ToolContext,
    ToolRunner,
    UsageError,
    every,
    tool,
)
from agtools_nb.agent import (
    ModelEvent,
    ModelMessage,
    ModelRequest,
    ScriptedModel,
    Session,
    UserMessage,
)
from agtools_nb.agent.model import TextPart


def texts(session: Session) -> list[str]:
    return [m.text for m in session.messages if isinstance(m, (UserMessage, ModelMessage))]


def echo(request: ModelRequest) -> str:
    last = request.messages[-1]
    return f"heard {last.text}" if isinstance(last, UserMessage) else "ok"


async def test_messages_that_are_sent_are_answered_in_order() -> None:
    async with Session(ScriptedModel(echo)) as session:
        for word in "abc":
            session.send(word)
        await session.wait_for_idle(5)
        assert texts(session) == ["a", "heard a", "b", "heard b", "c", "heard c"]
        assert [m.event for m in session.messages if isinstance(m, UserMessage)] == ["message"] * 3
    assert len(session.background.inbox) == 0


async def test_without_being_started_messages_wait() -> None:
    session = Session(ScriptedModel(echo))
    session.send("a")
    await asyncio.sleep(0)
    assert session.messages == ()
    session.start()
    session.start()
    await session.wait_for_idle(5)
    assert texts(session) == ["a", "heard a"]
    await session.close()


async def test_the_result_of_a_dispatched_call_comes_to_the_model_later() -> None:
    done = asyncio.Event()

    @tool(mode="dispatched")
    async def build(name: str) -> str:
        """Build."""
        await done.wait()
        return f"{name} is built"

    model = ScriptedModel([("build", {"name": "attic"}), "It has begun.", "It is ready."])
    runner = ToolRunner([build], background=Background())
    async with Session(model, runner) as session:
        assert (await session.chat("Build the attic")).text == "It has begun."
        done.set()
        await session.wait_for_idle(5)
        last = session.messages[-2]
        assert isinstance(last, UserMessage)
        assert last.event == "result"
        assert "attic is built" in last.text
        assert last.call_id in last.text
        assert texts(session)[-1] == "It is ready."


@pytest.mark.parametrize("associative", [True, False])
async def test_events_enter_the_history_or_a_thread_of_their_own(associative: bool) -> None:
    @tool(associative=associative)
    async def prices() -> AsyncIterator[Any]:
        """Follow prices."""
        yield 1
        yield 2
        yield SubscriptionEvent(3, final=True)

    def answer(request: ModelRequest) -> Any:
        if request.messages[-1] is request.messages[0]:
            return ("prices", {})
        return echo(request)

    runner = ToolRunner([prices], background=Background())
    async with Session(ScriptedModel(answer), runner) as session:
        await session.chat("Follow them")
        before = session.messages
        await session.wait_for_idle(5)
        heard = [t for t in texts(session)[2:] if t.startswith("heard")]
        in_threads = [thread.reply.text for thread in session.threads]
        found, other = (heard, in_threads) if associative else (in_threads, heard)
        assert [text[-1] for text in found] == ["2", "3"]
        assert other == []
        if not associative:
            assert session.messages == before
    assert len(session.background.inbox) == 0


async def test_a_trigger_wakes_the_conversation() -> None:
    async with Session(ScriptedModel(echo)) as session:
        session.background.add_trigger(every(0.01, "Look again"))
        async with asyncio.timeout(5):
            while len(session.messages) < 4:
                await asyncio.sleep(0.01)
    assert texts(session)[:2] == ["Look again", "heard Look again"]


async def test_events_count_for_the_budget_and_stay_in_the_history() -> None:
    async with Session(ScriptedModel(echo), token_budget=1) as session:
        await session.chat("a")
        session.send("b")
        await session.wait_for_idle(5)
        assert texts(session) == ["a", "heard a", "b"]


async def test_an_event_whose_answer_is_stopped_by_closing_is_in_the_history_once(
    tmp_path: Path,
) -> None:
    class Slow:
        async def respond(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
            yield TextPart("Well, ")
            await asyncio.Event().wait()

    store = Store.open(tmp_path / "work.db")
    session = Session(Slow(), store=store)
    session.start()
    session.send("a")
    async with asyncio.timeout(5):
        while not session.messages:
            await asyncio.sleep(0)
        await asyncio.sleep(0.01)
    await session.close()
    store.close()
    with Store.open(tmp_path / "work.db") as again:
        resumed = Session(ScriptedModel(echo), store=again)
        assert texts(resumed) == ["a", "Well, "]
        assert len(resumed.background.inbox) == 0


async def test_a_conversation_goes_on_in_its_file(tmp_path: Path) -> None:
    @tool
    def count(ctx: ToolContext) -> int:
        """Count."""
        return ctx.update_state("n", lambda n: (n or 0) + 1)

    path = tmp_path / "work.db"
    found: list[Any] = []
    for turn in range(2):
        with Store.open(path) as store:
            context = ToolContext(store=store)
            background = Background.of(store.database, conversation_id=store.conversation_id)
            runner = ToolRunner([count], context=context, background=background)
            session = Session(ScriptedModel([("count", {}), "Counted."]), runner, store=store)
            assert len(session.messages) == 4 * turn
            reply = await session.chat("Count")
            found.append((reply.results[0].result, session.conversation_id))
    assert [result for result, _ in found] == [1, 2]
    assert found[0][1] == found[1][1]


_TALKER = """
import asyncio, sys
from agtools_nb import Store, ToolRunner, tool
from agtools_nb.agent import ScriptedModel, Session

@tool
def step(n: int) -> int:
    "Take a step."
    return n

def answer(request):
    last = request.messages[-1]
    return ("step", {"n": len(request.messages)}) if hasattr(last, "text") else "Done."

async def main():
    store = Store.open(sys.argv[1])
    session = Session(ScriptedModel(answer), ToolRunner([step]), store=store)
    while True:
        await session.chat("Go")
        print(len(session.messages), flush=True)

asyncio.run(main())
"""


def test_a_killed_process_leaves_a_conversation_that_can_go_on(tmp_path: Path) -> None:
    path = tmp_path / "work.db"
    for _ in range(5):
        child = subprocess.Popen(
            [sys.executable, "-c", _TALKER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        told = [int(child.stdout.readline()) for _ in range(3)]
        os.kill(child.pid, signal.SIGKILL)
        told += [int(line) for line in child.stdout.read().split()]
        child.stdout.close()
        child.wait()
        with Store.open(path) as store:
            session = Session(ScriptedModel(["Here."]), store=store)
            messages = session.messages
            assert len(messages) >= told[-1], "what was told to be there is there"
            for asked, answered in itertools.pairwise(messages):
                if isinstance(asked, ModelMessage) and asked.calls:
                    ids = [result.id for result in answered.results]  # type: ignore[union-attr]
                    assert ids == [call.id for call in asked.calls]
            assert asyncio.run(session.chat("Are you there?")).text == "Here."


async def test_a_runner_whose_background_is_another_kind_is_refused() -> None:
    class Keeper:
        def companion(self, tool: Any) -> None:
            return None

    runner = ToolRunner([], background=Keeper())  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="needs a Background"):
        Session(ScriptedModel(["x"]), runner)


async def test_media_of_events_reach_the_model() -> None:
    async with Session(ScriptedModel(echo)) as session:
        data = {
            "inline_data": {"mime_type": "image/png", "data": "iVBORw0KGgo="},
            "response": "a plot",
        }
        session.background.inbox.put(Event("message", data))
        await session.wait_for_idle(5)
        first = session.messages[0]
        assert isinstance(first, UserMessage)
        assert first.text == "a plot"
        assert [media.mime_type for media in first.media] == ["image/png"]


async def test_of_two_conversations_on_one_inbox_the_one_started_last_is_fed() -> None:
    runner = ToolRunner(background=Background())
    first, second = (Session(ScriptedModel(echo), runner, is_guest=True) for _ in "12")
    first.start()
    first.send("a")
    await first.wait_for_idle(5)
    second.start()
    for word in "bcd":
        second.send(word)
    await second.wait_for_idle(5)
    assert texts(first) == ["a", "heard a"]
    assert texts(second) == ["b", "heard b", "c", "heard c", "d", "heard d"]
    second.pause()
    second.send("e")
    await asyncio.sleep(0.05)
    assert len(texts(second)) == 6
    first.start()
    await first.wait_for_idle(5)
    assert texts(first)[2:] == ["e", "heard e"]
    await first.close()
    await second.close()


async def test_what_a_paused_conversation_has_taken_is_still_answered() -> None:
    gate = asyncio.Event()

    async def slowly(request: ModelRequest) -> str:
        await gate.wait()
        return echo(request)

    runner = ToolRunner(background=Background())
    first, second = Session(ScriptedModel(slowly), runner), Session(ScriptedModel(echo), runner)
    first.start()
    first.send("a")
    while not first.messages:
        await asyncio.sleep(0)
    second.start()
    gate.set()
    await first.wait_for_idle(5)
    assert (texts(first), texts(second)) == (["a", "heard a"], [])
    await second.close()


async def test_a_guest_leaves_the_runner_and_what_runs_beside_it_as_they_are() -> None:
    stopped = asyncio.Event()

    @tool(mode="dispatched")
    async def build() -> str:
        """Build."""
        await stopped.wait()
        return "built"

    background = Background()
    runner = ToolRunner([build], background=background)
    session = Session(ScriptedModel([("build", {}), "It has begun."]), runner, is_guest=True)
    async with session:
        background.add_trigger(every(3600, "look again"))
        assert (await session.chat("go")).ok
    assert session.conversation_id is None
    assert len(background.triggers) == 1
    stopped.set()
    event = await background.inbox.get(5)
    assert (event.kind, event.content) == ("result", "built")
    await background.close()


async def test_the_inbox_is_handed_over_to_a_fork_but_for_calls_that_it_does_not_have() -> None:
    gates = {"attic": asyncio.Event(), "cellar": asyncio.Event()}

    @tool(mode="dispatched")
    async def build(name: str) -> str:
        """Build."""
        await gates[name].wait()
        return f"{name} built"

    def model(request: ModelRequest) -> Any:
        last = request.messages[-1]
        is_order = isinstance(last, UserMessage) and last.text in gates
        return ("build", {"name": last.text}) if is_order else echo(request)

    session = Session(ScriptedModel(model), ToolRunner([build], background=Background()))
    async with session:
        await session.chat("attic")
        await session.chat("cellar")
        fork = session.fork(session.messages[4].id, included=False)
        session.hand_over(fork)
        begun = len(session.messages)
        session.send("news")
        gates["attic"].set()
        while len(fork.messages) < 8:
            await asyncio.sleep(0)
        assert len(session.messages) == begun
        gates["cellar"].set()
        await session.wait_for_idle(5)
        assert "cellar built" in texts(session)[-2]
        heard = [text for text in texts(fork) if not text.startswith("heard")][-2:]
        assert max(heard) == "news"
        assert "attic built" in min(heard)
        await fork.close()
        session.send("more")
        await session.wait_for_idle(5)
        assert texts(session)[-2:] == ["more", "heard more"]
