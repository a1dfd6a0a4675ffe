"""The file tools in a runner, as tests use them."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from agtools_nb import ToolResult, ToolRunner, Workspace, allow
from agtools_nb.builtin import (
    create_file_tool,
    edit_file_tool,
    find_file_tool,
    list_directory_tool,
    search_directory_tool,
    view_file_tool,
)

SECONDS = 60


def runner_of(workspace: Workspace | str | os.PathLike[str]) -> ToolRunner:
    """A runner with the six file tools, where everything is allowed."""
    space = workspace if isinstance(workspace, Workspace) else Workspace(workspace)
    makers = (
        list_directory_tool,
        find_file_tool,
        search_directory_tool,
        view_file_tool,
        create_file_tool,
        edit_file_tool,
    )
    return ToolRunner([make(space) for make in makers], policies=[allow("*")])


def run_all(runner: ToolRunner, calls: list[tuple[str, dict[str, Any]]]) -> list[ToolResult]:
    """What becomes of these calls, in one batch."""

    async def main() -> list[ToolResult]:
        return list(await asyncio.wait_for(runner.process_tool_calls(calls), SECONDS))

    return asyncio.run(main())


def call(runner: ToolRunner, name: str, **arguments: Any) -> ToolResult:
    """What becomes of one call."""
    (result,) = run_all(runner, [(name, arguments)])
    return result


def done(runner: ToolRunner, name: str, **arguments: Any) -> Any:
    """What a call gives that works."""
    return call(runner, name, **arguments).unwrap()


def refused(runner: ToolRunner, name: str, **arguments: Any) -> str:
    """What the model is told about a call that does not work."""
    result = call(runner, name, **arguments)
    assert result.status == "error", result
    assert result.error
    return result.error
