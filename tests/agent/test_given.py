"""What a session and an agent are given: what fits is taken, the rest is refused in words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from agtools_nb import Media, ToolContext, ToolResult, ToolRunner, UsageError, every, tool
from agtools_nb.agent import (
    Agent,
    ModelMessage,
    Reply,
    ResultsMessage,
    ScriptedModel,
    Session,
    UserMessage,
)

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@tool
def look() -> str:
    """Look."""
    return "seen"


class Drawn:
    """What Jupyter draws."""

    def _repr_png_(self) -> bytes:
        return PNG


IMAGE = Media.image(PNG)
INLINE = {"inline_data": {"mime_type": "image/png", "data": PNG}}


@pytest.mark.parametrize(
    "media", [IMAGE, [IMAGE], iter([IMAGE]), Drawn(), [Drawn()], INLINE, [INLINE]]
)
async def test_media_are_one_or_several(media: Any) -> None:
    session = Session(ScriptedModel(["I see."]))
    assert (await session.chat("What is this?", media)).ok
    first = session.messages[0]
    assert isinstance(first, UserMessage)
    assert [one.data for one in first.media] == [PNG]
    assert Session(ScriptedModel([]), messages=session.export()).messages[0] == first


@pytest.mark.parametrize(
    "media",
    ["cat.png", PNG, 5, object(), ["cat.png"], [PNG], [IMAGE, None], {"a": IMAGE}, [[IMAGE]]],
)
async def test_what_are_no_media_is_refused_before_anything_is_said(media: Any) -> None:
    session = Session(ScriptedModel(["I see."]))
    with pytest.raises(UsageError, match=r"Media\.image\(\.\.\.\)"):
        await session.chat("What is this?", media)
    with pytest.raises(UsageError, match=r"Media\.image\(\.\.\.\)"):
        await anext(session.stream("What is this?", media))
    assert session.messages == ()
    assert session.is_idle


async def test_messages_are_taken_in_every_form_that_export_gives() -> None:
    session = Session(ScriptedModel([("look", {}), "Done."]), ToolRunner([look]))
    await session.chat("Go")
    written = session.export()
    text = json.dumps(written)
    forms: list[Any] = [written, written["messages"], text, text.encode(), session.messages]
    for form in (*forms, iter(written["messages"])):
        again = Session(ScriptedModel(["More."]), messages=form)
        assert [one.id for one in again.messages] == [one.id for one in session.messages]
        assert (await again.chat("more")).text == "More."


@pytest.mark.parametrize("wrong", [["hi"], [1], None, 5, "", b"{}", b"\xff", [{"role": "user"}]])
def test_what_are_no_messages_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError):
        Session(ScriptedModel([]), messages=wrong)


def test_results_without_their_calls_are_refused() -> None:
    results = ResultsMessage((ToolResult("look", "c1", result="seen"),))
    for before in (UserMessage("a"), ModelMessage("b")):
        with pytest.raises(UsageError, match="each call needs its result"):
            Session(ScriptedModel([]), messages=[before, results])


async def test_a_path_is_a_store(tmp_path: Path) -> None:
    for store in (tmp_path / "a.db", str(tmp_path / "b.db")):
        async with Agent([], ScriptedModel(["x"]), store=store) as agent:
            await agent.chat("Go")
        session = Session(ScriptedModel([]), store=store)
        assert session.messages == agent.messages
        assert isinstance(session.runner.context, ToolContext)
        assert session.runner.context.artifacts is not None
    for wrong in (5, ["a.db"]):
        with pytest.raises(UsageError, match="is no store; give a path"):
            Session(ScriptedModel([]), store=wrong)  # type: ignore[arg-type]


async def test_no_instructions_may_be_none() -> None:
    session = Session(ScriptedModel(["x"]), system_instructions=None)
    assert (await session.chat("Go")).ok
    with pytest.raises(UsageError, match="must be a text"):
        Agent([], ScriptedModel([]), system_instructions=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tools": look}, "must be a list of tools and functions"),
        ({"tools": print}, "must be a list of tools and functions"),
        ({"tools": "look"}, "must be a list of tools and functions"),
        ({"tools": None}, "must be a list of tools and functions"),
        ({"capabilities": ["view_file"]}, r"CapabilitiesConfig\(enabled_tools"),
        ({"mcp_servers": ["x"]}, r"'x' is no server; write mcp_servers=\[MCPServer"),
        ({"mcp_servers": "x"}, "must be a list of servers"),
        ({"triggers": every(60, "Look")}, "must be a list of triggers"),
        ({"subagents": 5}, "must be a list of Subagent"),
    ],
)
def test_an_agent_says_what_it_wants(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Agent(**{"model": ScriptedModel([]), **options})


async def test_started_twice_an_agent_has_its_triggers_and_servers_once() -> None:
    class Server:
        connected = 0

        async def connect(self) -> None:
            self.connected += 1

        def tools(self, taken: Iterable[str] = ()) -> list[Any]:
            return [look]

        async def close(self) -> None:
            self.connected -= 1

    server = Server()
    agent = Agent([], ScriptedModel([]), triggers=[every(60, "Look")], mcp_servers=[server])
    await agent.start()
    async with agent:
        assert len(agent.session.background.triggers) == server.connected == 1
    assert server.connected == 0
    with pytest.raises(UsageError, match="closed"):
        await agent.start()


async def test_a_tool_cannot_wait_until_its_own_conversation_is_idle() -> None:
    errors: list[str] = []

    @tool
    async def wait() -> None:
        """Wait for the conversation."""
        try:
            await session.wait_for_idle()
        except UsageError as error:
            errors.append(str(error))
            session.send("later")

    session = Session(ScriptedModel([("wait", {}), "Done.", "Then."]), ToolRunner([wait]))
    async with session:
        assert (await session.chat("Go")).text == "Done."
        await session.wait_for_idle(5)
    assert ["use ctx.send" in one for one in errors] == [True]


async def test_closed_in_the_same_tick_a_chat_ends_with_a_reply() -> None:
    session = Session(ScriptedModel(["a", "b"]))
    chat = asyncio.create_task(session.chat("x"))
    happened: list[Any] = []

    async def follow() -> None:
        happened.extend([one async for one in session.stream("y")])

    following = asyncio.create_task(follow())
    await asyncio.sleep(0)
    await session.close()
    assert (await chat).reason == "cancelled"
    await following
    assert [type(one) for one in happened] == [Reply]


def test_a_time_budget_beyond_all_numbers_is_refused() -> None:
    with pytest.raises(UsageError, match="must be a number of seconds"):
        Session(ScriptedModel([]), time_budget=10**400)


async def test_a_stream_that_was_left_leaves_the_session_idle() -> None:
    for steps in range(8):
        session = Session(ScriptedModel(["a b c", "Next."]))
        stream = session.stream("x")
        for _ in range(steps):
            if await anext(stream, None) is None:
                break
        await stream.aclose()
        assert session.is_idle
