"""``ToolRunner``: tools under names, and calls run against them."""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, Literal, overload

from agtools_nb.arguments import Plan, plan_of
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context import Progress, ToolContext
from agtools_nb.define import Tool
from agtools_nb.define.tool import caller_scope
from agtools_nb.errors import DuplicateToolError, UnknownToolError, UsageError
from agtools_nb.jsonable import brief_repr
from agtools_nb.run.asked import is_cancelled
from agtools_nb.run.attempt import Attempt
from agtools_nb.run.batch import Batch, Observer
from agtools_nb.run.bounds import checked_concurrency, checked_seconds
from agtools_nb.run.companions import Companions
from agtools_nb.run.invoke import PLAIN, Invocation
from agtools_nb.run.numbering import Call, Numbering, Read, checked_calls, read_call
from agtools_nb.run.public import public_callable
from agtools_nb.run.setting import After, Before, ExecutorChoice, Setting
from agtools_nb.run.strategy import Strategy, as_strategy
from agtools_nb.run.stream import MAX_OPEN, stream_results
from agtools_nb.run.work import WorkKeeper


class ToolRunner:
    """Holds tools and runs calls: coerced, validated, concurrent, results in call order.

    Works in a plain script; nothing here knows Jupyter.

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

    Raises:
        DefinitionError: One of the functions cannot be a tool.
        DuplicateToolError: Two of them have one name.
        UsageError: There is no such strategy, or a bound is out of range.
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
    ) -> None:
        self._setting = Setting(
            context,
            validate,
            check_results,
            omit_nulls,
            checked_seconds(timeout),
            executor=_checked_executor(executor),
            background=background,
        )
        self.strategy = as_strategy(strategy)
        self.max_concurrency = checked_concurrency(max_concurrency)
        self._tools: dict[str, Tool] = {}
        self._companions = Companions()
        # By name, the plans of tools that may take the short way through `execute`.
        self._short: dict[str, Plan] = {}
        scope = caller_scope(2)
        for tool in tools:
            self._add(tool, None, scope)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools, in the order of registration, which is the order a model sees."""
        return tuple(self._tools.values())

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Their names, in the same order."""
        return tuple(self._tools)

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

    def twin(self, context: ToolContext | None, background: WorkKeeper | None) -> ToolRunner:
        """Return a runner with the same tools, hooks and settings, for another conversation."""
        made = copy.copy(self)
        made._setting = replace(self._setting, context=context, background=background)
        made._tools, made._companions, made._short = {}, Companions(), {}
        for tool in self._tools.values():
            if not self._companions.made(tool):
                made._put(tool)
        return made

    def _set(self, **changes: Any) -> None:
        self._setting = replace(self._setting, **changes)
        self._short.clear()

    def register(self, tool: Tool | Callable[..., Any], name: str | None = None) -> Tool:
        """Add a tool.

        Args:
            tool: A tool, or a function to make one of.
            name: Another name to register it under.

        Returns:
            The tool as registered.

        Raises:
            DefinitionError: The function cannot be a tool, or the name is not one.
            DuplicateToolError: The name is taken.
        """
        return self._add(tool, name, caller_scope(2))

    def _add(
        self,
        tool: Tool | Callable[..., Any],
        name: str | None,
        scope: Mapping[str, Any] | None,
    ) -> Tool:
        made = tool if isinstance(tool, Tool) else Tool(tool, name=name, scope=scope)
        if name is not None and made.name != name:
            made = made.renamed(name)
        first = self._tools.get(made.name)
        if first is not None and not self._companions.made(first):
            raise DuplicateToolError(
                f"the name {made.name!r} is taken by the tool defined in {first.origin}; this "
                f"one is defined in {made.origin}. Rename one, or unregister({made.name!r}) first."
            )
        self._put(made)
        return made

    def replace(self, tool: Tool) -> None:
        """Put ``tool`` in the place of the one of its name, or add it at the end."""
        if tool.name in self._tools:
            self._companions.leave(tool.name, self._tools)
        self._put(tool)

    def _put(self, tool: Tool) -> None:
        self._tools[tool.name] = tool
        self._short.pop(tool.name, None)
        if tool.outlives_call and self._setting.background is not None:
            companion = self._setting.background.companion(tool)
            if companion is not None:
                self._companions.join(tool.name, companion, self._tools)

    def unregister(self, name: str) -> Tool:
        """Remove a tool and return it. What came with it, such as a status tool, goes too.

        Raises:
            UnknownToolError: There is none of that name.
        """
        tool = self.tool(name)
        del self._tools[name]
        self._short.pop(name, None)
        self._companions.leave(name, self._tools)
        return tool

    def tool(self, name: str) -> Tool:
        """Return the tool of that name.

        Raises:
            UnknownToolError: There is none; the message lists those there are.
        """
        try:
            return self._tools[name]
        except (KeyError, TypeError):
            known = ", ".join(self._tools) or "none"
            raise UnknownToolError(
                f"there is no tool named {name!r}; registered: {known}"
            ) from None

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
        try:
            result = await attempt.run(contextlib.nullcontext(), own_task=False)
        except asyncio.CancelledError:
            await attempt.told(attempt.stopped())
            raise
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

        def attempt(index: int, call: Any) -> Attempt:
            return self._attempt(index, read_call(call), numbering, setting, self.tool_names)

        alone = self.strategy is Strategy.AUTO
        return stream_results(
            checked_calls(calls),
            attempt,
            numbering.forget,
            MAX_OPEN if limit is None else limit,
            alone,
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
        numbering = Numbering({call.id for call, *_ in read if isinstance(call.id, str)})
        setting, known = self._setting_for(seconds), self.tool_names
        return [
            self._attempt(index, one, numbering, setting, known) for index, one in enumerate(read)
        ]

    def _attempt(
        self,
        index: int,
        read: Read,
        numbering: Numbering,
        setting: Setting,
        known: tuple[str, ...],
    ) -> Attempt:
        call, args, plain, refusal = read
        call_id, notes = numbering.numbered(call.id)
        tool = self._tools.get(call.name)
        return Attempt(
            call, args, call_id, tool, known, setting, notes, index, plain, refusal,
            numbering.group_id,
        )  # fmt: skip


def _check_hook(hook: Any) -> None:
    if not callable(hook):
        raise UsageError(f"a hook must be a function, not {brief_repr(hook)}")


def _checked_executor(executor: ExecutorChoice | None) -> ExecutorChoice | None:
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
