"""Hooks asked and told one after another."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import NoneType
from typing import Any

from agtools_nb.access.asking import denied
from agtools_nb.access.hooks import HookContext, HookResult, Hooks, arguments_of, methods_of
from agtools_nb.access.predicate import call_copy
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context import Question, copied
from agtools_nb.errors import AgtoolsError, DeniedError, UsageError
from agtools_nb.jsonable import brief_repr
from agtools_nb.run.asked import is_cancelled
from agtools_nb.run.outside import outside
from agtools_nb.run.words import error_text

_log = logging.getLogger("agtools_nb")


class HookChain:
    """The hooks of a session, in the order in which they were given.

    Args:
        given: :class:`Hooks`, an object with methods of their names, or a list of these.

    Raises:
        UsageError: One of them is neither.
    """

    def __init__(self, given: Any = ()) -> None:
        is_one = isinstance(given, (Hooks, str, type)) or not isinstance(given, Iterable)
        self._owners: list[tuple[Any, dict[str, Callable[..., Any]]]] = [
            (owner, methods_of(owner)) for owner in ([given] if is_one else given)
        ]

    def __bool__(self) -> bool:
        # Hooks may be added to a set of hooks at any time.
        return bool(self._owners)

    def of(self, event: str) -> Iterator[Callable[..., Any]]:
        """The hooks of a kind."""
        for owner, methods in self._owners:
            if event in methods:
                yield methods[event]
            if isinstance(owner, Hooks):
                yield from owner.of(event)

    async def inspect(self, event: str, context: HookContext, *given: Any) -> None:
        """Tell each hook of a kind; one that raises is logged."""
        for hook in self.of(event):
            await self._told(hook, event, context, *given)

    async def session_starts(self, context: HookContext) -> None:
        """Tell each hook that the session starts.

        Raises:
            AgtoolsError: One failed, and nothing is to run.
        """
        for hook in self.of("on_session_start"):
            await _asked("on_session_start", hook, context)

    async def turn_begins(self, message: Any, context: HookContext) -> None:
        """Ask each hook about a turn.

        Raises:
            AgtoolsError: One refused it, or failed.
        """
        for hook in self.of("before_turn"):
            answer = await _asked("before_turn", hook, context, message)
            verdict = _verdict("before_turn", answer)
            if verdict.allow is False:
                raise DeniedError(_turn_words(verdict.message))

    async def judge(
        self, hook: Callable[..., Any], call: ToolCall, context: HookContext
    ) -> HookResult:
        """Ask one hook about a call, of which it gets a copy.

        Raises:
            DeniedError: It refused, or returned something else than a :class:`HookResult`.
            AgtoolsError: It failed.
        """
        try:
            answer = await _asked("before_tool", hook, context, call_copy(call))
            verdict = _verdict("before_tool", answer)
        except DeniedError:
            raise
        except AgtoolsError as error:
            raise denied(call, error_text(error)) from error
        if verdict.allow is False:
            raise denied(call, verdict.message or f"the hook {_name(hook)} refused it")
        return verdict

    async def after_tool(self, call: ToolCall, result: ToolResult, context: HookContext) -> None:
        """Tell each hook of a result, of which it gets a copy."""
        for hook in self.of("after_tool"):
            await self._told(hook, "after_tool", context, call_copy(call), result_copy(result))

    async def on_tool_error(
        self, call: ToolCall, error: BaseException, context: HookContext
    ) -> str | None:
        """What the model is told of a failure; ``None`` if no hook says anything."""
        for hook in self.of("on_tool_error"):
            text = await self._told(hook, "on_tool_error", context, call_copy(call), error)
            if isinstance(text, str) and text.strip():
                return text
            if text is not None:
                _log.error(
                    "the hook %s returned %s; on_tool_error returns text for the model, or None",
                    _name(hook), brief_repr(text),
                )  # fmt: skip
        return None

    async def _told(
        self, hook: Callable[..., Any], event: str, context: HookContext, *given: Any
    ) -> Any:
        try:
            return await _call(event, hook, context, *given)
        except asyncio.CancelledError:
            if is_cancelled():
                raise
            _log.exception("a hook %s was cancelled", event)
        except (Exception, SystemExit, GeneratorExit):
            # The call has happened; who looks on afterwards cannot undo it.
            _log.exception("a hook %s failed", event)
        return None

    async def on_question(self, question: Question, context: HookContext) -> Any:
        """The answer of the first hook that has one; ``None`` if none has.

        Returns:
            An answer, or a :class:`HookResult` that declines.

        Raises:
            AgtoolsError: A hook failed, or says that it is not to be answered.
        """
        for hook in self.of("on_question"):
            answer = await _asked("on_question", hook, context, question)
            if answer is not None:
                return answer
        return None


def result_copy(result: ToolResult) -> ToolResult:
    """A result that a hook may change without harm, as far as that can be had.

    Lists, dicts and sets are copied all the way down. What else a tool returned (a model, a
    data frame) is the one that the model is answered with: it may be too large to copy, or not
    be one that can.
    """
    arguments = None if result.arguments is None else copied(dict(result.arguments))
    return replace(result, result=copied(result.result), arguments=arguments)


async def _call(event: str, hook: Callable[..., Any], context: HookContext, *given: Any) -> Any:
    values, named = arguments_of(event, hook, given, context)
    return await outside(partial(hook, **named) if named else hook, *values)


async def _asked(event: str, hook: Callable[..., Any], context: HookContext, *given: Any) -> Any:
    """Ask a hook that can refuse.

    Raises:
        AgtoolsError: It failed.
    """
    try:
        return await _call(event, hook, context, *given)
    except asyncio.CancelledError as error:
        if is_cancelled():
            raise
        raise UsageError(f"the {event} hook {_name(hook)} was cancelled") from error
    except AgtoolsError:
        raise
    except (Exception, SystemExit, GeneratorExit) as error:
        raise UsageError(f"the {event} hook {_name(hook)} failed ({error_text(error)})") from error


def _verdict(event: str, answer: Any) -> HookResult:
    """What a hook returned.

    Raises:
        UsageError: It is no decision; False may have been meant as one, and nobody would see.
    """
    if answer is None:
        return HookResult()
    if not _is_sound(answer):
        raise UsageError(
            f"a {event} hook returned {brief_repr(answer)}; it must return None or a HookResult, "
            "such as HookResult(allow=False, message='why')"
        )
    if event == "before_turn" and answer.modified_args is not None:
        raise UsageError("a before_turn hook has no arguments to change; use before_tool")
    return answer  # type: ignore[no-any-return]


def _is_sound(answer: Any) -> bool:
    """Whether it is a decision, all of whose fields hold what they may."""
    if not isinstance(answer, HookResult):
        return False
    fields: tuple[Any, ...] = (answer.allow, answer.message, answer.modified_args)
    allow, message, changed = fields
    is_clear = allow is None or isinstance(allow, bool)
    return is_clear and isinstance(message, str) and isinstance(changed, (Mapping, NoneType))


def _turn_words(message: str) -> str:
    why = message or "a before_turn hook refused the turn"
    return why if why.endswith((".", "!", "?")) else f"{why}."


def _name(hook: Any) -> str:
    return brief_repr(getattr(hook, "__qualname__", hook))
