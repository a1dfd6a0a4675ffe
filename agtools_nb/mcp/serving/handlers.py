"""What the SDK's server asks for: the declarations, and the calls."""

from __future__ import annotations

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
)

from agtools_nb._version import __version__
from agtools_nb.calls import ToolResult
from agtools_nb.define import declaration
from agtools_nb.define.wire import reply
from agtools_nb.mcp.serving.offered import Offered, in_a_task
from agtools_nb.mcp.serving.progress import Reports


def server_of(offered: Offered, name: str, instructions: str | None) -> Server[Any]:
    """The SDK's server of what is offered.

    Args:
        offered: The tools.
        name: What the server is called.
        instructions: What clients are told on how to use it.
    """

    async def listed(
        context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(
            tools=[Tool.model_validate(declaration(tool, "mcp")) for tool in offered.tools]
        )

    async def called(
        context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        result: CallToolResult = await in_a_task(_called(offered, context, params))
        return result

    return Server(
        name,
        version=__version__,
        instructions=instructions,
        on_list_tools=listed,
        on_call_tool=called,
    )


async def _called(
    offered: Offered, context: ServerRequestContext[Any], params: CallToolRequestParams
) -> CallToolResult:
    """Run a call. Progress is told only if the client sent a token for it, and by that token."""
    asks = (context.meta or {}).get("progress_token") is not None
    reports = Reports()
    result: ToolResult | None = None
    happenings = offered.happenings(params.name, params.arguments or {}, progress=asks)
    async for happening in happenings:
        if isinstance(happening, ToolResult):
            result = happening
        else:
            await context.session.report_progress(*reports.of(happening))
    assert result is not None
    [form] = reply([result], "mcp")
    return CallToolResult.model_validate(form)
