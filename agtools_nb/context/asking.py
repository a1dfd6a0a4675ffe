"""``ctx.ask``: how a tool asks a person, and how long that took."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, Literal, overload

from agtools_nb.context.channel import is_on_a_loop
from agtools_nb.context.questions import AnswerHandler, Question, Stopwatch, answered
from agtools_nb.errors import ToolError, UsageError

_LOOK_SECONDS = 0.1

Given = str | tuple[str, ...] | None


class AsksPeople:
    """What a :class:`ToolContext` knows of questions.

    Attributes:
        call_id: Id of the running call, ``None`` outside of one.
        tool_name: Name of the running tool, ``None`` outside of one.
    """

    call_id: str | None
    tool_name: str | None
    _answer: AnswerHandler | None = None
    _home: asyncio.AbstractEventLoop | None = None
    _asking: Stopwatch | None = None

    @property
    def cancelled(self) -> bool:
        """Whether the call was stopped."""
        raise NotImplementedError

    @property
    def answer(self) -> AnswerHandler | None:
        """Who answers what tools :meth:`ask`; ``None`` if nobody does."""
        return self._answer

    def answer_with(self, handler: AnswerHandler | None) -> None:
        """Put what the call asks to this handler; done by the runner, which has hooks, too."""
        self._answer = handler

    @property
    def asking_seconds(self) -> float:
        """How long the call has waited for people; that time is not the tool's."""
        return 0.0 if self._asking is None else self._asking.seconds

    def _is_asked_in_call(self) -> None:
        """Begin a call: note where its questions are put, and that none was yet."""
        self._asking = None
        self._home = asyncio.get_running_loop() if is_on_a_loop() else None

    @overload
    def ask(
        self,
        text: str,
        options: Sequence[str] = (),
        *,
        multiple: Literal[False] = False,
        allow_text: bool | None = None,
    ) -> Coroutine[Any, Any, str | None]: ...
    @overload
    def ask(
        self,
        text: str,
        options: Sequence[str] = (),
        *,
        multiple: Literal[True],
        allow_text: bool | None = None,
    ) -> Coroutine[Any, Any, tuple[str, ...] | None]: ...
    @overload
    def ask(
        self,
        text: str,
        options: Sequence[str] = (),
        *,
        multiple: bool,
        allow_text: bool | None = None,
    ) -> Coroutine[Any, Any, Given]: ...
    def ask(
        self,
        text: str,
        options: Sequence[str] = (),
        *,
        multiple: bool = False,
        allow_text: bool | None = None,
    ) -> Coroutine[Any, Any, Given]:
        """Ask the person: ``await ctx.ask("Which?", ["red", "blue"])``.

        Their time is not the tool's: no timeout counts it. A blocking tool writes
        ``ctx.ask_blocking(...)``.

        Args:
            text: The question.
            options: What may be chosen. Default: nothing, and any text is an answer.
            multiple: Whether several options may be chosen, or none. Default ``False``.
            allow_text: Whether own words are an answer, too. Default: only where there are
                no options.

        Returns:
            The text; with ``multiple`` the texts, those of the options in their order.
            ``None``: the person declined to answer.

        Raises:
            ToolError: There is nobody to ask here.
            UsageError: It is no question that can be answered, the handler failed or answered
                something else, or this is a blocking tool.
        """
        if self._home is not None and not is_on_a_loop():
            # What comes back could only be awaited, and would pass for a yes.
            raise UsageError("this tool is not async; write: ctx.ask_blocking(...)")
        return self._asked(text, options, multiple, allow_text)

    async def _asked(
        self, text: str, options: Sequence[str], multiple: bool, allow_text: bool | None
    ) -> Given:
        question = Question(
            text, options, multiple, allow_text, tool_name=self.tool_name, call_id=self.call_id
        )
        if self._asking is None:
            self._asking = Stopwatch()
        with self._asking:
            return await answered(question, self._answer)

    def ask_blocking(
        self,
        text: str,
        options: Sequence[str] = (),
        *,
        multiple: bool = False,
        allow_text: bool | None = None,
    ) -> Given:
        """Ask the person from a tool that is not async: as :meth:`ask`, but it waits itself.

        Raises:
            ToolError: There is nobody to ask here, or the call was stopped meanwhile.
            UsageError: As for :meth:`ask`; or this is an event loop's thread, which would wait
                for itself.
        """
        if is_on_a_loop():
            raise UsageError("ask_blocking would stop the event loop; write: await ctx.ask(...)")
        asking = self._asked(text, options, multiple, allow_text)
        if self._home is None:
            return asyncio.run(asking)
        answer = asyncio.run_coroutine_threadsafe(asking, self._home)
        while not answer.done():
            try:
                return answer.result(_LOOK_SECONDS)
            except TimeoutError:
                if self.cancelled:
                    answer.cancel()
                    raise ToolError(
                        "stopped", "The call was stopped while a person was asked."
                    ) from None
        return answer.result()
