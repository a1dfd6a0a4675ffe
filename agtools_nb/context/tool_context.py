"""What a tool is given besides its arguments: the session's state and who is calling."""

from __future__ import annotations

import weakref
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from agtools_nb.context.asking import AsksPeople
from agtools_nb.context.pieces import BAR, bar_piece, text_piece
from agtools_nb.context.progress import EMITTED, CallProgress
from agtools_nb.context.questions import AnswerHandler
from agtools_nb.context.state import StateStore

if TYPE_CHECKING:
    from agtools_nb.context.artifacts import Artifacts
    from agtools_nb.context.memory import MemoryHit
    from agtools_nb.context.store import Store


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


class ToolContext(AsksPeople):
    """Gives a tool the state that all tools of a session share.

    A parameter annotated with this class is filled in by the runner and never
    shown to the model. Each call gets its own view, which knows the call's id;
    all views share one :class:`StateStore`.

    Args:
        conversation: The session, held weakly; ``None`` outside of one.
        state: The state to share. Default: that of ``store``, else a new, empty one.
        scopes: What the session was granted; tools that name other scopes are refused.
        user_id: Whom the session belongs to. Default ``"anonymous"``.
        session_id: Id of the session. Default ``""``.
        agent_name: Which agent calls; ``None`` if there is none.
        store: Where artifacts and memory are; ``None``: nowhere.
        answer: Who answers what tools :meth:`ask`: a function that is given the
            :class:`Question`. Default: the runner's ``answer=``, else nobody.

    Attributes:
        state: The shared state.
        scopes: The granted scopes.
        user_id: Whom the session belongs to.
        session_id: Id of the session.
        agent_name: Which agent calls; ``None`` if there is none.
        store: Where artifacts and memory are; ``None``: nowhere.
        call_id: Id of the running call, ``None`` outside of one.
        tool_name: Name of the running tool, ``None`` outside of one.
    """

    _progress: CallProgress | None = None

    def __init__(
        self,
        conversation: Conversation | None = None,
        *,
        state: StateStore | None = None,
        scopes: Iterable[str] = (),
        user_id: str = "anonymous",
        session_id: str = "",
        agent_name: str | None = None,
        store: Store | None = None,
        answer: AnswerHandler | None = None,
    ) -> None:
        self._conversation = None if conversation is None else weakref.ref(conversation)
        if state is None:
            state = StateStore() if store is None else store.state
        self.state = state
        self.scopes = frozenset((scopes,) if isinstance(scopes, str) else scopes)
        self.user_id = user_id
        self.session_id = session_id
        self.agent_name = agent_name
        self.store = store
        self.answer_with(answer)
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
        view._progress = None
        view._is_asked_in_call()
        return view

    def report_to(self, progress: CallProgress | None) -> None:
        """Send progress of the call there; done by the runner if somebody follows."""
        self._progress = progress

    @property
    def is_followed(self) -> bool:
        """Whether somebody follows the progress of the call, which has no result yet."""
        return self._progress is not None and not self._progress.is_closed

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

    @property
    def function_call_id(self) -> str | None:
        """The same as :attr:`call_id`."""
        return self.call_id

    @property
    def artifacts(self) -> Artifacts | None:
        """Where files are kept by name and version; ``None`` if nowhere."""
        return None if self.store is None else self.store.artifacts

    def search_memory(self, query: str, limit: int = 10) -> tuple[MemoryHit, ...]:
        """Return what was remembered that has words of the query, the best first.

        See :meth:`Memory.search`. Without a memory, nothing is found.
        """
        return () if self.store is None else self.store.memory.search(query, limit)

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

    def emit_progress(self, stream: str, chunk: str | bytes) -> Awaitable[None]:
        """Report text while the call runs: ``await ctx.emit_progress("log", "half done")``.

        In a blocking tool, call it without ``await``. Progress is bounded and lossy, and
        the call's result never depends on it: a chunk is cut to 8 KiB of UTF-8, a call may
        offer 1 MiB, and where 256 pieces of a batch wait already, this waits for room for
        at most 100 ms (a blocking tool in the call itself). Whoever follows is told once a
        call that something was dropped. Where nobody follows, after the call has its
        result, and outside of a runner, nothing happens.

        Args:
            stream: ``"stdout"``, ``"stderr"``, or a word of your own.
            chunk: Text; bytes are read as UTF-8, what is not UTF-8 becomes ``U+FFFD``.

        Returns:
            Something to await, which also lets other tasks run.

        Raises:
            TypeError: ``chunk`` is neither text nor bytes, or ``stream`` is no text.
        """
        piece = text_piece(stream, chunk)
        return EMITTED if self._progress is None else self._progress.emit(piece)

    def report_progress(
        self, done: float, total: float | None = None, text: str = "", *, stream: str = BAR
    ) -> Awaitable[None]:
        """Report how far the call is, for a progress bar; else as :meth:`emit_progress`.

        It never waits: where there is no room, only a bar's newest report is kept, and
        the last one always arrives.

        Args:
            done: How much is done, at least 0.
            total: How much there is. Default: unknown.
            text: What is being done.
            stream: Another word for each further bar. Default ``"progress"``.

        Returns:
            Something to await.

        Raises:
            TypeError: ``done`` or ``total`` is no number, or ``text`` or ``stream`` no text.
            ValueError: A number is not finite, or below 0.
        """
        piece = bar_piece(stream, done, total, text)
        return EMITTED if self._progress is None else self._progress.show(piece)

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
