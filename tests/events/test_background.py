"""Calls that outlive their answer: dispatched, long-running, and what holds events back."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agtools_nb import (
    Background,
    Database,
    Media,
    ToolCall,
    ToolContext,
    ToolError,
    ToolResult,
    ToolRunner,
    UsageError,
    tool,
)


def run(main: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(main())  # type: ignore[arg-type]


@tool(mode="dispatched")
async def double(number: int) -> int:
    """Double a number, later."""
    await asyncio.sleep(0)
    if number < 0:
        raise ToolError("negative", "It must not be negative.", hint="Send 0 or more.")
    print("doubling")
    return 2 * number


def test_a_dispatched_call_returns_at_once_and_its_result_arrives() -> None:
    async def main() -> None:
        background = Background()
        runner = ToolRunner([double], background=background)
        calls = [ToolCall("double", {"number": "3"}, "c1"), ToolCall("double", {"number": 4}, "c2")]
        results = await runner.process_tool_calls(calls)
        assert [one.result for one in results] == [
            {"status": "dispatched", "call_id": "c1"},
            {"status": "dispatched", "call_id": "c2"},
        ]
        assert results[0].coercions, "arguments are coerced as in any call"
        events = [await background.inbox.receive(10) for _ in range(2)]
        assert [(e.kind, e.content, e.dedup_id, e.call_id, e.final) for e in events] == [
            ("result", 6, "c1", "c1", True),
            ("result", 8, "c2", "c2", True),
        ]
        assert events[0].id != events[1].id
        assert events[0].group_id == events[1].group_id, "calls of one batch are one group"
        assert [task.status for task in background.tasks] == ["done", "done"]
        assert background.is_idle

    run(main)


def test_the_step_of_a_call_is_its_group() -> None:
    async def main() -> None:
        background = Background()
        runner = ToolRunner([double], background=background)
        await runner.process_tool_calls([ToolCall("double", {"number": 1}, step_id="turn 7")])
        assert (await background.inbox.receive(10)).group_id == "turn 7"

    run(main)


def test_arguments_that_do_not_fit_are_refused_before_the_start() -> None:
    async def main() -> None:
        background = Background()
        runner = ToolRunner([double], background=background)
        (result,) = await runner.process_tool_calls([("double", {"number": "many"})])
        assert result.status == "invalid"
        assert background.tasks == ()

    run(main)


def test_a_failure_after_the_start_becomes_a_result() -> None:
    async def main() -> None:
        background = Background()
        runner = ToolRunner([double], background=background)
        await runner.process_tool_calls([("double", {"number": -1})])
        event = await background.inbox.receive(10)
        assert event.content is None
        assert event.error is not None
        assert "must not be negative" in event.error
        assert "Send 0 or more" in event.error
        assert background.tasks[0].status == "failed"

    run(main)


@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()])
def test_whatever_it_raises_is_its_own_failure(raised: BaseException) -> None:
    @tool(mode="dispatched")
    async def leave() -> None:
        """Raise it."""
        raise raised

    async def main() -> None:
        background = Background()
        runner = ToolRunner([leave], background=background)
        await runner.process_tool_calls([("leave", {})])
        event = await background.inbox.receive(10)
        assert event.error is not None

    run(main)


def test_an_id_that_was_used_before_does_not_swallow_a_result() -> None:
    """Its result would be taken for a duplicate of the first one's."""

    async def main() -> None:
        background = Background()
        runner = ToolRunner([double], background=background)
        ids = []
        for number in (1, 2):
            (result,) = await runner.process_tool_calls(
                [ToolCall("double", {"number": number}, "c1")]
            )
            ids.append(result.result["call_id"])
        contents = [(await background.inbox.receive(10)).content for _ in range(2)]
        assert contents == [2, 4]
        assert ids == ["c1", "c1#2"]

    run(main)


def test_blocking_functions_and_contexts_and_media_work_in_the_background() -> None:
    @tool(mode="dispatched")
    def draw(ctx: ToolContext) -> list[Any]:
        """Draw."""
        ctx.set_state("thread", threading.current_thread() is threading.main_thread())
        return ["drawn", Media("image/png", b"png")]

    async def main() -> None:
        context, background = ToolContext(), Background()
        runner = ToolRunner([draw], context=context, background=background)
        await runner.process_tool_calls([ToolCall("draw", id="c1")])
        event = await background.inbox.receive(10)
        assert event.content["response"][0] == "drawn"
        assert event.content["inline_data"] == [{"mime_type": "image/png", "data": "cG5n"}]
        assert context.get_state("thread") is False
        assert context.state.history[0].call_id == "c1"

    run(main)


def test_hooks_are_asked_once_and_told_of_start_and_end() -> None:
    async def main() -> None:
        background = Background()
        runner = ToolRunner([double], background=background)
        asked: list[Any] = []
        told: list[ToolResult] = []
        runner.before(lambda call, arguments: asked.append(arguments))
        runner.after(lambda call, result: told.append(result))
        await runner.process_tool_calls([("double", {"number": "3"})])
        await background.inbox.receive(10)
        assert asked == [{"number": 3}]
        assert [one.result for one in told][1:] == [6]
        assert told[0].result["status"] == "dispatched"

    run(main)


def test_a_tool_that_cannot_be_given_its_context_is_refused_at_once() -> None:
    @tool(long_running=True)
    async def train(ctx: ToolContext) -> None:
        """Train."""

    async def main() -> None:
        background = Background()
        runner = ToolRunner([train], background=background)
        (result,) = await runner.process_tool_calls([("train", {})])
        assert result.status == "error"
        assert "call runner.set_context" in (result.error or "")
        assert background.tasks == ()

    run(main)


def test_a_runner_without_a_background_says_what_to_do() -> None:
    async def main() -> None:
        (result,) = await ToolRunner([double]).process_tool_calls([("double", {"number": 1})])
        assert result.status == "error"
        assert "ToolRunner(background=Background())" in (result.error or "")

    run(main)


class TestLongRunning:
    def test_it_answers_with_a_task_and_its_status_tool_tells_the_result(self) -> None:
        async def main() -> None:
            go = asyncio.Event()

            @tool(long_running=True)
            async def build(name: str) -> dict[str, str]:
                """Build it."""
                await go.wait()
                return {"built": name}

            background = Background()
            runner = ToolRunner([build], background=background)
            assert runner.tool_names == ("build", "check_build")
            answer = await runner.execute("build", name="x")
            assert answer == {"task_id": answer["task_id"], "status": "pending"}
            same = await runner.execute("build", name="x")
            assert same["task_id"] == answer["task_id"]
            assert same["status"] == "pending"
            other = await runner.execute("build", name="y")
            assert other["task_id"] != answer["task_id"]
            asked = await runner.execute("check_build", task_id=answer["task_id"])
            assert asked == answer
            go.set()
            asked = await runner.execute("check_build", task_id=answer["task_id"], wait=10)
            assert asked == {
                "task_id": answer["task_id"], "status": "done", "result": {"built": "x"},
            }  # fmt: skip
            again = await runner.execute("build", name="x")
            assert again["task_id"] != answer["task_id"], "only a pending one is the same"
            assert len(background.inbox) == 0, "it is asked for, not delivered"
            await background.close()

        run(main)

    def test_it_reports_progress_to_who_asks(self) -> None:
        async def main() -> None:
            go, reported = asyncio.Event(), asyncio.Event()

            @tool(long_running=True, capture="progress")
            async def build(ctx: ToolContext) -> str:
                """Build."""
                await ctx.emit_progress("log", "begun\nlinking")
                await go.wait()
                go.clear()
                ctx.report_progress(3, 10, "files")
                await go.wait()
                print("done soon")
                return "built"

            background = Background()
            background.watch(reported.set)
            runner = ToolRunner([build], context=ToolContext(), background=background)
            task_id = (await runner.execute("build"))["task_id"]
            for expected in ("linking", "3 of 10 files · linking"):
                while background.tasks[0].progress != expected:
                    reported.clear()
                    await asyncio.wait_for(reported.wait(), 10)
                asked = await runner.execute("check_build", task_id=task_id)
                assert asked == {"task_id": task_id, "status": "pending", "progress": expected}
                go.set()
            asked = await runner.execute("check_build", task_id=task_id, wait=10)
            assert asked["result"] == "built"
            assert "progress" not in asked
            await background.close()

        run(main)

    def test_an_unknown_task_is_told_with_those_there_are(self) -> None:
        @tool(long_running=True)
        async def build() -> None:
            """Build."""
            await asyncio.Event().wait()

        async def main() -> None:
            background = Background()
            runner = ToolRunner([build], background=background)
            answer = await runner.execute("build")
            (result,) = await runner.process_tool_calls([("check_build", {"task_id": "t"})])
            assert result.status == "error"
            assert answer["task_id"] in (result.error or "")
            await background.close()

        run(main)

    def test_the_status_tool_goes_with_its_tool_and_one_that_is_given_stays(self) -> None:
        @tool(long_running=True, status_tool="progress")
        async def build() -> None:
            """Build."""

        @tool
        def progress(task_id: str) -> str:
            """My own."""
            return task_id

        @tool(long_running=True)
        async def test() -> None:
            """Test."""

        runner = ToolRunner([progress, build, test], background=Background())
        assert runner.tool_names == ("progress", "build", "test", "check_test")
        assert runner.tool("progress") is progress
        runner.unregister("build")
        runner.unregister("test")
        assert runner.tool_names == ("progress",)

    def test_a_status_tool_that_somebody_registers_takes_the_place_of_the_made_one(self) -> None:
        @tool(long_running=True)
        async def build() -> None:
            """Build."""

        @tool
        def check_build(task_id: str) -> str:
            """My own."""
            return task_id

        runner = ToolRunner([build], background=Background())
        runner.register(check_build)
        assert runner.tools == (build, check_build)
        runner.unregister("build")
        assert runner.tools == (check_build,)

    def test_a_cancelled_task_says_so(self) -> None:
        async def main() -> None:
            cleaned = []

            @tool(long_running=True)
            async def build() -> None:
                """Build."""
                try:
                    await asyncio.Event().wait()
                finally:
                    cleaned.append(True)

            background = Background()
            runner = ToolRunner([build], background=background)
            task_id = (await runner.execute("build"))["task_id"]
            await asyncio.sleep(0)
            for _ in range(2):  # twice does no harm
                assert (await background.cancel(task_id)).status == "cancelled"
            assert cleaned == [True]
            asked = await runner.execute("check_build", task_id=task_id)
            assert asked["status"] == "cancelled"
            with pytest.raises(ToolError, match="no task 'nobody'"):
                await background.cancel("nobody")

        run(main)

    def test_after_a_restart_it_is_interrupted(self, tmp_path: Path) -> None:
        @tool(long_running=True)
        async def build(name: str) -> None:
            """Build."""
            await asyncio.Event().wait()

        @tool(mode="dispatched")
        async def forever() -> None:
            """Wait."""
            await asyncio.Event().wait()

        async def main() -> None:
            database = Database.open(tmp_path / "work.db")
            runner = ToolRunner([build, forever], background=Background(database))
            task_id = (await runner.execute("build", name="x"))["task_id"]
            await runner.process_tool_calls([ToolCall("forever", {}, "c1")])
            database.close()  # as if the kernel were gone: nothing else is written

            database = Database.open(tmp_path / "work.db")
            background = Background(database)
            runner = ToolRunner([build, forever], background=background)
            asked = await runner.execute("check_build", task_id=task_id)
            assert asked["status"] == "interrupted"
            assert "ended before it did" in asked["error"]
            event = await background.inbox.receive(10)
            assert (event.dedup_id, event.final) == ("c1", True)
            assert "forever was not done" in (event.error or "")
            again = await runner.execute("build", name="x")
            assert again["task_id"] != task_id
            await background.close()
            database.close()

        run(main)


class TestHolding:
    def test_events_wait_for_a_call_that_is_not_passive(self) -> None:
        async def main() -> None:
            go = asyncio.Event()

            @tool
            async def think() -> str:
                """Think."""
                await go.wait()
                return "thought"

            @tool(passive=True)
            async def rest() -> str:
                """Rest."""
                await go.wait()
                return "rested"

            for name, is_held in (("think", True), ("rest", False)):
                go.clear()
                background = Background()
                runner = ToolRunner([think, rest, double], background=background)
                waiting = asyncio.create_task(runner.execute(name))
                await asyncio.sleep(0)
                await runner.process_tool_calls([("double", {"number": 1})])
                while not background.tasks[0].ended_at:
                    await asyncio.sleep(0)
                assert (background.inbox.take() is None) is is_held
                assert not background.is_idle
                go.set()
                await waiting
                assert background.inbox.held is False
                if is_held:
                    assert background.inbox.take() is not None

        run(main)

    def test_a_failed_and_a_cancelled_call_let_go(self) -> None:
        async def main() -> None:
            @tool
            async def fail(wait: bool) -> None:
                """Fail."""
                if wait:
                    await asyncio.Event().wait()
                raise ValueError("no")

            background = Background()
            runner = ToolRunner([fail], background=background)
            calls = [("fail", {"wait": False}), ("fail", {"wait": True}), ("fail", {}), ("no", {})]
            batch = runner.batch(calls)
            running = asyncio.create_task(batch.run())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert background.inbox.held
            batch.stop()
            await running
            assert not background.inbox.held
            assert background.is_idle

        run(main)


def test_a_database_has_one_background_at_a_time() -> None:
    database = Database.open(None)
    background = Background(database)
    assert Background.of(database) is background
    with pytest.raises(UsageError, match=r"Background\.of\(database\)"):
        Background(database)


@pytest.mark.parametrize("nothing", [None, ""])
def test_nothing_cannot_be_sent(nothing: Any) -> None:
    with pytest.raises(UsageError, match="nothing to send"):
        Background().send(nothing)
