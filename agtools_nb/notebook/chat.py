"""``Chat``: a conversation in a notebook, to be looked at and to take part in."""

from __future__ import annotations

import asyncio
import functools
import weakref
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from agtools_nb.agent.happenings import CallAnswered, CallStarted, Happening, Reply
from agtools_nb.agent.models.choosing import as_model
from agtools_nb.agent.session import Session
from agtools_nb.agent.wire_form import ChatProvider
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr
from agtools_nb.notebook import display
from agtools_nb.notebook.asking import BatchAsked, Place, asking_in, look_for_places
from agtools_nb.notebook.cells import running_cell
from agtools_nb.notebook.kernel_loop import KernelLoop
from agtools_nb.notebook.live_output import show_view, update_outputs_of
from agtools_nb.notebook.surroundings import in_cell
from agtools_nb.views.chat import ChatView

if TYPE_CHECKING:
    from agtools_nb.agent.model import Model
    from agtools_nb.notebook.toolkit import Toolkit

TWIN_SECONDS = 0.2
"""After a reply the view takes it in first, then its saved twin is written."""


_chats: weakref.WeakSet[Chat] = weakref.WeakSet()


class Counting(Protocol):
    """Counts the calls of a conversation."""

    def call_started(self, index: int, call: ToolCall, prepared: Any) -> None:
        """A call has begun."""

    def call_finished(self, index: int, result: ToolResult) -> None:
        """A call has its result."""


class Chat(ChatView):
    """A conversation in a notebook.

    ::

        chat = Chat(session)
        chat                               # the last line of a cell: type into it
        reply = await chat.say("Will it rain in Oslo?")    # or from a cell

    It follows the session, whoever talks to it, subagents included. A person can stop an answer,
    and say something else in place of an earlier message; the conversation then goes on in a fork
    of the session, with a copy of the state, and :attr:`session` is that fork. A fork is kept
    until the kernel ends, also where the session has a store; the title says so. What arrives in
    the inbox is answered in the conversation that is shown.

    Calls that ask a person do so in their own cards. A toolkit does it by itself; an agent is
    told so when it is made::

        agent = Agent(tools, model, policies=[ask_user("*")], approve=tk.approve, answer=tk.answer)

    Args:
        session: The conversation, or an agent that has one.
        title: What stands above it. Default: the model's name.
        provider: In whose form a turn's request is shown if the model does not tell.
        counting: Told of the calls of all its sessions.
        feed: Whether the session is started, so that its inbox feeds it: at once, or, where no
            event loop runs yet, when something is said. Default: it is left as it is.

    Raises:
        UsageError: It is no session, or there is no such provider.
    """

    def __init__(
        self,
        session: Any,
        *,
        title: str = "",
        provider: ChatProvider = "openai",
        counting: Callable[[], Counting] | None = None,
        feed: bool = False,
    ) -> None:
        found = session if isinstance(session, Session) else getattr(session, "session", None)
        if not isinstance(found, Session):
            raise UsageError(f"{brief_repr(session)} is no session: Chat(Session(model, runner))")
        display.install()
        self._loop = KernelLoop()
        self._counting = counting
        self._counters: dict[str, Counting] = {}
        self._shown_in: str | None = None
        self._fed: list[Session] = []
        self._fed_on: asyncio.AbstractEventLoop | None = None
        super().__init__(self._loop, found, title=title, provider=provider)
        _chats.add(self)
        if feed:
            self._feed(found)

    async def say(self, text: str) -> Reply:
        """Say something in the conversation that is shown, and wait for the reply.

        From a cell it shows the conversation, if no cell has shown it yet.

        Raises:
            UsageError: There is nothing to say, or the session is closed.
        """
        awaited = in_cell()
        if awaited and self._shown_in is None:
            self._ipython_display_()
        self._feed()
        with asking_in(self._place(awaited)):
            return await super().say(text)

    def resend(self, message_id: str) -> Session:
        """Go back to before a message, in a fork that is shown from now on, and return it.

        Its own inbox feeds it. What arrives in the inbox of the session that was given is
        answered in what is shown, unless it belongs to a call of that session only.

        Args:
            message_id: Id of one of the session's messages.

        Raises:
            UsageError: There is no such message in what is shown.
        """
        fork = super().resend(message_id)
        self._feed(fork)
        return fork

    def shown_changed(self) -> None:
        """Another branch is shown: what arrives for nobody in particular is answered there."""
        first = self.sessions[0]
        first.hand_over(self.session)

    def _feed(self, *sessions: Session) -> None:
        """Let inboxes feed these, and those that no loop has run for yet."""
        self._fed += sessions
        loop = asyncio._get_running_loop()
        if loop is None:
            return
        # What was started on a loop that has ended is started again.
        waiting = sessions if loop is self._fed_on else tuple(self._fed)
        self._fed_on = loop
        with asking_in(self._place(False)):
            for session in waiting:
                if session.conversation_id is not None:
                    session.start()

    def _place(self, awaited: bool) -> Place:
        """Where its calls ask: in their cards; also in a cell that waits and does not show them."""
        cell = running_cell()
        far = awaited and cell is not None and cell.run != self._shown_in
        return Place(self, _ChatAsked(self), is_awaited=awaited, is_elsewhere=far)

    def shows(self, call_id: str | None) -> bool:
        """Whether a page shows it, and it has such a call."""
        return self._shown_in is not None and self.has_call(call_id)

    def heard(self, happening: Happening | None) -> None:
        """Count calls; write the saved twin when an answer is over."""
        super().heard(happening)
        if isinstance(happening, Reply):
            self._loop.later(TWIN_SECONDS, functools.partial(update_outputs_of, self))
        elif isinstance(happening, CallStarted):
            self._count(happening.call.id).call_started(0, happening.call, None)
        elif isinstance(happening, CallAnswered):
            result = happening.result
            self._count(result.id).call_finished(0, result)
            self._counters.pop(result.id or "", None)

    def _count(self, call_id: str | None) -> Counting:
        if self._counting is None:
            return _UNCOUNTED
        return self._counters.setdefault(call_id or "", self._counting())

    def _ipython_display_(self) -> None:
        cell = running_cell()
        run = "" if cell is None else cell.run
        if run and run == self._shown_in:
            return  # this cell shows it already
        self._shown_in = run
        self.host_desk()
        show_view(self)


class _ChatAsked(BatchAsked):
    """A conversation whose calls ask."""

    def __init__(self, chat: ChatView) -> None:
        self._chat = chat

    def sent(self, call_id: str | None) -> Mapping[str, Any] | None:
        """The arguments of a call as they came."""
        return self._chat.sent(call_id)

    def asks(self, call_id: str | None, begins: bool) -> None:
        """A call begins, or ceases, to wait."""
        self._chat.call_asks(call_id, begins)


def _place_of(call_id: str | None) -> Place | None:
    """Where a call of an agent asks that no chat has been told to talk to."""
    for chat in tuple(_chats):
        if chat.shows(call_id):
            return chat._place(in_cell())
    return None


look_for_places(_place_of)


class _Uncounted:
    def call_started(self, index: int, call: ToolCall, prepared: Any) -> None:
        """Not counted."""

    def call_finished(self, index: int, result: ToolResult) -> None:
        """Not counted."""


_UNCOUNTED = _Uncounted()


def chat_with(
    toolkit: Toolkit,
    model: Model | str,
    counting: Callable[[], Counting],
    *,
    title: str = "",
    provider: ChatProvider = "openai",
    **options: Any,
) -> Chat:
    """Return a chat of ``model`` with the tools of ``toolkit``; see :meth:`Toolkit.chat`."""
    store = toolkit.store if toolkit.store.path is not None else None
    session = Session(as_model(model), toolkit.runner, store=store, is_guest=True, **options)
    return Chat(session, title=title, provider=provider, counting=counting, feed=True)
