"""Forks: where they may begin, and that what their calls start is theirs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agtools_nb import Event, ToolRunner, UsageError, tool
from agtools_nb.agent import (
    Agent,
    Happening,
    InSubagent,
    ScriptedModel,
    Session,
    Subagent,
    SubagentStarted,
    UserMessage,
)


async def test_in_the_middle_of_a_call_a_fork_waits_for_the_results() -> None:
    begun, free = asyncio.Event(), asyncio.Event()

    @tool
    async def slow() -> str:
        """Take a while."""
        begun.set()
        await free.wait()
        return "true"

    session = Session(ScriptedModel([("slow", {}), "Done."]), ToolRunner([slow]))
    chat = asyncio.create_task(session.chat("Go"))
    await begun.wait()
    with pytest.raises(UsageError, match="no results yet; wait for them") as refused:
        session.fork()
    asked = session.messages[0]
    assert asked.id in str(refused.value)
    assert session.fork(asked.id).messages == (asked,)
    free.set()
    await chat
    assert session.fork().messages == session.messages
    called, results = session.messages[1:3]
    assert session.fork(results.id).messages == session.messages[:3]
    assert session.fork(results.id, included=False).messages == (asked,)
    assert session.fork(called.id, included=False).messages == (asked,)


async def test_a_subagent_belongs_to_the_fork_whose_call_started_it() -> None:
    def works(turns: Any) -> Agent:
        subagent = Subagent("w", "Works", model=ScriptedModel(lambda r: "y" * 4_000))
        return Agent([], ScriptedModel(turns), subagents=[subagent], token_budget=3_000)

    start = ("start_subagent", {"name": "w", "task": "t"})
    async with works(["Hello."]) as agent:
        await agent.chat("Hi")
        fork = agent.session.fork()
        fork.model = ScriptedModel([start, "Done.", start, "Never said."])
        told: list[Happening] = []
        others: list[Happening] = []
        fork.watch(told.append)
        agent.session.watch(others.append)
        before = agent.session.usage
        reply = await fork.chat("Go")
        assert reply.ok
        assert reply.usage.total > 1_000
        assert any(isinstance(one, SubagentStarted) for one in told)
        assert any(isinstance(one, InSubagent) for one in told)
        assert others == []
        assert agent.session.usage == before
        # It is the fork's budget that they use up.
        assert (await fork.chat("Again")).reason == "token_budget"


async def test_a_thread_beside_a_call_is_told_that_the_call_still_runs() -> None:
    begun, free = asyncio.Event(), asyncio.Event()

    @tool(passive=True)
    async def slow() -> str:
        """Take a while."""
        begun.set()
        await free.wait()
        return "true"

    def answer(request: Any) -> Any:
        last = request.messages[-1]
        return ("slow", {}) if isinstance(last, UserMessage) and last.text == "Go" else "ok"

    async with Session(ScriptedModel(answer), ToolRunner([slow])) as session:
        chat = asyncio.create_task(session.chat("Go"))
        await begun.wait()
        session.background.inbox.put(Event("event", "news", call_id="other", tool_name="feed"))
        while not session.threads:
            await asyncio.sleep(0.01)
        cut = session.threads[0].messages[2]
        assert "still running" in cut.results[0].error  # type: ignore[union-attr, operator]
        free.set()
        await chat
        assert session.messages[2].results[0].result == "true"  # type: ignore[union-attr]
