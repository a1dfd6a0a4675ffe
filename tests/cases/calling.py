"""Calling a function as a model would, for the tests of this room."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from agtools_nb import Tool, ToolResult, ToolRunner

SECONDS = 60.0
"""After this long a test is taken to hang; nothing here comes near it."""


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run to the end, or fail after :data:`SECONDS`."""
    return asyncio.run(asyncio.wait_for(coroutine, SECONDS))


def batch(
    tools: Iterable[Tool | Callable[..., Any]], calls: Iterable[Any], **options: Any
) -> list[ToolResult]:
    """Run calls in one batch; ``context=`` goes to the runner, the rest to the batch."""
    runner = ToolRunner(tools, context=options.pop("context", None))
    return run(runner.process_tool_calls(calls, **options))


def call(tool: Tool | Callable[..., Any], arguments: Any, **options: Any) -> ToolResult:
    """Run one call of one tool."""
    made = tool if isinstance(tool, Tool) else Tool.from_function(tool)
    return batch([made], [(made.name, arguments)], **options)[0]


def value(tool: Tool | Callable[..., Any], arguments: Any, **options: Any) -> Any:
    """What the function returned; fails with the words of the error if the call did."""
    result = call(tool, arguments, **options)
    assert result.ok, result.error
    return result.result


def refused(tool: Tool | Callable[..., Any], arguments: Any) -> list[str]:
    """Places that the model is told of; the function must not have run."""
    result = call(tool, arguments)
    assert result.status == "invalid", result
    return [fault.pointer for fault in result.faults]


def schema_of(tool: Tool | Callable[..., Any]) -> dict[str, Any]:
    """The input schema."""
    return (tool if isinstance(tool, Tool) else Tool.from_function(tool)).input_schema


def made_by_exec(source: str, **names: Any) -> Any:
    """The function ``f`` out of source text that is kept nowhere, as in a cell."""
    namespace = {"__name__": "__main__", **names}
    exec(compile(source, "<ipython-input-1>", "exec"), namespace)
    return namespace["f"]
