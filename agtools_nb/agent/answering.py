"""One message of a conversation: requests, calls and results, until the model is done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from agtools_nb.agent.budget import Budget, Meter, Reason, Spent
from agtools_nb.agent.happenings import (
    Added,
    CallAnswered,
    CallAsked,
    CallProgress,
    CallStarted,
    Happening,
    Reply,
    TextPiece,
)
from agtools_nb.agent.history import History
from agtools_nb.agent.listening import Answer
from agtools_nb.agent.messages import Message, ModelMessage, ResultsMessage, UserMessage
from agtools_nb.agent.model import Model, ModelRequest, RawPart
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context import Progress
from agtools_nb.run.runner import Runner

if TYPE_CHECKING:
    from agtools_nb.arguments import Prepared

Tell = Callable[[Happening], None]


class Ending(Protocol):
    """Looks at results, and says whether one of them ends the conversation."""

    def __call__(self, result: ToolResult) -> tuple[bool, Any]:
        """Whether ``result`` is the end, and the output that it brings."""


class Answering:
    """Answers one message.

    Args:
        model: Who is asked.
        runner: Runs the calls.
        history: Where messages are added.
        request: Makes the request of the messages so far.
        budget: How far it may go.
        meter: Counts the tokens of the conversation.
        ending: Says which result ends it.
        tell: Told of everything, in order.
        reminder: What a model is told that ends with text only, where an output is wanted;
            ``""``: text is an answer.
        clock: Seconds, for the time budget.
    """

    def __init__(
        self,
        model: Model,
        runner: Runner,
        history: History,
        request: Callable[[], ModelRequest],
        budget: Budget,
        meter: Meter,
        ending: Ending,
        tell: Tell,
        reminder: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reminder = reminder
        self._model = model
        self._runner = runner
        self._history = history
        self._request = request
        self._ending = ending
        self._tell = tell
        self._spent = Spent(budget, meter, clock)
        self._added: list[Message] = []
        self._text = ""
        self._repairs = 0
        self._output: object = None

    async def answer(
        self, message: UserMessage, within: AbstractContextManager[Any] | None = None
    ) -> Reply:
        """Add the message and go on until the model is done, or may not go on.

        Args:
            message: The message.
            within: Entered while the message is added: what both write becomes true together.

        Raises:
            StoreError: The history could not be written.
            asyncio.CancelledError: The waiting task was cancelled. Every call has a result in
                the history, and the reply has been told, with reason ``"cancelled"``.
        """
        self._add(message, within=within)
        try:
            async with asyncio.timeout(self._spent.seconds_left) as clock:
                reason, detail = await self._steps()
        except TimeoutError:
            if not clock.expired():
                raise
            reason, detail = self._spent.out_of_time()
        except asyncio.CancelledError:
            self._reply("cancelled", "stopped")
            raise
        return self._reply(reason, detail)

    def _reply(self, reason: Reason, detail: str) -> Reply:
        spent = self._spent
        reply = Reply(
            self._text,
            reason,
            detail,
            self._output,
            tuple(self._added),
            spent.usage,
            spent.seconds,
        )
        self._tell(reply)
        return reply

    async def _steps(self) -> tuple[Reason, str]:
        while True:
            over = self._spent.over()
            if over is not None:
                return over
            said = await self._ask()
            if said.stop == "broken":
                return "model_error", f"the model's answer broke off: {said.error}"
            if said.calls:
                results = await self._call(said.calls)
                if self._is_end(results):
                    return "finished", ""
                wrong = sorted({r.name for r in results if r.status == "invalid"})
                asked = f"calls that do not fit ({', '.join(wrong)})"
            elif said.stop == "length":
                return "length", "the model's answer came to its longest and was cut off"
            elif self._reminder:
                self._repairs += 1
                asked = "no call that brings the output"
                self._add(UserMessage(self._reminder, event="reminder"))
            else:
                return "answered", ""
            if self._repairs > self._spent.budget.max_repairs:
                return "repairs", self._words_of_repairs(asked)

    async def _ask(self) -> ModelMessage:
        request = self._request()
        answer = Answer(self._history.call_ids, self._hear)
        self._spent.turns += 1
        try:
            await answer.listen(self._model, request)
        finally:
            said = answer.message(request)
            self._spent.add(said.usage)
            self._text = said.text or self._text
            self._add(said, answer.raw)
        return said

    def _hear(self, said: str | ToolCall) -> None:
        self._tell(TextPiece(said) if isinstance(said, str) else CallAsked(said))

    async def _call(self, calls: Sequence[ToolCall]) -> tuple[ToolResult, ...]:
        watcher = _Watcher(self._tell, self._counted)
        batch = self._runner.batch(calls, observers=(watcher,))
        try:
            await batch.run()
        finally:
            found = tuple(
                result or _stopped(call)
                for call, result in zip(batch.calls, batch.results, strict=True)
            )
            self._add(ResultsMessage(found, batch.group_id))
        return found

    def _counted(self, result: ToolResult) -> CallAnswered:
        """Count calls that did not fit: a model that cannot repair its call goes round for ever."""
        if result.status != "invalid":
            return CallAnswered(result)
        return CallAnswered(result, self._repairs + 1, self._spent.budget.max_repairs)

    def _is_end(self, results: Sequence[ToolResult]) -> bool:
        self._repairs = self._repairs + 1 if any(r.status == "invalid" for r in results) else 0
        for result in results:
            is_end, output = self._ending(result)
            if is_end:
                self._output = output
                return True
        return False

    def _words_of_repairs(self, asked: str) -> str:
        return (
            f"stopped: {self._repairs} answers in a row had {asked} "
            f"(max_repairs={self._spent.budget.max_repairs})"
        )

    def _add(
        self,
        message: Message,
        raw: RawPart | None = None,
        within: AbstractContextManager[Any] | None = None,
    ) -> None:
        with within or nullcontext():
            self._history.append(message)
        self._added.append(message)
        self._tell(Added(message, raw))


class _Watcher:
    """Tells of the calls of one batch."""

    def __init__(self, tell: Tell, counted: Callable[[ToolResult], CallAnswered]) -> None:
        self._tell = tell
        self._counted = counted

    def call_started(self, index: int, call: ToolCall, prepared: Prepared) -> None:
        arguments = prepared.arguments
        self._tell(CallStarted(call if arguments is None else replace(call, args=arguments)))

    def call_finished(self, index: int, result: ToolResult) -> None:
        self._tell(self._counted(result))

    def call_progress(self, index: int, progress: Progress) -> None:
        self._tell(CallProgress(progress))


def _stopped(call: ToolCall) -> ToolResult:
    return ToolResult(call.name, call.id, error="the call was stopped", status="cancelled")
