"""One object shared by calls: who may use it, in which order, and for how long it lives."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import weakref
from typing import Any

import pytest

from agtools_nb import DefinitionError, ToolContext, ToolRunner
from agtools_nb.define import StatefulTool, Turn
from agtools_nb.define import stateful as module


class Counter:
    def __init__(self) -> None:
        self.n = 0


def bump(counter: Counter, by: int = 1) -> int:
    """Count up."""
    counter.n += by
    return counter.n


def test_the_state_is_passed_first_and_stays_out_of_the_schema() -> None:
    counter = Counter()
    made = StatefulTool(bump, counter)
    assert list(made.input_schema["properties"]) == ["by"]
    assert (made.name, made.description, made.usage) == (
        "bump",
        "Count up.",
        "bump(by?: integer = 1)",
    )
    assert (made.concurrency_safe, made.state) == (False, counter)
    assert made(by=2) == 2
    assert asyncio.run(ToolRunner([made]).execute("bump", by="3")) == 5
    assert counter.n == 5


def test_an_unbound_method_of_the_state_is_a_function_of_it() -> None:
    class Greeter:
        def greet(self, name: str) -> str:
            return f"hi {name}"

    made = StatefulTool(Greeter.greet, Greeter())
    assert asyncio.run(ToolRunner([made]).execute("greet", name="Ada")) == "hi Ada"


def test_async_functions_too() -> None:
    async def read(state: dict[str, int], key: str) -> int:
        return state[key]

    made = StatefulTool(read, {"a": 1})
    assert made.is_async
    assert asyncio.run(ToolRunner([made]).execute("read", key="a")) == 1


@pytest.mark.parametrize("fn", [lambda *, state: None, lambda: None, lambda **state: None])
def test_a_function_that_takes_nothing_by_position(fn: Any) -> None:
    with pytest.raises(DefinitionError, match="takes nothing by position"):
        StatefulTool(fn, 1, name="f")


def test_the_context_does_not_come_first() -> None:
    def late(state: Any, x: int, ctx: ToolContext) -> Any: ...
    def early(ctx: ToolContext, state: Any, x: int) -> Any: ...

    made = StatefulTool(late, 1)
    assert (list(made.input_schema["properties"]), made.injected) == (["x"], ("ctx",))
    with pytest.raises(DefinitionError, match="first parameter is a ToolContext"):
        StatefulTool(early, 1)


def test_tools_that_share_an_object_share_the_turn() -> None:
    shared, other = [1], [1]
    first, second = StatefulTool(bump, shared), StatefulTool(bump, shared, name="second")
    assert first.turn is second.turn is not None
    assert StatefulTool(bump, other).turn is not first.turn, "an equal object is another one"
    assert first.renamed("third").turn is first.turn
    assert StatefulTool(bump, shared, concurrency_safe=True).turn is None


def test_nothing_keeps_the_state_alive_once_its_tools_are_gone() -> None:
    counter = Counter()
    ref = weakref.ref(counter)
    tools = [StatefulTool(bump, counter), StatefulTool(bump, counter, name="b")]
    key = id(counter)
    assert key in module._turns
    del counter, tools
    gc.collect()
    assert ref() is None
    assert key not in module._turns


def test_the_order_of_asking_is_the_order_of_turns() -> None:
    async def main() -> list[int]:
        turn, order = Turn(), []

        async def use(number: int) -> None:
            await turn.acquire()
            order.append(number)
            await asyncio.sleep(0)
            turn.release()

        await asyncio.gather(*(use(number) for number in range(20)))
        assert not turn.is_held
        return order

    assert asyncio.run(main()) == list(range(20))


def test_200_users_over_two_loops_and_threads() -> None:
    """No two at once, nobody starves, and it is released from threads of its own too."""
    turn = Turn()
    inside: list[int] = []
    most: list[int] = []
    done: list[int] = []

    async def use(number: int) -> None:
        await turn.acquire()
        inside.append(number)
        most.append(len(inside))
        await asyncio.sleep(0)
        inside.remove(number)
        done.append(number)
        if number % 2:
            turn.release()
        else:
            await asyncio.to_thread(turn.release)

    def loop(start: int) -> None:
        async def main() -> None:
            await asyncio.gather(*(use(start + number) for number in range(100)))

        asyncio.run(main())

    threads = [threading.Thread(target=loop, args=(start,)) for start in (0, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(done) == list(range(200))
    assert max(most) == 1
    assert not turn.is_held


def test_a_cancelled_waiter_loses_no_turn() -> None:
    async def main() -> None:
        turn = Turn()
        await turn.acquire()
        waiting = [asyncio.create_task(turn.acquire()) for _ in range(5)]
        await asyncio.sleep(0)
        waiting[1].cancel()  # in the queue
        turn.release()
        waiting[0].cancel()  # the turn is on its way to it
        await asyncio.wait(waiting[:3])
        assert [task.cancelled() for task in waiting[:2]] == [True, True]
        assert waiting[2].done()
        assert not waiting[2].cancelled()
        turn.release()
        await waiting[3]
        turn.release()
        await waiting[4]
        turn.release()
        assert not turn.is_held

    asyncio.run(main())


def test_a_timeout_while_waiting_leaves_the_queue() -> None:
    async def main() -> None:
        turn = Turn()
        await turn.acquire()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await turn.acquire()
        turn.release()
        await asyncio.wait_for(turn.acquire(), 1)

    asyncio.run(main())


def test_a_loop_that_was_closed_under_a_waiter_is_passed_over() -> None:
    turn = Turn()
    asyncio.run(turn.acquire())
    loop = asyncio.new_event_loop()
    task = loop.create_task(turn.acquire())
    loop.run_until_complete(asyncio.sleep(0))
    task._log_destroy_pending = False  # what asyncio would complain of is what is tested
    loop.close()
    turn.release()
    assert not turn.is_held
    del task
    gc.collect()
    asyncio.run(turn.acquire())
    assert turn.is_held


def test_a_turn_that_nobody_has_cannot_be_given_back() -> None:
    with pytest.raises(RuntimeError, match="nobody has"):
        Turn().release()


def test_200_concurrent_calls_of_two_tools_never_meet() -> None:
    """A read, a pause and a write: without the turn, most of the counts would be lost."""

    def blocking(counter: Counter) -> None:
        before = counter.n
        time.sleep(0.0002)
        counter.n = before + 1

    async def waiting(counter: Counter) -> None:
        before = counter.n
        await asyncio.sleep(0)
        counter.n = before + 1

    counter = Counter()
    runner = ToolRunner([StatefulTool(blocking, counter), StatefulTool(waiting, counter)])
    calls = [("blocking", {}), ("waiting", {})] * 100
    results = asyncio.run(runner.process_tool_calls(calls))
    assert [result.error for result in results] == [None] * 200
    assert counter.n == 200


def test_a_call_that_fails_or_is_stopped_gives_its_turn_back() -> None:
    async def use(state: list[str], how: str) -> str:
        if how == "raise":
            raise ValueError(how)
        await asyncio.sleep(60 if how == "hang" else 0)
        return how

    made = StatefulTool(use, [], timeout=0.05)
    runner = ToolRunner([made])
    calls = [("use", {"how": how}) for how in ("raise", "fine", "hang")]
    results = asyncio.run(runner.process_tool_calls(calls))
    assert [result.ok for result in results] == [False, True, False]
    assert made.turn is not None
    assert not made.turn.is_held
