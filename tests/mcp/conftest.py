"""Servers are real processes; tests that are coroutines run on an event loop of their own."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from coroutines import run_coroutine

SERVERS = Path(__file__).parent / "servers"


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine, at most 30 seconds."""
    return run_coroutine(pyfuncitem, 30)


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Run a server of this folder that speaks HTTP, and give its address.

    ``listening("web", "argument", port=0)``; a port that is 0 is one that is free.
    """
    processes: list[subprocess.Popen[bytes]] = []

    def listening(script: str, *arguments: str, port: int = 0) -> str:
        port = port or free_port()
        command = [sys.executable, str(SERVERS / f"{script}.py"), str(port), *arguments]
        process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
        processes.append(process)
        wait_for(port, process)
        return f"http://127.0.0.1:{port}/mcp"

    listening.processes = processes
    yield listening
    for process in processes:
        process.kill()
        process.communicate()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        assert process.poll() is None, process.communicate()[1].decode()
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError("the server did not come up")
