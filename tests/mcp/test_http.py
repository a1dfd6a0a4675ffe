"""Servers that run elsewhere, by streamable HTTP."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from mcp_servers import result_of, runner_of, until

from agtools_nb import Progress, ToolContext, ToolRunner
from agtools_nb.errors import ServerError
from agtools_nb.mcp import MCPServer

Listening = Callable[..., str]


async def test_calls_headers_and_an_end(listening: Listening, tmp_path: Path) -> None:
    """The same as by stdio; and a server that is gone is connected to again once it is back."""
    marks = tmp_path / "marks"
    url = listening("web", str(marks))
    port = urlsplit(url).port
    server = MCPServer("far", url=url, headers={"Authorization": "Bearer sk-123456"})
    async with server:
        runner = runner_of(server, "add", "steps", "wait", "headers", "parts")
        assert (await result_of(runner, "headers")).result == {"result": "Bearer sk-123456"}
        assert (await result_of(runner, "add", a=1, b=2)).result == {"result": 3}
        assert len((await result_of(runner, "parts")).media) == 4
        seen = [one async for one in runner.stream([("steps", {"count": 2})], progress=True)]
        assert [one.done for one in seen if isinstance(one, Progress)] == [1, 2]

        task = asyncio.create_task(result_of(runner, "wait", seconds=60))
        await until(lambda: marks.exists() and "began" in marks.read_text())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: marks.read_text().split() == ["began", "cancelled"])

        marks.unlink()
        task = asyncio.create_task(result_of(runner, "wait", seconds=60))
        await until(lambda: marks.exists() and "began" in marks.read_text())
        listening.processes[0].kill()
        died = await task
        assert died.status == "error"
        assert "the MCP server 'far' ended while 'wait' ran" in died.error
        down = await result_of(runner, "add", a=1, b=2)
        assert "cannot be used" in down.error
        assert "The call was not made" in down.error
        for text in (repr(server), died.error, down.error):
            assert "sk-123456" not in text
        listening("web", str(marks), port=port)
        assert (await result_of(runner, "add", a=1, b=2)).result == {"result": 3}


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("json", "more than 1,000,000 bytes"),
        ("gzip", "compressed"),
        ("objects", "objects"),
        ("events", "1000000 byte limit"),
        ("elsewhere", "not followed"),
    ],
)
async def test_answers_that_are_too_much(listening: Listening, scenario: str, words: str) -> None:
    """Each costs its own call; the connection goes on."""
    url = listening("bomb", scenario)
    limit = 16_000_000 if scenario == "objects" else 1_000_000
    async with MCPServer("bomb", url=url, max_bytes=limit) as server:
        runner = ToolRunner(server.tools(), context=ToolContext())
        for _ in range(2):
            result = await result_of(runner, "go")
            assert result.status == "error"
            assert words in result.error
            assert server.is_connected


async def test_nobody_there() -> None:
    server = MCPServer("far", url="http://user:hunter2@127.0.0.1:9/mcp?key=sk-123456")
    began = time.monotonic()
    with pytest.raises(
        ServerError, match=r"\(at http://127.0.0.1:9/mcp\) cannot be used"
    ) as caught:
        await server.connect()
    assert time.monotonic() - began < 5
    for text in (str(caught.value), repr(server)):
        assert "hunter2" not in text
        assert "sk-123456" not in text
