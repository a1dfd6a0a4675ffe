"""Sessions of one store: one history, one after another, and nothing lost with the process."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agtools_nb import Store, ToolRunner, UsageError, tool
from agtools_nb.agent import (
    Added,
    Agent,
    Happening,
    ModelRequest,
    Reply,
    ResultsMessage,
    ScriptedModel,
    Session,
    Subagent,
    UserMessage,
)


def kinds(session: Session | Agent) -> list[str]:
    return [type(one).__name__.removesuffix("Message") for one in session.messages]


async def test_a_cell_run_again_while_a_call_runs_sees_its_true_result(tmp_path: Path) -> None:
    begun, free = asyncio.Event(), asyncio.Event()

    @tool
    async def slow() -> str:
        """Take a while."""
        begun.set()
        await free.wait()
        return "true"

    with Store.open(tmp_path / "w.db") as store:
        model = ScriptedModel([("slow", {}), "First.", "Second."])
        first = Session(model, ToolRunner([slow]), store=store)
        chat = asyncio.create_task(first.chat("a"))
        await begun.wait()
        second = Session(model, ToolRunner([slow]), store=store)
        told: list[Happening] = []
        second.watch(told.append)
        assert kinds(second) == ["User", "Model"]
        assert not second.is_idle
        after = asyncio.create_task(second.chat("b"))
        await asyncio.sleep(0.05)
        free.set()
        assert (await chat).text == "First."
        assert (await after).text == "Second."
        assert kinds(second) == ["User", "Model", "Results", "Model", "User", "Model"]
        assert second.messages == first.messages
        results = second.messages[2]
        assert isinstance(results, ResultsMessage)
        assert results.results[0].result == "true"
        assert [m.text for m in told if isinstance(m, Reply)] == ["First.", "Second."]
        assert len({m.message.id for m in told if isinstance(m, Added)}) == 4
        written = second.export()
    assert len(Session(model, messages=written).messages) == 6


async def test_the_new_session_can_stop_what_the_first_one_answers(tmp_path: Path) -> None:
    begun = asyncio.Event()

    @tool
    async def slow() -> None:
        """Never end."""
        begun.set()
        await asyncio.Event().wait()

    model = ScriptedModel([("slow", {}), "Again."])
    first = Session(model, ToolRunner([slow]), store=tmp_path / "w.db")
    chat = asyncio.create_task(first.chat("a"))
    await begun.wait()
    second = Session(model, ToolRunner([slow]), store=str(tmp_path / "w.db"))
    await second.cancel()
    assert (await chat).reason == "cancelled"
    assert (await second.chat("b")).text == "Again."


async def test_a_history_is_read_again_once_nobody_has_it(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "w.db")
    session = Session(ScriptedModel(["One.", "Two."]), store=store)
    await session.chat("a")
    del session
    gc.collect()
    session = Session(ScriptedModel(["Two."]), store=store)
    assert kinds(session) == ["User", "Model"]
    store.close()


async def test_the_next_event_loop_can_go_on(tmp_path: Path) -> None:
    session = Session(
        ScriptedModel(lambda r: getattr(r.messages[-1], "text", "")), store=tmp_path / "w.db"
    )

    async def both() -> list[str]:
        return [one.text for one in await asyncio.gather(session.chat("a"), session.chat("b"))]

    for _ in range(2):
        found = await asyncio.get_running_loop().run_in_executor(None, asyncio.run, both())
        assert found == ["a", "b"]


def talks(text: str) -> ScriptedModel:
    return ScriptedModel([("start_subagent", {"name": "w", "task": "x" * 400}), text])


async def test_tokens_of_subagents_are_in_the_reply_and_last(tmp_path: Path) -> None:
    def made(text: str, store: Store) -> Agent:
        subagent = Subagent("w", "Works", model=ScriptedModel(["y" * 8_000]))
        return Agent([], talks(text), subagents=[subagent], store=store)

    with Store.open(tmp_path / "w.db") as store:
        async with made("Done.", store) as agent:
            reply = await agent.chat("Go")
            assert reply.usage == agent.session.usage
            assert reply.usage.total > 2_000
            used = agent.session.usage
    del agent
    with Store.open(tmp_path / "w.db") as store:
        async with made("Again.", store) as agent:
            assert agent.session.usage == used
            reply = await agent.chat("Go")
            assert agent.session.usage == used + reply.usage


_KILLED = """
import asyncio, os, sys
from agtools_nb import Store
from agtools_nb.agent import Session, TextPart

class Falls:
    async def respond(self, request):
        yield TextPart("half")
        os._exit(9)

async def main():
    async with Session(Falls(), store=sys.argv[1]) as session:
        session.send("by the inbox")
        await session.wait_for_idle()

asyncio.run(main())
"""


async def test_what_was_being_answered_at_a_kill_is_answered_once(tmp_path: Path) -> None:
    path = tmp_path / "w.db"
    for _ in range(2):  # killed again while it answers the first anew
        line = [sys.executable, "-c", _KILLED, str(path)]
        ended = await asyncio.to_thread(subprocess.run, line, timeout=60, check=False)
        assert ended.returncode == 9

    def answer(request: ModelRequest) -> str:
        said = [one.text for one in request.messages if isinstance(one, UserMessage)]
        return f"heard {said}"

    for _ in range(2):
        with Store.open(path) as store:
            async with Session(ScriptedModel(answer), store=store) as session:
                session.start()
                await session.wait_for_idle(10)
                texts = [getattr(one, "text", None) for one in session.messages]
                said = ["by the inbox", "by the inbox"]
                assert texts == [said[0], f"heard {said[:1]}", said[1], f"heard {said}"]
        del session


async def test_what_a_person_said_is_not_answered_by_itself(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "w.db")
    Session(ScriptedModel(["x"]), store=store, messages=[UserMessage("hello")])
    gc.collect()
    async with Session(ScriptedModel(["x"]), store=store) as session:
        await session.wait_for_idle(5)
        assert kinds(session) == ["User"]
    store.close()


async def test_messages_for_a_store_that_has_others_are_refused(tmp_path: Path) -> None:
    begun: list[Any] = [UserMessage("from elsewhere")]
    path = tmp_path / "w.db"
    session = Session(ScriptedModel(["x"]), store=path, messages=begun)
    again = Session(ScriptedModel(["x"]), store=path, messages=begun)  # the cell is run again
    assert again.messages == session.messages == tuple(begun)
    with pytest.raises(UsageError, match="has a conversation of 1 messages already"):
        Session(ScriptedModel(["x"]), store=path, messages=[UserMessage("another")])
