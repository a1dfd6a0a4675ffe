"""A server of tools that read nothing, under any names: ``named.py NAME...``, made with the SDK."""

from __future__ import annotations

import sys

import anyio
import mcp.types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

who, *names = sys.argv[1:]
READS = types.ToolAnnotations(read_only_hint=True)


async def listed(ctx: object, params: object) -> types.ListToolsResult:
    schema = {"type": "object"}
    tools = [types.Tool(name=name, input_schema=schema, annotations=READS) for name in names]
    return types.ListToolsResult(tools=tools)


async def called(ctx: object, params: types.CallToolRequestParams) -> types.CallToolResult:
    words = f"{params.name} of {who}"
    return types.CallToolResult(content=[types.TextContent(type="text", text=words)])


server = Server(who, on_list_tools=listed, on_call_tool=called)


async def main() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


anyio.run(main)
