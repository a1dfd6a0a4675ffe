"""Servers that no SDK would make: each of their ways has a stated end, soon, and in little memory."""

from __future__ import annotations

import asyncio
import re
import resource
import time

import pytest
from mcp_servers import remarked, result_of, started

from agtools_nb import Progress, ToolContext, ToolRunner, declaration
from agtools_nb.errors import ServerError

LEGAL = re.compile(r"[A-Za-z0-9_-]{1,64}")


def raw(scenario: str, **options):
    return started("raw", scenario, **options)


def peak() -> int:
    """Most memory that this process ever held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


async def called(scenario: str, *, seconds: float = 5.0, **options):
    """The result of the one tool of a scenario, and the server after it."""
    async with raw(scenario, **options) as server:
        runner = ToolRunner(server.tools(), context=ToolContext(), timeout=seconds)
        return await result_of(runner, "go")


@pytest.mark.parametrize(
    ("scenario", "words", "count"),
    [
        ("endless", "only the first 100 pages", 100),
        ("circle", "goes round in circles", 2),
        ("many", "only the first 1,000 tools", 1_000),
    ],
)
async def test_lists_without_end(scenario: str, words: str, count: int) -> None:
    async with remarked(raw(scenario), words) as server:
        assert len(server.tools()) == count


async def test_names() -> None:
    """Each tool has one name, legal and its own, whatever the server calls it."""
    async with remarked(raw("names"), "a second tool named 'plain'|2 tools are left") as server:
        names = {tool.remote_name: tool.name for tool in server.tools()}
        assert set(server.left_out) == {"", "y" * 500}
        notes = server.notes
    assert len(names) == 16
    assert len(set(names.values())) == 16
    assert all(LEGAL.fullmatch(name) for name in names.values())
    assert names["plain"] == "plain"
    assert names["read_file"] == "read_file"
    assert names["read-file"] == "read-file"
    assert names["café"] == "cafe"
    # What would be the same as another has a hash that depends on nothing but itself.
    assert re.fullmatch(r"read_file_[0-9a-f]{6}", names["read/file"])
    assert re.fullmatch(r"tool_[0-9a-f]{6}", names["☃"])
    assert names["☃"] != names["☁"]
    assert re.fullmatch(r"plain_[0-9a-f]{6}", names["ｐｌａｉｎ"])
    assert "the tool 'a\\nb' is registered as 'a_b'" in notes
    assert all(note.isprintable() for note in notes)


async def test_schemas() -> None:
    """A schema that leads elsewhere, or is a bomb, costs its tool only; nothing is fetched."""
    async with remarked(raw("schemas"), "9 tools are left out: .remote.: its input") as server:
        tools = {tool.name: tool for tool in server.tools()}
        why = server.left_out
        assert tools.keys() == {"fine", "hang", "odd", "output"}
        assert "nothing is fetched" in why["remote"]
        assert "nothing is fetched" in why["file"]
        assert "deeper than 64" in why["deep"]
        assert "more than 20,000 parts" in why["doubled"]
        assert "more than 20,000 parts" in why["anchored"]
        assert "300,0" in why["large"]
        assert "itself" in why["circle"]
        assert "JSON type" in why["broken"]
        assert "filled in by the runner" in why["context"]
        assert tools["output"].response_schema is None
        assert any("output schema of 'output' is left out" in note for note in server.notes)
        for provider in ("openai", "anthropic", "gemini", "mcp"):
            declaration(tools["odd"], provider)
        runner = ToolRunner(tools.values(), context=ToolContext())
        began = time.monotonic()
        await result_of(runner, "hang", a="a" * 50_000 + "!")
        assert time.monotonic() - began < 5
        odd = dict.fromkeys(("self", "tool", "ctx", "a b", "arguments", ""), "x")
        [result] = await runner.process_tool_calls([{"name": "odd", "args": odd}])
        assert result.result == "gone"


async def test_descriptions_stay_text() -> None:
    async with raw("described") as server:
        [tool] = server.tools()
        assert tool.description.startswith("<script>alert(1)</script>[2Jevil long long")
        assert len(tool.description) < 8_200
        assert tool.description.endswith("[cut: these are the first 8,000 of 50,037 characters]")
        assert tool.title == "<b>T</b> x"


async def test_a_result_of_100_mb() -> None:
    """It is dropped as it comes: the call fails at once, and the connection goes on."""
    before = peak()
    async with raw("large") as server:
        runner = ToolRunner(server.tools(), context=ToolContext())
        for _ in range(2):
            result = await result_of(runner, "go")
            assert result.status == "error"
            assert "its answer was dropped: it has 100,000,0" in result.error
            assert server.is_connected
    assert peak() - before < 120


@pytest.mark.parametrize(
    ("scenario", "words", "options"),
    [
        ("id_at_the_end", "dropped: it has 2,000,0", {"max_bytes": 1_000_000}),
        ("objects", "objects, more than 200,000", {}),
        ("deep", "its answer is not a message that can be read", {}),
        ("untyped_result", "does not fit the protocol", {}),
        ("refused", "refused the call with error -32000: not today zzz", {}),
    ],
)
async def test_results_that_are_none(scenario: str, words: str, options: dict) -> None:
    result = await called(scenario, **options)
    assert result.status == "error"
    assert words in result.error
    assert len(result.error) < 12_000


async def test_results_that_are_odd() -> None:
    blocks = await called("blocks")
    assert len(blocks.result) == 1_001
    assert blocks.result[-1] == "[4,000 more parts are left out]"
    assert (await called("noise")).result == "done"
    assert "not supported" in (await called("asks")).result


async def test_a_flood_is_thinned_out() -> None:
    """Progress and changes without end hold up neither the call nor the memory."""
    async with raw("flood") as server:
        runner = ToolRunner(server.tools(), context=ToolContext())
        began = time.monotonic()
        seen = [one async for one in runner.stream([("go", {})], progress=True)]
        assert seen[-1].result == "done"
        assert time.monotonic() - began < 20
        assert sum(isinstance(one, Progress) for one in seen) <= 1_000
        await asyncio.sleep(0.7)
        await result_of(runner, "go")
        [tool] = server.tools()
        assert 2 <= int(tool.description.split()[1]) <= 20


async def test_a_server_that_does_not_read() -> None:
    """Calls end in time, are stopped at once, and closing ends the process."""
    async with raw("deaf") as server:
        runner = ToolRunner(server.tools(), context=ToolContext())
        calls = [{"name": "go", "args": {"a": "x" * 100_000}}] * 10
        began = time.monotonic()
        results = await runner.process_tool_calls(calls, timeout=0.5)
        assert {one.status for one in results} == {"error"}
        assert time.monotonic() - began < 5
        task = asyncio.create_task(runner.process_tool_calls(calls))
        await asyncio.sleep(0.1)
        task.cancel()
        began = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - began < 3
        began = time.monotonic()
    assert time.monotonic() - began < 8


@pytest.mark.parametrize(
    ("scenario", "words", "options"),
    [
        ("exit", "exit code 4.*\nIts last words:\nno config found", {}),
        ("mute", "did not answer within 0.5 s", {"connect_timeout": 0.5}),
        (
            "untyped",
            r"cannot be used: its answer does not fit the protocol: tools.0.inputSchema: .*tools.1.inputSchema",
            {},
        ),
        ("bottomless", "its answer is not a message that can be read", {}),
    ],
)
async def test_servers_that_cannot_be_used(scenario: str, words: str, options: dict) -> None:
    began = time.monotonic()
    with pytest.raises(ServerError, match=words):
        await raw(scenario, **options).connect()
    assert time.monotonic() - began < 10
