"""Which calls of a batch run beside each other, and the hooks before and after them."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel, Field

from agtools_nb import (
    Media,
    Strategy,
    ToolCall,
    ToolContext,
    ToolError,
    ToolExecutionError,
    ToolResult,
    ToolRunner,
    ToolWithSchema,
    UsageError,
    tool,
)


class Stage:
    """Tools that note when they begin and end, and yield to the loop in between."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.now = 0
        self.most = 0

        @tool(read_only=True)
        async def look(n: int) -> int:
            return await self.act(f"look {n}", n)

        @tool(read_only=True, concurrency_safe=False)
        async def peek(n: int) -> int:
            return await self.act(f"peek {n}", n)

        @tool
        async def change(n: int) -> int:
            return await self.act(f"change {n}", n)

        self.tools = (look, peek, change)

    async def act(self, what: str, n: int) -> int:
        self.now += 1
        self.most = max(self.most, self.now)
        self.events.append(f"begin {what}")
        for _ in range(5):
            await asyncio.sleep(0)
        self.events.append(f"end {what}")
        self.now -= 1
        return n


@tool
async def add(a: int, b: int = 2) -> int:
    return a + b


CALLS = [("change", {"n": 0}), ("look", {"n": 1}), ("peek", {"n": 2}), ("look", {"n": 3})]


@pytest.mark.parametrize("given", [Strategy.SEQUENTIAL, "sequential"])
def test_sequential_runs_one_by_one_in_call_order(given: Any) -> None:
    stage = Stage()
    runner = ToolRunner(stage.tools, strategy=given)
    results = asyncio.run(runner.process_tool_calls(CALLS))
    order = ["change 0", "look 1", "peek 2", "look 3"]
    assert stage.events == [f"{edge} {what}" for what in order for edge in ("begin", "end")]
    assert [result.result for result in results] == [0, 1, 2, 3]


def test_parallel_is_the_default() -> None:
    stage = Stage()
    assert ToolRunner().strategy is Strategy.PARALLEL
    asyncio.run(ToolRunner(stage.tools).process_tool_calls(CALLS))
    assert stage.most == 4


def test_auto_runs_safe_readers_together_and_the_rest_one_by_one_after_them() -> None:
    stage = Stage()
    runner = ToolRunner(stage.tools)
    results = asyncio.run(runner.process_tool_calls([*CALLS, ("nobody",)], strategy="auto"))
    begun = [event for event in stage.events if event.startswith("begin")]
    assert begun == ["begin look 1", "begin look 3", "begin change 0", "begin peek 2"]
    assert stage.events.index("begin change 0") > stage.events.index("end look 3")
    assert stage.events.index("begin peek 2") > stage.events.index("end change 0")
    assert stage.most == 2
    assert [result.result for result in results] == [0, 1, 2, 3, None]
    assert [result.index for result in results] == [0, 1, 2, 3, 4]


def test_a_failure_stops_nothing_in_a_sequence() -> None:
    @tool
    async def fail() -> None:
        raise ValueError("no")

    results = asyncio.run(
        ToolRunner([fail]).process_tool_calls([("fail",)] * 3, strategy=Strategy.SEQUENTIAL)
    )
    assert [result.error for result in results] == ["ValueError: no"] * 3


def test_stopping_a_sequence_begins_no_further_call() -> None:
    begun: list[int] = []

    @tool
    async def hang(n: int) -> None:
        begun.append(n)
        await asyncio.Event().wait()

    async def main() -> list[ToolResult]:
        batch = ToolRunner([hang]).batch(
            [("hang", {"n": n}) for n in range(3)], strategy="sequential"
        )
        running = asyncio.create_task(batch.run())
        while not begun:
            await asyncio.sleep(0)
        batch.stop()
        return await running

    assert [result.status for result in asyncio.run(main())] == ["cancelled"] * 3
    assert begun == [0]


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_max_concurrency_of_the_runner_and_of_a_batch(limit: int) -> None:
    for options, asked in (({"max_concurrency": limit}, {}), ({}, {"max_concurrency": limit})):
        stage = Stage()
        runner = ToolRunner(stage.tools, **options)
        asyncio.run(runner.process_tool_calls([("look", {"n": n}) for n in range(9)], **asked))
        assert stage.most == limit


def test_bad_settings_are_refused_with_what_came_and_what_is_allowed() -> None:
    with pytest.raises(UsageError, match=r"no strategy 'fast'.*'sequential', 'parallel', 'auto'"):
        ToolRunner(strategy="fast")
    with pytest.raises(UsageError, match="at least 1, not 0"):
        ToolRunner(max_concurrency=0)
    for limit in (2.5, "4", True):
        with pytest.raises(UsageError, match="whole number of at least 1"):
            ToolRunner(max_concurrency=limit)  # type: ignore[arg-type]
    for seconds in (0, -1, float("nan"), float("inf"), "5", True, 10**400):
        with pytest.raises(UsageError, match=r"timeout must be a number of seconds above 0"):
            ToolRunner(timeout=seconds)
        with pytest.raises(UsageError, match=r"timeout"):
            ToolRunner().batch([], timeout=seconds)


@tool(scopes=["files:read", "files:write"])
async def save() -> str:
    return "saved"


@pytest.mark.parametrize(
    "calls",
    [{"name": "add", "args": {}}, ToolCall("add"), ("add", {"a": 1}), "add", 5, None],
    ids=lambda value: type(value).__name__,
)
def test_one_call_instead_of_a_list_is_said(calls: Any) -> None:
    for run in (ToolRunner([add]).batch, ToolRunner([add]).stream):
        with pytest.raises(UsageError, match="give a list of"):
            run(calls)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), "abc", 10**400])
def test_a_bad_time_limit_of_one_call_is_said_to_its_user_and_nothing_runs(seconds: Any) -> None:
    ran = []

    @tool
    async def act() -> None:
        ran.append(1)

    [result] = asyncio.run(ToolRunner([act]).process_tool_calls([ToolCall("act", timeout=seconds)]))
    assert result.status == "invalid"
    assert "timeout must be a number of seconds above 0" in str(result.error)
    assert isinstance(result.exception.__cause__, UsageError)
    assert ran == []


def test_a_blocking_tool_can_see_that_its_time_is_up() -> None:
    seen, release = threading.Event(), threading.Event()

    @tool(timeout=0.3)
    def works(ctx: ToolContext) -> None:
        while not ctx.cancelled:
            release.wait(0.001)
        seen.set()

    runner = ToolRunner([works], context=ToolContext())
    [result] = asyncio.run(runner.process_tool_calls([("works",)]))
    assert "did not finish within 0.3 s" in str(result.error)
    assert seen.wait(20)


class TestScopes:
    def test_a_context_that_lacks_a_scope_gets_an_error(self) -> None:
        runner = ToolRunner([save], context=ToolContext(scopes=["files:read"]))
        [result] = asyncio.run(runner.process_tool_calls([("save",)]))
        assert result.status == "error"
        assert result.error == (
            "save was not run: it needs the scope 'files:write', which this session was not "
            "granted. Ask the user for it, or go on without this tool."
        )
        assert isinstance(result.exception.__cause__, ToolError)
        assert result.exception.__cause__.code == "missing_scope"

    def test_no_context_grants_nothing(self) -> None:
        with pytest.raises(ToolExecutionError, match=r"'files:read', 'files:write'"):
            asyncio.run(ToolRunner([save]).execute("save"))

    def test_what_is_granted_runs(self) -> None:
        granted = ToolContext(scopes=["files:read", "files:write", "more"])
        assert asyncio.run(ToolRunner([save], context=granted).execute("save")) == "saved"

    def test_one_text_is_one_scope(self) -> None:
        assert ToolContext(scopes="files:read").scopes == {"files:read"}

    def test_bad_arguments_are_said_before_scopes(self) -> None:
        """The order of every call: coerce, validate, then who may."""

        @tool(scopes="x")
        async def needs(n: int) -> int:
            return n

        [result] = asyncio.run(ToolRunner([needs]).process_tool_calls([("needs", {"n": "y"})]))
        assert result.status == "invalid"


class TestHooks:
    @pytest.mark.parametrize("is_async", [False, True])
    def test_before_sees_the_arguments_as_the_tool_gets_them(self, is_async: bool) -> None:
        seen: list[Any] = []
        runner = ToolRunner([add])

        if is_async:

            @runner.before
            async def look(call: ToolCall, arguments: Mapping[str, Any]) -> None:
                seen.append((call.name, call.id, dict(arguments)))
        else:

            @runner.before
            def look(call: ToolCall, arguments: Mapping[str, Any]) -> None:
                seen.append((call.name, call.id, dict(arguments)))

        [result] = asyncio.run(runner.process_tool_calls([ToolCall("add", {"a": "1"}, id="c")]))
        assert result.result == 3
        assert seen == [("add", "c", {"a": 1, "b": 2})]
        assert asyncio.run(runner.execute("add", a=5)) == 7
        assert len(seen) == 2

    def test_before_is_not_asked_about_a_call_that_does_not_fit(self) -> None:
        runner, seen = ToolRunner([add]), []
        runner.before(lambda call, arguments: seen.append(call))
        asyncio.run(runner.process_tool_calls([("add", {"a": "x"}), ("nobody",)]))
        assert seen == []

    def test_a_hook_that_raises_before_keeps_the_tool_from_running(self) -> None:
        ran = []

        @tool
        async def act() -> None:
            ran.append(1)

        runner = ToolRunner([act, add])

        @runner.before
        def refuse(call: ToolCall, arguments: Mapping[str, Any]) -> None:
            if call.name == "act":
                raise ToolError("closed", "Not today.", hint="Try tomorrow.")

        refused, other = asyncio.run(runner.process_tool_calls([("act",), ("add", {"a": 1})]))
        assert (refused.status, refused.error) == ("error", "Not today. Try tomorrow.")
        assert other.result == 3
        assert ran == []

    def test_after_sees_every_result_and_may_give_another(self) -> None:
        runner, seen = ToolRunner([add]), []

        @runner.after
        async def note(call: ToolCall, result: ToolResult) -> ToolResult | None:
            seen.append((call.name, result.status))
            return replace(result, result=-1) if result.ok else None

        results = asyncio.run(runner.process_tool_calls([("add", {"a": 1}), ("add",)]))
        assert seen == [("add", "ok"), ("add", "invalid")]
        assert [result.result for result in results] == [-1, None]

    @pytest.mark.parametrize("answer", [False, True, "no", 0])
    def test_what_a_hook_returns_before_is_never_taken_for_a_yes(self, answer: Any) -> None:
        runner = ToolRunner([add])
        runner.before(lambda call, arguments: answer)
        [result] = asyncio.run(runner.process_tool_calls([("add", {"a": 1})]))
        assert f"a hook before it returned {answer!r}; return None" in str(result.error)
        assert "raise ToolError(code, message) to refuse it" in str(result.error)

    def test_a_broken_hook_is_not_taken_for_the_tool(self) -> None:
        runner = ToolRunner([add])
        runner.before(lambda call: None)  # type: ignore[arg-type,misc]
        [result] = asyncio.run(runner.process_tool_calls([("add", {"a": 1})]))
        assert "add was not run: a hook before it failed (TypeError: " in str(result.error)
        assert "the call is not at fault" in str(result.error)

    def test_no_hook_changes_what_runs_or_what_is_said_of_it(self) -> None:
        @tool
        def echo(items: list[Any], more: dict[str, Any]) -> Any:
            items.append("by the tool")
            return items, more

        explicit = ToolWithSchema(
            lambda **given: given, {"type": "object", "properties": {"a": {}}}, name="explicit"
        )
        runner = ToolRunner([echo, explicit])

        @runner.before
        def evil(call: ToolCall, arguments: dict[str, Any]) -> None:
            for value in arguments.values():
                value.append("evil") if isinstance(value, list) else value.update(evil=1)
            arguments["a"] = "evil"

        first, second = asyncio.run(
            runner.process_tool_calls(
                [("echo", {"items": [1], "more": {}}), ("explicit", {"a": [1]})]
            )
        )
        assert first.result == ([1, "by the tool"], {})
        assert first.arguments == {"items": [1], "more": {}}
        assert second.result == second.arguments == {"a": [1]}

    def test_after_hears_of_calls_that_were_stopped(self) -> None:
        seen = []

        @tool
        async def hang() -> None:
            await asyncio.Event().wait()

        async def main() -> None:
            runner = ToolRunner([hang, add])
            runner.after(lambda call, result: seen.append((call.name, result.status)))
            batch = runner.batch([("hang",), ("add", {"a": 1})])
            running = asyncio.create_task(batch.run())
            while not seen:
                await asyncio.sleep(0)
            batch.stop()
            await running

        asyncio.run(main())
        assert seen == [("add", "ok"), ("hang", "cancelled")]

    def test_after_hears_of_one_call_that_was_cancelled(self) -> None:
        @tool
        async def wait() -> None:
            await asyncio.Event().wait()

        async def main() -> list[str]:
            runner = ToolRunner([wait])
            told: list[str] = []
            runner.after(lambda call, result: told.append(result.status))
            running = asyncio.create_task(runner.execute("wait"))
            await asyncio.sleep(0)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            return told

        assert asyncio.run(main()) == ["cancelled"]

    def test_what_is_no_function_is_no_hook(self) -> None:
        for register in (ToolRunner().before, ToolRunner().after):
            with pytest.raises(UsageError, match="a hook must be a function, not 5"):
                register(5)  # type: ignore[arg-type]

    def test_what_answers_a_call_keeps_its_place_and_id(self) -> None:
        runner = ToolRunner([add])
        runner.after(lambda call, result: ToolResult("other", result=5))
        calls = [ToolCall("add", {"a": n}, id=f"c{n}", step_id="s") for n in range(2)]
        found = asyncio.run(runner.process_tool_calls(calls))
        assert [(r.name, r.id, r.step_id, r.index, r.result) for r in found] == [
            ("add", "c0", "s", 0, 5),
            ("add", "c1", "s", 1, 5),
        ]

    @pytest.mark.parametrize("error", [RuntimeError("hook"), SystemExit(3), GeneratorExit()])
    def test_a_hook_that_raises_after_is_logged_and_the_result_stays(
        self, error: BaseException, caplog: pytest.LogCaptureFixture
    ) -> None:
        runner = ToolRunner([add])

        @runner.after
        def broken(call: ToolCall, result: ToolResult) -> None:
            raise error

        with caplog.at_level(logging.ERROR, "agtools_nb"):
            [result] = asyncio.run(runner.process_tool_calls([("add", {"a": 1})]))
        assert result.result == 3
        assert "a hook after add failed" in caplog.text


@tool
async def wrong(n: int) -> list[int]:
    return ["1"] * n  # type: ignore[list-item]


class TestCheckedResults:
    def test_a_result_that_does_not_fit_is_the_authors_error(self) -> None:
        runner = ToolRunner([wrong], check_results=True)
        fits, fails = asyncio.run(
            runner.process_tool_calls([("wrong", {"n": 0}), ("wrong", {"n": 1})])
        )
        assert fits.result == []
        assert fails.status == "error"
        assert "does not fit its response schema: /0: Input should be a valid integer" in str(
            fails.error
        )
        assert "a mistake in the tool, not in the call" in str(fails.error)

    def test_what_fits_its_annotation_is_right_whatever_its_json_looks_like(self) -> None:
        class Named(BaseModel):
            the_name: str = Field(alias="theName")

        def named() -> Named:
            return Named(theName="x")

        def as_dict() -> Named:
            return {"theName": "x"}  # type: ignore[return-value]

        def data() -> list[bytes]:
            return [b"x"]

        def picture() -> Media:
            return Media("image/png", b"x")

        def number() -> float:
            return float("nan")

        def some() -> Iterator[int]:
            yield 1

        def anything():
            return object()

        tools = [named, as_dict, data, picture, number, some, anything]
        runner = ToolRunner(tools, check_results=True)
        results = asyncio.run(runner.process_tool_calls([(fn.__name__,) for fn in tools]))
        assert [result.error for result in results] == [None] * len(tools)

    def test_a_schema_that_was_given_is_asked_about_the_json_form(self) -> None:
        @tool(response_schema={"type": "object", "properties": {"n": {"type": "integer"}}})
        async def made(n: Any) -> Any:
            return {"n": n}

        runner = ToolRunner([made], check_results=True)
        fits, fails = asyncio.run(
            runner.process_tool_calls([("made", {"n": 1}), ("made", {"n": "x"})])
        )
        assert fits.ok
        assert "/n: expected an integer" in str(fails.error)

    def test_results_are_not_checked_unless_asked(self) -> None:
        assert asyncio.run(ToolRunner([wrong]).execute("wrong", n=1)) == ["1"]
