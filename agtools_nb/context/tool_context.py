"""What a tool is given besides its arguments: the session's state and who is calling."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Protocol, Self

from agtools_nb.context.state import StateStore


class Conversation(Protocol):
    """What a :class:`ToolContext` needs of the session it belongs to."""

    @property
    def conversation_id(self) -> str | None:
        """Id of the conversation."""

    @property
    def is_idle(self) -> bool:
        """Whether it waits for input."""

    def send(self, message: Any) -> Any:
        """Send it a message."""


class ToolContext:
    """Gives a tool the state that all tools of a session share.

    A parameter annotated with this class is filled in by the runner and never
    shown to the model. Each call gets its own view, which knows the call's id;
    all views share one :class:`StateStore`.

    Args:
        conversation: The session, held weakly; ``None`` outside of one.
        state: The store to share. Default: a new, empty one.
        scopes: What the session was granted; tools that name other scopes are refused.

    Attributes:
        state: The shared store.
        scopes: The granted scopes.
        call_id: Id of the running call, ``None`` outside of one.
        tool_name: Name of the running tool, ``None`` outside of one.
    """

    def __init__(
        self,
        conversation: Conversation | None = None,
        *,
        state: StateStore | None = None,
        scopes: Iterable[str] = (),
    ) -> None:
        self._conversation = None if conversation is None else weakref.ref(conversation)
        self.state = StateStore() if state is None else state
        self.scopes = frozenset((scopes,) if isinstance(scopes, str) else scopes)
        self.call_id: str | None = None
        self.tool_name: str | None = None
        self._cancelled = False
        self._held: list[Any] = []

    def for_call(self, call_id: str | None, tool_name: str) -> ToolContext:
        """Return the view of this context that one call is given."""
        view = type(self).__new__(type(self))
        view.__dict__.update(self.__dict__)
        view.call_id = call_id
        view.tool_name = tool_name
        view._cancelled = False
        view._held = []
        return view

    @property
    def conversation_id(self) -> str | None:
        """Id of the conversation; ``None`` once the session has stopped."""
        conversation = self._live()
        return None if conversation is None else conversation.conversation_id

    @property
    def is_idle(self) -> bool | None:
        """Whether the session waits for input; ``None`` once it has stopped."""
        conversation = self._live()
        return None if conversation is None else conversation.is_idle

    def send(self, message: Any) -> Any:
        """Send a message to the session.

        Raises:
            RuntimeError: There is no session, or it has stopped.
        """
        conversation = self._live()
        if conversation is None:
            raise RuntimeError("this context has no running session to send to")
        return conversation.send(message)

    @property
    def cancelled(self) -> bool:
        """Whether the call was stopped or took too long; a blocking tool that loops should look.

        A thread cannot be ended from outside: a stopped blocking tool runs on
        until it returns, and its result is dropped.
        """
        return self._cancelled

    def cancel(self) -> None:
        """Set :attr:`cancelled`; done by the runner when the call is stopped."""
        self._cancelled = True

    def get_state(self, key: str, default: Any = None) -> Any:
        """Return a copy of the value under ``key``, or ``default``.

        A get followed by a set can lose another call's write in between; use
        :meth:`update_state`, or hold the lock with ``with ctx:``.
        """
        return self.state.get(key, default)

    def set_state(self, key: str, value: Any) -> None:
        """Store ``value`` under ``key``, recorded as this call's write.

        Raises:
            TypeError: ``key`` is not text.
        """
        self.state.set(key, value, call_id=self.call_id, tool_name=self.tool_name)

    def update_state(self, key: str, updater: Callable[[Any], Any], default: Any = None) -> Any:
        """Replace the value under ``key`` by ``updater(value)`` in one atomic step.

        Returns the new value. A failing updater changes nothing. See
        :meth:`StateStore.update`.
        """
        return self.state.update(
            key, updater, default, call_id=self.call_id, tool_name=self.tool_name
        )

    @contextmanager
    def lock(self) -> Iterator[ToolContext]:
        """Hold the store for several reads and writes: ``with ctx.lock(): ...``.

        Do not ``await`` inside: another task that writes would block the loop.
        """
        with self.state.lock():
            yield self

    def __enter__(self) -> Self:
        holder = self.lock()
        holder.__enter__()
        self._held.append(holder)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._held.pop().__exit__(kind, error, traceback)

    def __repr__(self) -> str:
        call = f" for call {self.call_id!r} of {self.tool_name!r}" if self.tool_name else ""
        return f"<{type(self).__name__}{call}: {len(self.state)} keys>"

    def _live(self) -> Conversation | None:
        return None if self._conversation is None else self._conversation()
