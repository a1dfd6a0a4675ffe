"""Background work in trouble: full stores, other loops, many threads, calls that will not stop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from agtools_nb import Background, Database, Inbox, StoreError, ToolRunner, tool
from agtools_nb.events import ending, tasks


def run(main: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(main())  # type: ignore[arg-type]


class FullStore:
    """Makes a database fail as a full disk would, while :attr:`is_full`."""

    def __init__(self, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_full = False
        execute = database.execute

        def failing(sql: str, parameters: Any = ()) -> Any:
            if self.is_full and not sql.startswith("SELECT"):
                raise StoreError("full")
            return execute(sql, parameters)

        monkeypatch.setattr(database, "execute", failing)


def test_an_end_that_cannot_be_kept_is_known_and_kept_later(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ending, "_FIRST_RETRY", 0.01)

    async def main() -> None:
        go = asyncio.Event()

        @tool(mode="dispatched")
        async def later() -> int:
            """Wait."""
            await go.wait()
            return 1

        @tool
        async def values() -> AsyncIterator[int]:
            """Wait."""
            yield 1
            await go.wait()

        database = Database.open(None)
        background = Background(database)
        store = FullStore(database, monkeypatch)
        runner = ToolRunner([later, values], background=background)
        await runner.process_tool_calls([("later", {}), ("values", {})])
        await asyncio.sleep(0)
        store.is_full = True
        go.set()
        while not background.is_idle or background.subscriptions[0].is_open:
            await asyncio.sleep(0)
        assert background.tasks[0].status == "done"
        assert len(background.inbox) == 0
        store.is_full = False
        contents = [(await background.inbox.receive(10)).content for _ in range(2)]
        assert sorted(contents, key=str) == [1, {"subscription": "ended"}]
        await background.close()

    run(main)
    assert "could not be kept yet" in caplog.text


def test_work_of_another_loop_can_be_cancelled() -> None:
    @tool(long_running=True)
    async def forever() -> None:
        """Wait."""
        await asyncio.Event().wait()

    @tool
    async def values() -> AsyncIterator[int]:
        """Wait."""
        yield 1
        await asyncio.Event().wait()

    background = Background()
    runner = ToolRunner([forever, values], background=background)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    started = runner.process_tool_calls([("forever", {}), ("values", {})])
    asyncio.run_coroutine_threadsafe(started, loop).result(10)
    (task,), (subscription,) = background.tasks, background.subscriptions
    assert asyncio.run(background.cancel(task.task_id)).status == "cancelled"
    found = asyncio.run(background.cancel_subscription(subscription.id))
    assert found.status == "cancelled"
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_work_whose_loop_was_closed_counts_as_interrupted() -> None:
    @tool(long_running=True)
    async def forever() -> None:
        """Wait."""
        await asyncio.Event().wait()

    background = Background()
    runner = ToolRunner([forever], background=background)
    loop = asyncio.new_event_loop()
    first = loop.run_until_complete(runner.execute("forever"))
    left = asyncio.all_tasks(loop)
    loop.close()

    async def main() -> None:
        again = await runner.execute("forever")
        assert again["task_id"] != first["task_id"], "the other one never goes on"
        assert background.task(first["task_id"]).status == "interrupted"  # type: ignore[union-attr]
        await background.close()

    asyncio.run(main())
    for task in left:
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        task.get_coro().close()  # type: ignore[union-attr]


def test_results_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "KEPT_RESULTS", 3)

    @tool(long_running=True)
    async def big(number: int) -> bytes:
        """Return much."""
        return b"x" * 10

    async def main() -> None:
        background = Background()
        runner = ToolRunner([big], background=background)
        ids = [(await runner.execute("big", number=n))["task_id"] for n in range(9)]
        for task_id in ids:
            asked = await runner.execute("check_big", task_id=task_id, wait=10)
            assert asked["status"] == "done"
        assert len(background._tasks._results) == 3
        assert background.task_result(ids[0]) == background.tasks[0].result

    run(main)


def test_blocking_tasks_share_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "MAX_THREADS", 4)
    at_once, most, lock = 0, 0, threading.Lock()

    @tool(mode="dispatched")
    def block(number: int) -> None:
        """Block a thread."""
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        threading.Event().wait(0.005)
        with lock:
            at_once -= 1

    async def main() -> None:
        background = Background()
        runner = ToolRunner([block], background=background)
        await runner.process_tool_calls([("block", {"number": n}) for n in range(40)])
        for _ in range(40):
            await background.inbox.receive(10)

    run(main)
    assert most <= 4


def test_a_call_that_was_answered_for_holds_nothing_back() -> None:
    """It holds on to its cancellation; its batch has been answered without it."""

    async def main() -> None:
        let_go = asyncio.Event()

        @tool
        async def stubborn() -> None:
            """Go on."""
            while not let_go.is_set():
                try:
                    await let_go.wait()
                except asyncio.CancelledError:
                    continue

        background = Background()
        batch = ToolRunner([stubborn], background=background).batch([("stubborn", {})])
        running = asyncio.create_task(batch.run())
        await asyncio.sleep(0.01)
        batch.stop()
        (result,) = await running
        assert result.status == "cancelled"
        assert not background.inbox.held
        assert background.is_idle
        let_go.set()
        await asyncio.sleep(0.01)
        assert background.is_idle

    run(main)


def test_a_background_that_could_not_be_read_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(self: Inbox) -> None:
        raise StoreError("unreadable")

    database = Database.open(None)
    with monkeypatch.context() as patch:
        patch.setattr(Inbox, "_load", fail)
        with pytest.raises(StoreError):
            Background.of(database)
    assert Background.of(database).inbox.items == ()


def test_anything_with_a_json_form_can_be_sent() -> None:
    import numpy as np

    background = Background()
    assert background.send(np.arange(3)).content == [0, 1, 2]
    assert background.send(0).content == 0
