"""``Runner``: tools under names, and calls run against them."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self, overload

from agtools_nb.arguments import Plan, plan_of
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context import AnswerHandler, Progress, ToolContext
from agtools_nb.define import Tool
from agtools_nb.define.tool import caller_scope
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr
from agtools_nb.run.alone import run_alone
from agtools_nb.run.asked import is_cancelled
from agtools_nb.run.attempt import Attempt
from agtools_nb.run.batch import Batch, Observer
from agtools_nb.run.bounds import (
    checked_concurrency,
    checked_function,
    checked_seconds,
)
from agtools_nb.run.gate import Gate
from agtools_nb.run.invoke import PLAIN, Invocation
from agtools_nb.run.numbering import Call, Numbering, Read, checked_calls, read_call
from agtools_nb.run.public import public_callable
from agtools_nb.run.registry import Registry
from agtools_nb.run.setting import After, Before, ExecutorChoice, Setting, checked_executor
from agtools_nb.run.strategy import Strategy, as_strategy
from agtools_nb.run.stream import MAX_OPEN, stream_results
from agtools_nb.run.work import WorkKeeper


class Runner(Registry):
    """Holds tools and runs calls: coerced, validated, concurrent, results in call order.

    What is public is :class:`ToolRunner`, which adds rules on who may call what. Of those this
    one knows only that there may be a gate.

    Args:
        tools: Tools, or functions to make tools of.
        context: What tools that ask for a ``ToolContext`` are given. Default: none.
        validate: Coerce and check arguments. Default ``True``; with ``False`` the
            function gets what came, untouched.
        check_results: Check what tools return against their response schemas; a
            result that does not fit is an error. Default ``False``.
        omit_nulls: Read ``null`` for an optional parameter that takes none as absent: what
            OpenAI's strict mode makes models write. Default ``False``: it is a fault.
        strategy: Which calls of a batch run beside each other. Default ``PARALLEL``.
        max_concurrency: Most calls of a batch that run at once. Default: all, of them at
            most 256 blocking ones.
        timeout: Seconds for a call that says nothing itself. Default: what its tool says.
        executor: Where blocking tools run, any ``concurrent.futures.Executor``, or a
            function that chooses one (or ``None``) by tool. Default: threads of the runner.
        background: Takes care of what outlives its call: a :class:`Background`. Default:
            none, and such calls are refused.
        gate: Decides which tools there are and which calls run. Default: all do.
        answer: Who answers what tools ask where their context does not say. Default: nobody.

    Raises:
        DefinitionError: One of the functions cannot be a tool.
        DuplicateToolError: Two of them have one name.
        UsageError: There is no such strategy, a bound is out of range, or a guarded tool has
            no rules.
    """

    def __init__(
        self,
        tools: Iterable[Tool | Callable[..., Any]] = (),
        *,
        context: ToolContext | None = None,
        validate: bool = True,
        check_results: bool = False,
        omit_nulls: bool = False,
        strategy: Strategy | str = Strategy.PARALLEL,
        max_concurrency: int | None = None,
        timeout: float | None = None,
        executor: ExecutorChoice | None = None,
        background: WorkKeeper | None = None,
        gate: Gate | None = None,
        answer: AnswerHandler | None = None,
    ) -> None:
        super().__init__(gate, background)
        self._setting = Setting(
            context,
            validate,
            check_results,
            omit_nulls,
            checked_seconds(timeout),
            executor=checked_executor(executor),
            background=background,
            gate=gate,
            answer=checked_function("answer=", answer),
        )
        self.strategy = as_strategy(strategy)
        self.max_concurrency = checked_concurrency(max_concurrency)
        # By name, the plans of tools that may take the short way through `execute`.
        self._short: dict[str, Plan] = {}
        self._is_checked = gate is None
        self._add_all(tools, caller_scope(2))

    @property
    def context(self) -> ToolContext | None:
        """What tools that ask for a context are given."""
        return self._setting.context

    @property
    def validate(self) -> bool:
        """Whether arguments are coerced and checked."""
        return self._setting.validate

    @property
    def background(self) -> WorkKeeper | None:
        """Takes care of what outlives its call."""
        return self._setting.background

    def set_context(self, context: ToolContext | None) -> None:
        """Give tools this context from the next call on."""
        self._set(context=context)

    def before(self, hook: Before) -> Before:
        """Call ``hook(call, arguments)`` before each tool runs; usable as a decorator.

        It is told a copy of the arguments as the tool will get them, and may be async;
        a timeout does not count its time. If it raises, the tool is not run and the call
        answers with the error; raise a :class:`ToolError` to say why in words for the model.
        It must return ``None``.

        Returns:
            The hook.

        Raises:
            UsageError: It cannot be called.
        """
        _check_hook(hook)
        self._set(before=(*self._setting.before, hook))
        return hook

    def after(self, hook: After) -> After:
        """Call ``hook(call, result)`` after each call, also a stopped one; usable as a decorator.

        It may be async, and may return another ``ToolResult`` to answer with. If it
        raises, that is logged and the result stays.

        Returns:
            The hook.

        Raises:
            UsageError: It cannot be called.
        """
        _check_hook(hook)
        self._set(after=(*self._setting.after, hook))
        return hook

    def _changed(self, name: str) -> None:
        super()._changed(name)
        self._short.pop(name, None)
        self._is_checked = self._gate is None

    def check(self, beside: Iterable[Tool] = ()) -> None:
        """Look whether rules and tools fit; done by itself before the first call.

        Warns of what looks like a mistake.

        Args:
            beside: Tools of others that the rules are about, too. Default: none.

        Raises:
            UsageError: They cannot.
        """
        if self._gate is not None:
            self._gate.check((*self.all_tools, *beside))
        self._is_checked = True

    def _twin(
        self, context: ToolContext | None, background: WorkKeeper | None, gate: Gate | None
    ) -> Self:
        """The same tools, hooks and settings for another conversation."""
        made = copy.copy(self)
        made._setting = replace(self._setting, context=context, background=background, gate=gate)
        made._short, made._is_checked = {}, gate is None
        made._take_over(self, gate, background)
        return made

    def _set(self, **changes: Any) -> None:
        self._setting = replace(self._setting, **changes)
        self._short.clear()

    async def execute(self, name: str, /, **arguments: Any) -> Any:
        """Run one tool and return what it returned.

        Raises:
            UnknownToolError: There is no such tool.
            ToolExecutionError: The arguments did not fit (``__cause__`` is an
                ``ArgumentsError``), or the tool raised (``__cause__`` is what it raised).
        """
        plan = self._short.get(name)
        if plan is not None:
            values = plan.quick(arguments)
            if values is not None:
                return await self._at_once(name, values, arguments)
        self.tool(name)
        attempt = self._attempts([ToolCall(name, arguments)])[0]
        result = await run_alone(attempt)
        if attempt.is_interrupted:
            raise KeyboardInterrupt
        self._remember(name)
        return result.unwrap()

    async def _at_once(self, name: str, values: dict[str, Any], arguments: dict[str, Any]) -> Any:
        """Run an async function whose arguments fit, on the short way: no result is built."""
        tool = self._tools[name]
        try:
            value = await tool.fn(**values)
            if type(value) in PLAIN:
                return value
            return await Invocation(tool, self._setting, [], {}).settled(value)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) or (
                isinstance(error, asyncio.CancelledError) and is_cancelled()
            ):
                raise
            attempt = self._attempts([ToolCall(name, arguments)])[0]
            return attempt.failed("error", error).unwrap()

    def _remember(self, name: str) -> None:
        """Let later calls of this tool take the short way, if nothing stands beside it."""
        tool, setting = self._tools.get(name), self._setting
        if tool is None or name in self._short or not tool.is_async:
            return
        if setting.gate is not None or tool.path_of is not None:
            return
        asks = (tool.scopes, tool.timeout, tool.turn, setting.before, setting.after)
        asks_more = (
            setting.timeout, setting.check_results, not setting.validate, setting.background,
            tool.outlives_call,
        )  # fmt: skip
        plan = plan_of(tool)
        if plan.is_by_name and plan.has_quick_way and not any((*asks, *asks_more)):
            self._short[name] = plan

    async def process_tool_calls(
        self,
        calls: Iterable[Call],
        *,
        strategy: Strategy | str | None = None,
        max_concurrency: int | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 -- seconds for each call
    ) -> list[ToolResult]:
        """Run calls concurrently. A failure is that call's result, never an exception.

        Args:
            calls: ``ToolCall`` objects, or what :func:`as_call` takes.
            strategy: Which calls run beside each other. Default: the runner's.
            max_concurrency: Most calls that run at once. Default: the runner's.
            timeout: Seconds for each call that says nothing itself. Default: the runner's,
                else what the tool says.

        Returns:
            One result a call, in call order.

        Raises:
            UsageError: It is one call instead of a list, there is no such strategy, or a
                bound is out of range.
            asyncio.CancelledError: The waiting task was cancelled; all calls were
                stopped first.
        """
        batch = self.batch(
            calls, strategy=strategy, max_concurrency=max_concurrency, timeout=timeout
        )
        return await batch.run()

    def batch(
        self,
        calls: Iterable[Call],
        *,
        observers: Sequence[Observer] = (),
        strategy: Strategy | str | None = None,
        max_concurrency: int | None = None,
        timeout: float | None = None,
    ) -> Batch:
        """Return calls as a batch to watch, stop, and run with ``await batch.run()``.

        The arguments are those of :meth:`process_tool_calls`, and ``observers`` are told
        what happens while it happens.
        """
        return Batch(
            self._attempts(calls, timeout),
            observers,
            self.max_concurrency if max_concurrency is None else max_concurrency,
            self.strategy if strategy is None else as_strategy(strategy),
        )

    @overload
    def stream(
        self,
        calls: Iterable[Call] | AsyncIterable[Call],
        *,
        progress: Literal[False] = False,
        max_concurrency: int | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[ToolResult, None]: ...
    @overload
    def stream(
        self,
        calls: Iterable[Call] | AsyncIterable[Call],
        *,
        progress: bool,
        max_concurrency: int | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[Progress | ToolResult, None]: ...
    def stream(
        self,
        calls: Iterable[Call] | AsyncIterable[Call],
        *,
        progress: bool = False,
        max_concurrency: int | None = None,
        timeout: float | None = None,
    ) -> AsyncGenerator[Any, None]:
        """Run calls as they come, and yield results as they finish.

        Calls are read only as fast as results are taken, so that there may be any
        number of them. ``result.index`` is the place of its call. Leaving the loop
        stops what still runs (use ``contextlib.aclosing`` to have that done at once).
        With ``Strategy.AUTO``, a tool that is not both ``read_only`` and
        ``concurrency_safe`` waits for what runs before it and runs alone.

        Args:
            calls: Calls as in :meth:`process_tool_calls`, from an iterable or async iterable.
            progress: Yield :class:`Progress` among the results, too: that of a call before
                its result, and in order. Default ``False``.
            max_concurrency: Most calls under way or with a result not taken yet.
                Default: the runner's, else 256.
            timeout: Seconds for each call that says nothing itself.

        Raises:
            UsageError: A bound is out of range.
        """
        limit = self.max_concurrency if max_concurrency is None else max_concurrency
        if self.strategy is Strategy.SEQUENTIAL:
            limit = 1
        numbering = Numbering()
        setting = self._setting_for(timeout)
        self._ensure_checked()

        def attempt(index: int, call: Any) -> Attempt:
            tools = self._on()
            return self._attempt(index, read_call(call), numbering, setting, tools, tuple(tools))

        return stream_results(
            checked_calls(calls),
            attempt,
            numbering.forget,
            MAX_OPEN if limit is None else limit,
            self.strategy,
            progress,
        )

    def get_public_callable(self, name: str) -> Callable[..., Any]:
        """Return the function behind a tool, its context filled in and out of its signature.

        It is the tool itself if that asks for no context. It is a coroutine function if
        the tool's is, and keeps its name and docstring.

        Raises:
            UnknownToolError: There is no such tool.
        """
        return public_callable(self.tool(name), lambda: self._setting.context)

    def _setting_for(self, seconds: float | None) -> Setting:
        if seconds is None:
            return self._setting
        return replace(self._setting, timeout=checked_seconds(seconds))

    def _attempts(self, calls: Iterable[Any], seconds: float | None = None) -> list[Attempt]:
        """One attempt a call. What is no call gets one too, so that its siblings run."""
        read = [read_call(call) for call in checked_calls(calls)]
        self._ensure_checked()
        numbering = Numbering({call.id for call, *_ in read if isinstance(call.id, str)})
        setting, tools = self._setting_for(seconds), self._on()
        known = tuple(tools)
        return [
            self._attempt(index, one, numbering, setting, tools, known)
            for index, one in enumerate(read)
        ]

    def _ensure_checked(self) -> None:
        if not self._is_checked:
            self.check()

    def _attempt(
        self,
        index: int,
        read: Read,
        numbering: Numbering,
        setting: Setting,
        tools: Mapping[str, Tool],
        known: tuple[str, ...],
    ) -> Attempt:
        call, args, plain, refusal = read
        call_id, notes = numbering.numbered(call.id)
        tool = tools.get(call.name)
        return Attempt(
            call, args, call_id, tool, known, setting, notes, index, plain, refusal,
            numbering.group_id,
        )  # fmt: skip


def _check_hook(hook: Any) -> None:
    if not callable(hook):
        raise UsageError(f"a hook must be a function, not {brief_repr(hook)}")
