"""``check_<name>``: the tool by which a model asks how a long-running task is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from pydantic import Field

from agtools_nb.define import Tool
from agtools_nb.events.records import BackgroundTask
from agtools_nb.events.tasks import unknown

LONGEST_WAIT = 60.0

Until = Callable[[Callable[[], bool]], Awaitable[None]]


def status_tool(
    tool: Tool,
    task_of: Callable[[str], BackgroundTask | None],
    result_of: Callable[[str], Any],
    tasks: Callable[[], tuple[BackgroundTask, ...]],
    until: Until,
) -> Tool:
    """Make the status tool of a ``long_running`` tool.

    Args:
        tool: The tool.
        task_of: Finds a task by its id.
        result_of: What a task returned.
        tasks: All tasks.
        until: Waits until what it is given is true, asked after each change.
    """
    name = tool.name

    async def check(
        task_id: Annotated[str, Field(description=f"What {name} answered with.")],
        wait: Annotated[
            float,
            Field(ge=0, le=LONGEST_WAIT, description="Seconds to wait for the end, if need be."),
        ] = 0.0,
    ) -> dict[str, Any]:
        task = task_of(task_id)
        if task is None or task.tool_name != name:
            mine = [one.task_id for one in tasks() if one.tool_name == name and one.is_open]
            raise unknown(f"task of {name} with the id", task_id, mine)
        if task.is_open and wait:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await until(lambda: _is_over(task_of(task_id)))
            task = task_of(task_id) or task
        return _answer(task, result_of)

    return Tool(
        check,
        name=tool.status_tool_name,
        description=f"Tell how a task that {name} started is: pending, done with its result, "
        "failed, cancelled, or interrupted.",
        read_only=True,
        passive=True,
    )


def _is_over(task: BackgroundTask | None) -> bool:
    return task is None or not task.is_open


def _answer(task: BackgroundTask, result_of: Callable[[str], Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {"task_id": task.task_id, "status": task.status}
    if task.status == "done":
        answer["result"] = result_of(task.task_id)
    elif task.is_open and task.progress:
        answer["progress"] = task.progress
    elif task.error is not None:
        answer["error"] = task.error
    return answer
