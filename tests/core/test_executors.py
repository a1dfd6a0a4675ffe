"""Blocking tools on other executors: what gets there, what comes back, and what cannot."""

from __future__ import annotations

import asyncio
import contextvars
import multiprocessing
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest

from agtools_nb import StatefulTool, Tool, ToolContext, ToolResult, ToolRunner, UsageError
from core import elsewhere


def process(runner: ToolRunner, *calls: Any, **options: Any) -> list[ToolResult]:
    return asyncio.run(runner.process_tool_calls(calls, **options))


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    # Not fork: it warns where threads run, and workers that import find out what can be found.
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


class TestProcessPool:
    def test_a_decorated_function_runs_in_another_process(self, pool: Executor) -> None:
        runner = ToolRunner([elsewhere.double, elsewhere.process_id], executor=pool)
        doubled, where = process(runner, ("double", {"n": "4"}), ("process_id",))
        assert (doubled.result, doubled.error) == (8, None)
        assert where.ok
        assert where.result != os.getpid()

    def test_what_it_prints_there_is_on_the_call(self, pool: Executor) -> None:
        [result] = process(ToolRunner([elsewhere.double], executor=pool), ("double", {"n": 4}))
        assert (result.stdout, result.stderr) == ("doubling 4\n", "to stderr\n")

    def test_what_it_raises_there_is_the_calls_error(self, pool: Executor) -> None:
        [result] = process(ToolRunner([elsewhere.fails], executor=pool), ("fails", {"n": 4}))
        assert result.error == "ValueError: no 4"
        assert result.exception is not None
        assert isinstance(result.exception.__cause__, ValueError)

    @pytest.mark.parametrize(
        ("tool", "says"),
        [
            (elsewhere.fails_oddly, "its outcome cannot be sent back"),
            (elsewhere.makes_unsendable, "its outcome cannot be sent back"),
        ],
        ids=lambda value: getattr(value, "name", None),
    )
    def test_an_outcome_that_cannot_come_back_says_so(
        self, pool: Executor, tool: Tool, says: str
    ) -> None:
        [result] = process(ToolRunner([tool], executor=pool), (tool.name,))
        assert says in str(result.error)

    def test_a_call_that_cannot_be_sent_leaves_the_pool_whole(
        self, pool: Executor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "cloudpickle", None)

        def inner(n: int) -> int:
            return n

        runner = ToolRunner([inner, elsewhere.double], executor=pool)
        sent, other = process(runner, ("inner", {"n": 1}), ("double", {"n": 1}))
        assert "inner cannot run on ProcessPoolExecutor" in str(sent.error)
        assert "top level of a module" in str(sent.error)
        assert "executor=None" in str(sent.error)
        assert other.result == 2

    def test_cloudpickle_sends_what_stands_inside(self, pool: Executor) -> None:
        factor = 3

        def inner(n: int) -> int:
            return factor * n

        [result] = process(ToolRunner([inner], executor=pool), ("inner", {"n": 2}))
        assert result.result == 6

    def test_a_context_or_a_shared_state_cannot_leave(self, pool: Executor) -> None:
        def count(state: list[int]) -> int:
            return len(state)

        shared = StatefulTool(count, [])
        runner = ToolRunner([elsewhere.with_context, shared], context=ToolContext(), executor=pool)
        asked, state = process(runner, ("with_context",), ("count",))
        assert "ToolContext, which cannot leave this process" in str(asked.error)
        assert "would give it a copy" in str(state.error)

    def test_generators_and_coroutines_are_followed_to_their_end_there(
        self, pool: Executor
    ) -> None:
        runner = ToolRunner([elsewhere.counts, elsewhere.promises], executor=pool)
        counted, promised = process(runner, ("counts", {"n": 3}), ("promises", {"n": 3}))
        assert (counted.result, promised.result) == ([0, 1, 2], 3)

    def test_what_it_warns_of_there_is_on_the_call(self, pool: Executor) -> None:
        [result] = process(ToolRunner([elsewhere.warns], executor=pool), ("warns",))
        [text] = result.warnings
        assert text.startswith("UserWarning: from elsewhere (elsewhere.py:")
        assert result.stderr == ""

    def test_a_worker_that_dies_asks_for_a_new_executor(self) -> None:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as own:
            [result] = process(ToolRunner([elsewhere.dies], executor=own), ("dies",))
        assert "takes no calls any more (BrokenProcessPool" in str(result.error)
        assert "Give the runner a new executor." in str(result.error)

    def test_what_chooses_must_choose_an_executor(self) -> None:
        runner = ToolRunner([elsewhere.double], executor=lambda tool: 5)  # type: ignore[arg-type,return-value]
        [result] = process(runner, ("double", {"n": 1}))
        assert "chose 5 for double; it must return a concurrent.futures.Executor" in str(
            result.error
        )

    def test_a_function_chooses_by_tool(self, pool: Executor) -> None:
        def here() -> int:
            return os.getpid()

        runner = ToolRunner(
            [here, elsewhere.process_id],
            executor=lambda tool: None if tool.name == "here" else pool,
        )
        near, far = process(runner, ("here",), ("process_id",))
        assert near.result == os.getpid() != far.result

    def test_an_async_tool_stays_on_the_loop(self, pool: Executor) -> None:
        async def loop_thread() -> int:
            return os.getpid()

        [result] = process(ToolRunner([loop_thread], executor=pool), ("loop_thread",))
        assert result.result == os.getpid()


class TestOtherExecutors:
    def test_a_thread_pool_takes_anything_and_carries_context_variables(self) -> None:
        variable = contextvars.ContextVar("variable", default="outside")

        def look(ctx: ToolContext) -> tuple[str, str]:
            print("seen")
            return variable.get(), threading.current_thread().name

        async def main() -> ToolResult:
            variable.set("inside")
            with ThreadPoolExecutor(1, thread_name_prefix="mine") as executor:
                runner = ToolRunner([look], context=ToolContext(), executor=executor)
                return (await runner.process_tool_calls([("look",)]))[0]

        result = asyncio.run(main())
        assert result.result == ("inside", "mine_0")
        assert result.stdout == "seen\n"

    def test_an_executor_that_is_shut_down_is_said(self) -> None:
        executor = ThreadPoolExecutor(1)
        executor.shutdown()
        [result] = process(ToolRunner([elsewhere.double], executor=executor), ("double", {"n": 1}))
        assert "double cannot run on ThreadPoolExecutor" in str(result.error)
        assert "after shutdown" in str(result.error)

    def test_a_stopped_call_is_taken_off_the_queue(self) -> None:
        ran, first, release = [], threading.Event(), threading.Event()

        def wait() -> None:
            first.set()
            release.wait()

        def later() -> None:
            ran.append("later")

        async def main() -> list[ToolResult]:
            with ThreadPoolExecutor(1) as executor:
                runner = ToolRunner([wait, later], executor=executor)
                batch = runner.batch([("wait",), ("later",)])
                running = asyncio.create_task(batch.run())
                await asyncio.to_thread(first.wait)
                batch.stop()
                results = await running
                release.set()
            return results

        assert [result.status for result in asyncio.run(main())] == ["cancelled"] * 2
        assert ran == []

    def test_any_executor_will_do(self) -> None:
        """One of another library, of which only the interface is known."""

        class Plain(Executor):
            def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
                future: Future[Any] = Future()
                future.set_result(fn(*args, **kwargs))
                return future

        [result] = process(ToolRunner([elsewhere.double], executor=Plain()), ("double", {"n": 2}))
        assert (result.result, result.stdout) == (4, "doubling 2\n")


def test_what_is_no_executor_is_refused() -> None:
    with pytest.raises(UsageError, match=r"executor.*'4'"):
        ToolRunner(executor="4")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="not <class"):
        ToolRunner(executor=ProcessPoolExecutor)  # type: ignore[arg-type]  # parentheses forgotten
