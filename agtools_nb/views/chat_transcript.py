"""One conversation as a chat shows it, brought up to date by what its session tells."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, Generic, TypeVar

from agtools_nb.access import ToolRunner
from agtools_nb.agent.happenings import (
    Added,
    CallAnswered,
    CallAsked,
    CallProgress,
    CallStarted,
    Happening,
    Reply,
    TextPiece,
)
from agtools_nb.agent.messages import Message, ResultsMessage, UserMessage
from agtools_nb.agent.model import model_name
from agtools_nb.agent.session import Session
from agtools_nb.agent.thread import Thread
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import shorten
from agtools_nb.views.batch_row import SUMMARY_LIMIT
from agtools_nb.views.chat_entries import Call, Entry
from agtools_nb.views.reported import Reported

KEPT_RAW = 50
"""Turns whose request and response as they went over the wire are kept."""


S = TypeVar("S", bound="Session | Thread")


class Transcript(Generic[S]):
    """The entries of one session.

    Args:
        session: Whose messages these are.
        number: Gives numbers that are unique in the view.
        changed: Told of what has happened, on the session's thread.
        lock: Held while anything is changed.
        entries: What it begins with; the session's further messages are added.
        name: What people call who answers. Default: the model's name.
        skip: How many of the session's messages are not shown.

    Attributes:
        id: Its number.
        session: Whose messages these are.
        entries: Oldest first.
        busy_since: When the answer began that is being given, Unix time; ``None`` if none is.
        reply: What became of the last message.
    """

    def __init__(
        self,
        session: S,
        number: Callable[[], int],
        changed: Callable[[Happening | None], None],
        lock: AbstractContextManager[Any],
        entries: Iterable[Entry] = (),
        name: str = "",
        skip: int = 0,
    ) -> None:
        self._name = name
        self.id = number()
        self.session = session
        self.entries: list[Entry] = list(entries)
        self.busy_since: float | None = None if session.is_idle else time.time()
        self.reply: Reply | None = None
        self._number = number
        self._changed = changed
        self._lock = lock
        self._touched: dict[int, Entry] = {}
        self._calls_touched: dict[int, set[int]] = {}
        self._calls: dict[str, tuple[Entry, int]] = {}
        self._writing: Entry | None = None
        self._raws: deque[Entry] = deque()
        have = {entry.message.id for entry in self.entries if entry.message is not None}
        for entry in self.entries:
            self._remember(entry)
        for message in session.messages[skip:]:
            if message.id not in have:
                self._add(message)
        self._touched.clear()
        self._unwatch = session.watch(self.hear)

    @property
    def name(self) -> str:
        """What people call who answers."""
        return self._name or model_name(self.session.model)

    def look_up(self) -> None:
        """An answer may have ended with an error, of which nothing was told."""
        if self.session.is_idle:
            self.busy_since = None
            self._writing = None

    def close(self) -> None:
        """Stop watching."""
        self._unwatch()

    # -- what happens -------------------------------------------------------------------------

    def hear(self, happening: Happening) -> None:
        """Take in what happened."""
        with self._lock:
            self._hear(happening)
        self._changed(happening)

    def _hear(self, happening: Happening) -> None:
        if isinstance(happening, TextPiece):
            entry = self._written()
            entry.write(happening.text)
            self._touch(entry)
        elif isinstance(happening, CallAsked):
            self._asked(happening.call)
        elif isinstance(happening, CallStarted):
            self._started(happening.call)
        elif isinstance(happening, CallProgress):
            self._progress(happening)
        elif isinstance(happening, CallAnswered):
            self._answered(happening.result, happening.repair, happening.of)
        elif isinstance(happening, Added):
            self._added(happening)
        elif isinstance(happening, Reply):
            self._replied(happening)

    def _added(self, added: Added) -> None:
        if isinstance(added.message, UserMessage) and self.busy_since is None:
            self.busy_since = time.time()
        entry = self._add(added.message)
        if entry is not None and added.raw is not None:
            entry.raw = added.raw
            self._raws.append(entry)
            if len(self._raws) > KEPT_RAW:
                self._raws.popleft().raw = None

    def _add(self, message: Message) -> Entry | None:
        if isinstance(message, ResultsMessage):
            for result in message.results:
                self._complete(result)
            return None
        if isinstance(message, UserMessage):
            # One that is answered only now, after a restart, stands there already.
            entry = self._entry_of(message) or self._new("user")
        else:
            entry = self._writing or self._new("model")
            self._writing = None
        was = len(entry.calls)
        entry.fill(message)
        for at in range(was, len(entry.calls)):
            self._calls[entry.calls[at].id] = entry, at
        self._touch(entry)
        return entry

    def _replied(self, reply: Reply) -> None:
        self.busy_since = None
        self.reply = reply
        if self._writing is not None:
            # Its message is not part of the history: the answer was cut off by the machine.
            self._writing = None
        if reply.reason != "answered":
            entry = self._new("end")
            entry.reply = reply
            self._touch(entry)

    def _written(self) -> Entry:
        if self._writing is None:
            self._writing = self._new("model")
        return self._writing

    def _asked(self, call: ToolCall) -> None:
        entry = self._written()
        self._calls[call.id or ""] = entry, len(entry.calls)
        entry.calls.append(Call(call))
        self._touch(entry)

    def _started(self, call: ToolCall) -> None:
        found = self._calls.get(call.id or "")
        if found is None:
            return
        row = found[0].calls[found[1]].row
        row.started = time.time()
        if not isinstance(call.args, str):
            row.arguments = call.args
        shown = display_text(self.session.runner, call)
        if shown is not None:
            row.summary = shorten(shown, SUMMARY_LIMIT)
        self._touch_call(*found)

    def _progress(self, happening: CallProgress) -> None:
        found = self._calls.get(happening.progress.call_id)
        if found is None:
            return
        row = found[0].calls[found[1]].row
        if row.reported is None:
            row.reported = Reported()
        row.reported.add(happening.progress)
        self._touch_call(*found)

    def _answered(self, result: ToolResult, repair: int, of: int) -> None:
        found = self._calls.get(result.id or "")
        if found is None:
            return
        call = found[0].calls[found[1]]
        call.repair, call.of = repair, of
        row = call.row
        row.result = result
        row.changes = result.coercions or row.changes
        if result.arguments is not None:
            row.arguments = result.arguments
        if result.started_at:
            row.started = result.started_at
        self._touch_call(*found)

    def _complete(self, result: ToolResult) -> None:
        """A result of the history, for calls of which nothing was told."""
        found = self._calls.get(result.id or "")
        if found is not None and found[0].calls[found[1]].row.result is None:
            self._answered(result, 0, 0)

    def add_thread(self, thread: Transcript[Thread]) -> None:
        """An event is handled apart from the conversation."""
        entry = self._new("thread")
        entry.child = thread
        self._touch(entry)

    # -- what is asked ------------------------------------------------------------------------

    def call(self, call_id: str | None) -> Call | None:
        """The call of that id."""
        found = self._calls.get(call_id or "")
        return None if found is None else found[0].calls[found[1]]

    def touch_call(self, call_id: str) -> None:
        """A call's card has changed."""
        if call_id in self._calls:
            self._touch_call(*self._calls[call_id])
            self._changed(None)

    def entry(self, n: Any) -> Entry | None:
        """The entry of that number."""
        return next((entry for entry in self.entries if entry.n == n), None)

    def until(self, message_id: str) -> list[Entry]:
        """The entries before a message.

        Raises:
            UsageError: There is no such message.
        """
        for at, entry in enumerate(self.entries):
            if entry.message is not None and entry.message.id == message_id:
                return self.entries[:at]
        raise UsageError("there is no such message in this conversation")

    def ids(self) -> list[str]:
        """Ids of all messages, in order."""
        return [entry.message.id for entry in self.entries if entry.message is not None]

    def take_touched(self) -> tuple[list[Entry], dict[int, set[int]]]:
        """The entries that have changed since this was last asked, and the calls of others."""
        entries, calls = list(self._touched.values()), self._calls_touched
        self._touched, self._calls_touched = {}, {}
        return entries, {n: at for n, at in calls.items() if n not in {one.n for one in entries}}

    def _entry_of(self, message: Message) -> Entry | None:
        last = next((one for one in reversed(self.entries) if one.kind == "user"), None)
        known = last is not None and last.message is not None and last.message.id == message.id
        return last if known else None

    # -- inside -------------------------------------------------------------------------------

    def _new(self, kind: Any) -> Entry:
        entry = Entry(self._number(), kind)
        self.entries.append(entry)
        return entry

    def _remember(self, entry: Entry) -> None:
        for at, call in enumerate(entry.calls):
            self._calls[call.id] = entry, at

    def _touch(self, entry: Entry) -> None:
        self._touched[entry.n] = entry

    def _touch_call(self, entry: Entry, at: int) -> None:
        self._calls_touched.setdefault(entry.n, set()).add(at)


def display_text(runner: ToolRunner, call: ToolCall) -> str | None:
    """What the tool's author wants people to read in place of the arguments."""
    if isinstance(call.args, str) or call.name not in runner.tool_names:
        return None
    return runner.tool(call.name).display_text(dict(call.args))
