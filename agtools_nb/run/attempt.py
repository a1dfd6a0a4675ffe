"""One call from its arguments to its result."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from agtools_nb.arguments import Prepared, prepare, unchecked
from agtools_nb.calls import Status, ToolCall, ToolResult
from agtools_nb.context import ToolContext
from agtools_nb.define import Tool
from agtools_nb.errors import (
    ArgumentsError,
    DefinitionError,
    ToolError,
    ToolExecutionError,
    UnknownToolError,
    UsageError,
)
from agtools_nb.jsonable import safe_repr, shorten
from agtools_nb.run.capture import CallOutput, captured
from agtools_nb.run.threads import WorkerThreads

ERROR_LIMIT = 8_000  # characters of an exception's text that a model is shown
STOPPED = "The call was stopped before it finished."


@dataclass(slots=True)
class Attempt:
    """The running of one call.

    Attributes:
        call: What was asked for, with an id.
        tool: The tool, ``None`` if there is none of that name.
        known: Names of the tools there are, for the message when there is none.
        context: What the tool is given if it asks for a context.
        notes: Remarks for the result.
        validate: Whether to coerce and check the arguments.
        prepared: The arguments as the tool gets them, once they are.
    """

    call: ToolCall
    tool: Tool | None
    known: tuple[str, ...]
    context: ToolContext | None
    notes: tuple[str, ...] = ()
    validate: bool = True
    prepared: Prepared | None = None
    _output: CallOutput = field(default_factory=CallOutput)
    _started_at: float = 0.0
    _clock: float = 0.0
    _call_context: ToolContext | None = None

    async def run(
        self,
        threads: WorkerThreads,
        turn: AbstractAsyncContextManager[Any],
        started: Callable[[Attempt], None] | None = None,
    ) -> ToolResult:
        """Run the call to its result.

        Args:
            threads: Where a blocking function runs.
            turn: Held while a blocking function runs.
            started: Told when the arguments are ready and the function begins.

        Raises:
            asyncio.CancelledError: The waiting task was cancelled. One that the
                tool raises itself is the call's own failure.
        """
        self._begin()
        if self.tool is None:
            return self._failed("invalid", UnknownToolError(self._unknown()))
        try:
            self.prepared = (
                prepare(self.tool, self.call.args) if self.validate else unchecked(self.call.args)
            )
        except DefinitionError as error:
            return self._failed("error", error)
        values = self.prepared.values
        if values is None:
            return self._failed(
                "invalid", ArgumentsError(self.prepared.error or "", self.prepared.faults)
            )
        try:
            args, kwargs = self._bind(self.tool, values)
        except UsageError as error:
            return self._failed("error", error)
        function = partial(self.tool.fn, *args, **kwargs)
        try:
            with captured(self._output):
                if self.tool.is_async:
                    self._announce(started)
                    value = await function()
                else:
                    async with turn:
                        self._announce(started)
                        value = await self._in_thread(threads, function)
                return self._done(await _settled(value))
        except asyncio.CancelledError as error:
            if _is_cancelled():
                raise
            return self._failed("error", error)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit in a tool must not end the kernel
            return self._failed("error", error)

    def stopped(self, note: str = "") -> ToolResult:
        """The result of a call that was cancelled; what it does from now on is dropped."""
        if self._call_context is not None:
            self._call_context.cancel()
        if not note and self._ran() and self.tool is not None and not self.tool.is_async:
            note = "The function runs in a thread, which cannot be stopped; its result is dropped."
        self._begin()
        result = self._failed("cancelled", asyncio.CancelledError(), (note,) if note else ())
        self._output.close()
        return result

    def _begin(self) -> None:
        if not self._started_at:
            self._started_at, self._clock = time.time(), time.perf_counter()

    def _announce(self, started: Callable[[Attempt], None] | None) -> None:
        # A call that had to wait for its turn starts when it gets it.
        self._started_at, self._clock = time.time(), time.perf_counter()
        if started is not None:
            started(self)

    def _ran(self) -> bool:
        return self.prepared is not None and self.prepared.ok

    def _bind(self, tool: Tool, values: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The values as Python passes them: by position where it must be, else by name."""
        given = dict(values)
        if self.validate:
            for argument in tool.signature.arguments:
                by_hand = argument.positional_only or argument.default_is_field
                if argument.name not in given and by_hand:
                    given[argument.name] = argument.default_value()
        for injected in tool.signature.injected:
            if self.context is not None:
                self._call_context = self.context.for_call(self.call.id, tool.name)
                given[injected.name] = self._call_context
            elif injected.required:
                raise UsageError(
                    f"{tool.name} asks for a ToolContext in parameter {injected.name!r}, and this "
                    "runner has none: call runner.set_context(ToolContext()) first"
                )
            elif injected.positional_only:
                given[injected.name] = None
        return [given.pop(name) for name in tool.signature.positional], given

    async def _in_thread(self, threads: WorkerThreads, function: Callable[[], Any]) -> Any:
        context = self._call_context

        def job() -> Any:
            value = function()
            if not inspect.isgenerator(value):
                return value
            items = []
            for item in value:
                if context is not None and context.cancelled:
                    break
                items.append(item)
            return items

        outcome = await threads.run(job)
        if outcome.error is not None:
            raise _RaisedInThreadError(outcome.error)
        return outcome.value

    def _unknown(self) -> str:
        known = ", ".join(self.known) if self.known else "none"
        return f"There is no tool named {shorten(self.call.name, 80)!r}. Tools: {known}."

    def _done(self, value: Any) -> ToolResult:
        return self._result("ok", result=value)

    def _failed(
        self, status: Status, error: BaseException, notes: tuple[str, ...] = ()
    ) -> ToolResult:
        if isinstance(error, _RaisedInThreadError):
            error = error.original
        text = STOPPED if status == "cancelled" else error_text(error)
        exception = ToolExecutionError(
            text,
            tool_name=self.call.name,
            call_id=self.call.id,
            server_name=self.call.server_name,
        )
        exception.__cause__ = error
        return self._result(status, error=text, exception=exception, notes=notes)

    def _result(
        self,
        status: Status,
        *,
        result: Any = None,
        error: str | None = None,
        exception: ToolExecutionError | None = None,
        notes: tuple[str, ...] = (),
    ) -> ToolResult:
        prepared = self.prepared or Prepared(None, None)
        return ToolResult(
            self.call.name,
            self.call.id,
            self.call.step_id,
            result,
            error,
            exception,
            self.call.server_name,
            status,
            prepared.arguments,
            prepared.changes,
            prepared.faults,
            self._output.text("stdout"),
            self._output.text("stderr"),
            self._started_at,
            time.perf_counter() - self._clock,
            (*self.notes, *notes),
        )


class _RaisedInThreadError(Exception):
    """Carries what a thread raised; ``StopIteration`` cannot pass through a coroutine as itself."""

    def __init__(self, original: BaseException) -> None:
        super().__init__()
        self.original = original


async def _settled(value: Any) -> Any:
    """Await what turned out to be awaitable; collect what turned out to be a generator."""
    if inspect.isawaitable(value):
        value = await value
    if inspect.isasyncgen(value):
        return [item async for item in value]
    if inspect.isgenerator(value):
        return list(value)
    return value


def error_text(error: BaseException) -> str:
    """What the model is told of an exception: type and text, or a ``ToolError``'s own words."""
    if isinstance(error, (ArgumentsError, UnknownToolError, DefinitionError, UsageError)):
        return str(error)
    if isinstance(error, ToolError):
        return f"{error.message} {error.hint}" if error.hint else error.message
    try:
        text = str(error)
    except Exception:
        text = safe_repr(error)
    name = type(error).__name__
    return shorten(f"{name}: {text}" if text else name, ERROR_LIMIT)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
