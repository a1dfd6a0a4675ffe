"""What a conversation tells while it goes on, in one order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agtools_nb.agent.budget import Reason
from agtools_nb.agent.messages import NO_USAGE, Message, Usage
from agtools_nb.agent.model import RawPart
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context import Progress

if TYPE_CHECKING:
    from agtools_nb.agent.session import Session
    from agtools_nb.agent.thread import Thread


@dataclass(frozen=True, slots=True)
class TextPiece:
    """The next piece of the answer that the model is writing."""

    text: str


@dataclass(frozen=True, slots=True)
class CallAsked:
    """The model asks for a call; it runs once the answer is complete."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class CallStarted:
    """A call has begun, with these arguments.

    Attributes:
        call: The call, its arguments as the tool gets them.
    """

    call: ToolCall


@dataclass(frozen=True, slots=True)
class CallProgress:
    """A running call reports progress."""

    progress: Progress


@dataclass(frozen=True, slots=True)
class CallAnswered:
    """A call has its result.

    Attributes:
        result: The result; its ``id`` is the call's.
        repair: Which repair in a row the model is asked for, from 1; 0 if the call fitted.
        of: Most repairs in a row.
    """

    result: ToolResult
    repair: int = 0
    of: int = 0


@dataclass(frozen=True, slots=True)
class Added:
    """A message is complete, and part of the history.

    Attributes:
        message: The message.
        raw: What went over the wire for it, if the model tells.
    """

    message: Message
    raw: RawPart | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of one message; the last thing that is told of it.

    Attributes:
        text: What the model said last.
        output: The structured output that ``finish`` brought; ``None`` without one.
        reason: Why it ended: ``"answered"``, ``"finished"`` (by ``finish``), ``"max_turns"``,
            ``"token_budget"``, ``"time_budget"``, ``"repairs"``, ``"length"``,
            ``"model_error"``, ``"denied"`` (by a hook), ``"cancelled"``.
        detail: The same in words, ``""`` for ``"answered"`` and ``"finished"``.
        messages: What it added to the history, the message itself first.
        usage: Tokens that it cost.
        seconds: How long it took.
    """

    text: str
    reason: Reason
    detail: str = ""
    output: object = None
    messages: tuple[Message, ...] = ()
    usage: Usage = NO_USAGE
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether the model came to its end by itself."""
        return self.reason in ("answered", "finished")

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The results of all calls, in order."""
        return tuple(r for m in self.messages for r in getattr(m, "results", ()))

    def __str__(self) -> str:
        return self.text if self.ok else f"{self.text}\n[{self.detail}]".lstrip()


@dataclass(frozen=True, slots=True)
class SubagentStarted:
    """A subagent is about to begin its task.

    Attributes:
        call_id: Id of the call that started it.
        name: The subagent.
        session: Its conversation, to be watched; closed once the task is done.
    """

    call_id: str | None
    name: str
    session: Session


@dataclass(frozen=True, slots=True)
class ThreadStarted:
    """An event is about to be handled in a temporary thread, apart from the conversation.

    Attributes:
        thread: The thread, to be watched.
    """

    thread: Thread


@dataclass(frozen=True, slots=True)
class InSubagent:
    """Something happened in the conversation of a subagent.

    Attributes:
        call_id: Id of the call that started it.
        name: The subagent.
        happening: What happened.
    """

    call_id: str | None
    name: str
    happening: Happening


Happening = (
    TextPiece
    | CallAsked
    | CallStarted
    | CallProgress
    | CallAnswered
    | Added
    | SubagentStarted
    | ThreadStarted
    | InSubagent
    | Reply
)
