"""Servers of ``tests/mcp/servers``, and calls of their tools, for the tests there.

Not in that folder: what is in there would be imported as a part of the SDK, which is ``mcp``, too.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agtools_nb import ToolContext, ToolRunner
from agtools_nb.mcp import MCPServer

SERVERS = Path(__file__).parent / "mcp" / "servers"


def started(script: str, *arguments: str, name: str = "demo", **options) -> MCPServer:
    """A server of this folder, to be started."""
    command = [sys.executable, str(SERVERS / f"{script}.py"), *arguments]
    return MCPServer(name, command=command, **options)


@asynccontextmanager
async def remarked(server: MCPServer, words: str) -> AsyncIterator[MCPServer]:
    """A connected server, if it is warned of on the way."""
    with pytest.warns(UserWarning, match=words):
        await server.connect()
    try:
        yield server
    finally:
        await server.close()


def runner_of(server: MCPServer, *names: str, **options) -> ToolRunner:
    tools = [tool for tool in server.tools() if tool.name in names]
    return ToolRunner(tools, context=ToolContext(), **options)


async def result_of(runner: ToolRunner, name: str, **arguments):
    [result] = await runner.process_tool_calls([{"name": name, "args": arguments}])
    return result


async def until(condition, seconds: float = 5.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)
