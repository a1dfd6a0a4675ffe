"""These tools as a server: held against the SDK's own client, in a process of its own."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_servers import SERVERS, result_of, runner_of, until

import agtools_nb
from agtools_nb import ToolRunner, UsageError, tool
from agtools_nb.__main__ import main
from agtools_nb.mcp import MCPServer, serve

TOOLBOX = str(SERVERS / "toolbox.py")
PLACE = str(Path(agtools_nb.__file__).parent.parent)
COMMAND = [sys.executable, "-m", "agtools_nb", "serve"]


@asynccontextmanager
async def served(target: str = f"{TOOLBOX}:box", mode: str = "auto") -> AsyncIterator[Client]:
    """The SDK's client of a served toolbox."""
    parameters = StdioServerParameters(
        command=COMMAND[0],
        args=[*COMMAND[1:], target],
        env={"PYTHONPATH": PLACE},
    )
    with open("/dev/null", "w") as nowhere:  # noqa: ASYNC230, PTH123
        async with Client(stdio_client(parameters, errlog=nowhere), mode=mode) as client:
            yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_declarations_calls_results_and_progress(mode: str, tmp_path: Path) -> None:
    """In both eras of the protocol. The client checks results against the declared schemas."""
    async with served(mode=mode) as client:
        tools = {one.name: one for one in (await client.list_tools()).tools}
        assert list(tools) == ["add", "steps", "wait", "picture", "count", "fails", "later"]
        add = tools["add"]
        assert add.description == "Add two lengths."
        assert add.input_schema["properties"]["unit"]["enum"] == ["m", "km"]
        assert add.output_schema["required"] == ["total"]
        assert add.annotations.read_only_hint is True
        assert client.server_info.name == "toolbox"

        # What the tool and the module print misses the wire; arguments are coerced.
        done = await client.call_tool("add", {"a": "1", "b": 2})
        assert (done.structured_content, done.is_error) == ({"total": 3}, False)
        wrong = await client.call_tool("add", {"a": 1, "unit": "mile"})
        assert wrong.is_error
        assert "/b" in wrong.content[0].text
        unknown = await client.call_tool("ad", {})
        assert unknown.is_error
        assert "add" in unknown.content[0].text
        failed = await client.call_tool("fails")
        assert failed.is_error
        assert failed.content[0].text == "no such page Ask for page 1."
        picture = await client.call_tool("picture")
        assert [block.type for block in picture.content] == ["text", "image"]
        # Whoever cannot wait has no inbox to look into.
        assert (await client.call_tool("later")).content[0].text == "at last"
        assert (await client.call_tool("count")).content[0].text == "1"
        assert (await client.call_tool("count")).content[0].text == "2"

        reports: list[tuple[float, float | None, str | None]] = []

        async def follow(progress: float, total: float | None, message: str | None) -> None:
            reports.append((progress, total, message))

        await client.call_tool("steps", {"count": 2}, progress_callback=follow)
        assert [(round(at), total, words) for at, total, words in reports] == [
            (0, None, "about to begin"),
            (1, 2, "step 1"),
            (2, 2, "step 2"),
        ]
        assert reports == sorted(reports, key=lambda report: report[0])

        marks = tmp_path / "marks"
        arguments = {"seconds": 60, "marks": str(marks)}
        task = asyncio.create_task(client.call_tool("wait", arguments))
        await until(lambda: marks.exists() and marks.read_text() == "began")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: marks.read_text() == "ended")
        assert (await client.call_tool("count")).content[0].text == "3"


async def test_progress_only_with_a_token_and_by_that_token() -> None:
    """stream-04: seen on the wire; nothing is told without a token, or after the result."""
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCNotification, JSONRPCRequest

    parameters = StdioServerParameters(
        command=COMMAND[0],
        args=[*COMMAND[1:], f"{TOOLBOX}:box"],
        env={"PYTHONPATH": PLACE},
    )
    tokens = ("mine", 7, None, True, 1.5, {"a": 1})
    heard: list = []
    with open("/dev/null", "w") as nowhere:  # noqa: ASYNC230, PTH123
        async with stdio_client(parameters, errlog=nowhere) as (read, write):

            async def ask(id_: int, method: str, params: dict) -> None:
                request = JSONRPCRequest(jsonrpc="2.0", id=id_, method=method, params=params)
                await write.send(SessionMessage(request))
                while True:
                    message = (await read.receive()).message
                    heard.append(message)
                    if getattr(message, "id", None) == id_:
                        return

            info = {"name": "t", "version": "0"}
            opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
            await ask(0, "initialize", opening)
            begun = JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized")
            await write.send(SessionMessage(begun))
            for id_, token in enumerate(tokens, 1):
                params = {"name": "steps", "arguments": {"count": 2}}
                if token is not None:
                    params["_meta"] = {"progressToken": token}
                heard.clear()
                await ask(id_, "tools/call", params)
                told = [
                    m.params["progressToken"] for m in heard if isinstance(m, JSONRPCNotification)
                ]
                is_token = token == "mine" or token == 7
                assert told == [token] * (3 if is_token else 0), token
                assert heard[-1].id == id_


@pytest.fixture
def on_a_port(monkeypatch: pytest.MonkeyPatch) -> Iterator:
    """Serve the toolbox by HTTP; gives its address."""
    processes = []

    def on_a_port(token: str | None = None) -> str:
        if token:
            monkeypatch.setenv("AGTOOLS_TOKEN", token)
        monkeypatch.setenv("PYTHONPATH", PLACE)
        command = [*COMMAND, f"{TOOLBOX}:box", "--http", "--port", "0"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        processes.append(process)
        for line in process.stderr:
            if line.startswith("serving at "):
                return line.removeprefix("serving at ").strip()
        raise AssertionError("it did not come up")

    on_a_port.processes = processes
    yield on_a_port
    for process in processes:
        process.kill()
        process.communicate()


async def test_by_http(on_a_port) -> None:
    """Only who has the token; no web page; and our own client of our own server."""
    token = "a-token-of-some-length"
    url = on_a_port(token)
    async with httpx2.AsyncClient() as stranger:
        for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": token}):
            assert (await stranger.post(url, headers=headers, json={})).status_code == 401
        known = {"Authorization": f"Bearer {token}"}
        for more in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}):
            assert (await stranger.post(url, headers=known | more, json={})).status_code in (
                403,
                421,
            )
    async with (
        httpx2.AsyncClient(headers=known) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        done = await client.call_tool("add", {"a": 1, "b": 2})
        assert done.structured_content == {"total": 3}
    async with MCPServer("box", url=url, headers=known) as server:
        runner = runner_of(server, "add", "picture")
        assert (await result_of(runner, "add", a=1, b=2)).result == {"total": 3}
        assert (await result_of(runner, "picture")).media[0].mime_type == "image/png"
    on_a_port.processes[0].send_signal(2)
    began = time.monotonic()
    assert on_a_port.processes[0].wait(10) == 0
    assert time.monotonic() - began < 5


async def test_in_this_process(recwarn: pytest.WarningsRecorder) -> None:
    """As a task, beside other work; what is registered later is served, too."""

    @tool(read_only=True)
    def late() -> str:
        return "late"

    runner = ToolRunner([])
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve(runner, "http", port=0, ready=address.set_result))
    async with MCPServer("self", url=await address) as server:
        assert server.tools() == []
        runner.register(late)
        [found] = await server.refresh()
        assert await found() == "late"
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_subscriptions_are_not_served() -> None:
    async with served(f"{TOOLBOX}:with_ticks") as client:
        assert [one.name for one in (await client.list_tools()).tools] == ["add"]
        refused = await client.call_tool("ticks")
        assert refused.is_error
        assert "Tools: add" in refused.content[0].text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tools": 7}, "takes a Toolkit, a ToolRunner or a list"),
        ({"transport": "ftp"}, "must be 'stdio' or 'http'"),
        ({"transport": "http", "host": "0.0.0.0"}, "lets others on the network"),
        ({"transport": "http", "token": "short"}, "at least 16"),
        ({"transport": "http", "port": 99_999}, "port=0 takes a free port"),
    ],
    ids=repr,
)
async def test_what_cannot_be_served(options: dict, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        await serve(**{"tools": [], **options})


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("no_such_module:x", "there is no module 'no_such_module'"),
        ("no_such_file.py:x", "there is no file"),
        (f"{TOOLBOX}:nothing", "there are: box, with_ticks"),
        (TOOLBOX, "say which: .*there are: box, with_ticks"),
        ("math", "there is nothing in it to be served"),
    ],
)
def test_targets_that_are_none(target: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", target]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(words, err)
