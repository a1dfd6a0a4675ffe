"""What tools a server says it has: read page by page, and never without end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcp import MCPError
from mcp_types import METHOD_NOT_FOUND

from agtools_nb.mcp.text import quoted

if TYPE_CHECKING:
    from mcp.client import Client
    from mcp_types import Tool

MAX_TOOLS = 1_000
MAX_PAGES = 100


@dataclass(slots=True)
class Listing:
    """What was listed.

    Attributes:
        tools: The tools, each name once, in the server's order.
        notes: What was left out, in sentences.
    """

    tools: list[Tool] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


async def listed(client: Client, seconds: float) -> Listing:
    """List the tools of a server.

    Args:
        client: The SDK's client.
        seconds: How long the pages may take together; what came by then is what there is.

    Raises:
        MCPError: The first page was refused.
        TimeoutError: It did not come in time.
    """
    listing = Listing()
    try:
        async with asyncio.timeout(seconds):
            await _read(client, listing)
    except TimeoutError:
        if not listing.tools:
            raise
        listing.notes.append(f"the list of tools was not complete after {seconds:g} s")
    return listing


async def _read(client: Client, listing: Listing) -> None:
    seen: set[str] = set()
    cursors: set[str] = set()
    cursor: str | None = None
    for number in range(MAX_PAGES):
        try:
            page = await client.list_tools(cursor=cursor)
        except MCPError as error:
            if number:
                listing.notes.append(f"page {number + 1} of the list of tools was refused")
            elif error.code != METHOD_NOT_FOUND:  # a server need not have tools at all
                raise
            return
        for tool in page.tools:
            if tool.name in seen:
                listing.notes.append(f"a second tool named {quoted(tool.name)} is left out")
            elif len(seen) >= MAX_TOOLS:
                listing.notes.append(f"only the first {MAX_TOOLS:,} tools are taken")
                return
            else:
                seen.add(tool.name)
                listing.tools.append(tool)
        cursor = page.next_cursor
        if cursor is None:
            return
        if cursor in cursors:
            listing.notes.append("the list of tools goes round in circles")
            return
        cursors.add(cursor)
    listing.notes.append(f"only the first {MAX_PAGES} pages of the list of tools are read")
