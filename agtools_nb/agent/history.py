"""The messages of a conversation, in memory or in the store's file."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from agtools_nb.agent.messages import (
    Message,
    ModelMessage,
    ResultsMessage,
    Usage,
    UserMessage,
    message_json,
    read_message,
)
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context.database import Database
from agtools_nb.errors import StoreError, UsageError
from agtools_nb.jsonable import brief_repr, jsonable

FORMAT = "agtools_nb conversation"
VERSION = 1

_TABLES = (
    "CREATE TABLE IF NOT EXISTS messages (seq INTEGER PRIMARY KEY, body TEXT NOT NULL)",
    # One row: the messages do not tell what subagents and temporary threads have cost.
    """CREATE TABLE IF NOT EXISTS spent (
        id INTEGER PRIMARY KEY CHECK (id = 1), input INTEGER NOT NULL, output INTEGER NOT NULL,
        is_estimate INTEGER NOT NULL)""",
)
_CUT_OFF = "the call was interrupted: the process ended before it had its result"
_NEVER_CAME = "the call was interrupted before it had its result"
_EVENTS = frozenset(("result", "event", "message", "report"))
"""What a message of the inbox came from; a reminder is the conversation's own."""

_log = logging.getLogger("agtools_nb")


class History:
    """Messages in order. Calls and their results stay together.

    Args:
        database: Where they are kept; those it has are read. ``None``: in memory.
        messages: What it begins with, if the database has none.
        cut_off: What is said in the place of results that are missing at its end.

    Raises:
        UsageError: The database has other messages than those that it is to begin with.
        StoreError: The database cannot be read.

    Attributes:
        usage: What the conversation had cost when it was read, as far as that is known.
    """

    def __init__(
        self,
        database: Database | None = None,
        messages: Iterable[Message] = (),
        cut_off: str = _CUT_OFF,
    ) -> None:
        self._database = database
        self._messages: list[Message] = []
        self._call_ids: set[str] = set()
        self._unanswered: UserMessage | None = None
        kept: Usage | None = None
        if database is not None:
            kept = self._read(database)
        begun = tuple(messages)
        if self._messages:
            self.check_begins_with(begun)
        else:
            for message in begun:
                self.append(message)
        self.answer_what_was_cut_off(cut_off)
        self.usage = _usage_of(self._messages) if kept is None else kept

    def _read(self, database: Database) -> Usage | None:
        database.create(*_TABLES)
        for (body,) in database.execute("SELECT body FROM messages ORDER BY seq"):
            self._show(read_message(json.loads(body)))
        last = self._messages[-1] if self._messages else None
        if isinstance(last, UserMessage) and last.event in _EVENTS:
            self._unanswered = last
        for read, written, is_estimate in database.execute(
            "SELECT input, output, is_estimate FROM spent"
        ):
            return Usage(int(read), int(written), bool(is_estimate))
        return None

    def check_begins_with(self, messages: tuple[Message, ...]) -> None:
        """Make sure that these are what the store's conversation began with.

        They are when a cell is run again that begins a stored conversation with them.

        Raises:
            UsageError: They are not.
        """
        have = [message.id for message in self._messages[: len(messages)]]
        if have != [message.id for message in messages]:
            raise UsageError(
                f"the store has a conversation of {len(self._messages)} messages already, which "
                "messages= would not become part of; leave messages= out, or give another store"
            )

    def keep_usage(self, usage: Usage) -> None:
        """Keep what the conversation has cost. What cannot be written is only logged."""
        if self._database is None:
            return
        try:
            self._database.execute(
                "INSERT OR REPLACE INTO spent VALUES (1, ?, ?, ?)",
                (usage.input, usage.output, usage.is_estimate),
            )
        except StoreError:  # the message itself, which is written next, says so
            _log.debug("the token count could not be kept", exc_info=True)

    def take_unanswered(self) -> UserMessage | None:
        """The message of an event that nothing followed when it was read, told once.

        The process ended while it was answered. Where something follows by now there is none.
        """
        found, self._unanswered = self._unanswered, None
        return found if found is not None and self._messages[-1] is found else None

    @contextmanager
    def again(self, message: UserMessage) -> Iterator[None]:
        """Let the block append its last message, which then stands there once, as before."""
        assert self._database is not None
        with self._database.transaction():
            self._database.execute(
                "DELETE FROM messages WHERE seq = (SELECT max(seq) FROM messages)"
            )
            yield

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages, oldest first."""
        return tuple(self._messages)

    @property
    def is_kept(self) -> bool:
        """Whether they last in a file."""
        return self._database is not None

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
            included: Whether it is among them. Default ``True``. Results go with their calls.

        Raises:
            UsageError: There is no message of that id, or its results are still to come.
        """
        at = self._place(message_id)
        if not included and isinstance(self._messages[at], ResultsMessage):
            at -= 1  # calls without their results would be no conversation
        end = at + included
        if end and self._waits(end - 1):
            end += 1
        if end > len(self._messages):
            raise UsageError(
                f"the calls of message {message_id} have no results yet; wait for them"
            )
        return tuple(self._messages[:end])

    def whole(self) -> tuple[Message, ...]:
        """All messages.

        Raises:
            UsageError: The calls of the last one have no results yet.
        """
        messages = self.messages
        if messages and self._waits(len(messages) - 1):
            before = f" (message_id={messages[-2].id!r})" if len(messages) > 1 else ""
            raise UsageError(
                "the calls of the last message have no results yet; wait for them, or fork at a "
                f"message before it{before}"
            )
        return messages

    def _waits(self, at: int) -> bool:
        message = self._messages[at]
        return isinstance(message, ModelMessage) and bool(message.calls)

    def _place(self, message_id: str) -> int:
        for at, message in enumerate(self._messages):
            if message.id == message_id:
                return at
        raise UsageError(f"there is no message {brief_repr(message_id)} in this conversation")

    def answer_what_was_cut_off(self, why: str = _NEVER_CAME) -> None:
        """Give the last calls results, where they have none: a model must see one for each."""
        last = self._messages[-1] if self._messages else None
        if isinstance(last, ModelMessage) and last.calls:
            self.append(ResultsMessage(tuple(_cut_off(call, why) for call in last.calls)))

    def __len__(self) -> int:
        return len(self._messages)

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)


def _cut_off(call: ToolCall, why: str) -> ToolResult:
    return ToolResult(call.name, call.id, error=why, status="cancelled")


def _usage_of(messages: Iterable[Message]) -> Usage:
    used = Usage()
    for message in messages:
        if isinstance(message, ModelMessage):
            used += message.usage
    return used


def export(messages: Iterable[Message], conversation_id: str) -> dict[str, Any]:
    """A conversation as JSON: ``format``, ``version``, ``conversation_id``, ``messages``."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "conversation_id": conversation_id,
        "messages": [jsonable(message_json(message)) for message in messages],
    }


def imported(written: Any) -> tuple[Message, ...]:
    """Read what a conversation begins with.

    Args:
        written: What :func:`export` wrote, as JSON, or as its text or bytes; or a list of
            messages, as JSON or as they are.

    Raises:
        UsageError: It is no conversation, or of a newer version; says what is wrong with it.
    """
    if isinstance(written, (str, bytes, bytearray)):
        try:
            written = json.loads(written)
        except ValueError as error:
            raise UsageError(f"this is no JSON of a conversation: {error}") from error
        if not isinstance(written, dict):
            raise _no_conversation(written)
    if isinstance(written, dict):
        written = _listed(written)
    elif not isinstance(written, Iterable):
        raise _no_conversation(written)
    known = (UserMessage, ModelMessage, ResultsMessage)
    messages = tuple(one if isinstance(one, known) else read_message(one) for one in written)
    _check_pairs(messages)
    return messages


def _listed(written: dict[str, Any]) -> list[Any]:
    if written.get("format") != FORMAT:
        raise _no_conversation(written)
    if written.get("version") != VERSION:
        raise UsageError(
            f"the conversation is of version {brief_repr(written.get('version'))}, and this "
            f"package reads version {VERSION}"
        )
    listed = written.get("messages")
    if not isinstance(listed, list):
        raise UsageError("the conversation has no list of messages")
    return listed


def _no_conversation(written: Any) -> UsageError:
    return UsageError(f"{brief_repr(written)} is no conversation; give what export() returned")


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
