"""One message after another: each is answered once those before it have been."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any

from agtools_nb.access import Access
from agtools_nb.agent.answering import Answering
from agtools_nb.agent.happenings import Happening, Reply
from agtools_nb.agent.messages import UserMessage
from agtools_nb.agent.record import Line
from agtools_nb.errors import AgtoolsError, UsageError
from agtools_nb.run.batch import HEARTBEAT_SECONDS
from agtools_nb.run.words import error_text

Tell = Callable[[Happening], None]

_NEVER_BEGAN = Reply("", "cancelled", "stopped before it began")

# The conversations whose turns the running code is part of.
_inside: ContextVar[tuple[Line, ...]] = ContextVar("inside", default=())
# Those that are not idle before the running code is done: it may be part of a thread of theirs.
_kept_busy: ContextVar[tuple[Line, ...]] = ContextVar("kept_busy", default=())


class Turns:
    """Answers messages in turn, and tells hooks where each begins and ends.

    Args:
        access: Whose hooks are told, asked anew for each turn.
        answering: Makes what answers a message, given whom to tell.
        tell: Told of everything.
        line: Whose turn it is, here and in other sessions of the same store.
    """

    def __init__(
        self,
        access: Callable[[], Access],
        answering: Callable[[Tell], Answering],
        tell: Tell,
        line: Line,
    ) -> None:
        self._access = access
        self._answering = answering
        self._tell = tell
        self._line = line
        self._open: set[asyncio.Task[Reply]] = set()
        self._heard: _Heard | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no message is being answered or waits."""
        # One that is done is put away a step of the loop later.
        return all(task.done() for task in self._line.open)

    @property
    def is_waited_for(self) -> bool:
        """Whether the running code is part of what keeps it from being idle."""
        return self._line in (*_inside.get(), *_kept_busy.get())

    def keep_busy(self) -> None:
        """The running task answers something beside the turns."""
        _kept_busy.set((*_kept_busy.get(), self._line))

    def start(
        self,
        message: UserMessage,
        follower: Tell | None = None,
        within: AbstractContextManager[Any] | None = None,
    ) -> asyncio.Task[Reply]:
        """Have a message answered.

        Args:
            message: The message.
            follower: Told of what happens in this turn, too.
            within: Entered while the message becomes part of the history.

        Raises:
            UsageError: It is a call of the turn that is under way that asks for it.
        """
        if within is None and self._line in _inside.get():
            raise UsageError(
                "a tool cannot wait for an answer of the conversation that waits for the tool; use "
                "ctx.send(message), which is answered afterwards"
            )
        heard = _Heard(self._tell, follower)
        task = asyncio.get_running_loop().create_task(self._in_turn(message, heard, within))
        self._open.add(task)
        self._line.open.add(task)
        task.add_done_callback(lambda ended: self._ended(ended, heard))
        return task

    def _ended(self, task: asyncio.Task[Reply], heard: _Heard) -> None:
        self._open.discard(task)
        self._line.open.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits has it
        elif heard.reply is None:
            heard(_NEVER_BEGAN)

    def tell(self, happening: Happening) -> None:
        """Tell of something that a call of this turn made happen, such as a subagent's words."""
        if self._heard is None:
            self._tell(happening)
        else:
            self._heard(happening)

    async def cancel(self) -> None:
        """Stop the turn that is under way, and wait until it has cleaned up."""
        if self._line.current is not None:
            await _stopped({self._line.current})

    async def cancel_all(self) -> None:
        """Stop it, and those that wait."""
        await _stopped(self._open)

    async def wait(self, task: asyncio.Task[Reply]) -> Reply:
        """Wait for a turn; who is cancelled meanwhile has it stopped.

        The heartbeat lets an interrupted kernel notice that it was.
        """
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=HEARTBEAT_SECONDS)
        except asyncio.CancelledError:
            await _stopped({task})
            raise
        # Who waits was not cancelled: it is the turn that was, before its first step.
        return _NEVER_BEGAN if task.cancelled() else task.result()

    async def _in_turn(
        self, message: UserMessage, heard: _Heard, within: AbstractContextManager[Any] | None
    ) -> Reply:
        try:
            async with self._line.turn():
                self._line.current, self._heard = asyncio.current_task(), heard
                _inside.set((*_inside.get(), self._line))  # tools are run in tasks that inherit it
                try:
                    await self._turn(message, heard, within)
                finally:
                    self._line.current = self._heard = None
        except asyncio.CancelledError:
            # Being stopped is a reply, too; who was cancelled himself raises where he waits.
            if heard.reply is None:
                heard(_NEVER_BEGAN)
        assert heard.reply is not None
        return heard.reply

    async def _turn(
        self, message: UserMessage, heard: _Heard, within: AbstractContextManager[Any] | None
    ) -> None:
        access = self._access()
        try:
            await access.before_turn(message.text)
        except AgtoolsError as error:
            with within or nullcontext():  # an event is not to come again
                heard(Reply("", "denied", error_text(error)))
            return
        try:
            await self._answering(heard).answer(message, within)
        finally:
            reply = heard.reply
            if reply is not None and reply.reason in ("cancelled", "time_budget"):
                await access.stopped(reply.results)
            await access.after_turn(reply)


class _Heard:
    """Passes on what happens in a turn, and keeps its reply."""

    def __init__(self, tell: Tell, follower: Tell | None) -> None:
        self._tell = tell
        self._follower = follower
        self.reply: Reply | None = None

    def __call__(self, happening: Happening) -> None:
        if isinstance(happening, Reply):
            self.reply = happening
        if self._follower is not None:
            self._follower(happening)
        self._tell(happening)


async def _stopped(tasks: set[asyncio.Task[Reply]]) -> None:
    found = tuple(tasks)
    for task in found:
        task.cancel()
    if found:
        await asyncio.wait(found)
