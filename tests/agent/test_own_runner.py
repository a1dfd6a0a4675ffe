"""Each conversation has its own context and background, whoever else has the same runner."""

from __future__ import annotations

from typing import Any

import pytest

from agtools_nb import Background, Store, ToolCall, ToolContext, ToolRunner, UsageError, tool
from agtools_nb.agent import Agent, ModelMessage, ScriptedModel, Session
from agtools_nb.calls import ToolResult


@tool
def note(word: str, ctx: ToolContext) -> list[str]:
    """Note a word, and return all of this conversation."""
    return ctx.update_state("words", lambda words: [*words, word], [])  # type: ignore[no-any-return]


@tool
def where(ctx: ToolContext) -> list[Any]:
    """Tell who calls."""
    return [ctx.conversation_id, ctx.agent_name, ctx.user_id, ctx.session_id]


@tool(scopes=["mail"])
def mail() -> str:
    """Send mail."""
    return "sent"


@tool
def keep(name: str, ctx: ToolContext) -> int:
    """Keep an artifact."""
    assert ctx.artifacts is not None
    ctx.artifacts.save(name, b"data")
    return len(ctx.artifacts.list())


@tool
def recall(ctx: ToolContext) -> int:
    """Search the memory."""
    return len(ctx.search_memory("lunch"))


@tool(mode="dispatched")
async def later() -> str:
    """Come later."""
    return "here I am"


def calls(*names: Any) -> Any:
    made = [one if isinstance(one, tuple) else (one, {}) for one in names]
    return ScriptedModel([turn for one in made for turn in (one, "Done.")])


async def results_of(session: Session | Agent, count: int = 1) -> list[Any]:
    found: list[ToolResult] = []
    for _ in range(count):
        found += (await session.chat("Go")).results
    return [one.result if one.ok else one.error for one in found]


async def test_two_sessions_of_one_runner_have_each_its_own_context() -> None:
    runner = ToolRunner([note, where])
    first = Session(calls(("note", {"word": "a"}), "where"), runner)
    second = Session(calls(("note", {"word": "b"}), "where", "where"), runner)
    assert (await results_of(first, 2))[0] == ["a"]
    words, place = await results_of(second, 2)
    assert words == ["b"]
    assert place[0] == second.conversation_id != first.conversation_id
    await first.close()
    del first
    [place] = await results_of(second)
    assert place[0] == second.conversation_id
    second.send("This session is open.")


async def test_a_session_sees_what_its_runner_is_given_later() -> None:
    runner, heard = ToolRunner([note]), []
    session = Session(calls("where", ("note", {"word": "x"})), runner)
    session.runner.register(recall)
    runner.register(where)
    runner.before(lambda call, arguments: heard.append(call.name))
    assert list(session.runner.tool_names) == ["note", "recall", "where"]
    await results_of(session)
    assert heard == ["where"]
    runner.unregister("where")
    assert list(session.runner.tool_names) == ["note", "recall"]
    given = ToolContext()
    runner.set_context(given)
    await results_of(session)
    assert given.state.get("words") == ["x"]


async def test_a_context_that_was_given_stays_the_persons_own() -> None:
    given = ToolContext()
    runner = ToolRunner([note, later], context=given)
    session = Session(calls(("note", {"word": "x"})), runner)
    await results_of(session)
    assert given.state.get("words") == ["x"]
    assert session.runner.background is session.background


async def test_a_runner_without_a_background_is_given_one() -> None:
    model = ScriptedModel(
        [("later", {}), "Started.", lambda r: getattr(r.messages[-1], "text", "")]
    )
    async with Session(model, ToolRunner([later])) as session:
        reply = await session.chat("Go")
        assert reply.results[0].ok, reply.results[0].error
        await session.wait_for_idle(10)
        last = session.messages[-1]
        assert isinstance(last, ModelMessage)
        assert "here I am" in last.text


@pytest.mark.parametrize("has_background", [True, False])
async def test_a_fork_has_the_identity_the_scopes_and_the_files(has_background: bool) -> None:
    class Mine(ToolContext):
        """A context of one's own."""

    store = Store.open()
    store.memory.add("we had lunch")
    given = Mine(store=store, user_id="ada", session_id="s1", scopes=["mail"], agent_name="bot")
    background = Background() if has_background else None
    runner = ToolRunner([mail, keep, recall, where, note], context=given, background=background)
    names = ("mail", ("keep", {"name": "one"}), "recall", "where", ("note", {"word": "x"}))
    session = Session(calls(*names), runner)
    first = await results_of(session, 5)
    fork = session.fork()
    fork.model = calls(*names)
    second = await results_of(fork, 5)
    assert first[:3] == second[:3] == ["sent", 1, 1]
    assert second[3] == [fork.conversation_id, "bot", "ada", "s1"]
    assert second[4] == ["x", "x"]
    assert given.state.get("words") == ["x"]
    assert type(fork.runner.context) is Mine
    runner.register(later)
    assert "later" in fork.runner.tool_names


async def test_a_fork_of_an_agent_knows_its_name() -> None:
    async with Agent([where], calls("where"), name="scout") as agent:
        fork = agent.session.fork()
        [place] = await results_of(fork)
        assert place[:2] == [fork.conversation_id, "scout"]


async def test_what_is_no_runner_is_refused_with_what_is_wanted() -> None:
    class Kit:
        runner = ToolRunner([note])

    with pytest.raises(UsageError, match=r"give tk\.runner"):
        Session(calls(), Kit())  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"write ToolRunner\("):
        Session(calls(), [note])  # type: ignore[arg-type]


async def test_a_runner_runs_its_own_calls_as_before() -> None:
    runner = ToolRunner([later, note])
    session = Session(calls(), runner)
    [result] = await runner.process_tool_calls([ToolCall("later", {})])
    assert not result.ok
    assert runner.context is None
    assert session.runner.context is not None
