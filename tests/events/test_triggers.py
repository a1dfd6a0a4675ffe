"""Triggers: messages at times and when files change."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agtools_nb import Background, UsageError, every, on_file_change
from agtools_nb.events import triggers
from agtools_nb.events.triggers import Every


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time goes on only when nothing else is left to do, and then at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:  # type: ignore[attr-defined]
            self.now = max(self.now, self._scheduled[0]._when)  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


def run(main: Callable[[], Awaitable[None]]) -> None:
    with asyncio.Runner(loop_factory=Clock) as runner:
        runner.run(main())  # type: ignore[arg-type]


def test_every_sends_a_message_each_time() -> None:
    async def main() -> None:
        background, loop = Background(), asyncio.get_running_loop()
        began = loop.time()
        running = background.add_trigger(every(60, "look again"))
        times = []
        for _ in range(3):
            event = await background.inbox.receive()
            assert (event.kind, event.content) == ("message", "look again")
            times.append(loop.time() - began)
        assert times == pytest.approx([60, 120, 180])
        assert running.sent == 3
        await background.remove_trigger(running.id)
        await background.remove_trigger(running.id)
        assert background.triggers == ()

    run(main)


def test_times_that_were_missed_are_left_out() -> None:
    """The kernel was busy for five minutes: one message, and then on the old beat."""

    async def main() -> None:
        loop: Any = asyncio.get_running_loop()
        sent: list[float] = []
        began = loop.time()
        task = asyncio.create_task(
            Every(60, "tick").run(lambda _: sent.append(loop.time() - began))
        )
        await asyncio.sleep(1)
        loop.now += 300
        await asyncio.sleep(120)
        task.cancel()
        assert sent == pytest.approx([301, 360, 420])

    run(main)


def test_a_message_may_be_made_each_time() -> None:
    async def main() -> None:
        background = Background()
        numbers = iter(range(10))
        background.add_trigger(every(1, lambda: {"n": next(numbers)}))
        contents = [(await background.inbox.receive()).content for _ in range(2)]
        assert contents == [{"n": 0}, {"n": 1}]
        await background.close()

    run(main)


def test_a_trigger_that_fails_says_so(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        background = Background()
        changes: list[None] = []
        background.watch(lambda: changes.append(None))
        running = background.add_trigger(every(1, lambda: 1 / 0))
        while running.error is None:
            await asyncio.sleep(1)
        assert "division by zero" in running.error
        assert len(changes) >= 2
        assert background.triggers == (running,)

    run(main)
    assert "trigger every 1 s failed" in caplog.text


@pytest.mark.parametrize(
    "seconds", [0, -1, float("nan"), float("inf"), "60", None, True, 10**400, 1e-320, 1e-9]
)
def test_every_takes_seconds_in_range(seconds: Any) -> None:
    with pytest.raises(UsageError, match=r"a number from 0\.01 to"):
        every(seconds)


@pytest.mark.parametrize("message", [None, "", " "])
def test_every_sends_something(message: Any) -> None:
    with pytest.raises(UsageError, match="nothing to send"):
        every(1, message)


def test_a_message_is_made_by_a_plain_function(tmp_path: Path) -> None:
    async def make(*_: Any) -> str:
        return "later"

    with pytest.raises(UsageError, match="plain function"):
        every(1, make)
    with pytest.raises(UsageError, match="plain function"):
        on_file_change(tmp_path, make)


def test_a_folder_that_is_taken_away_ends_its_trigger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(triggers, "_GONE_SECONDS", 0.01)

    async def main() -> None:
        background, folder = Background(), tmp_path / "watched"
        folder.mkdir()
        running = background.add_trigger(on_file_change(folder))
        await asyncio.sleep(0.2)  # the watcher's own thread takes its place
        folder.rmdir()
        await background.inbox.receive(20)
        while running.error is None:
            await asyncio.sleep(0.01)
        assert "is gone" in running.error
        await background.close()

    asyncio.run(main())
    assert "is gone" in caplog.text


@pytest.mark.parametrize("bad", ["tick", every, Every, None])
def test_what_is_no_trigger(bad: Any) -> None:
    async def main() -> None:
        with pytest.raises(UsageError, match="is no trigger"):
            Background().add_trigger(bad)

    run(main)


def test_a_trigger_needs_a_loop() -> None:
    with pytest.raises(UsageError, match="running event loop"):
        Background().add_trigger(every(1))


def test_a_change_of_a_file_sends_a_message(tmp_path: Path) -> None:
    async def main() -> None:
        background = Background()
        background.add_trigger(on_file_change(tmp_path))
        background.add_trigger(on_file_change(tmp_path, lambda changes: f"{len(changes)} changed"))
        await asyncio.sleep(0.2)  # the watchers' own threads take their places
        (tmp_path / "a.txt").write_text("x")
        contents = [(await background.inbox.receive(20)).content for _ in range(2)]
        assert "1 changed" in contents
        (told,) = [one for one in contents if isinstance(one, dict)]
        assert told["changes"] == [{"change": "added", "path": str(tmp_path / "a.txt")}]
        await background.close()

    asyncio.run(main())


def test_a_file_that_is_not_there_cannot_be_watched(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        on_file_change(tmp_path / "nothing")
