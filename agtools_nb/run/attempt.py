"""One call from its arguments to its result."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from agtools_nb.arguments import (
    Prepared,
    can_explain,
    learn_to_explain,
    plan_of,
    prepare,
    prepare_parsed,
    unchecked,
)
from agtools_nb.calls import Status, ToolCall, ToolResult
from agtools_nb.context import CallProgress, ProgressChannel, ToolContext
from agtools_nb.define import Tool
from agtools_nb.errors import (
    ArgumentsError,
    CallTimeoutError,
    ToolExecutionError,
    UsageError,
)
from agtools_nb.media import split
from agtools_nb.run.asked import is_cancelled, tell_after
from agtools_nb.run.beside import handed_over
from agtools_nb.run.binding import bound
from agtools_nb.run.capture import CallOutput, current_output
from agtools_nb.run.clearing import answering, check_path, cleared
from agtools_nb.run.gate import Passage, Visit
from agtools_nb.run.invoke import PLAIN, Invocation, RaisedElsewhereError
from agtools_nb.run.outside import outside
from agtools_nb.run.results import check_result
from agtools_nb.run.setting import Setting
from agtools_nb.run.words import STOPPED, error_text, no_such_tool
from agtools_nb.run.work import Turn, WorkKeeper


class Attempt:
    """The running of one call.

    Args:
        asked: What was asked for.
        args: Its arguments, a copy that nobody else can change.
        call_id: The id by which it is answered.
        tool: The tool, ``None`` if there is none of that name.
        known: Names of the tools there are, for the message when there is none.
        setting: How it is run.
        notes: Remarks for the result.
        index: Place of the call in its batch.
        is_plain: Whether the call's arguments are a dict of scalars, that is its own.
        refusal: Why this is no call at all, if it is none.
        group_id: The same for all calls of a batch.

    Attributes:
        media: What was found in what it returned.
        output: What it prints and reports.
        prepared: The arguments as the tool gets them, once they are.
        passage: Its way past those who can refuse it, if there are any; made by whoever runs it.
        is_interrupted: Whether Ctrl-C hit the function while it ran on the loop's thread;
            its batch is to be stopped.
    """

    __slots__ = (
        "_call",
        "_call_context",
        "_clock",
        "_invocation",
        "_is_work",
        "_known",
        "_started_at",
        "_waited_for_by",
        "args",
        "asked",
        "group_id",
        "id",
        "index",
        "is_interrupted",
        "is_plain",
        "media",
        "notes",
        "output",
        "passage",
        "prepared",
        "refusal",
        "setting",
        "tool",
    )

    def __init__(
        self,
        asked: ToolCall,
        args: Any,
        call_id: str,
        tool: Tool | None,
        known: tuple[str, ...],
        setting: Setting,
        notes: tuple[str, ...] = (),
        index: int = 0,
        is_plain: bool = False,
        refusal: UsageError | None = None,
        group_id: str = "",
    ) -> None:
        self.id = call_id
        self.args = args
        self.asked = asked
        self._call: ToolCall | None = None
        self.tool = tool
        self.setting = setting
        self.notes = notes
        self.index = index
        self.is_plain = is_plain
        self.refusal = refusal
        self.group_id = group_id
        self.prepared: Prepared | None = None
        self.is_interrupted = False
        self.passage: Passage | None = None
        self._known = known
        self.output = CallOutput()
        self._started_at = 0.0
        self._clock = 0.0
        self._call_context: ToolContext | None = None
        self._invocation: Invocation | None = None
        self.media: tuple[Any, ...] = ()
        self._is_work = False
        self._waited_for_by: WorkKeeper | None = None

    @property
    def call(self) -> ToolCall:
        """The call as it is run. Made when somebody asks: most calls have no hook or observer."""
        if self._call is None:
            asked = self.asked
            # What the call says of itself is not believed: path and server are the tool's.
            self._call = ToolCall(
                asked.name,
                self.args,
                self.id,
                asked.step_id,
                None if self.passage is None else self.passage.path,
                self._server,
                asked.timeout,
            )
        return self._call

    @property
    def visit(self) -> Visit | None:
        """The call at the gate, if there is one."""
        return None if self.passage is None else self.passage.visit

    @property
    def _server(self) -> str | None:
        """The server that the tool comes from; where there is no tool, the one that was named."""
        return self.asked.server_name if self.tool is None else self.tool.server_name

    async def run(
        self,
        turn: Turn,
        started: Callable[[Attempt], None] | None = None,
        *,
        own_task: bool = True,
    ) -> ToolResult:
        """Run the call to its result.

        Args:
            turn: Held while a blocking function runs.
            started: Told when the arguments are ready and the function begins.
            own_task: Whether the task is this call's alone, so that what it prints
                can be caught to its end. Default ``True``.

        Raises:
            asyncio.CancelledError: The waiting task was cancelled. One that the
                tool raises itself is the call's own failure.
        """
        self.begin()
        if own_task:
            current_output.set(self.output)
        try:
            if self.setting.background is None:
                result = await self._run(turn, started)
            else:
                result = await self._held(self.setting.background, turn, started)
        except BaseException as error:  # SystemExit in a tool must not end the kernel
            result = self.outcome_of(error)
        if self.setting.after or self.passage is not None:
            return await self.told(result)
        return result

    def outcome_of(self, error: BaseException) -> ToolResult:
        """The result of a call whose function raised.

        Raises:
            asyncio.CancelledError: It did not: the waiting task was cancelled.
        """
        if isinstance(error, asyncio.CancelledError) and is_cancelled():
            raise error
        if isinstance(error, KeyboardInterrupt):
            self.is_interrupted = True
            return self.stopped()
        is_denied = self.passage is not None and self.passage.is_denied
        return self.failed("denied" if is_denied else "error", error)

    async def _run(
        self,
        turn: Turn,
        started: Callable[[Attempt], None] | None,
    ) -> ToolResult:
        tool, setting = self.tool, self.setting
        if tool is None or self.refusal is not None:
            return self.failed(
                "invalid", self.refusal or no_such_tool(self.asked.name, self._known)
            )
        # What was admitted is what runs, also when it runs beside the conversation.
        prepared = self.prepared or self._prepared(tool, can_explain())
        self.prepared = prepared
        if prepared.values is None:
            return await self._misfit(tool, prepared)
        can_refuse = tool.scopes or setting.before or setting.gate or tool.path_of
        if can_refuse and not self._is_work:
            prepared = await outside(cleared, self, tool, prepared)
        if tool.outlives_call and not self._is_work:
            return await self._answered(tool, prepared, started)
        args: Sequence[Any] = ()
        kwargs = prepared.values
        assert kwargs is not None  # what does not fit is never let through
        if not plan_of(tool).is_by_name:
            args, kwargs = self.bound(tool, kwargs)
        if self._is_short(tool):
            if started is not None:
                started(self)
            value = await tool.fn(*args, **kwargs)
        else:
            value = await self._invoked(self._invocation_of(tool, args, kwargs), turn, started)
        if type(value) not in PLAIN:
            value = await self.opened(tool, value)
        if setting.check_results:
            check_result(tool, value)
        return self._result("ok", result=value)

    async def _misfit(self, tool: Tool, prepared: Prepared) -> ToolResult:
        """The result of a call whose arguments do not fit."""
        if prepared.error is None:
            # Once in a process; on the loop it would hold up every other call.
            await self.setting.threads.run(learn_to_explain)
            self.prepared = prepared = self._prepared(tool, explain=True)
        return self.failed("invalid", ArgumentsError(prepared.error or "", prepared.faults))

    async def _held(
        self,
        keeper: WorkKeeper,
        turn: Turn,
        started: Callable[[Attempt], None] | None,
    ) -> ToolResult:
        """Run it while whoever keeps the events knows that it is waited for."""
        if self._is_work or self.tool is None:
            return await self._run(turn, started)
        keeper.call_began(self.tool)
        self._waited_for_by = keeper
        try:
            return await self._run(turn, started)
        finally:
            self._not_waited_for()

    def _not_waited_for(self) -> None:
        """It has its result, or was answered for while it still cleans up."""
        keeper, self._waited_for_by = self._waited_for_by, None
        if keeper is not None and self.tool is not None:
            keeper.call_ended(self.tool)

    async def _answered(
        self, tool: Tool, prepared: Prepared, started: Callable[[Attempt], None] | None
    ) -> ToolResult:
        """The answer to a call whose function runs on."""
        if started is not None:
            started(self)
        begun = await handed_over(self, tool, prepared)
        value = begun.answer
        if tool.is_subscription:
            if type(value) not in PLAIN:
                value = await self.opened(tool, value)
            if self.setting.check_results:
                check_result(tool, value)
        result = self._result("ok", result=value)
        result.subscription = begun.id if tool.is_subscription else None
        return result

    def twin(self) -> Attempt:
        """The same call, to be run to its result beside the conversation."""
        twin = Attempt(
            self.asked, self.args, self.id, self.tool, self._known, self.setting, self.notes,
            self.index, self.is_plain, None, self.group_id,
        )  # fmt: skip
        twin.prepared = self.prepared
        twin._is_work = True
        twin.passage = self.passage
        return twin

    def _is_short(self, tool: Tool) -> bool:
        """Whether nothing stands between the call and an async function."""
        if tool.path_of is not None and self.passage is not None:
            return False  # where its path leads is looked at once more
        return tool.is_async and tool.turn is None and self.seconds(tool) is None

    async def opened(self, tool: Tool, value: Any) -> Any:
        """A value that may hold more: awaited and collected, and its media found."""
        if self._invocation is None:
            value = await self._invocation_of(tool, (), {}).settled(value)
        parts = split(value)
        self.media = parts.media
        if parts.notes:
            self.notes = (*self.notes, *parts.notes)
        return value

    async def _invoked(
        self,
        invocation: Invocation,
        turn: Turn,
        started: Callable[[Attempt], None] | None,
    ) -> Any:
        seconds = self.seconds(invocation.tool)
        begun = partial(self._announce, invocation.tool, started)
        if invocation.tool.is_async:
            return await invocation.value(seconds, begun)
        async with turn:
            return await invocation.value(seconds, begun)

    def _invocation_of(self, tool: Tool, args: Sequence[Any], kwargs: dict[str, Any]) -> Invocation:
        self._invocation = Invocation(
            tool, self.setting, args, kwargs, self.output, self._asking_seconds
        )
        return self._invocation

    def seconds(self, tool: Tool) -> float | None:
        """Seconds that it may take; ``None`` without a limit."""
        if self.asked.timeout is not None:
            return self.asked.timeout
        return tool.timeout if self.setting.timeout is None else self.setting.timeout

    def _asking_seconds(self) -> float:
        return 0.0 if self._call_context is None else self._call_context.asking_seconds

    def stopped(self, note: str = "") -> ToolResult:
        """The result of a call that was cancelled; what it does from now on is dropped."""
        self._not_waited_for()
        if self._call_context is not None:
            self._call_context.cancel()
        if self._invocation is not None:
            self._invocation.stop()
            if not note and not self._invocation.tool.is_async:
                note = (
                    "The function runs in a thread, which cannot be stopped; its result is dropped."
                )
        self.begin()
        result = self.failed("cancelled", asyncio.CancelledError(), (note,) if note else ())
        self.output.close()
        return result

    def failed(
        self, status: Status, error: BaseException, notes: tuple[str, ...] = ()
    ) -> ToolResult:
        """The result of a call that failed by ``error``."""
        if isinstance(error, RaisedElsewhereError):
            error = error.original
        text = STOPPED if status == "cancelled" else error_text(error)
        exception = ToolExecutionError(
            text,
            tool_name=self.asked.name,
            call_id=self.id,
            server_name=self._server,
        )
        exception.__cause__ = error
        result = self._result(status, error=text, exception=exception, notes=notes)
        if isinstance(error, CallTimeoutError):
            self.output.close()
            if self._call_context is not None:
                self._call_context.cancel()
        return result

    def report_to(self, channel: ProgressChannel) -> None:
        """Send the call's progress there. Call it before it runs."""
        tool = self.tool
        shows_prints = tool is not None and tool.capture == "progress"
        self.output.progress = CallProgress(
            channel, self.id, self.asked.name, self.index, shows_prints
        )

    def end_progress(self) -> None:
        """The call has its result: progress that comes later is dropped."""
        if self.output.progress is not None:
            self.output.progress.close()

    def admitted(self, prepared: Prepared, notes: tuple[str, ...]) -> None:
        """Note what it runs with; the time that people took to think is not the tool's."""
        self.prepared = prepared
        self.notes = (*self.notes, *notes)
        self._started_at, self._clock = time.time(), time.perf_counter()

    def leave_out(self, seconds: float) -> None:
        """Do not count these seconds, which have just passed, as the call's."""
        self._clock += seconds

    def is_about(self, path: str | None) -> None:
        """Note the path that it is about."""
        if self.passage is None:
            self.passage = Passage()
        self.passage.path = path
        self._call = None

    def begun(self, started_at: float, clock: float, prepared: Prepared) -> None:
        """Note when it began, and with what, if that was not done on the way."""
        self._started_at, self._clock, self.prepared = started_at, clock, prepared

    def begin(self) -> None:
        """Note that it is taken up, if that was not done yet."""
        if not self._started_at:
            self._started_at, self._clock = time.time(), time.perf_counter()

    def _announce(self, tool: Tool, started: Callable[[Attempt], None] | None) -> None:
        if self.passage is not None:
            check_path(self, tool)
        # A call that had to wait for its turn starts when it gets it.
        self._started_at, self._clock = time.time(), time.perf_counter()
        if started is not None:
            started(self)

    def _prepared(self, tool: Tool, explain: bool) -> Prepared:
        args = self.args
        if not self.setting.validate:
            return unchecked(args)
        omit = self.setting.omit_nulls
        if self.is_plain:
            return prepare_parsed(tool, plan_of(tool), args, omit_nulls=omit, explain=explain)
        return prepare(tool, args, omit_nulls=omit, explain=explain)

    def bound(self, tool: Tool, values: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments for the function, with a context for this call."""
        if tool.injected and self.setting.context is not None:
            self._call_context = self.setting.context.for_call(self.id, tool.name)
            self._call_context.report_to(self.output.progress)
            handler = answering(self, self._call_context.answer)
            if handler is not None:
                self._call_context.answer_with(partial(outside, handler))
        return bound(tool, values, self._call_context)

    async def told(self, result: ToolResult) -> ToolResult:
        """Tell the hooks of a result, and return the one to answer with."""
        visit = self.visit
        if visit is not None:
            result = await visit.answered(self.call, result)
        changed: ToolResult = await outside(tell_after, self.setting.after, self.call, result)
        return changed

    def _result(
        self,
        status: Status,
        *,
        result: Any = None,
        error: str | None = None,
        exception: ToolExecutionError | None = None,
        notes: tuple[str, ...] = (),
    ) -> ToolResult:
        prepared, output, asked = self.prepared or _UNREAD, self.output, self.asked
        server = asked.server_name if self.tool is None else self.tool.server_name
        stdout, stderr, warned = output.texts()
        output.is_over = True
        return ToolResult(
            asked.name,
            self.id,
            asked.step_id,
            result,
            error,
            exception,
            server,
            status,
            prepared.arguments,
            prepared.changes,
            prepared.faults,
            stdout,
            stderr,
            self._started_at,
            time.perf_counter() - self._clock - self._asking_seconds(),
            (*self.notes, *notes) if notes else self.notes,
            self.media,
            warned,
            self.index,
        )


_UNREAD = Prepared(None, None)
