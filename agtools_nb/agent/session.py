"""``Session``: a conversation of a model with a person and with tools."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable
from types import TracebackType
from typing import Any, Self

from agtools_nb.access import ToolRunner
from agtools_nb.agent.answering import Answering, Ending
from agtools_nb.agent.budget import Budget, Meter, meter_within
from agtools_nb.agent.given import as_store, instructions, said
from agtools_nb.agent.happenings import Added, Happening, Reply, TextPiece, ThreadStarted
from agtools_nb.agent.history import History, export, imported
from agtools_nb.agent.messages import Message, Usage, UserMessage
from agtools_nb.agent.model import Model, ModelRequest
from agtools_nb.agent.models.choosing import as_model
from agtools_nb.agent.own_runner import background_for, forked, set_up
from agtools_nb.agent.pump import Pump
from agtools_nb.agent.record import Record
from agtools_nb.agent.thread import Thread
from agtools_nb.agent.turns import Turns
from agtools_nb.calls import ToolResult
from agtools_nb.context import Store
from agtools_nb.errors import UsageError
from agtools_nb.events import Background, Event
from agtools_nb.media import Media
from agtools_nb.run.batch import HEARTBEAT_SECONDS

KEPT_THREADS = 100
"""Temporary threads whose replies are kept to be looked at."""

_log = logging.getLogger("agtools_nb")


class Session:
    """A conversation: messages, the model's answers, calls and their results.

    ::

        session = Session(model, ToolRunner([forecast]))
        reply = await session.chat("Will it rain in Oslo?")

    One message is answered at a time; a second one waits. With ``async with session:`` the
    inbox feeds it, too: messages, results of dispatched calls, reports and associative events
    are answered in turn, other events in a temporary thread of their own.

    Args:
        model: Who answers: anything with ``respond(request)``, or the name of a hosted model,
            such as ``"openai:gpt-..."`` (extra ``models``).
        runner: Its tools, rules and hooks. Default: one without tools. Where it has no context
            or no background, the session works with a twin of it, :attr:`runner`, which has
            them of its own; tools that are registered on it later are seen there, too.
        system_instructions: What the model is told before everything else. Default: nothing.
        store: Where the conversation lasts, a :class:`Store` or its path; opened again it goes
            on. Sessions of one store in one process have the same messages. Default: in memory.
        messages: What it begins with: messages, or what :meth:`export` returned, also as text.
        max_turns: Most answers of the model to one message. Default 20.
        token_budget: Most tokens of the whole conversation. Default: no bound.
        time_budget: Longest time for one message, in seconds. Default: no bound.
        max_repairs: How often in a row a model may send calls that do not fit. Default 3.
        ending: Says which result ends the answering, and the output that it brings. Default:
            none does.
        reminder: What a model is told that ends without such a result. Default: text is an
            answer.
        parent: The conversation that started this one: its tokens are that one's, too, and
            end with its budget.
        is_guest: Whether the runner goes on without the conversation, as a notebook's toolkit
            does: :meth:`close` then leaves the runner and what runs beside it as they are.
        original: The conversation that this one is a fork of, in the place of ``runner``; see
            :meth:`fork`.

    Raises:
        UsageError: ``model`` is no model, ``runner`` no :class:`ToolRunner`, a bound is out of
            range, ``messages`` are none, or the store has others already.
        StoreError: The store cannot be read.

    Attributes:
        model: Who answers.
        background: What runs beside the calls.
        system_instructions: What the model is told before everything else.
    """

    def __init__(
        self,
        model: Model | str,
        runner: ToolRunner | None = None,
        *,
        system_instructions: str | None = "",
        store: Store | str | os.PathLike[str] | None = None,
        messages: Iterable[Message | dict[str, Any]] | dict[str, Any] | str | bytes = (),
        max_turns: int = 20,
        token_budget: int | None = None,
        time_budget: float | None = None,
        max_repairs: int = 3,
        ending: Ending | None = None,
        reminder: str = "",
        parent: Session | None = None,
        is_guest: bool = False,
        original: Session | None = None,
    ) -> None:
        self._ending, self._reminder = ending or _never_ends, reminder
        self._is_guest = is_guest
        self._heir: Session | None = None
        self.model = as_model(model)
        self.system_instructions = instructions(system_instructions)
        if parent is not None and token_budget is None:
            token_budget = parent.tokens_left
        self._budget = Budget(max_turns, token_budget, time_budget, max_repairs)
        store = as_store(store)
        begun = imported(messages)
        if original is None:
            self.background = background_for(runner, store)
            self._own_runner = set_up(self, runner, store, self.background)
        else:
            self.background = Background()
            self._own_runner = forked(self, original._own_runner, self.background)
        self._record = Record.of(store.database if store and store.path else None, begun)
        self._record.sessions.add(self)
        self._history = self._record.history
        self._meter = self._record.meter
        if parent is not None:
            self._meter = Meter(self._meter.usage, meter_within(parent.meter), self._meter.keep)
        self._turns = Turns(
            lambda: self.runner.access,
            lambda told: self._answering(self._history, told),
            self._tell_watchers,
            self._record.line,
        )
        self._pump = Pump(self.background.inbox, self._answer_event)
        self._listeners: list[Callable[[Happening], None]] = []
        self._threads: deque[Thread] = deque(maxlen=KEPT_THREADS)
        self._is_closed = False

    # -- what it is ---------------------------------------------------------------------------

    @property
    def runner(self) -> ToolRunner:
        """Runs the calls."""
        return self._own_runner()

    @property
    def conversation_id(self) -> str | None:
        """Id of the conversation; ``None`` once it is closed."""
        return None if self._is_closed else self.background.conversation_id

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history, oldest first."""
        return self._history.messages

    @property
    def is_kept(self) -> bool:
        """Whether it lasts in the file of a store."""
        return self._history.is_kept

    @property
    def usage(self) -> Usage:
        """Tokens of the whole conversation, those of its subagents included."""
        return self._meter.usage

    @property
    def meter(self) -> Meter:
        """Counts them."""
        return self._meter

    @property
    def tokens_left(self) -> int | None:
        """Tokens until the budget is used up, at least 1; ``None`` if it has no bound."""
        budget = self._budget.tokens
        return None if budget is None else max(budget - self.usage.total, 1)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being answered, no task is pending, and nothing waits in the inbox."""
        return self._turns.is_idle and self._pump.is_idle and self.background.is_idle

    @property
    def threads(self) -> tuple[Thread, ...]:
        """The last 100 temporary threads, oldest first."""
        return tuple(self._threads)

    # -- talking ------------------------------------------------------------------------------

    async def chat(self, text: str, media: Media | Iterable[Any] = ()) -> Reply:
        """Say something, and wait until the model is done with it.

        Args:
            text: What is said.
            media: Images and files that go with it: :class:`Media`, one or several, or what a
                tool could return in its place, such as a PIL image.

        Returns:
            The reply. What went wrong is its ``reason`` and ``detail``, not an exception.

        Raises:
            UsageError: There is nothing to say, ``media`` are none, the session is closed, or a
                tool asks whose call is part of the answer before.
            StoreError: The history could not be written.
            asyncio.CancelledError: The waiting task was cancelled; the answer was stopped.
        """
        self._check_open()
        return await self._turns.wait(self._turns.start(said(text, media)))

    async def stream(
        self, text: str, media: Media | Iterable[Any] = ()
    ) -> AsyncGenerator[Happening, None]:
        """Say something, and follow what happens: text, calls, progress, results, in one order.

        The last thing is the :class:`Reply`. Leaving the loop stops the answer (use
        ``contextlib.aclosing`` to have that done at once). Arguments and errors as
        :meth:`chat`.
        """
        happened: asyncio.Queue[Happening | None] = asyncio.Queue()
        self._check_open()
        task = self._turns.start(said(text, media), happened.put_nowait)
        task.add_done_callback(lambda _: happened.put_nowait(None))
        try:
            while (happening := await happened.get()) is not None:
                yield happening
        finally:
            task.cancel()
            await self._turns.wait(task)

    def send(self, message: Any) -> Event:
        """Put a message into the inbox; it is answered once the session is started and free.

        Raises:
            UsageError: It is nothing, or the session is closed.
        """
        self._check_open()
        return self.background.send(message)

    async def cancel(self) -> None:
        """Stop what is being answered, and wait until its calls have cleaned up.

        The session stays usable. Idle, it does nothing.
        """
        await self._turns.cancel()

    async def wait_for_idle(self, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Wait until everything has been answered.

        Args:
            timeout: Seconds to wait. Default: as long as it takes.

        Raises:
            TimeoutError: It was not idle in time.
            UsageError: It is a call of this conversation that would wait for itself.
        """
        if self._turns.is_waited_for:
            raise UsageError(
                "a tool cannot wait until its own conversation is idle, which waits for the tool; "
                "return, or use ctx.send(message), which is answered afterwards"
            )
        async with asyncio.timeout(timeout):
            while not self.is_idle:  # noqa: ASYNC110 -- an interrupted kernel notices at a beat
                await asyncio.sleep(HEARTBEAT_SECONDS)

    def watch(self, listener: Callable[[Happening], None]) -> Callable[[], None]:
        """Tell ``listener`` of everything that happens, on the loop's thread.

        Returns a function that ends it.
        """
        self._listeners.append(listener)

        def stop() -> None:
            with contextlib.suppress(ValueError):
                self._listeners.remove(listener)

        return stop

    # -- the conversation as a thing -----------------------------------------------------------

    def export(self) -> dict[str, Any]:
        """The history as JSON, for ``Session(model, messages=...)``. Media are base64 text."""
        return export(self.messages, self.background.conversation_id)

    def fork(self, message_id: str | None = None, *, included: bool = True) -> Session:
        """Return a conversation that goes on from one of the messages, in memory.

        It has the same model, tools and bounds, a copy of the state as it is now, and the same
        artifacts, memory and scopes. What it says and does is not part of this one. Its messages
        and its state end with the process, also where this one has a store:
        ``Session(model, runner, store="new.db", messages=fork.export())`` keeps the messages.

        Args:
            message_id: The last message of both. Default: the last one there is. A message
                of the model keeps its results.
            included: ``False`` leaves that message out, to say something else instead. Results
                go together with the message that asked for them.

        Raises:
            UsageError: There is no such message, or it waits for results.
        """
        if message_id is None:
            return self._child(self._history.whole())
        return self._child(self._history.until(message_id, included=included))

    def hand_over(self, heir: Session | None) -> None:
        """Have what arrives in the inbox answered in another conversation, such as a fork.

        What belongs to a call of this one, and to none of the other, is answered here.

        Args:
            heir: The other conversation; ``None``: this one again.
        """
        self._heir = None if heir is self else heir

    def _child(self, messages: tuple[Message, ...]) -> Session:
        budget = self._budget
        return Session(
            self.model,
            system_instructions=self.system_instructions,
            messages=messages,
            max_turns=budget.max_turns,
            token_budget=budget.tokens,
            time_budget=budget.seconds,
            max_repairs=budget.max_repairs,
            ending=self._ending,
            reminder=self._reminder,
            original=self,
        )

    # -- being run -----------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def start(self) -> None:
        """Let the inbox feed the conversation from now on. Twice does no harm.

        A conversation that the same inbox has fed until now is paused. A message of the inbox
        that the process ended before it could answer is answered now.

        Raises:
            UsageError: It is closed.
            RuntimeError: No event loop runs here.
        """
        self._check_open()
        self._pump.start()
        if self._turns.is_idle:
            left = self._history.take_unanswered()
            if left is not None:
                self._turns.start(left, None, self._history.again(left))

    def pause(self) -> None:
        """Take no more out of the inbox, until :meth:`start`; what was taken is still answered."""
        self._pump.pause()

    async def close(self) -> None:
        """Stop what is being answered and all that runs beside it. Twice does no harm."""
        self._is_closed = True
        await self._pump.stop()
        await self._turns.cancel_all()
        if not self._is_guest:
            await self.background.close()
            await self.runner.close()

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else "idle" if self.is_idle else "busy"
        return f"<Session: {len(self._history)} messages, {self.usage.total:,} tokens, {state}>"

    # -- inside --------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if self._is_closed:
            raise UsageError(
                "this session is closed; make another one, from its export() if need be"
            )

    async def _answer_event(self, event: Event) -> None:
        """Answer what came in: in the history, or in a thread that is forgotten afterwards."""
        message = UserMessage.of_event(event)
        inbox, one = self.background.inbox, self._who_answers(event)
        if event.kind == "event" and not event.associative:
            one._turns.keep_busy()
            thread = Thread(one, event)
            one.tell(ThreadStarted(thread))
            await one._answering(thread.history, thread.tell).answer(message)
            inbox.settle(event)
            one._threads.append(thread)
        else:
            await one._turns.wait(one._turns.start(message, None, inbox.handling(event)))

    def _who_answers(self, event: Event) -> Session:
        heir = self._heir
        if heir is None or heir._is_closed:
            return self
        is_ours = event.call_id in self._history.call_ids
        return self if is_ours and event.call_id not in heir._history.call_ids else heir

    def _answering(self, history: History, tell: Callable[[Happening], None]) -> Answering:
        history.answer_what_was_cut_off()  # by an error of the store, say
        return Answering(
            self.model,
            self.runner,
            history,
            lambda: self._request(history),
            self._budget,
            self._meter,
            self._ending,
            tell,
            self._reminder,
        )

    def _request(self, history: History) -> ModelRequest:
        return ModelRequest(
            history.messages,
            self.system_instructions,
            self.runner.tools,
            conversation_id=self.background.conversation_id,
        )

    def tell(self, happening: Happening) -> None:
        """Tell of something that a call made happen: whoever follows its turn, and watchers."""
        self._turns.tell(happening)

    def _tell_watchers(self, happening: Happening) -> None:
        self._tell_each(happening)
        if isinstance(happening, (Added, TextPiece, Reply)):
            # Calls are told where they were asked for: whoever counts them counts them once.
            for other in tuple(self._record.sessions):
                if other is not self:
                    other._tell_each(happening)

    def _tell_each(self, happening: Happening) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(happening)
            except Exception:  # one who looks on cannot undo it
                _log.exception("a watcher of the conversation failed")


def _never_ends(result: ToolResult) -> tuple[bool, Any]:
    return False, None
