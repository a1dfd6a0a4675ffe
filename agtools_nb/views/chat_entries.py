"""What a chat shows: messages in order, each call with what became of it, as JSON for the page."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from agtools_nb.agent.happenings import Reply
from agtools_nb.agent.messages import ModelMessage, Usage, UserMessage
from agtools_nb.agent.model import RawPart
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.jsonable import shorten
from agtools_nb.views.asked import AskedView
from agtools_nb.views.batch_row import Row
from agtools_nb.views.media import Room, media_data
from agtools_nb.views.values import cut_text, preview

if TYPE_CHECKING:
    from agtools_nb.views.chat_transcript import Transcript

TEXT_LIMIT = 200_000
"""Characters of one message that a page is sent; the session has all of it."""

IMAGE_BYTES = 2_000_000
"""Bytes of images of one message that a page is sent."""

CALL_IMAGE_BYTES = 500_000
"""Bytes of images of one call that stand in its closed card."""

OUTPUT_LIMIT = 20_000
"""Characters of a structured output that a page is sent."""

Kind = Literal["user", "model", "end", "thread"]


class Call:
    """A call as its card shows it.

    Attributes:
        row: The call, its progress and its result.
        repair: Which repair in a row the model is asked for, from 1; 0 if the call fitted.
        of: Most repairs in a row.
        cards: Approvals and questions of the call.
        child: What a subagent says that the call has started; ``None`` if it has started none.
    """

    __slots__ = ("cards", "child", "of", "repair", "row")

    def __init__(self, call: ToolCall) -> None:
        self.row = Row(call)
        self.repair = 0
        self.of = 0
        self.cards: list[AskedView] = []
        self.child: Transcript[Any] | None = None

    @property
    def id(self) -> str:
        """The call's id."""
        return self.row.call.id or ""

    def wire(self, at: int, room: Room | None = None) -> dict[str, Any]:
        """What its card shows while it is closed.

        Args:
            at: Its place in the message.
            room: How many bytes of images it may show, shared with others. Default: some.
        """
        data = self.row.data(at, 0.0)
        data.pop("start", None)
        if self.row.result is None and self.row.started is not None:
            data["running"] = max(time.time() - self.row.started, 0.0)
        if self.repair:
            data |= {"repair": self.repair, "of": self.of}
        if self.row.result is not None and self.row.result.media:
            data |= media_data(self.row.result.media, room or Room(CALL_IMAGE_BYTES))
        if self.cards:
            data["cards"] = [card.id for card in self.cards]
        if self.child is not None:
            data |= {"child": self.child.id, "agent": shorten(self.child.name, 100)}
        return data

    def drop(self, why: str) -> None:
        """It will not run: the answer that asked for it is not whole."""
        if self.row.result is None:
            call = self.row.call
            self.row.result = ToolResult(call.name, call.id, error=why, status="cancelled")


class Entry:
    """One message, or what became of one.

    Attributes:
        n: Its number, unique in the view.
        kind: ``"user"``, ``"model"``, ``"end"``: how an answer ended, or ``"thread"``: what was
            handled apart from the conversation.
        child: For a thread: what was said in it.
        calls: The calls that a model's message asks for.
        message: The message; ``None`` while it is being written, and for an end.
        reply: For an end: what became of the message.
        raw: What went over the wire for it, as long as that is kept.
        known: Characters of its text that pages have; ``None`` while they know nothing of it.
    """

    __slots__ = (
        "_length",
        "_parts",
        "calls",
        "child",
        "kind",
        "known",
        "message",
        "n",
        "raw",
        "reply",
    )

    def __init__(self, n: int, kind: Kind) -> None:
        self.n = n
        self.kind = kind
        self.child: Transcript[Any] | None = None
        self.calls: list[Call] = []
        self.message: UserMessage | ModelMessage | None = None
        self.reply: Reply | None = None
        self.raw: RawPart | None = None
        self.known: int | None = None
        self._parts: list[str] = []
        self._length = 0

    @property
    def text(self) -> str:
        """Its text so far."""
        if self.message is not None:
            return self.message.text
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    @property
    def length(self) -> int:
        """Characters of its text so far."""
        return self._length if self.message is None else len(self.message.text)

    def write(self, piece: str) -> None:
        """More of its text."""
        self._parts.append(piece)
        self._length += len(piece)

    def fill(self, message: UserMessage | ModelMessage) -> None:
        """It is complete."""
        if self.known is not None and message.text[: self.known] != self.text[: self.known]:
            self.known = None  # what pages have is something else
        self.message = message
        self._parts = []
        if isinstance(message, ModelMessage):
            asked = {call.id for call in message.calls}
            for call in self.calls:
                if call.id not in asked:
                    call.drop("It was not run: the answer that asked for it broke off.")
            have = {call.id for call in self.calls}
            self.calls += [Call(call) for call in message.calls if call.id not in have]

    def wire(self, *, whole: bool = True, room: Room | None = None) -> dict[str, Any]:
        """What its page shows.

        Args:
            whole: All of it, under ``"text"``; else of the text only what pages do not have
                yet, under ``"more"``.
            room: How many bytes of images it may show, shared with others. Default: some.
        """
        if self.kind == "end":
            return {"n": self.n, "k": "end", **_end(self.reply)}
        data: dict[str, Any] = {"n": self.n, "k": self.kind}
        if self.child is not None:
            return data | {"child": self.child.id}
        begin, self.known = self.known, self.length
        if whole or begin is None:
            data["text"] = self.text[:TEXT_LIMIT]
        else:
            data["more"] = (
                self.text[begin:TEXT_LIMIT] if begin < min(self.known, TEXT_LIMIT) else ""
            )
        data["cut"] = cut_text(self.text, TEXT_LIMIT).note if self.known > TEXT_LIMIT else ""
        if self.message is not None:
            data |= {"id": self.message.id, "at": self.message.at}
        return data | (self._user(room) if self.kind == "user" else self._model(room))

    def _user(self, room: Room | None) -> dict[str, Any]:
        message = self.message
        if not isinstance(message, UserMessage):
            return {}
        data: dict[str, Any] = {"event": message.event}
        return (
            data | media_data(message.media, room or Room(IMAGE_BYTES)) if message.media else data
        )

    def _model(self, room: Room | None) -> dict[str, Any]:
        message = self.message
        calls = [call.wire(at, room) for at, call in enumerate(self.calls)]
        data: dict[str, Any] = {"calls": calls, "done": message is not None}
        if not isinstance(message, ModelMessage):
            return data
        return data | {
            "stop": message.stop,
            "error": shorten(message.error, 2_000) if message.error else "",
            "notes": _notes(message),
            "usage": usage_wire(message.usage),
            "secs": message.seconds,
        }


def usage_wire(usage: Usage) -> list[Any]:
    """Tokens sent and written, and whether they are an estimate."""
    return [usage.input, usage.output, usage.is_estimate]


def usage_words(usage: Usage) -> str:
    """``"1,204 tokens"``, or ``"about 1,204 tokens"`` where nobody counted."""
    return f"{'about ' if usage.is_estimate else ''}{usage.total:,} tokens"


def _notes(message: ModelMessage) -> list[str]:
    """What is to be said of an answer that is not whole; of others the raw turn tells."""
    if message.stop in ("end", "calls"):
        return []
    return [shorten(note, 500) for note in message.notes[:20]]


def nested(entries: Iterable[Entry]) -> Iterator[Transcript[Any]]:
    """What is said inside the entries: by subagents, and in threads."""
    for entry in entries:
        for found in (entry.child, *(call.child for call in entry.calls)):
            if found is not None:
                yield found
                yield from nested(found.entries)


def _end(reply: Reply | None) -> dict[str, Any]:
    if reply is None:
        return {}
    data: dict[str, Any] = {"reason": reply.reason, "detail": shorten(reply.detail, 2_000)}
    if reply.reason == "finished":
        shown = preview(reply.output, OUTPUT_LIMIT)
        data |= {"output": shown.text, "output_note": shown.note}
    return data
