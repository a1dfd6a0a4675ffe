"""Tools of a server that behaves: what they are, what they return, and how a call ends."""

from __future__ import annotations

import asyncio
import importlib.metadata
import os
import pickle
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mcp_servers import result_of, runner_of, started, until

from agtools_nb import Media, Progress, Strategy, UsageError
from agtools_nb.agent import ScriptedModel, Session
from agtools_nb.errors import ServerError
from agtools_nb.mcp import MCPServer

PNG = b"\x89PNG\r\n\x1a\n-not-really"


async def test_tools_and_results() -> None:
    """What a server declares becomes a tool, and what it returns a value with media in it."""
    async with started("good") as server:
        tools = {tool.name: tool for tool in server.tools()}
        assert list(tools)[:4] == ["add", "steps", "wait", "destroy"]
        add = tools["add"]
        assert add.description == "Add two <b>numbers</b>."
        assert (add.read_only, add.guarded, add.server_name) == (True, False, "demo")
        assert (tools["wait"].read_only, tools["wait"].guarded) == (False, False)
        assert (tools["destroy"].read_only, tools["destroy"].guarded) == (False, True)
        assert tools["wait"].title == "Adds"
        assert add.response_schema["required"] == ["result"]
        assert server.instructions == "Be gentle."
        assert re.fullmatch(
            r"<MCPServer 'demo' \(command 'python.*'\): connected, 13 tools>", repr(server)
        )

        runner = runner_of(
            server, "add", "parts", "both", "drawn", "nothing", "fails", check_results=True
        )
        # The server's own schema is what arguments are coerced and checked against.
        added = await result_of(runner, "add", a="1", b=2.0, tags='["x"]')
        assert added.result == {"result": 3}
        assert len(added.coercions) == 3
        wrong = await result_of(runner, "add", a="one")
        assert wrong.status == "invalid"

        parts = await result_of(runner, "parts")
        text, image, sound, bad, link, inside, report = parts.result
        assert (text, bad) == ("here", "[image/png: its data are no base64 text]")
        assert image == Media("image/png", PNG)
        assert (sound.mime_type, sound.data) == ("image/png", PNG)
        assert link == Media("text/csv", uri="https://example.org/a.csv", name="a")
        assert inside == {"uri": "note://1", "text": "inside"}
        assert report == Media("application/pdf", PNG, name="report.pdf")
        assert parts.media == (image, sound, link, report)

        both = await result_of(runner, "both")
        assert both.result == {"structured": {"n": 1}, "text": "in words"}
        drawn = await result_of(runner, "drawn")
        assert drawn.result["response"] == {"n": 1}
        assert drawn.media == (Media("image/png", PNG),)
        assert (await result_of(runner, "nothing")).result is None
        fails = await result_of(runner, "fails")
        assert (fails.status, fails.error) == ("error", "no such file: try 'b'")
    assert not server.is_connected


async def test_progress_and_a_conversation() -> None:
    """What a server reports is the call's progress; a model calls its tools as any others."""
    async with started("good") as server:
        runner = runner_of(server, "steps", "add")
        seen = [one async for one in runner.stream([{"name": "steps", "args": {}}], progress=True)]
        bars = [(one.done, one.total, one.chunk) for one in seen if isinstance(one, Progress)]
        assert bars == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
        assert seen[-1].result == {"result": "done"}

        turns = [("add", {"a": 1, "b": 2}), "three"]
        session = Session(ScriptedModel(turns), runner)
        reply = await session.chat("How much?")
        assert reply.text == "three"


async def test_cancelled_and_late_calls_are_told_to_the_server(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    async with started("good", str(marks)) as server:
        runner = runner_of(server, "wait", "add")
        task = asyncio.create_task(result_of(runner, "wait", seconds=60))
        await until(lambda: marks.exists() and "began" in marks.read_text())
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - began < 3
        await until(lambda: marks.read_text().split() == ["began", "cancelled"])

        marks.unlink()
        [late] = await runner.process_tool_calls(
            [{"name": "wait", "args": {"seconds": 60}}], timeout=0.5
        )
        assert late.status == "error"
        assert "within 0.5 s" in late.error
        await until(lambda: marks.read_text().split() == ["began", "cancelled"])
        assert (await result_of(runner, "add", a=1, b=1)).result == {"result": 2}


async def test_a_batch_runs_at_once() -> None:
    async with started("good") as server:
        runner = runner_of(server, "wait", strategy=Strategy.PARALLEL)
        began = time.monotonic()
        calls = [{"name": "wait", "args": {"seconds": 1}}] * 10
        results = await runner.process_tool_calls(calls)
        assert [one.result for one in results] == [{"result": "waited"}] * 10
        assert time.monotonic() - began < 6


async def test_a_server_that_dies_is_started_again() -> None:
    """A call during which it ends says so, with its last words; the next one starts it anew."""
    server = started("good", env={"KEY": "secret-of-the-environment"})
    async with server:
        runner = runner_of(server, "die", "wait", "add")
        [died, waited] = await runner.process_tool_calls(
            [{"name": "die", "args": {}}, {"name": "wait", "args": {"seconds": 30}}]
        )
        assert died.status == waited.status == "error"
        assert "ended while 'die' ran (it ended with exit code 3; it said last: ***" in died.error
        assert "secret" not in died.error
        assert "ended while 'wait' ran" in waited.error
        results = await runner.process_tool_calls(
            [{"name": "add", "args": {"a": 1, "b": n}} for n in range(5)]
        )
        assert [one.result for one in results] == [{"result": n + 1} for n in range(5)]
    after = await result_of(runner, "add", a=1, b=2)
    assert "is not connected" in after.error


async def test_only_what_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server does not inherit the variables of the notebook, where keys are."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-123")
    async with started("good", env={"MINE": "1"}, cwd=tmp_path) as server:
        result = (await result_of(runner_of(server, "environment"), "environment")).result
        assert result["MINE"] == "1"
        assert result["folder"] == str(tmp_path.resolve())  # noqa: ASYNC240
        assert "OPENAI_API_KEY" not in result
        assert result["PATH"] == os.environ["PATH"]


async def test_changed_tools_are_listed_anew() -> None:
    async with started("good") as server:
        told = asyncio.Event()
        unwatch = server.watch(lambda of: told.set())
        assert "nothing" in [tool.name for tool in server.tools()]
        await result_of(runner_of(server, "grow"), "grow")
        await asyncio.wait_for(told.wait(), 5)
        names = [tool.name for tool in server.tools()]
        assert "late" in names
        assert "nothing" not in names
        assert {"the tool 'late' is new", "the tool 'nothing' is gone"} <= set(server.notes)
        unwatch()
        assert (await result_of(runner_of(server, "late"), "late")).result == {"result": "late"}


async def test_connecting_and_closing_in_any_order() -> None:
    """Cells are tasks of their own; to connect or close twice does nothing more."""
    server = started("good")
    with pytest.raises(UsageError, match="is not connected: write 'async with server:'"):
        server.tools()
    await asyncio.gather(*(asyncio.create_task(server.connect()) for _ in range(3)))
    assert server.is_connected
    await asyncio.create_task(server.close())
    await server.close()
    connecting = asyncio.create_task(server.connect())
    await asyncio.sleep(0.05)
    await server.close()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    assert not server.is_connected


def test_from_another_loop_and_after_it() -> None:
    """A connection lives on one loop; calls come from any, and after it ended it is made anew."""
    server = started("good")

    async def connected() -> None:
        await server.connect()
        tools = runner_of(server, "add")
        far = await asyncio.to_thread(asyncio.run, result_of(tools, "add", a=1, b=2))
        assert far.result == {"result": 3}

    async def later() -> None:
        assert not server.is_connected
        assert (await result_of(runner_of(server, "add"), "add", a=2, b=2)).result == {"result": 4}
        await server.close()

    asyncio.run(connected())
    asyncio.run(later())


async def test_what_is_not_believed() -> None:
    """Whoever does not trust a server is asked about each of its tools."""
    async with started("good", trust_annotations=False, prefix=True, timeout=None) as server:
        tools = server.tools()
        assert all(tool.guarded and not tool.read_only for tool in tools)
        assert all(tool.name == f"demo_{tool.remote_name}" for tool in tools)
        assert {tool.timeout for tool in tools} == {None}
        assert await tools[0](a=1, b=2) == {"result": 3}


def test_the_sdk_is_imported_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys, agtools_nb.mcp; print('mcp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

    def none(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    for version, words in ((none, "is not installed"), (lambda name: "1.9.4", r"too old here \(1")):
        monkeypatch.setattr(importlib.metadata, "version", version)
        with pytest.raises(UsageError, match=rf"{words}.*: pip install 'agtools_nb\[mcp\]'"):
            asyncio.run(started("good").connect())


async def test_a_program_that_is_not_there() -> None:
    server = MCPServer("x", command=["no-such-program-anywhere", "--key=sk-123"])
    with pytest.raises(
        ServerError, match=r"'no-such-program-anywhere'\) cannot be used: .*No such"
    ) as caught:
        await server.connect()
    assert "sk-123" not in str(caught.value)
    assert "sk-123" not in repr(server)


def test_it_is_never_pickled() -> None:
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(started("good"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "exactly one of command="),
        ({"command": ["a"], "url": "http://a"}, "exactly one of command="),
        ({"command": "python server.py"}, "no shell reads it"),
        ({"command": []}, "is a list, the program first"),
        ({"command": ["a", "b\0"]}, "without NUL"),
        ({"command": ["a", 1]}, "is text"),
        ({"command": ["a"], "headers": {"A": "b"}}, "headers= is for url="),
        ({"url": "http://a", "env": {}}, "env= is for command="),
        ({"url": "ftp://a"}, "is an address such as"),
        ({"url": "http://u:hunter2@/x"}, "is an address such as"),
        ({"url": "http://a:99999999"}, "is an address such as"),
        ({"url": "http://a", "headers": {"A": "b\r\nC: d"}}, "no HTTP header"),
        ({"url": "http://a", "headers": {"A:": "hunter2"}}, "no HTTP header"),
        ({"url": "http://a", "headers": {"A": 7}}, "must be text, not int"),
        ({"url": "http://a", "headers": ["hunter2"]}, "is a dict"),
        ({"command": ["a"], "timeout": -1}, "timeout"),
        ({"command": ["a"], "connect_timeout": 0}, "connect_timeout"),
        ({"command": ["a"], "max_bytes": 0}, "max_bytes"),
    ],
    ids=repr,
)
def test_what_leads_to_no_server(options: dict, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        MCPServer("files", **options)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("name", ["", " a", "a*", "a[1]", "a\nb", "x" * 101, None, 7])
def test_names_that_no_rule_could_name(name) -> None:
    with pytest.raises(UsageError, match="server's name is text"):
        MCPServer(name, command=["a"])
