"""The tools that come with events: sleeping, ending subscriptions, watching files, tailing output."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agtools_nb import Background, Event, ToolCall, ToolRunner, UsageError
from agtools_nb.builtin import (
    sleep_tool,
    tail_process_tool,
    watch_files_tool,
)
from agtools_nb.builtin.tailing import LONGEST_LINE, MOST_LINES


def run(main: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(main())  # type: ignore[arg-type]


async def until(background: Background, wanted: Callable[[Event], bool]) -> Event:
    while True:
        event = await background.inbox.receive(20)
        if wanted(event):
            return event


def test_sleep_lets_events_through_and_may_be_woken() -> None:
    async def main() -> None:
        background = Background()
        runner = ToolRunner([sleep_tool(background)], background=background)
        sleeping = asyncio.create_task(runner.execute("sleep", seconds=3_000, until_event=True))
        await asyncio.sleep(0)
        assert not background.inbox.held
        background.send("wake up")
        found = await asyncio.wait_for(sleeping, 20)
        assert found["woken_by_event"] is True
        found = await runner.execute("sleep", seconds=3_000, until_event=True)
        assert found["woken_by_event"] is True, "one that is there already"
        found = await runner.execute("sleep", seconds="0")
        assert found["woken_by_event"] is False
        (result,) = await runner.process_tool_calls([("sleep", {"seconds": -1})])
        assert result.status == "invalid"

    run(main)


def test_a_model_ends_a_subscription_by_its_id(tmp_path: Path) -> None:
    async def main() -> None:
        background = Background()
        runner = ToolRunner([watch_files_tool(tmp_path)], background=background)
        assert runner.tool_names == ("watch_files", "cancel_subscription")
        await runner.process_tool_calls([ToolCall("watch_files", {}, "w1")])
        for _ in range(2):
            ended = await runner.execute("cancel_subscription", subscription_id="w1")
            assert ended == {"subscription_id": "w1", "status": "cancelled", "events": 0}
        (result,) = await runner.process_tool_calls(
            [("cancel_subscription", {"subscription_id": "w2"})]
        )
        assert "no subscription 'w2'" in (result.error or "")

    run(main)


def test_changes_of_files_become_events(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()

    async def main() -> None:
        background = Background()
        runner = ToolRunner([watch_files_tool(tmp_path)], background=background)
        (result,) = await runner.process_tool_calls([("watch_files", {"path": "in"})])
        assert result.result == {"watching": "in"}
        await asyncio.sleep(0.2)  # the watcher's own thread takes its place
        (tmp_path / "outside.txt").write_text("no")
        (tmp_path / "in" / "é.txt").write_text("yes")
        event = await until(background, lambda one: True)
        assert event.content["changes"][0] == {"change": "added", "path": "in/é.txt"}
        await background.close()

    run(main)


@pytest.mark.parametrize(
    "path", ["..", "/etc", "in/../..", "link", "in\0", "a" * 5_000, "nothing", "in/../../x"]
)
def test_nothing_outside_of_the_folder_is_watched(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    (root / "in").mkdir(parents=True)
    (root / "link").symlink_to("/etc")

    async def main() -> None:
        background = Background()
        runner = ToolRunner([watch_files_tool(root)], background=background)
        (result,) = await runner.process_tool_calls([("watch_files", {"path": path})])
        assert result.status == "error"
        assert "to be watched" in (result.error or "")

    run(main)


async def tailed(code: str, *arguments: str) -> tuple[Background, Any]:
    background = Background()
    runner = ToolRunner([tail_process_tool([sys.executable])], background=background)
    command = [sys.executable, "-u", "-c", code, *arguments]
    (result,) = await runner.process_tool_calls(
        [ToolCall("tail_process", {"command": command}, "p1")]
    )
    return background, result


async def lines_of(background: Background) -> tuple[list[str], Any]:
    lines: list[str] = []
    while True:
        event = await background.inbox.receive(20)
        if "exit_code" in event.content:
            return lines, event.content["exit_code"]
        assert len(event.content["lines"]) <= MOST_LINES
        lines += event.content["lines"]


def test_what_a_process_prints_becomes_events() -> None:
    code = "import sys; print('a'); print('b\\r'); sys.stderr.write('é'); sys.exit(3)"

    async def main() -> None:
        background, result = await tailed(code)
        assert result.result["pid"] > 0
        assert await lines_of(background) == (["a", "b", "é"], 3)
        assert background.inbox.items[-1].final
        assert len(background.inbox) == 0

    run(main)


def test_many_and_endless_lines_are_cut() -> None:
    code = f"print('x' * {LONGEST_LINE * 3}); [print(n) for n in range({MOST_LINES * 2})]"

    async def main() -> None:
        background, _ = await tailed(code)
        lines, exit_code = await lines_of(background)
        assert exit_code == 0
        assert "".join(lines[:3]) == "x" * LONGEST_LINE * 3
        assert lines[-1] == str(MOST_LINES * 2 - 1)

    run(main)


def test_a_closed_tail_ends_all_that_the_process_started() -> None:
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid)\ntime.sleep(600)"
    )

    async def main() -> None:
        background, result = await tailed(code)
        event = await background.inbox.receive(20)
        child = int(event.content["lines"][0])
        await background.cancel_subscription("p1")
        deadline = time.monotonic() + 10
        while any(map(_runs, (result.result["pid"], child))):
            assert time.monotonic() < deadline, "it still runs"
            await asyncio.sleep(0.01)

    run(main)


@pytest.mark.parametrize("ignores_sigterm", [False, True])
def test_a_process_that_prints_without_end_can_be_ended(ignores_sigterm: bool) -> None:
    """Its pipe is full, and nobody reads it any more."""
    code = "import signal\nwhile True: print('y' * 1_000)"
    if ignores_sigterm:
        code = code.replace("signal\n", "signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n")

    async def main() -> None:
        background, result = await tailed(code)
        while background.inbox.waiting_of("p1") < 3:
            await asyncio.sleep(0.01)
        began = time.monotonic()
        assert (await background.cancel_subscription("p1")).status == "cancelled"
        assert not _runs(result.result["pid"])
        if not ignores_sigterm:
            assert time.monotonic() - began < 1.9, "it was not waited for in vain"

    run(main)


def _runs(pid: int) -> bool:
    """Whether a process is there and is no zombie that nobody has collected."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize("command", [["sh", "-c", "true"], ["/bin/sh"], ["no such program"]])
def test_only_named_programs_run(command: list[str]) -> None:
    async def main() -> None:
        background = Background()
        tools = [tail_process_tool(["make", "no such program"])]
        runner = ToolRunner(tools, background=background)
        (result,) = await runner.process_tool_calls([("tail_process", {"command": command})])
        assert result.status == "error"
        assert "Programs: make" in (result.error or "")

    run(main)


def test_authors_are_told_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        watch_files_tool(tmp_path / "nothing")
    with pytest.raises(UsageError, match="no such folder"):
        tail_process_tool(["make"], folder=tmp_path / "nothing")
    for nothing in ([], "make"):
        with pytest.raises(UsageError, match="name the programs"):
            tail_process_tool(nothing)
