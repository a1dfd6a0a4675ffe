"""Agents: what they are made of, what is refused when, subagents, structured outcomes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from agtools_nb import (
    BuiltinTools,
    CapabilitiesConfig,
    DuplicateToolError,
    HookResult,
    Hooks,
    Store,
    ToolContext,
    UsageError,
    allow_all,
    ask_user,
    builtin_tools,
    deny,
    every,
    tool,
)
from agtools_nb.agent import (
    Agent,
    CallAnswered,
    CallStarted,
    Happening,
    InSubagent,
    ModelRequest,
    Reply,
    ResultsMessage,
    ScriptedModel,
    Subagent,
    SubagentStarted,
    TextPiece,
    Turn,
    Usage,
    UserMessage,
)


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def agent(turns: Any, *tools: Any, **options: Any) -> Agent:
    return Agent(tools or [add], ScriptedModel(turns), **options)


def last_result(request: ModelRequest) -> Any:
    last = request.messages[-1]
    assert isinstance(last, ResultsMessage)
    return last.results[0]


async def test_an_agent_answers_with_its_tools() -> None:
    turns = [("add", {"a": 1, "b": 2}), lambda request: f"It is {last_result(request).result}."]
    async with agent(turns, system_instructions="Be brief.") as one:
        reply = await one.chat("1 + 2?")
        assert reply.text == "It is 3."
        assert one.messages[0] == reply.messages[0]
        assert one.model.requests[0].system == "Be brief."  # type: ignore[attr-defined]
        assert one.conversation_id
    assert one.conversation_id is None
    await one.close()


async def test_a_tool_knows_which_agent_calls() -> None:
    @tool
    def who(ctx: ToolContext) -> tuple[str | None, str | None]:
        """Tell."""
        return ctx.agent_name, ctx.conversation_id

    async with agent([("who", {}), "ok"], who, name="helper") as one:
        reply = await one.chat("Go")
        assert reply.results[0].result == ("helper", one.conversation_id)


async def test_functions_become_tools_with_their_own_annotations() -> None:
    class Point(BaseModel):
        x: int

    def shift(point: Point) -> int:
        """Shift a point."""
        return point.x + 1

    async with Agent([shift], ScriptedModel([("shift", {"point": {"x": "4"}}), "ok"])) as one:
        assert (await one.chat("Go")).results[0].result == 5


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": None}, "needs a model"),
        ({"model": object()}, "no model"),
        ({"policies": [ask_user("add")]}, "nobody to be asked"),
        ({"capabilities": CapabilitiesConfig()}, "no rules"),
        (
            {"response_schema": int, "capabilities": CapabilitiesConfig(disabled_tools=["finish"])},
            "finish",
        ),
        ({"max_turns": 0}, "max_turns=0"),
        ({"subagents": ["reader"]}, "no Subagent"),
        (
            {"subagents": [Subagent("a", "One."), Subagent("a", "Two.")]},
            "two subagents are named 'a'",
        ),
        (
            {"subagents": [Subagent("w", "Writes.", capabilities=CapabilitiesConfig())]},
            "no rules",
        ),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_made(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Agent([add], **{"model": ScriptedModel(["x"]), **options})


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(DuplicateToolError):
        Agent([add, add], ScriptedModel(["x"]))


async def test_rules_about_servers_need_servers_when_it_starts() -> None:
    one = agent(["x"], policies=[deny("files/*"), allow_all()])
    with pytest.raises(UsageError, match="server"):
        await one.start()
    assert one.conversation_id is None


# -- built-in tools ------------------------------------------------------------------------------


async def test_without_capabilities_there_are_only_own_tools() -> None:
    async with agent(["x"]) as one:
        assert one.runner.tool_names == ("add",)


async def test_built_in_tools_work_in_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("tea at five\n")
    read = CapabilitiesConfig(enabled_tools=BuiltinTools.read_only())
    turns = [("view_file", {"path": "note.txt"}), ("view_file", {"path": "../x"}), "done"]
    async with agent(turns, capabilities=read, workspace=tmp_path) as one:
        assert {"add", *map(str, BuiltinTools.read_only())} == set(one.runner.tool_names)
        reply = await one.chat("Read")
        assert "tea at five" in str(reply.results[0].result)
        assert not reply.results[1].ok


async def test_a_built_in_tool_of_the_caller_is_not_made_twice(tmp_path: Path) -> None:
    own = builtin_tools([BuiltinTools.VIEW_FILE], tmp_path)
    read = CapabilitiesConfig(enabled_tools=[BuiltinTools.VIEW_FILE])
    async with agent(["x"], *own, capabilities=read) as one:
        assert one.tools == (*own,)


# -- finish --------------------------------------------------------------------------------------


class Sum(BaseModel):
    total: int
    words: str = ""


async def test_finish_ends_with_a_checked_output() -> None:
    turns = [
        ("add", {"a": 1, "b": 2}),
        ("finish", {"output": {"total": "three"}}),
        ("finish", {"output": {"total": "3", "words": "three"}}),
        "never said",
    ]
    async with agent(turns, response_schema=Sum) as one:
        reply = await one.chat("1 + 2?")
        assert (reply.reason, reply.output) == ("finished", Sum(total=3, words="three"))
        assert [result.status for result in reply.results] == ["ok", "invalid", "ok"]


async def test_text_where_an_output_is_wanted_is_reminded_of_it() -> None:
    turns = ["It is 3.", ("finish", {"total": 3})]
    schema = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}
    async with agent(turns, response_schema=schema) as one:
        reply = await one.chat("1 + 2?")
        assert reply.output == {"total": 3}
        reminder = one.messages[2]
        assert isinstance(reminder, UserMessage)
        assert (reminder.event, "finish" in reminder.text) == ("reminder", True)
    async with agent(lambda request: "It is 3.", response_schema=schema, max_repairs=1) as one:
        reply = await one.chat("1 + 2?")
        assert reply.reason == "repairs"
        assert "no call that brings the output" in reply.detail


# -- hooks and rules -----------------------------------------------------------------------------


async def test_hooks_see_session_turns_and_calls_in_order() -> None:
    seen: list[str] = []
    hooks = Hooks()
    hooks.on_session_start(lambda: seen.append("start"))
    hooks.before_turn(lambda message: seen.append(f"turn {message}"))
    hooks.before_tool(lambda call: seen.append(f"call {call.name}"))
    hooks.after_tool(lambda call, result: seen.append(f"result {result.result}"))
    hooks.after_turn(lambda answer: seen.append(f"answer {answer.text}"))
    hooks.on_session_end(lambda: seen.append("end"))
    async with agent([("add", {"a": 1, "b": 2}), "Three.", "Bye."], hooks=hooks) as one:
        await one.chat("sum")
        await one.chat("thanks")
    assert seen == [
        "start", "turn sum", "call add", "result 3", "answer Three.", "turn thanks", "answer Bye.",
        "end",
    ]  # fmt: skip


async def test_a_hook_may_refuse_a_turn() -> None:
    hooks = Hooks()

    @hooks.before_turn
    def no_secrets(message: str) -> HookResult | None:
        return HookResult(allow=False, message="not that") if "secret" in message else None

    async with agent(["Hello."], hooks=hooks) as one:
        reply = await one.chat("the secret")
        assert (reply.reason, one.messages) == ("denied", ())
        assert "not that" in reply.detail
        one.send("another secret")
        await one.wait_for_idle(5)
        assert one.messages == ()
        assert len(one.session.background.inbox) == 0
        assert (await one.chat("hello")).text == "Hello."


async def test_a_hook_is_told_that_a_turn_was_stopped() -> None:
    stopped: list[Any] = []
    hooks = Hooks()
    hooks.on_stop(lambda results: stopped.extend(r.status for r in results))
    started = asyncio.Event()

    @tool
    async def wait() -> None:
        """Wait."""
        started.set()
        await asyncio.Event().wait()

    async with agent([("wait", {})], wait, hooks=hooks) as one:
        chat = asyncio.ensure_future(one.chat("Go"))
        await started.wait()
        await one.cancel()
        assert (await chat).reason == "cancelled"
    assert stopped == ["cancelled"]


async def test_a_denied_call_goes_back_to_the_model_with_the_reason() -> None:
    turns = [("add", {"a": 1, "b": 2}), lambda request: last_result(request).error]
    async with agent(turns, policies=[deny("add", reason="no sums today")]) as one:
        assert "no sums today" in (await one.chat("Go")).text


async def test_triggers_send_messages() -> None:
    def answer(request: ModelRequest) -> str:
        return "Looked."

    async with agent(answer, triggers=[every(0.01, "Look again")]) as one:
        async with asyncio.timeout(5):
            while len(one.messages) < 2:
                await asyncio.sleep(0.01)
        assert isinstance(one.messages[0], UserMessage)
        assert one.messages[0].text == "Look again"


async def test_an_agent_goes_on_in_its_file(tmp_path: Path) -> None:
    @tool
    def count(ctx: ToolContext) -> int:
        """Count."""
        return ctx.update_state("n", lambda n: (n or 0) + 1)

    results = []
    for _ in range(2):
        with Store.open(tmp_path / "work.db") as store:
            async with agent([("count", {}), "ok"], count, store=store) as one:
                results.append((await one.chat("Go")).results[0].result)
    assert results == [1, 2]


# -- subagents -----------------------------------------------------------------------------------


def test_a_subagent_has_what_only_reads_by_default() -> None:
    one = Subagent("reader", "Reads files.", tools=[add])
    assert one.capabilities.enabled_tools == {*map(str, BuiltinTools.read_only()), "add"}


@pytest.mark.parametrize("name", ["", "two words", "a" * 65, None, "ä"])
def test_a_subagent_needs_a_name(name: Any) -> None:
    with pytest.raises(UsageError, match="Subagent name"):
        Subagent(name, "Reads.")


@pytest.mark.parametrize("description", ["", "  ", None])
def test_a_subagent_needs_a_description(description: Any) -> None:
    with pytest.raises(UsageError, match="no description"):
        Subagent("reader", description)


def test_a_tool_that_a_subagent_does_not_have_is_an_error_when_it_is_made() -> None:
    wrong = CapabilitiesConfig(enabled_tools=["view_file", "ad"])
    with pytest.raises(UsageError, match=r"'ad'.*did you mean 'add'"):
        Subagent("reader", "Reads.", capabilities=wrong, tools=[add])


def test_a_subagent_starts_no_other_one() -> None:
    config = CapabilitiesConfig(enabled_tools=[BuiltinTools.VIEW_FILE, BuiltinTools.START_SUBAGENT])
    with pytest.warns(UserWarning, match="gets no start_subagent"):
        one = Subagent("reader", "Reads.", capabilities=config)
    [own] = builtin_tools([BuiltinTools.START_SUBAGENT])
    with pytest.warns(UserWarning, match="gets no start_subagent"):
        assert Subagent("reader", "Reads.", tools=[own]).tools == ()
    made = Agent([], ScriptedModel(["x"]), subagents=[one])
    assert made.runner.tool_names == ("start_subagent",)


async def test_the_model_sees_the_subagents_and_gets_their_report(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("tea at five\n")
    child = ScriptedModel([("view_file", {"path": "note.txt"}), "Tea is at five."])
    reader = Subagent("reader", "Reads files.", "You read.", model=child)
    start = ("start_subagent", {"name": "reader", "task": "When is tea?"})
    turns = [start, lambda request: f"The reader says: {last_result(request).result}"]
    told: list[Happening] = []
    async with agent(turns, subagents=[reader], workspace=tmp_path) as one:
        declared = one.tools[-1].input_schema["properties"]["name"]
        assert declared["enum"] == ["reader"]
        assert "Reads files." in declared["description"]
        one.session.watch(told.append)
        reply = await one.chat("When is tea?")
        assert reply.text == "The reader says: Tea is at five."
    assert child.requests[0].system == "You read."
    assert [m.text for m in child.requests[0].messages if isinstance(m, UserMessage)] == [
        "When is tea?"
    ]
    assert "start_subagent" not in [t.name for t in child.requests[0].tools]
    inside = [one for one in told if isinstance(one, InSubagent)]
    assert {one.name for one in inside} == {"reader"}
    assert {one.call_id for one in inside} == {reply.results[0].id}
    kinds = [type(one.happening) for one in inside]
    assert CallStarted in kinds
    assert TextPiece in kinds
    assert kinds[-1] is Reply


async def test_a_subagent_has_a_state_of_its_own_and_the_rules_of_its_agent() -> None:
    @tool
    def note(word: str, ctx: ToolContext) -> Any:
        """Note."""
        ctx.set_state("word", word)
        return ctx.agent_name

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        return "paid"

    child = ScriptedModel([[("note", {"word": "child"}), ("pay", {"amount": 1})], "Done."])
    helper = Subagent("helper", "Helps.", tools=[note, pay], model=child)
    turns = [
        ("note", {"word": "parent"}),
        ("start_subagent", {"name": "helper", "task": "Go"}),
        "ok",
    ]
    async with agent(
        turns, note, subagents=[helper], policies=[deny("pay", reason="no money")]
    ) as one:
        assert (await one.chat("Go")).ok
        assert one.runner.context is not None
        assert one.runner.context.state.get("word") == "parent"
    answered = child.requests[1].messages[-1]
    assert isinstance(answered, ResultsMessage)
    assert answered.results[0].result == "helper"
    assert "no money" in (answered.results[1].error or "")


async def test_a_subagent_is_told_of_before_it_begins_and_can_be_watched() -> None:
    helper = Subagent("helper", "Helps.", model=ScriptedModel(["Helped."]))
    start = ("start_subagent", {"name": "helper", "task": "Help"})
    told: list[Any] = []
    async with agent([start, "Done."], subagents=[helper]) as one:
        one.session.watch(told.append)
        await one.chat("Go")
    [started] = [found for found in told if isinstance(found, SubagentStarted)]
    first = next(at for at, found in enumerate(told) if isinstance(found, InSubagent))
    assert told.index(started) < first
    [call] = one.messages[1].calls
    assert (started.name, started.call_id) == ("helper", call.id)
    assert [m.text for m in started.session.messages] == ["Help", "Helped."]
    assert started.session.conversation_id is None


async def test_a_subagent_is_stopped_with_its_agent() -> None:
    events: list[str] = []
    started = asyncio.Event()

    @tool
    async def wait() -> None:
        """Wait."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            events.append("stopped")

    helper = Subagent("helper", "Helps.", tools=[wait], model=ScriptedModel([("wait", {})]))
    async with agent(
        [("start_subagent", {"name": "helper", "task": "Go"})], subagents=[helper]
    ) as one:
        chat = asyncio.ensure_future(one.chat("Go"))
        await started.wait()
        await one.cancel()
        assert (await chat).reason == "cancelled"
    assert events == ["stopped"]


async def test_a_subagent_that_fails_is_a_result_that_says_so() -> None:
    helper = Subagent("helper", "Helps.", model=ScriptedModel([]))
    start = ("start_subagent", {"name": "helper", "task": "Go"})
    turns = [start, lambda request: last_result(request).error]
    async with agent(turns, subagents=[helper]) as one:
        text = (await one.chat("Go")).text
        assert "helper did not come to its end" in text
        assert "0 turns" in text


async def test_subagents_work_beside_each_other() -> None:
    both = asyncio.Barrier(2)

    @tool
    async def meet() -> str:
        """Meet the other."""
        async with asyncio.timeout(5):
            await both.wait()
        return "met"

    def answer(request: ModelRequest) -> Any:
        return ("meet", {}) if isinstance(request.messages[-1], UserMessage) else "We met."

    helper = Subagent("helper", "Helps.", tools=[meet], model=ScriptedModel(answer))
    start = ("start_subagent", {"name": "helper", "task": "Go"})
    async with agent([[start, start], "ok"], subagents=[helper]) as one:
        reply = await one.chat("Go")
        assert [result.result for result in reply.results] == ["We met.", "We met."]


async def test_a_subagent_without_a_model_has_that_of_its_agent() -> None:
    script = [
        ("start_subagent", {"name": "helper", "task": "Go"}),
        Turn("From the same script.", expect="Go"),
        Turn("Done.", expect="same script"),
    ]
    async with agent(script, subagents=[Subagent("helper", "Helps.")]) as one:
        assert (await one.chat("Please")).text == "Done."


async def test_the_tokens_of_a_subagent_are_those_of_its_agent() -> None:
    costly = Usage(40, 10)
    again = ("list_directory", {})
    child = ScriptedModel(lambda request: Turn(calls=[again], usage=costly))
    helper = Subagent("helper", "Helps.", model=child)
    start = ("start_subagent", {"name": "helper", "task": "Go"})
    script = [Turn(calls=[start], usage=Usage(10, 10)), "never said"]
    async with agent(script, subagents=[helper], token_budget=100) as one:
        reply = await one.chat("Go")
        assert "token_budget" in (reply.results[0].error or "")
        assert len(child.requests) == 2
        assert (reply.reason, one.session.usage.total) == ("token_budget", 120)


async def test_what_subagents_do_is_in_the_stream_before_their_result() -> None:
    helper = Subagent("helper", "Helps.", model=ScriptedModel(["From within."]))
    start = ("start_subagent", {"name": "helper", "task": "Go"})
    async with agent([start, "ok"], subagents=[helper]) as one:
        told = [happening async for happening in one.stream("Go")]
    inside = [n for n, happening in enumerate(told) if isinstance(happening, InSubagent)]
    [answered] = [n for n, happening in enumerate(told) if isinstance(happening, CallAnswered)]
    assert inside
    assert inside[-1] < answered
    assert isinstance(told[-1], Reply)
    assert told[-1].text == "ok"
