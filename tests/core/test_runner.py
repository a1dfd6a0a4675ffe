"""Running calls: concurrency, order, failures as results, cancellation. No test sleeps to wait for something."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import sys
import threading
from collections.abc import Coroutine
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from agtools_nb import (
    ArgumentsError,
    DuplicateToolError,
    ToolCall,
    ToolContext,
    ToolError,
    ToolExecutionError,
    ToolResult,
    ToolRunner,
    UnknownToolError,
    UsageError,
    tool,
)
from agtools_nb.run import as_call
from agtools_nb.run import batch as batches


def run(coro: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(coro, 30))


def process(runner: ToolRunner, calls: list[Any], **options: Any) -> list[ToolResult]:
    return run(runner.process_tool_calls(calls, **options))


@tool
async def ok(n: int) -> str:
    return f"ok{n}"


@tool
def blocking(n: int) -> str:
    return f"ok{n}"


class TestRegistration:
    def test_order_is_kept(self) -> None:
        runner = ToolRunner([ok, blocking])
        assert runner.tool_names == ("ok", "blocking")
        assert runner.unregister("ok") is ok
        assert runner.tool_names == ("blocking",)

    def test_a_second_tool_of_a_name_is_refused(self) -> None:
        runner = ToolRunner([ok])
        with pytest.raises(
            DuplicateToolError,
            match=r"'ok' is taken by the tool defined in module .*test_runner, line \d+",
        ):
            runner.register(blocking, name="ok")
        assert runner.tools == (ok,)

    def test_a_function_becomes_a_tool_under_another_name(self) -> None:
        runner = ToolRunner()
        runner.register(ok, name="other")
        runner.register(lambda x: x, name="same")
        assert runner.tool_names == ("other", "same")
        assert ok.name == "ok"

    def test_an_unknown_name(self) -> None:
        with pytest.raises(UnknownToolError, match="there is no tool named 'nope'; registered: ok"):
            ToolRunner([ok]).unregister("nope")


class TestResults:
    def test_come_in_call_order_whatever_ends_first(self) -> None:
        first_may_end = asyncio.Event()

        @tool
        async def first() -> int:
            await first_may_end.wait()
            return 1

        @tool
        async def second() -> int:
            first_may_end.set()
            return 2

        assert [
            r.result for r in process(ToolRunner([first, second]), [("first",), ("second",)])
        ] == [1, 2]

    def test_a_failure_never_touches_a_sibling(self) -> None:
        def raising(error: BaseException) -> Any:
            def fail():
                raise error

            async def afail():
                raise error

            return fail, afail

        errors: list[BaseException] = [
            ValueError("bad"),
            StopIteration(7),
            SystemExit(3),
            GeneratorExit(),
            asyncio.CancelledError(),
        ]
        runner = ToolRunner([ok])
        for index, error in enumerate(errors):
            for kind, fn in zip(("sync", "async"), raising(error), strict=True):
                runner.register(fn, name=f"{kind}{index}")
        results = process(runner, [*((name,) for name in runner.tool_names[1:]), ("ok", {"n": 1})])
        assert [r.status for r in results] == ["error"] * 10 + ["ok"]
        assert results[0].error == "ValueError: bad"
        assert results[2].error == "StopIteration: 7"
        assert results[4].error == "SystemExit: 3"
        cause = results[0].exception.__cause__ if results[0].exception else None
        assert isinstance(cause, ValueError)

    def test_an_unknown_tool_is_an_error_that_lists_those_there_are(self) -> None:
        results = process(ToolRunner([ok]), [("okk", {"n": 1}), ("ok", {"n": 2})])
        assert results[0].error == "There is no tool named 'okk'; did you mean 'ok'? Tools: ok."
        assert results[0].status == "invalid"
        assert results[1].result == "ok2"

    def test_arguments_that_do_not_fit_are_not_run(self) -> None:
        ran = []

        @tool
        def note(n: int):
            ran.append(n)

        [result] = process(ToolRunner([note]), [("note", {"n": "x"})])
        assert (result.status, ran) == ("invalid", [])
        assert isinstance(result.exception, ToolExecutionError)
        assert isinstance(result.exception.__cause__, ArgumentsError)
        assert result.faults[0].pointer == "/n"

    def test_a_tool_error_speaks_for_itself(self) -> None:
        @tool
        def find(name: str):
            raise ToolError("not_found", f"There is no {name}.", hint="List them first.")

        [result] = process(ToolRunner([find]), [("find", {"name": "x"})])
        assert result.error == "There is no x. List them first."

    def test_coercions_arguments_and_times_are_recorded(self) -> None:
        [result] = process(ToolRunner([ok]), [ToolCall("ok", '{"n": "3"}', id="c", step_id="s")])
        assert (result.id, result.step_id, result.arguments) == ("c", "s", {"n": 3})
        assert [(c.pointer, c.before, c.after) for c in result.coercions] == [("/n", "3", 3)]
        assert result.started_at > 0
        assert result.duration > 0

    def test_awaitables_and_generators_are_settled(self) -> None:
        async def number() -> int:
            return 7

        class Later:
            async def __call__(self, n: int) -> int:
                return n

        def wrap(n: int):
            return number()

        def many(n: int):
            yield from range(n)

        async def lazily():
            yield 1
            yield 2

        async def later_many():
            return lazily()

        runner = ToolRunner([Later(), wrap, many, later_many])
        runner.register(functools.partial(Later(), n=5), name="bound")
        calls = [
            ("Later", {"n": 3}),
            ("wrap", {"n": 1}),
            ("many", {"n": 3}),
            ("later_many",),
            ("bound",),
        ]
        assert [r.result for r in process(runner, calls)] == [3, 7, [0, 1, 2], [1, 2], 5]

    def test_every_kind_of_parameter_is_passed_as_python_wants_it(self) -> None:
        def pick(a: int, /, self: int, *, tool_name: str = "t", **more: int):
            return a, self, tool_name, more

        [result] = process(
            ToolRunner([pick]), [("pick", {"a": 1, "self": "2", "args": 3, "name": 4})]
        )
        assert result.result == (1, 2, "t", {"args": 3, "name": 4})

    def test_a_field_default_never_reaches_the_function(self) -> None:
        from pydantic import Field

        def take(a: int = Field(5, ge=1), b: list[int] = Field(default_factory=list)):
            return a, b

        assert process(ToolRunner([take]), [("take",)])[0].result == (5, [])

    def test_without_validation_what_came_is_handed_through(self) -> None:
        def take(n: int):
            return n

        assert process(ToolRunner([take], validate=False), [("take", {"n": "x"})])[0].result == "x"


class TestIds:
    def test_missing_and_doubled_ids_get_new_ones_and_say_so(self) -> None:
        calls = [ToolCall("ok", {"n": 1}, id=id) for id in ("c1", "c1", "", None, "c1#2")]
        results = process(ToolRunner([ok]), calls)
        ids = [r.id for r in results]
        assert ids[:2] == ["c1", "c1#3"]
        assert ids[4] == "c1#2"
        assert len(set(ids)) == 5
        assert all(ids)
        assert results[1].notes == (
            "The id 'c1' was sent more than once; this call is answered as 'c1#3'.",
        )

    @pytest.mark.parametrize(
        "form",
        [
            ToolCall("ok", {"n": 1}, id="i"),
            {"id": "i", "name": "ok", "args": {"n": 1}},
            {"id": "i", "name": "ok", "input": {"n": 1}, "type": "tool_use"},
            {"id": "i", "type": "function", "function": {"name": "ok", "arguments": '{"n": 1}'}},
            {"id": "i", "function": {"name": "ok", "arguments": {"n": 1}}},
        ],
    )
    def test_forms_of_a_call(self, form: Any) -> None:
        [result] = process(ToolRunner([ok]), [form])
        assert (result.id, result.result) == ("i", "ok1")

    @pytest.mark.parametrize("form", ["ok", 5, {}, {"name": 5}, ("ok", {}, 3), (), None])
    def test_what_is_no_call(self, form: Any) -> None:
        with pytest.raises(UsageError, match="is not a call; write ToolCall"):
            as_call(form)


class TestThreads:
    def test_blocking_tools_run_at_the_same_time(self) -> None:
        """A barrier that all must reach: it would break if one had to wait for another."""
        barrier = threading.Barrier(40)

        @tool
        def meet(n: int) -> int:
            barrier.wait(20)
            return n

        results = process(ToolRunner([meet]), [("meet", {"n": n}) for n in range(40)])
        assert [r.result for r in results] == list(range(40))

    def test_the_loop_goes_on_meanwhile(self) -> None:
        release = threading.Event()

        @tool
        def wait() -> bool:
            return release.wait(20)

        @tool
        async def free() -> str:
            release.set()
            return "ran"

        assert [r.result for r in process(ToolRunner([wait, free]), [("wait",), ("free",)])] == [
            True,
            "ran",
        ]

    def test_context_variables_reach_the_thread(self) -> None:
        variable = contextvars.ContextVar("variable", default="none")

        @tool
        def read() -> str:
            return variable.get()

        async def main() -> Any:
            variable.set("mine")
            return await ToolRunner([read]).process_tool_calls([("read",)])

        assert run(main())[0].result == "mine"

    def test_a_stuck_thread_starves_no_later_batch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from agtools_nb.run import batch

        monkeypatch.setattr(batch, "MAX_THREADS", 2)
        release = threading.Event()

        @tool
        def stuck():
            release.wait(20)

        runner = ToolRunner([stuck, blocking])

        async def main() -> Any:
            first = runner.batch([("stuck",)] * 2)
            task = asyncio.create_task(first.run())
            while not all(a.prepared for a in first.attempts):
                await asyncio.sleep(0)
            first.stop()
            await task
            return await runner.process_tool_calls([("blocking", {"n": n}) for n in range(4)])

        try:
            assert [r.status for r in run(main())] == ["ok"] * 4
        finally:
            release.set()

    def test_max_concurrency(self) -> None:
        now, most = [0], [0]

        @tool
        async def busy():
            now[0] += 1
            most[0] = max(most[0], now[0])
            for _ in range(5):
                await asyncio.sleep(0)
            now[0] -= 1

        process(ToolRunner([busy]), [("busy",)] * 20, max_concurrency=3)
        assert most == [3]


class TestCancellation:
    """Stopping ends every call, waits for it, and leaves nothing behind that still delivers."""

    def test_stop_makes_results(self) -> None:
        entered, cleaned = [], []

        @tool
        async def hang(n: int):
            entered.append(n)
            try:
                await asyncio.Event().wait()
            finally:
                cleaned.append(n)

        runner = ToolRunner([hang, ok])

        async def main() -> list[ToolResult]:
            before = asyncio.all_tasks()
            batch = runner.batch([("hang", {"n": 1}), ("ok", {"n": 2}), ("hang", {"n": 3})])
            task = asyncio.create_task(batch.run())
            while len(entered) < 2:
                await asyncio.sleep(0)
            batch.stop()
            results = await task
            assert asyncio.all_tasks() == before, "this one, and wait_for's before 3.12"
            return results

        results = run(main())
        assert [r.status for r in results] == ["cancelled", "ok", "cancelled"]
        assert results[0].error == "The call was stopped before it finished."
        assert sorted(cleaned) == [1, 3]

    @pytest.mark.parametrize("how", ["cancel", "timeout"])
    def test_cancelling_the_waiter_stops_every_call(self, how: str) -> None:
        begun, cleaned = [], []

        @tool
        async def hang():
            begun.append(1)
            try:
                await asyncio.Event().wait()
            finally:
                cleaned.append(1)

        runner = ToolRunner([hang])

        async def main() -> None:
            waiting = runner.process_tool_calls([("hang",)] * 5)
            if how == "timeout":
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(waiting, 0.01)
            else:
                task = asyncio.create_task(waiting)
                while len(begun) < 5:
                    await asyncio.sleep(0)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert begun == cleaned == [1] * 5

        run(main())

    def test_a_tool_that_will_not_end_is_left_behind(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(batches, "GRACE_SECONDS", 0.0)
        release = asyncio.Event()

        @tool
        async def stubborn():
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue
            return "late"

        runner = ToolRunner([stubborn])

        async def main() -> None:
            batch = runner.batch([("stubborn",)])
            task = asyncio.create_task(batch.run())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            batch.stop()
            [result] = await task
            assert result.status == "cancelled"
            assert "was left to it" in result.notes[0]
            release.set()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert batch.results[0] is result, "a late outcome changes nothing"

        run(main())

    def test_a_blocking_tool_can_see_that_it_was_stopped(self) -> None:
        seen = threading.Event()
        running = threading.Event()

        @tool
        def loop(ctx: ToolContext):
            running.set()
            while not ctx.cancelled:
                pass
            print("after the stop")
            seen.set()

        runner = ToolRunner([loop], context=ToolContext())

        async def main() -> ToolResult:
            batch = runner.batch([("loop",)])
            task = asyncio.create_task(batch.run())
            while not running.is_set():
                await asyncio.sleep(0)
            batch.stop()
            return (await task)[0]

        result = run(main())
        assert seen.wait(20)
        assert result.status == "cancelled"
        assert "cannot be stopped" in result.notes[0]
        assert result.stdout == ""

    def test_an_interrupt_that_hits_a_function_on_the_loop_stops_the_batch(self) -> None:
        """It is a person's. Let through, it would end the loop, which is the kernel's."""

        @tool
        async def interrupted():
            raise KeyboardInterrupt

        calls = [("ok", {"n": 0}), ("interrupted",), ("ok", {"n": 1})]
        runner = ToolRunner([interrupted, ok])
        assert [r.status for r in process(runner, calls)] == ["ok", "cancelled", "cancelled"]

        async def read() -> list[str]:
            return [result.status async for result in runner.stream(calls, max_concurrency=1)]

        assert run(read()) == ["ok", "cancelled"]
        with pytest.raises(KeyboardInterrupt):
            run(runner.execute("interrupted"))

    def test_an_interrupt_that_a_function_raises_in_a_thread_is_its_own(self) -> None:
        """Signals go to the main thread, so nobody pressed a key."""

        @tool
        def interrupted():
            raise KeyboardInterrupt

        found = process(ToolRunner([interrupted, ok]), [("interrupted",), ("ok", {"n": 1})])
        assert [r.status for r in found] == ["error", "ok"]

    @pytest.mark.parametrize("when", ["before run", "before the first step"])
    def test_a_stop_is_never_too_early(self, when: str) -> None:
        async def main() -> list[ToolResult]:
            batch = ToolRunner([ok]).batch([("ok", {"n": 1})] * 3)
            if when == "before run":
                batch.stop()
                return await batch.run()
            task = asyncio.create_task(batch.run())
            await asyncio.sleep(0)  # the members are made, and have not begun
            batch.stop()
            return await task

        assert [r.status for r in run(main())] == ["cancelled"] * 3

    def test_a_second_cancel_does_not_leave_calls_behind(self) -> None:
        cleaned = []

        @tool
        async def slow_to_clean():
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0.05)
                cleaned.append(1)

        async def main() -> list[ToolResult | None]:
            batch = ToolRunner([slow_to_clean]).batch([("slow_to_clean",)] * 3)
            task = asyncio.create_task(batch.run())
            for _ in range(3):
                await asyncio.sleep(0.01)
                task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return batch.results

        assert [r and r.status for r in run(main())] == ["cancelled"] * 3
        assert cleaned == [1] * 3

    def test_a_stopped_generator_ends(self) -> None:
        closed, entered = threading.Event(), threading.Event()

        @tool
        def endless():
            try:
                while True:
                    entered.set()
                    yield 1
            finally:
                closed.set()

        async def main() -> ToolResult:
            batch = ToolRunner([endless]).batch([("endless",)])
            task = asyncio.create_task(batch.run())
            while not entered.is_set():
                await asyncio.sleep(0)
            batch.stop()
            return (await task)[0]

        assert run(main()).status == "cancelled"
        assert closed.wait(20)

    def test_a_cancelled_execute_tells_the_tool(self) -> None:
        told, entered = threading.Event(), threading.Event()

        @tool
        def loop(ctx: ToolContext):
            entered.set()
            while not ctx.cancelled:
                pass
            told.set()

        async def main() -> None:
            task = asyncio.create_task(ToolRunner([loop], context=ToolContext()).execute("loop"))
            while not entered.is_set():
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        run(main())
        assert told.wait(20)


class TestHostile:
    """Whatever a call, a tool or its types do, there is one result a call."""

    @pytest.mark.parametrize(
        "call",
        [
            None,
            "ok",
            5,
            {"name": None},
            {"id": ["x"]},
            {"function": None, "name": "ok"},
            ToolCall(5),
            ToolCall([], {}),
            ToolCall(None),
        ],
        ids=repr,
    )  # type: ignore[arg-type]
    def test_what_is_no_call_is_an_invalid_result(self, call: Any) -> None:
        results = process(ToolRunner([ok]), [call, ("ok", {"n": 1})])
        assert [r.status for r in results] == ["invalid", "ok"]
        assert "is not a call" in str(results[0].error)

    def test_types_whose_own_code_fails(self) -> None:
        from pydantic import BeforeValidator, Field

        def explode(value: Any) -> Any:
            raise KeyError("boom")

        def validator(x: Annotated[int, BeforeValidator(explode)]): ...
        def default(x: int = Field(default_factory=lambda: 1 // 0)): ...
        def fine(n: int):
            return n

        results = process(
            ToolRunner([validator, default, fine]),
            [("validator", {"x": 1}), ("default",), ("fine", {"n": 1})],
        )
        assert [r.status for r in results] == ["error", "error", "ok"]
        assert results[0].error == "KeyError: 'boom'"

    @pytest.mark.parametrize(
        "message", [None, 5, "x" * 10_000_000, "\ud800"], ids=["None", "5", "long", "surrogate"]
    )
    def test_a_tool_error_may_hold_anything(self, message: Any) -> None:
        def fail():
            raise ToolError("code", message)

        [result] = process(ToolRunner([fail]), [("fail",)])
        assert not result.ok
        assert isinstance(result.error, str)
        assert len(result.error.encode()) < 10_000
        assert len(repr(result)) < 500

    def test_an_error_without_words(self) -> None:
        class MuteError(Exception):
            def __str__(self) -> str:
                raise SystemExit

        def fail():
            raise MuteError

        assert (
            process(ToolRunner([fail]), [("fail",)])[0].error
            == "MuteError: its text could not be read"
        )

    def test_without_validation_nothing_can_be_injected(self) -> None:
        from pydantic import Field

        def take(ctx: ToolContext | None = None, a: int = Field(5)):
            return ctx, a

        assert process(ToolRunner([take], validate=False), [("take", {"ctx": "evil"})])[
            0
        ].result == (None, 5)

    def test_a_machine_out_of_threads_runs_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ran = []

        def block():
            ran.append(1)

        def refuse(self: Any) -> None:
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(threading.Thread, "start", refuse)
        assert (
            process(ToolRunner([block]), [("block",)])[0].error
            == "RuntimeError: can't start new thread"
        )
        assert ran == []

    def test_what_was_sent_is_what_runs(self) -> None:
        arguments = {"n": 1}

        async def main() -> Any:
            batch = ToolRunner([ok]).batch([("ok", arguments)])
            arguments["n"] = 99
            return await batch.run()

        assert run(main())[0].result == "ok1"

    @pytest.mark.parametrize("limit", [0, -1])
    def test_a_limit_that_is_none(self, limit: int) -> None:
        with pytest.raises(
            UsageError, match="max_concurrency must be a whole number of at least 1"
        ):
            process(ToolRunner([ok]), [("ok", {"n": 1})], max_concurrency=limit)

    @pytest.mark.parametrize("how", ["in itself twice", "in itself"])
    def test_a_container_that_holds_itself_is_refused_at_once(self, how: str) -> None:
        value: list[Any] = []
        value += [value, value] if how == "in itself twice" else [value]

        @tool
        def take(x: Any) -> str:
            return "never"

        [result] = process(ToolRunner([take]), [("take", {"x": value})])
        assert "nested more than" in str(result.error)
        with pytest.raises(ToolExecutionError, match="nested more than"):
            run(ToolRunner([take]).execute("take", x=value))

    def test_a_call_whose_own_code_raises_is_that_calls_error(self) -> None:
        class Hostile(dict[str, Any]):
            def get(self, *args: Any) -> Any:
                raise RuntimeError("hostile")

        class BadList(list[Any]):
            def __copy__(self) -> Any:
                raise RuntimeError("no copy")

        calls = [Hostile(name="ok"), ("ok", {"n": BadList()}), ("ok", {"n": 1})]
        statuses = [r.status for r in process(ToolRunner([ok]), calls)]
        assert statuses == ["invalid", "invalid", "ok"]

    def test_ids_and_names_that_no_text_can_carry(self) -> None:
        [result] = process(ToolRunner([ok]), [ToolCall("\ud800", {}, id="\ud800")])
        repr(result).encode()
        assert result.id is not None
        result.id.encode()

    def test_many_calls_with_one_id(self) -> None:
        results = process(ToolRunner([ok]), [ToolCall("ok", {"n": n}, "x") for n in range(5_000)])
        assert len({result.id for result in results}) == 5_000

    def test_an_object_given_to_execute_is_never_the_one_the_tool_gets(self) -> None:
        class Model(BaseModel):
            tags: list[str] = []

        @tool
        async def change(m: Model) -> int:
            m.tags.append("x")
            return len(m.tags)

        runner, mine = ToolRunner([change]), Model()
        assert [run(runner.execute("change", m=mine)) for _ in range(3)] == [1, 1, 1]
        assert mine.tags == []

    def test_the_first_fault_holds_up_no_other_call(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What finds faults takes a second to import, and is imported in a thread."""
        learned = []

        def learn() -> None:
            learned.append(threading.current_thread() is threading.main_thread())

        monkeypatch.setattr("agtools_nb.run.attempt.can_explain", lambda: bool(learned))
        monkeypatch.setattr("agtools_nb.run.attempt.learn_to_explain", learn)
        calls = [("ok", {"n": "x"}), ("ok", {"n": 1}), ("ok", '{"n": [2]}'), ("ok", '{"n": "3"}')]
        results = process(ToolRunner([ok]), calls)
        assert [r.status for r in results] == ["invalid", "ok", "invalid", "ok"]
        assert [len(r.faults) for r in results] == [1, 0, 1, 0]
        assert learned
        assert not any(learned)

    def test_a_failure_keeps_its_cause_when_it_travels(self) -> None:
        import copy
        import pickle

        @tool
        async def fails():
            raise ToolError("code", "words", hint="do this")

        [result] = process(ToolRunner([fails]), [("fails",)])
        for travelled in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
            assert travelled.exception.__cause__.hint == "do this"

    def test_a_group_of_errors_says_what_is_in_it(self) -> None:
        @tool
        async def fails():
            async with asyncio.TaskGroup() as group:
                group.create_task(ok.fn(n=1))
                await asyncio.sleep(0)
                raise ValueError("inside")

        [result] = process(ToolRunner([fails]), [("fails",)])
        assert "ValueError: inside" in str(result.error)

    def test_a_long_message_does_not_cost_the_hint(self) -> None:
        @tool
        async def fails():
            raise ToolError("code", "x" * 100_000, hint="HINT")

        [result] = process(ToolRunner([fails]), [("fails",)])
        assert str(result.error).endswith("… HINT")
        assert len(str(result.error)) <= 8_000

    def test_an_error_says_whose_it_is(self) -> None:
        @tool
        async def asks(ctx: ToolContext):
            return 1

        [result] = process(ToolRunner([asks]), [("asks",)])
        assert str(result.error).endswith("for the user to put right; the call is not at fault.")

    def test_errors_can_be_pickled(self) -> None:
        import pickle

        error = pickle.loads(pickle.dumps(ToolError("code", "words", hint="do this")))
        assert (error.code, error.hint, str(error)) == ("code", "do this", "words")


class TestExecute:
    def test_returns_the_value(self) -> None:
        assert run(ToolRunner([ok]).execute("ok", n="3")) == "ok3"

    def test_raises(self) -> None:
        @tool
        def fail():
            raise ValueError("bad")

        runner = ToolRunner([fail, ok])
        with pytest.raises(ToolExecutionError, match="ValueError: bad") as caught:
            run(runner.execute("fail"))
        assert isinstance(caught.value.__cause__, ValueError)
        assert (caught.value.tool_name, caught.value.server_name) == ("fail", None)
        with pytest.raises(ToolExecutionError, match="expected an integer"):
            run(runner.execute("ok", n="x"))
        with pytest.raises(UnknownToolError):
            run(runner.execute("nope"))

    def test_arguments_may_be_named_like_its_own(self) -> None:
        def take(name: str, self: str, args: str):
            return name + self + args

        assert run(ToolRunner([take]).execute("take", name="a", self="b", args="c")) == "abc"


class TestContext:
    def test_is_injected_wherever_it_stands(self) -> None:
        def last(q: str, ctx: ToolContext):
            return ctx.tool_name

        def first(ctx: ToolContext, /, q: str):
            return ctx.call_id

        def keyword(*, c: ToolContext | None = None, q: str):
            return type(c).__name__

        runner = ToolRunner([last, first, keyword], context=ToolContext())
        calls = [ToolCall(name, {"q": "a"}, id=f"id-{name}") for name in runner.tool_names]
        assert [r.result for r in process(runner, calls)] == ["last", "id-first", "ToolContext"]

    def test_without_one_a_default_is_used_or_it_is_an_error(self) -> None:
        def needs(ctx: ToolContext): ...
        def may(ctx: ToolContext | None = None):
            return ctx

        results = process(ToolRunner([needs, may]), [("needs",), ("may",)])
        assert results[0].error is not None
        assert "asks for a ToolContext in parameter 'ctx'" in results[0].error
        assert "set_context" in results[0].error
        assert results[1].ok
        assert results[1].result is None

    def test_a_public_callable_hides_and_fills_it(self) -> None:
        import inspect

        def note(key: str, ctx: ToolContext, value: int = 1):
            """Note."""
            ctx.set_state(key, value)
            return value

        runner = ToolRunner([note], context=ToolContext())
        public = runner.get_public_callable("note")
        assert list(inspect.signature(public).parameters) == ["key", "value"]
        assert public("a", value=3) == 3
        assert runner.context is not None
        assert runner.context.get_state("a") == 3


class TestCapture:
    """What a tool prints is on its own call, and nothing else is caught."""

    def test_tasks_and_threads_are_told_apart(self, capsys: pytest.CaptureFixture[str]) -> None:
        barrier = threading.Barrier(2)
        turns = [asyncio.Event(), asyncio.Event()]

        @tool
        def in_thread(name: str):
            print(name, 1)
            barrier.wait(20)
            print(name, 2, file=sys.stderr)

        @tool
        async def in_task(name: str, own: int):
            print(name, 1)
            turns[own].set()
            await turns[1 - own].wait()
            print(name, 2)

        calls = [
            ("in_thread", {"name": "A"}),
            ("in_thread", {"name": "B"}),
            ("in_task", {"name": "C", "own": 0}),
            ("in_task", {"name": "D", "own": 1}),
        ]
        results = process(ToolRunner([in_thread, in_task]), calls)
        print("outside")
        assert [(r.stdout, r.stderr) for r in results] == [
            ("A 1\n", "A 2\n"),
            ("B 1\n", "B 2\n"),
            ("C 1\nC 2\n", ""),
            ("D 1\nD 2\n", ""),
        ]
        assert capsys.readouterr().out == "outside\n"

    def test_the_streams_are_put_back(self) -> None:
        before = sys.stdout, sys.stderr
        process(ToolRunner([ok]), [("ok", {"n": 1})])
        assert (sys.stdout, sys.stderr) == before

    def test_a_megabyte_and_more_is_bounded(self) -> None:
        @tool
        def chatter():
            for _ in range(40):
                print("x" * 99_999)

        [result] = process(ToolRunner([chatter]), [("chatter",)])
        assert result.ok
        assert len(result.stdout) < 1_100_000
        assert result.stdout.endswith("[2,951,424 more characters were not kept]")

    def test_execute_leaves_the_callers_output_alone(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        @tool
        async def chat():
            print("from the tool")

        run(ToolRunner([chat]).execute("chat"))
        assert capsys.readouterr().out == "from the tool\n"


class TestObservers:
    def test_are_told_and_cannot_break_the_batch(self, caplog: pytest.LogCaptureFixture) -> None:
        events = []

        class Watch:
            def call_started(self, index, call, prepared):
                events.append(("started", index, prepared.arguments))

            def call_finished(self, index, result):
                events.append(("finished", index, result.status))

        class Broken:
            def call_started(self, index, call, prepared):
                raise RuntimeError("broken")

            def call_finished(self, index, result):
                raise RuntimeError("broken")

        async def main() -> Any:
            runner = ToolRunner([ok])
            return await runner.batch(
                [("ok", {"n": "1"}), ("ok", {})], observers=[Broken(), Watch()]
            ).run()

        assert [r.status for r in run(main())] == ["ok", "invalid"]
        assert sorted(events, key=str) == [
            ("finished", 0, "ok"),
            ("finished", 1, "invalid"),
            ("started", 0, {"n": 1}),
        ]
        assert "an observer of a batch failed" in caplog.text
