"""A well-behaved server, made with the SDK; it marks in a file what became of its calls."""

from __future__ import annotations

import base64
import os
import sys
from pathlib import Path

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)

PNG = b"\x89PNG\r\n\x1a\n-not-really"
MARKS = Path(sys.argv[1]) if len(sys.argv) > 1 else None

server = MCPServer("good", instructions="Be\x00 gentle.")
reads = ToolAnnotations(read_only_hint=True)
adds = ToolAnnotations(destructive_hint=False, title="Adds")


def mark(word: str) -> None:
    if MARKS:
        with MARKS.open("a") as file:
            file.write(f"{word}\n")


@server.tool(annotations=reads)
def add(a: int, b: int, tags: list[str] | None = None) -> int:
    """Add two <b>numbers</b>."""
    return a + b


@server.tool(annotations=reads)
async def steps(ctx: Context, count: int = 3) -> str:
    for number in range(count):
        await ctx.report_progress(number + 1, count, f"step {number + 1}\x07")
    return "done"


@server.tool(annotations=adds)
async def wait(seconds: float) -> str:
    mark("began")
    try:
        await anyio.sleep(seconds)
    except BaseException:
        mark("cancelled")
        raise
    return "waited"


@server.tool()
def destroy() -> str:
    return "destroyed"


@server.tool(annotations=adds)
def die() -> str:
    print("first line\nsecret-of-the-environment is why", file=sys.stderr, flush=True)
    os._exit(3)


@server.tool(annotations=reads)
def environment() -> dict[str, str]:
    return {"folder": str(Path.cwd()), **os.environ}


@server.tool(annotations=reads)
def parts() -> CallToolResult:
    data = base64.b64encode(PNG).decode()
    blob = BlobResourceContents(uri="file:///x/report.pdf", mime_type="application/pdf", blob=data)
    return CallToolResult(
        content=[
            TextContent(type="text", text="here"),
            ImageContent(type="image", data=data, mime_type="image/png"),
            AudioContent(type="audio", data=data, mime_type="not a type"),
            ImageContent(type="image", data="@@", mime_type="image/png"),
            ResourceLink(type="resource_link", uri="https://example.org/a.csv", name="a"),
            EmbeddedResource(
                type="resource",
                resource=TextResourceContents(uri="note://1", text="inside"),
            ),
            EmbeddedResource(type="resource", resource=blob),
        ]
    )


@server.tool(annotations=reads)
def both() -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text="in words")], structured_content={"n": 1}
    )


@server.tool(annotations=reads)
def drawn() -> CallToolResult:
    data = base64.b64encode(PNG).decode()
    return CallToolResult(
        content=[
            TextContent(type="text", text='{"n": 1}'),
            ImageContent(type="image", data=data, mime_type="image/png"),
        ],
        structured_content={"n": 1},
    )


@server.tool(annotations=reads)
def nothing() -> CallToolResult:
    return CallToolResult(content=[])


@server.tool(annotations=reads)
def fails() -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text="no such file: try 'b'")], is_error=True
    )


@server.tool(annotations=adds)
async def grow(ctx: Context) -> str:
    server.remove_tool("nothing")
    server.add_tool(late, annotations=reads)
    await ctx.notify_tools_changed()
    return "grown"


def late() -> str:
    return "late"


@server.tool(annotations=reads)
async def headers(ctx: Context) -> str:
    request = ctx.request_context.request
    return str(request.headers.get("authorization"))


if __name__ == "__main__":
    server.run("stdio")
