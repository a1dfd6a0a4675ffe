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
from agtools_nb.jsonable import clean_text, shorten
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
        refusal: Why this is no call at all, if it is none.
        prepared: The arguments as the tool gets them, once they are.
    """

    call: ToolCall
    tool: Tool | None
    known: tuple[str, ...]
    context: ToolContext | None
    notes: tuple[str, ...] = ()
    validate: bool = True
    refusal: UsageError | None = None
    prepared: Prepared | None = None
    _output: CallOutput = field(default_factory=CallOutput)
    _started_at: float = 0.0
    _clock: float = 0.0
    _call_context: ToolContext | None = None
    _is_in_thread: bool = False
    _is_stopped: bool = False

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
        try:
            return await self._run(threads, turn, started)
        except asyncio.CancelledError as error:
            if _is_cancelled():
                raise
            return self._failed("error", error)
        except BaseException as error:  # SystemExit in a tool must not end the kernel
            return self._failed("error", error)

    async def _run(
        self,
        threads: WorkerThreads,
        turn: AbstractAsyncContextManager[Any],
        started: Callable[[Attempt], None] | None,
    ) -> ToolResult:
        if self.refusal is not None:
            return self._failed("invalid", self.refusal)
        if self.tool is None:
            return self._failed("invalid", UnknownToolError(self._unknown()))
        arguments = self.call.args
        self.prepared = prepare(self.tool, arguments) if self.validate else unchecked(arguments)
        values = self.prepared.values
        if values is None:
            error = ArgumentsError(self.prepared.error or "", self.prepared.faults)
            return self._failed("invalid", error)
        args, kwargs = self._bind(self.tool, values)
        function = partial(self.tool.fn, *args, **kwargs)
        with captured(self._output):
            if self.tool.is_async:
                self._announce(started)
                value = await function()
            else:
                async with turn:
                    self._announce(started)
                    value = await self._in_thread(threads, function)
            return self._result("ok", result=await self._settled(value, threads))

    def stopped(self, note: str = "") -> ToolResult:
        """The result of a call that was cancelled; what it does from now on is dropped."""
        if self._call_context is not None:
            self._call_context.cancel()
        self._is_stopped = True
        if not note and self._is_in_thread:
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
        self._is_in_thread = self.tool is not None and not self.tool.is_async
        if started is not None:
            started(self)

    def _bind(self, tool: Tool, values: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The values as Python passes them: by position where it must be, else by name."""
        given = dict(values)
        for argument in tool.signature.arguments:
            by_hand = argument.positional_only or argument.default_is_field
            if argument.name not in given and by_hand and not argument.required:
                given[argument.name] = argument.default_value()
        for injected in tool.signature.injected:
            # Without validation a model's value may stand here.
            given.pop(injected.name, None)
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
        missing = [name for name in tool.signature.positional if name not in given]
        if missing:
            raise TypeError(f"{tool.name}() misses the argument {missing[0]!r}")
        return [given.pop(name) for name in tool.signature.positional], given

    async def _in_thread(self, threads: WorkerThreads, function: Callable[[], Any]) -> Any:
        def job() -> Any:
            value = function()
            return self._drained(value) if inspect.isgenerator(value) else value

        outcome = await threads.run(job)
        if outcome.error is not None:
            raise _RaisedInThreadError(outcome.error)
        return outcome.value

    def _drained(self, generator: Any) -> list[Any]:
        """What a generator yields, up to its end or until the call is stopped."""
        items = []
        for item in generator:
            if self._is_stopped:
                break
            items.append(item)
        return items

    async def _settled(self, value: Any, threads: WorkerThreads) -> Any:
        """Await what turned out to be awaitable; collect what turned out to be a generator."""
        if inspect.isawaitable(value):
            value = await value
        if inspect.isasyncgen(value):
            return [item async for item in value]
        if inspect.isgenerator(value):
            return await self._in_thread(threads, partial(self._drained, value))
        return value

    def _unknown(self) -> str:
        known = ", ".join(self.known) if self.known else "none"
        return f"There is no tool named {shorten(str(self.call.name), 80)!r}. Tools: {known}."

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


def error_text(error: BaseException) -> str:
    """What the model is told of an exception: type and text, or a ``ToolError``'s own words.

    Never raises, and cuts the text at 8,000 characters.
    """
    try:
        text = _words_of(error)
    except (Exception, SystemExit, GeneratorExit):
        text = f"{type(error).__name__}: its text could not be read"
    return shorten(clean_text(text), ERROR_LIMIT)


def _words_of(error: BaseException) -> str:
    if isinstance(error, ToolError):
        return f"{error.message} {error.hint}" if error.hint else f"{error.message}"
    text = str(error)
    if isinstance(error, (ArgumentsError, UnknownToolError, DefinitionError, UsageError)):
        return text
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
