"""One ``tools/call`` to a server, and the progress that it reports meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp import MCPError
from mcp_types import (
    HEADER_MISMATCH,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
)
from pydantic import TypeAdapter, ValidationError

from agtools_nb.context import ToolContext
from agtools_nb.context.pieces import CHUNK_BYTES, amount
from agtools_nb.errors import ToolError
from agtools_nb.mcp.text import cleaned, misfit

if TYPE_CHECKING:
    from mcp.client import Client
    from mcp.shared.dispatcher import ProgressFnT

_RESULT: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(
    CallToolResult | InputRequiredResult
)


async def called(
    client: Client, tool: str, arguments: dict[str, Any], context: ToolContext | None
) -> CallToolResult:
    """Call a tool and return its result, as it came.

    The SDK's own ``call_tool`` also checks the result against the server's schema, with
    regular expressions of the server's that can hang; a runner's ``check_results`` does that
    with bounded ones.

    Raises:
        MCPError: The server refused the call, or is gone.
        ToolError: It wants something that is not offered here, or its answer is no result.
    """
    request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
    progress = _progress_to(context)
    try:
        try:
            result = await client.session.send_request(request, _RESULT, progress_callback=progress)
        except MCPError as error:
            if error.code != HEADER_MISMATCH:
                raise
            # The tool's schema, which some headers are made from, has changed since.
            await client.list_tools()
            result = await client.session.send_request(request, _RESULT, progress_callback=progress)
    except ValidationError as error:
        raise ToolError("bad_answer", misfit(error), category="mcp") from None
    if isinstance(result, InputRequiredResult):
        raise ToolError(
            "input_required",
            "the server wants to ask a person, or a model, before it goes on, which is not "
            "offered here.",
            category="mcp",
            hint="Give it all it may need in the arguments, or go on without it.",
        )
    return result


def _progress_to(context: ToolContext | None) -> ProgressFnT | None:
    """What is told of a call's progress; ``None``, and no token is sent, if nobody follows it."""
    if context is None or not context.is_followed:
        return None

    async def report(
        progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        text = cleaned(message or "", CHUNK_BYTES)
        done = amount(progress)
        if done is not None:
            await context.report_progress(done, amount(total), text)
        elif text:
            await context.emit_progress("progress", text)

    return report
