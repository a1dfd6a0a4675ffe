"""The messages of a conversation, in memory or in the store's file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from agtools_nb.agent.messages import (
    Message,
    ModelMessage,
    ResultsMessage,
    message_json,
    read_message,
)
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context.database import Database
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr, jsonable

FORMAT = "agtools_nb conversation"
VERSION = 1

_TABLE = "CREATE TABLE IF NOT EXISTS messages (seq INTEGER PRIMARY KEY, body TEXT NOT NULL)"
_CUT_OFF = "the call was interrupted: the process ended before it had its result"


class History:
    """Messages in order. Calls and their results stay together.

    Args:
        database: Where they are kept; those it has are read. ``None``: in memory.
        messages: What it begins with, if the database has none.
    """

    def __init__(self, database: Database | None = None, messages: Iterable[Message] = ()) -> None:
        self._database = database
        self._messages: list[Message] = []
        self._call_ids: set[str] = set()
        if database is not None:
            database.create(_TABLE)
            rows = database.execute("SELECT body FROM messages ORDER BY seq")
            for (body,) in rows:
                self._show(read_message(json.loads(body)))
        if not self._messages:
            for message in messages:
                self.append(message)
        self._answer_what_was_cut_off()

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages, oldest first."""
        return tuple(self._messages)

    @property
    def call_ids(self) -> frozenset[str] | set[str]:
        """Ids of all calls in it."""
        return self._call_ids

    def append(self, message: Message) -> None:
        """Add a message. In a store it is on disk when this returns.

        Raises:
            StoreError: It could not be written; the history is as it was.
        """
        if self._database is None:
            self._show(message)
            return
        with self._database.transaction():
            body = json.dumps(jsonable(message_json(message)))
            self._database.execute("INSERT INTO messages (body) VALUES (?)", (body,))
            self._database.on_commit(lambda: self._show(message))

    def _show(self, message: Message) -> None:
        # An interrupt may have this called again.
        if self._messages and self._messages[-1] is message:
            return
        self._messages.append(message)
        if isinstance(message, ModelMessage):
            self._call_ids.update(call.id for call in message.calls if call.id)

    def until(self, message_id: str, *, included: bool = True) -> tuple[Message, ...]:
        """The messages up to one of them. A model's calls keep their results.

        Args:
            message_id: Id of the message.
            included: Whether it is among them. Default ``True``.

        Raises:
            UsageError: There is no message of that id, or its results are still to come.
        """
        at = self._place(message_id)
        end = at + included
        if end and isinstance(self._messages[end - 1], ModelMessage):
            calls = self._messages[end - 1].calls  # type: ignore[union-attr]
            if calls:
                end += 1
        if end > len(self._messages):
            raise UsageError(
                f"the calls of message {message_id} have no results yet; wait for them"
            )
        return tuple(self._messages[:end])

    def _place(self, message_id: str) -> int:
        for at, message in enumerate(self._messages):
            if message.id == message_id:
                return at
        raise UsageError(f"there is no message {brief_repr(message_id)} in this conversation")

    def _answer_what_was_cut_off(self) -> None:
        last = self._messages[-1] if self._messages else None
        if isinstance(last, ModelMessage) and last.calls:
            self.append(ResultsMessage(tuple(_cut_off(call) for call in last.calls)))

    def __len__(self) -> int:
        return len(self._messages)

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)


def _cut_off(call: ToolCall) -> ToolResult:
    return ToolResult(call.name, call.id, error=_CUT_OFF, status="cancelled")


def export(messages: Iterable[Message], conversation_id: str) -> dict[str, Any]:
    """A conversation as JSON: ``format``, ``version``, ``conversation_id``, ``messages``."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "conversation_id": conversation_id,
        "messages": [jsonable(message_json(message)) for message in messages],
    }


def imported(written: Any) -> tuple[Message, ...]:
    """Read what :func:`export` wrote, as JSON or its text.

    Raises:
        UsageError: It is no conversation, or of a newer version; says what is wrong with it.
    """
    if isinstance(written, (str, bytes)):
        try:
            written = json.loads(written)
        except ValueError as error:
            raise UsageError(f"this is no JSON of a conversation: {error}") from error
    if not isinstance(written, dict) or written.get("format") != FORMAT:
        raise UsageError(f"{brief_repr(written)} is no conversation; give what export() returned")
    if written.get("version") != VERSION:
        raise UsageError(
            f"the conversation is of version {brief_repr(written.get('version'))}, and this "
            f"package reads version {VERSION}"
        )
    listed = written.get("messages")
    if not isinstance(listed, list):
        raise UsageError("the conversation has no list of messages")
    messages = tuple(read_message(one) for one in listed)
    _check_pairs(messages)
    return messages


def _check_pairs(messages: tuple[Message, ...]) -> None:
    """Each model's calls are followed by their results, and results by nothing else's."""
    for at, message in enumerate(messages):
        before = messages[at - 1] if at else None
        calls = before.calls if isinstance(before, ModelMessage) else ()
        answered = message.results if isinstance(message, ResultsMessage) else ()
        if isinstance(message, ResultsMessage) or calls:
            asked, got = [call.id for call in calls], [result.id for result in answered]
            if asked != got or not isinstance(message, ResultsMessage):
                raise UsageError(
                    f"message {message.id}: results of {got} follow calls {asked}; each call "
                    "needs its result right after it"
                )
