"""``ToolRunner``: tools under names, and calls run against them."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import itertools
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context import ToolContext, copied
from agtools_nb.define import Tool
from agtools_nb.define.tool import caller_scope
from agtools_nb.errors import DuplicateToolError, UnknownToolError, UsageError
from agtools_nb.jsonable import brief_repr
from agtools_nb.run.attempt import Attempt
from agtools_nb.run.batch import Batch, Observer
from agtools_nb.run.threads import WorkerThreads

Call = ToolCall | Mapping[str, Any] | tuple[Any, ...] | list[Any]


class ToolRunner:
    """Holds tools and runs calls: coerced, validated, concurrent, results in call order.

    Works in a plain script; nothing here knows Jupyter.

    Args:
        tools: Tools, or functions to make tools of.
        context: What tools that ask for a ``ToolContext`` are given. Default: none.
        validate: Coerce and check arguments. Default ``True``; with ``False`` the
            function gets what came, untouched.

    Raises:
        DefinitionError: One of the functions cannot be a tool.
        DuplicateToolError: Two of them have one name.
    """

    def __init__(
        self,
        tools: Iterable[Tool | Callable[..., Any]] = (),
        *,
        context: ToolContext | None = None,
        validate: bool = True,
    ) -> None:
        self.validate = validate
        self._context = context
        self._tools: dict[str, Tool] = {}
        self._threads = WorkerThreads()
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
        return self._context

    def set_context(self, context: ToolContext | None) -> None:
        """Give tools this context from the next call on."""
        self._context = context

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
        if first is not None:
            raise DuplicateToolError(
                f"the name {made.name!r} is taken by the tool defined in {first.origin}; this "
                f"one is defined in {made.origin}. Rename one, or unregister({made.name!r}) first."
            )
        self._tools[made.name] = made
        return made

    def replace(self, tool: Tool) -> None:
        """Put ``tool`` in the place of the one of its name, or add it at the end."""
        self._tools[tool.name] = tool

    def unregister(self, name: str) -> Tool:
        """Remove a tool and return it.

        Raises:
            UnknownToolError: There is none of that name.
        """
        tool = self.tool(name)
        del self._tools[name]
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
        self.tool(name)
        attempt = self._attempts([ToolCall(name, arguments)])[0]
        try:
            result = await attempt.run(self._threads, contextlib.nullcontext())
        except asyncio.CancelledError:
            attempt.stopped()
            raise
        return result.unwrap()

    async def process_tool_calls(
        self, calls: Iterable[Call], *, max_concurrency: int | None = None
    ) -> list[ToolResult]:
        """Run calls concurrently. A failure is that call's result, never an exception.

        Args:
            calls: ``ToolCall`` objects, or what :func:`as_call` takes.
            max_concurrency: Most calls that run at once. Default: all.

        Returns:
            One result a call, in call order.

        Raises:
            asyncio.CancelledError: The waiting task was cancelled; all calls were
                stopped first.
        """
        return await self.batch(calls, max_concurrency=max_concurrency).run()

    def batch(
        self,
        calls: Iterable[Call],
        *,
        observers: Sequence[Observer] = (),
        max_concurrency: int | None = None,
    ) -> Batch:
        """Return calls as a batch to watch, stop, and run with ``await batch.run()``."""
        attempts = self._attempts(list(calls))
        return Batch(attempts, self._threads, observers, max_concurrency)

    def get_public_callable(self, name: str) -> Callable[..., Any]:
        """Return the function behind a tool, its context filled in and out of its signature.

        Raises:
            UnknownToolError: There is no such tool.
        """
        tool = self.tool(name)
        signature = inspect.signature(tool.fn)
        shown = [p for key, p in signature.parameters.items() if key not in tool.injected]

        @functools.wraps(tool.fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            bound = signature.replace(parameters=shown).bind(*args, **kwargs)
            given = dict(bound.arguments)
            if self._context is not None:
                given.update(dict.fromkeys(tool.injected, self._context.for_call(None, name)))
            full = signature.bind_partial()
            full.arguments.update(given)
            return tool.fn(*full.args, **full.kwargs)

        call.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
        return call

    def _attempts(self, calls: Sequence[Any]) -> list[Attempt]:
        """One attempt a call. What is no call gets one too, so that its siblings run."""
        known = self.tool_names
        read = [_read(call) for call in calls]
        numbered = _with_ids([call for call, _ in read])
        return [
            Attempt(
                call,
                self._tools.get(call.name),
                known,
                self._context,
                notes,
                self.validate,
                refusal,
            )
            for (call, notes), (_, refusal) in zip(numbered, read, strict=True)
        ]


def _read(call: Any) -> tuple[ToolCall, UsageError | None]:
    """A call whose arguments nobody can change any more, and why it is none if it is none."""
    try:
        found = as_call(call)
    except UsageError as error:
        return ToolCall("?"), error
    name: Any = found.name
    if not isinstance(name, str):
        return ToolCall("?", id=found.id), _not_a_call(call)
    return replace(found, args=copied(found.args)), None


def as_call(call: Any) -> ToolCall:
    """Read a call from the forms that notebooks and providers write.

    ``("name", {...})``; ``{"name": ..., "args" | "arguments" | "input": ..., "id": ...}``;
    or a provider's ``{"id": ..., "function": {"name": ..., "arguments": ...}}``.

    Raises:
        UsageError: It is none of these.
    """
    if isinstance(call, ToolCall):
        return call
    if isinstance(call, Mapping):
        inner = call.get("function", call)
        if isinstance(inner, Mapping) and isinstance(inner.get("name"), str):
            keys = [key for key in ("args", "arguments", "input") if key in inner]
            args = inner[keys[0]] if keys else {}
            # OpenAI's Responses items have an id of their own beside the call's.
            return ToolCall(
                inner["name"], args, call.get("call_id", call.get("id")), call.get("step_id")
            )
    if isinstance(call, (tuple, list)) and 1 <= len(call) <= 2 and isinstance(call[0], str):
        return ToolCall(*call)
    raise _not_a_call(call)


def _not_a_call(call: Any) -> UsageError:
    return UsageError(
        f"{brief_repr(call)} is not a call; write ToolCall(name, args), (name, args), or "
        '{"name": ..., "args": {...}}'
    )


def _with_ids(calls: Sequence[ToolCall]) -> list[tuple[ToolCall, tuple[str, ...]]]:
    """Give each call an id of its own: results are told apart by it at the provider."""
    taken = {call.id for call in calls if isinstance(call.id, str)}
    counters: dict[str, itertools.count[int]] = {}
    numbered: list[tuple[ToolCall, tuple[str, ...]]] = []
    for call in calls:
        if not isinstance(call.id, str) or not call.id:
            fresh = f"call_{secrets.token_hex(6)}"
            note = f"It came with the id {call.id!r}; it is answered as {fresh!r}."
            numbered.append((replace(call, id=fresh), () if call.id is None else (note,)))
        elif call.id not in counters:
            counters[call.id] = itertools.count(2)
            numbered.append((call, ()))
        else:
            ids = (f"{call.id}#{number}" for number in counters[call.id])
            fresh = next(name for name in ids if name not in taken)
            taken.add(fresh)
            note = f"The id {call.id!r} was sent twice; this call is answered as {fresh!r}."
            numbered.append((replace(call, id=fresh), (note,)))
    return numbered
