"""A call whose function runs on after the call has its answer, and who takes care of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context import Progress
from agtools_nb.define import Tool
from agtools_nb.errors import CallTimeoutError

Turn = AbstractAsyncContextManager[Any]


@dataclass(frozen=True, slots=True)
class Work:
    """A call that was admitted and is to be run beside the conversation.

    Attributes:
        tool: The tool; its ``outlives_call`` is true.
        call: The call, with its id.
        arguments: Its arguments as the tool gets them, as JSON.
        group_id: The same for all calls of a batch: the call's step, if it came with one.
        run: ``await run(turn, follow)`` runs the function to the call's result, also when
            it is cancelled; it holds ``turn`` while a blocking function runs, and tells
            ``follow(progress)`` of its progress. For everything but subscriptions.
        open: Starts a subscription: what its function yields.
    """

    tool: Tool
    call: ToolCall
    arguments: Mapping[str, Any]
    group_id: str
    run: Callable[[Turn, Callable[[Progress], None]], Awaitable[ToolResult]]
    open: Callable[[], AsyncGenerator[Any, None]]


@dataclass(frozen=True, slots=True)
class Started:
    """Work that has begun.

    Attributes:
        id: By which it is known: that of the call, unless that was used before.
        answer: What the call answers with; for a subscription its first value.
    """

    id: str
    answer: Any


class WorkKeeper(Protocol):
    """Takes over what outlives its call, and is told which calls are waited for."""

    async def start(self, work: Work) -> Started:
        """Start it.

        Raises:
            ToolError: It cannot be started; for the model.
        """

    def call_began(self, tool: Tool) -> None:
        """A call has begun, and is waited for: events wait too, unless the tool is passive."""

    def call_ended(self, tool: Tool) -> None:
        """It has its result."""

    def companion(self, tool: Tool) -> Tool | None:
        """The tool that a model needs beside ``tool``: to ask how a task is, to end a subscription.

        Those of one name are the same tool.
        """


async def in_time(tool: Tool, starting: Awaitable[Started], seconds: float | None) -> Started:
    """Wait for the first value of a subscription, if it comes in time.

    Raises:
        CallTimeoutError: It did not, and the subscription was closed.
    """
    try:
        async with asyncio.timeout(seconds) as scope:
            return await starting
    except TimeoutError:
        if not scope.expired():
            raise
        raise CallTimeoutError(
            f"{tool.name} sent no first value within {seconds:g} s and was closed. Ask for "
            "something else, or go on without it."
        ) from None
