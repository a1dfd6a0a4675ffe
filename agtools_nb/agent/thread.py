"""``Thread``: where an event is handled that does not become part of the conversation."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from agtools_nb.agent.happenings import Happening, Reply
from agtools_nb.agent.history import History
from agtools_nb.agent.messages import Message, Usage
from agtools_nb.agent.model import Model
from agtools_nb.events import Event

if TYPE_CHECKING:
    from agtools_nb.access import ToolRunner
    from agtools_nb.agent.session import Session

_log = logging.getLogger("agtools_nb")


class Thread:
    """A temporary thread: the conversation as it was when an event came, and what came of that.

    Args:
        session: The conversation.
        event: What is handled.

    Attributes:
        event: What is handled.
        reply: What came of it; ``None`` while it is handled.
        history: The messages of both.
        begun: How many of them are the conversation's own.
    """

    def __init__(self, session: Session, event: Event) -> None:
        self.event = event
        self.reply: Reply | None = None
        # A passive call may be under way in the conversation: it goes on there.
        self.history = History(None, session.messages, "the call was still running at this point")
        self.begun = len(self.history)
        self._session = session
        self._listeners: list[Callable[[Happening], None]] = []

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation's messages, and those of the thread."""
        return self.history.messages

    @property
    def is_idle(self) -> bool:
        """Whether it has come to its end."""
        return self.reply is not None

    @property
    def model(self) -> Model:
        """Who answers: the conversation's model."""
        return self._session.model

    @property
    def runner(self) -> ToolRunner:
        """Runs the calls: the conversation's runner."""
        return self._session.runner

    @property
    def system_instructions(self) -> str:
        """What the model is told before everything else."""
        return self._session.system_instructions

    @property
    def usage(self) -> Usage:
        """Tokens of the whole conversation."""
        return self._session.usage

    def belongs_to(self, session: object) -> bool:
        """Whether it is a thread of that conversation."""
        return session is self._session

    def watch(self, listener: Callable[[Happening], None]) -> Callable[[], None]:
        """Tell ``listener`` of everything that happens in it. Returns a function that ends it."""
        self._listeners.append(listener)

        def stop() -> None:
            with contextlib.suppress(ValueError):
                self._listeners.remove(listener)

        return stop

    def tell(self, happening: Happening) -> None:
        """Tell watchers of something that happened."""
        if isinstance(happening, Reply):
            self.reply = happening
        for listener in tuple(self._listeners):
            try:
                listener(happening)
            except Exception:  # one who looks on cannot undo it
                _log.exception("a watcher of a thread failed")
