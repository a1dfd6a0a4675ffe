"""What all calls of one batch share: where they run, and who is asked before and after."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, TypedDict

from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context import AnswerHandler, ToolContext
from agtools_nb.define import Tool
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr
from agtools_nb.run.gate import Gate
from agtools_nb.run.strategy import Strategy
from agtools_nb.run.threads import WorkerThreads
from agtools_nb.run.work import WorkKeeper

Before = Callable[[ToolCall, Mapping[str, Any]], Awaitable[None] | None]
After = Callable[[ToolCall, ToolResult], Awaitable[ToolResult | None] | ToolResult | None]
ExecutorChoice = Executor | Callable[[Tool], Executor | None]


@dataclass(frozen=True, slots=True)
class Setting:
    """How calls are run.

    Attributes:
        context: What tools that ask for a context are given.
        validate: Whether arguments are coerced and checked.
        check_results: Whether results are checked against the response schema.
        omit_nulls: Whether ``null`` for an optional parameter that takes none is read as absent.
        timeout: Seconds for a call that says nothing itself; ``None`` leaves it to the tool.
        threads: Where blocking functions run.
        executor: Where they run instead, or a function that chooses by tool.
        before: Called in turn once a call's arguments are ready.
        after: Called in turn once a call has its result.
        background: Takes over what outlives its call; ``None`` if nobody does.
        gate: Decides which calls run; ``None`` lets every call run.
        answer: Who answers what tools ask where their context does not say; ``None``: nobody.
    """

    context: ToolContext | None = None
    validate: bool = True
    check_results: bool = False
    omit_nulls: bool = False
    timeout: float | None = None
    threads: WorkerThreads = field(default_factory=WorkerThreads)
    executor: ExecutorChoice | None = None
    before: tuple[Before, ...] = ()
    after: tuple[After, ...] = ()
    background: WorkKeeper | None = None
    gate: Gate | None = None
    answer: AnswerHandler | None = None

    def executor_for(self, tool: Tool) -> Executor | None:
        """Where a blocking tool runs; ``None`` for the threads.

        Raises:
            UsageError: The function that chooses returned no executor.
        """
        if self.executor is None or isinstance(self.executor, Executor):
            return self.executor
        chosen = self.executor(tool)
        if chosen is None or isinstance(chosen, Executor):
            return chosen
        raise UsageError(
            f"the function given as executor= chose {brief_repr(chosen)} for {tool.name}; it must "
            "return a concurrent.futures.Executor, or None for threads"
        )


class BatchOptions(TypedDict, total=False):
    """How the calls of one batch are run.

    Attributes:
        strategy: Which calls run beside each other. Default: the runner's.
        max_concurrency: Most calls that run at once. Default: the runner's.
        timeout: Seconds for each call that says nothing itself. Default: the runner's,
            else what its tool says.
    """

    strategy: Strategy | str | None
    max_concurrency: int | None
    timeout: float | None


class RunOptions(TypedDict, total=False):
    """How a runner runs calls; see :class:`ToolRunner`."""

    validate: bool
    check_results: bool
    omit_nulls: bool
    strategy: Strategy | str
    max_concurrency: int | None
    timeout: float | None
    executor: ExecutorChoice | None


def checked_executor(executor: ExecutorChoice | None) -> ExecutorChoice | None:
    """An executor, or what chooses one, as given.

    Raises:
        UsageError: It is neither.
    """
    is_chooser = callable(executor) and not isinstance(executor, type)
    if executor is None or isinstance(executor, Executor) or is_chooser:
        return executor
    raise UsageError(
        "executor must be a concurrent.futures.Executor, or a function that returns one for a "
        f"tool, not {brief_repr(executor)}"
    )
