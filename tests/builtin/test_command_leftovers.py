"""``run_command``: what makes itself independent is ended all the same, or told of."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from builtin.trusting import trusting

from agtools_nb import ToolResult
from agtools_nb.builtin.command import run_command_tool, running

# A program that starts another one in its own way, waits until that one runs, and ends or stays.
STARTER = """
import os, subprocess, sys, time
how, after = sys.argv[1:]
sleeper = [sys.executable, "-c", '''
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open("pid.tmp", "w") as file: file.write(str(os.getpid()))
os.rename("pid.tmp", "pid")
time.sleep(600)
''']
quiet = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
if how == "session":
    subprocess.Popen(sleeper, start_new_session=True, **quiet)
elif how == "holding":
    subprocess.Popen(sleeper, start_new_session=True)
elif how == "cleared":
    subprocess.Popen(sleeper, start_new_session=True, env={}, **quiet)
elif os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.dup2(1, 2)
        os.execv(sys.executable, sleeper)
    os._exit(0)
while not os.path.exists("pid"): time.sleep(0.01)
if after == "stay": time.sleep(600)
"""


def is_there(pid: int) -> bool:
    """Whether a process is there and is no zombie that nobody has collected."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def gone(pid: int) -> bool:
    until = time.monotonic() + 10
    while is_there(pid) and time.monotonic() < until:
        await asyncio.sleep(0.01)
    return not is_there(pid)


async def ran(folder: Path, how: str, after: str, **arguments: Any) -> ToolResult:
    (folder / "starter.py").write_text(STARTER)
    command = [sys.executable, "starter.py", how, after]
    calls = [("run_command", {"command": command, **arguments})]
    (result,) = await trusting(run_command_tool(folder)).process_tool_calls(calls)
    return result


def pid_in(folder: Path) -> int:
    return int((folder / "pid").read_text())


@pytest.mark.parametrize("how", ["session", "holding", "daemon"])
@pytest.mark.parametrize("after", ["end", "stay"])
def test_a_session_of_its_own_is_no_way_out(tmp_path: Path, how: str, after: str) -> None:
    async def main() -> None:
        result = await ran(tmp_path, how, after, timeout=60 if after == "end" else 5)
        assert await gone(pid_in(tmp_path))
        words = "It left programs running, which were ended"
        if after == "stay":
            words = "was ended with all that it had started"
        assert words in result.unwrap()["note"]

    asyncio.run(main())


def test_a_stopped_call_ends_a_daemon_too(tmp_path: Path) -> None:
    async def main() -> None:
        call = asyncio.create_task(ran(tmp_path, "daemon", "stay"))
        until = time.monotonic() + 30
        while not (tmp_path / "pid").exists():
            assert time.monotonic() < until, "it did not start"
            await asyncio.sleep(0.01)
        call.cancel()
        await asyncio.wait([call])
        assert await gone(pid_in(tmp_path))

    asyncio.run(main())


def test_who_clears_its_environment_is_not_known(tmp_path: Path) -> None:
    """As the documentation says."""

    async def main() -> None:
        result = await ran(tmp_path, "cleared", "end")
        pid = pid_in(tmp_path)
        assert is_there(pid)
        os.kill(pid, signal.SIGKILL)
        assert "note" not in result.unwrap()

    asyncio.run(main())


def test_what_cannot_be_ended_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as what became another user's."""

    async def main() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(running, "signal_session", lambda *given: None)
            patch.setattr(running, "STOPPED_SECONDS", 0.1)
            result = await ran(tmp_path, "session", "end")
        os.kill(pid_in(tmp_path), signal.SIGKILL)
        assert await gone(pid_in(tmp_path))
        assert "could not be ended, and runs on" in result.unwrap()["note"]

    asyncio.run(main())


def test_others_with_such_a_variable_are_left_alone(tmp_path: Path) -> None:
    """Each call has its own mark."""

    async def main() -> None:
        (tmp_path / "a").mkdir()
        (tmp_path / "b").mkdir()
        first = asyncio.create_task(ran(tmp_path / "a", "daemon", "stay"))
        until = time.monotonic() + 30
        while not (tmp_path / "a" / "pid").exists():
            assert time.monotonic() < until, "it did not start"
            await asyncio.sleep(0.01)
        await ran(tmp_path / "b", "daemon", "end")
        assert is_there(pid_in(tmp_path / "a"))
        assert await gone(pid_in(tmp_path / "b"))
        first.cancel()
        await asyncio.wait([first])
        assert await gone(pid_in(tmp_path / "a"))

    asyncio.run(main())
