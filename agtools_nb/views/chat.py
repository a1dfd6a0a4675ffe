"""``ChatView``: a conversation as it goes on: its text, its calls, and a place to say more."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

from agtools_nb.agent.happenings import Happening, Reply, SubagentStarted, ThreadStarted
from agtools_nb.agent.messages import ModelMessage
from agtools_nb.agent.model import model_name
from agtools_nb.agent.session import Session
from agtools_nb.agent.thread import Thread
from agtools_nb.agent.wire_form import CHAT_PROVIDERS, ChatProvider
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr, shorten
from agtools_nb.views.asked import AskedView
from agtools_nb.views.base import Scheduler, wire_safe
from agtools_nb.views.batch import DETAIL_IMAGES, DETAIL_LIMIT
from agtools_nb.views.chat_entries import Call, Entry, nested, usage_wire
from agtools_nb.views.chat_raw import raw_wire
from agtools_nb.views.chat_static import chat_html, chat_text
from agtools_nb.views.chat_transcript import S, Transcript
from agtools_nb.views.chat_versions import versions
from agtools_nb.views.hosting import MAX_ANSWERED, HostView
from agtools_nb.views.human import HumanView
from agtools_nb.views.media import Room

WINDOW = 60
"""Messages that a page is sent at once; earlier ones are sent when somebody asks for them."""

WINDOW_CHARACTERS = 400_000
"""Characters of text that a page is sent at once."""

WINDOW_IMAGES = 4_000_000
"""Bytes of images that a page is sent at once."""

LONGEST_SAID = 1_000_000

TOOLS_NAMED = 12

_NOT_KEPT = " · this version is kept until the kernel ends"


class ChatView(HostView):
    """Shows a session while it goes on, and lets a person take part.

    It follows the session, whoever talks to it: the person at the page, or a cell. What was
    said can be said differently (:meth:`resend`): the conversation then goes on from there in
    a fork, and the page can go back to what it was. A fork is kept until the kernel ends, also
    where the session has a store, and the title then says so.

    Args:
        scheduler: Where handlers and updates run.
        session: The conversation.
        title: What stands above it. Default: the model's name.
        provider: In whose form a turn's request is shown if the model does not tell.

    Raises:
        UsageError: There is no such provider.
    """

    _view = "chat"

    def __init__(
        self,
        scheduler: Scheduler,
        session: Session,
        *,
        title: str = "",
        provider: ChatProvider = "openai",
    ) -> None:
        if provider not in CHAT_PROVIDERS:
            raise UsageError(
                f"no provider {brief_repr(provider)}; known are {', '.join(CHAT_PROVIDERS)}"
            )
        self._chat_lock = threading.RLock()
        self._counter = itertools.count(1)
        self._title = title
        self._provider: ChatProvider = provider
        self._full = False
        self._stopping = False
        self._nested: list[Transcript[Any]] = []
        # A transcript tells the view of changes, which cannot hear before it is made.
        self._is_made = False
        self._shown = self._transcript(session)
        self._branches = [self._shown]
        super().__init__(scheduler)
        self._is_made = True

    # -- for Python ---------------------------------------------------------------------------

    @property
    def session(self) -> Session:
        """The conversation that is shown: the one that was given, or a fork of it."""
        return self._shown.session

    @property
    def sessions(self) -> tuple[Session, ...]:
        """All that can be shown: the one that was given, and its forks."""
        return tuple(branch.session for branch in self._branches)

    async def say(self, text: str) -> Reply:
        """Say something in the conversation that is shown, and wait for the reply.

        Raises:
            UsageError: There is nothing to say, or the session is closed.
        """
        shown = self._shown
        try:
            return await shown.session.chat(text)
        finally:
            shown.look_up()
            self.refresh()

    def resend(self, message_id: str) -> Session:
        """Go back to before a message, in a fork that is shown from now on, and return it.

        Args:
            message_id: Id of one of the session's messages.

        The fork is kept until the kernel ends, see :meth:`Session.fork`.

        Raises:
            UsageError: There is no such message in what is shown.
        """
        with self._chat_lock:
            before = self._shown.until(message_id)
            fork = self.session.fork(message_id, included=False)
            branch = self._transcript(fork, before)
            self._branches.append(branch)
        self._show(branch)
        return fork

    def nest(self, call_id: str, session: Session, name: str = "") -> None:
        """Show a subagent's session inside the card of the call that has started it.

        An :class:`Agent` tells of its subagents, and they are shown by themselves.

        Args:
            call_id: The call.
            session: The subagent's conversation.
            name: What people call it. Default: the name of its model.

        Raises:
            UsageError: There is no such call here.
        """
        with self._chat_lock:
            found = self._call(call_id)
            if found is None:
                raise UsageError(f"no call {brief_repr(call_id)} in this conversation")
            branch, call = found
            if call.child is not None:
                call.child.close()
                self._nested.remove(call.child)
            call.child = self._transcript(session, name=name)
            self._nested.append(call.child)
            self._full = self._full or bool(call.child.entries)
            branch.touch_call(call_id)

    def close(self) -> None:
        """Stop following the session and close the comm; the session goes on."""
        for branch in (*getattr(self, "_branches", ()), *getattr(self, "_nested", ())):
            branch.close()
        super().close()

    # -- cards of calls that ask a person ---------------------------------------------------------

    def show_card(self, card: AskedView) -> None:
        """Show a card that asks, in the card of its call. On the main loop only."""
        with self._chat_lock:
            found = self._call(_call_id(card))
            if found is not None:
                found[1].cards.append(card)
                found[0].touch_call(found[1].id)
                return
        super().show_card(card)

    def has_call(self, call_id: str | None) -> bool:
        """Whether it has a call of that id, also in a branch or a subagent."""
        return self._call(call_id) is not None

    def call_asks(self, call_id: str | None, asks: bool) -> None:
        """A call begins, or ceases, to wait for a person's answer."""
        with self._chat_lock:
            found = self._call(call_id)
            if found is not None:
                found[1].row.asking += 1 if asks else -1
                found[0].touch_call(found[1].id)

    def sent(self, call_id: str | None) -> Mapping[str, Any] | None:
        """The arguments of a call as the model sent them; ``None`` if they were no object."""
        found = self._call(call_id)
        args = None if found is None else found[1].row.call.args
        return args if isinstance(args, Mapping) else None

    def cards_changed(self) -> None:
        """A card was answered. On the main loop only."""
        self._changes += 1
        for card in [card for card in self._cards if not card.is_open][:-MAX_ANSWERED]:
            self._cards.remove(card)
            card.close()
        self._full = True
        self.refresh()

    # -- to the browser -----------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """Return the newest messages and how it stands; see ``widgets/chat/types.d.ts``."""
        with self._chat_lock:
            self._full = False
            self._shown.take_touched()
            entries, left = self._window(len(self._shown.entries))
            lists = self._lists(entries)
            return {"root": self._shown.id, "lists": lists, "earlier": left, **self._head()}

    def publish(self) -> int:
        """Send what has changed, or everything after a switch and when a page was loaded."""
        with self._chat_lock:
            if self._full:
                return super().publish()
            self._rev += 1
            changes = list(self._patches())
            patch = {"type": "patch", "rev": self._rev, "changes": changes, **self._head()}
        self.send(wire_safe(patch))
        return 1

    def _patches(self) -> Iterator[dict[str, Any]]:
        for branch in (self._shown, *self._nested):
            entries, calls = branch.take_touched()
            if entries or calls:
                yield {
                    "list": branch.id,
                    "entries": [entry.wire(whole=False) for entry in entries],
                    "calls": [self._calls_patch(branch, n, at) for n, at in calls.items()],
                }

    def _calls_patch(self, branch: Transcript[Any], n: int, at: set[int]) -> dict[str, Any]:
        entry = branch.entry(n)
        calls = [] if entry is None else entry.calls
        return {
            "n": n,
            "calls": [calls[i].wire(i) | calls[i].row.further_output() for i in sorted(at)],
        }

    def _lists(self, entries: list[Entry]) -> dict[str, list[dict[str, Any]]]:
        """Entries of the conversation, and those of the subagents in them."""
        room = Room(WINDOW_IMAGES)
        # The newest show their images first.
        shown = [entry.wire(room=room) for entry in reversed(entries)][::-1]
        lists = {str(self._shown.id): shown}
        for one in nested(entries):
            one.take_touched()
            lists[str(one.id)] = [entry.wire(room=room) for entry in one.entries]
        return lists

    def _window(self, end: int) -> tuple[list[Entry], int]:
        """The last entries before ``end`` that go into one message, and how many come before."""
        left, begin = WINDOW_CHARACTERS, end
        entries = self._shown.entries
        while begin > 0 and end - begin < WINDOW and (left > 0 or begin == end):
            begin -= 1
            left -= entries[begin].length
        return entries[begin:end], begin

    def _addressee(self) -> str:
        """Whom a message is to; ``""`` beside a title of one's own, or if a person answers."""
        is_told = not self._title and self._desk() is None
        return _in_a_line(model_name(self.session.model), 40) if is_told else ""

    def _remark(self) -> str:
        """What is to be said beside the title: a fork of what lasts does not last."""
        is_lost = self._branches[0].session.is_kept and not self.session.is_kept
        return _NOT_KEPT if is_lost else ""

    def _head(self) -> dict[str, Any]:
        session, shown = self.session, self._shown
        busy = shown.busy_since
        if busy is None:
            self._stopping = False
        desk = self._desk()
        return {
            "title": _in_a_line(self._title or model_name(session.model), 100) + self._remark(),
            "model": self._addressee(),
            "tools": session.runner.tool_names[:TOOLS_NAMED],
            "tool_count": len(session.runner.tool_names),
            "busy": None if busy is None else max(time.time() - busy, 0.0),
            "stopping": self._stopping,
            "usage": usage_wire(session.usage),
            "secs": sum(_seconds(shown)),
            "closed": session.conversation_id is None,
            "versions": versions(self._shown, self._branches),
            "desk": None if desk is None else desk.model_id,
        }

    # -- from the browser -----------------------------------------------------------------------

    def on_ready(self, content: dict[str, Any]) -> None:
        """A page was loaded, or has missed a message: send everything."""
        self.host_desk()
        if content.get("rev") != self._rev:
            self._full = True
            self.refresh()

    async def on_say(self, content: dict[str, Any]) -> None:
        """A person has said something."""
        text = content.get("text")
        if isinstance(text, str) and text.strip():
            await self.say(text[:LONGEST_SAID])

    async def on_resend(self, content: dict[str, Any]) -> None:
        """A person says something else in place of an earlier message."""
        message_id, text = content.get("id"), content.get("text")
        if isinstance(message_id, str) and isinstance(text, str) and text.strip():
            self.resend(message_id)
            await self.say(text[:LONGEST_SAID])

    def on_stop(self, content: dict[str, Any]) -> None:
        """Stop was pressed."""
        if self._shown.busy_since is not None and not self._stopping:
            self._stopping = True
            self.refresh()
            self._scheduler.spawn(self._guarded(self.session.cancel()))

    def on_switch(self, content: dict[str, Any]) -> None:
        """Show the branch that holds a message."""
        wanted = content.get("id")
        with self._chat_lock:
            found = [branch for branch in self._branches if wanted in branch.ids()]
        if found and self._shown not in found:
            self._show(found[-1])

    def on_earlier(self, content: dict[str, Any]) -> None:
        """Earlier messages are wanted: those before entry number ``before``."""
        with self._chat_lock:
            entries = self._shown.entries
            places = (at for at, entry in enumerate(entries) if entry.n == content.get("before"))
            end = next(places, None)
            if end is None:
                return
            earlier, left = self._window(end)
            lists = self._lists(earlier)
            self.post({"type": "earlier", "root": self._shown.id, "lists": lists, "earlier": left})

    def on_open(self, content: dict[str, Any]) -> None:
        """A call's card was opened: send its details."""
        found = self._find(content)
        at = content.get("i")
        if found is None or type(at) is not int or not 0 <= at < len(found[1].calls):
            return
        branch, entry = found
        row = entry.calls[at].row
        if row.sent is None:
            row.sent = 0
        detail = row.detail(DETAIL_LIMIT, DETAIL_IMAGES)
        where = {"list": branch.id, "n": entry.n, "i": at}
        self.post({"type": "detail", **where, "detail": detail, **row.output()})

    def on_raw(self, content: dict[str, Any]) -> None:
        """A turn's request and response are wanted."""
        found = self._find(content)
        if found is None or not isinstance(found[1].message, ModelMessage):
            return
        branch, entry = found
        where = {"type": "raw", "list": branch.id, "n": entry.n}
        self.post(where | raw_wire(branch.session, entry, self._provider))

    def _find(self, content: dict[str, Any]) -> tuple[Transcript[Any], Entry] | None:
        for branch in (self._shown, *self._nested):
            if branch.id == content.get("list"):
                entry = branch.entry(content.get("n"))
                return None if entry is None else (branch, entry)
        return None

    def host_desk(self) -> None:
        """A page shows this view, and with it the desk of a person who plays the model."""
        desk = self._desk()
        if desk is not None:
            desk.is_hosted = True

    # -- inside ---------------------------------------------------------------------------------

    def _call(self, call_id: str | None) -> tuple[Transcript[Any], Call] | None:
        """A call of any branch, the one that is shown first, or of a subagent."""
        for branch in (self._shown, *self._branches, *self._nested):
            call = branch.call(call_id)
            if call is not None:
                return branch, call
        return None

    def _desk(self) -> HumanView | None:
        view = getattr(self.session.model, "view", None)
        return view if isinstance(view, HumanView) else None

    def _transcript(self, session: S, entries: Any = (), **options: Any) -> Transcript[S]:
        return Transcript(
            session, lambda: next(self._counter), self.heard, self._chat_lock, entries, **options
        )

    def heard(self, happening: Happening | None) -> None:
        """Something has happened in one of the sessions; called on its thread.

        Args:
            happening: What; ``None`` if only the view has changed.
        """
        if isinstance(happening, SubagentStarted) and self._call(happening.call_id) is not None:
            self.nest(happening.call_id or "", happening.session, happening.name)
        elif isinstance(happening, ThreadStarted):
            self._show_thread(happening.thread)
        if self._is_made:
            self.refresh()

    def _show_thread(self, thread: Thread) -> None:
        """An event is handled apart: in the branch whose session does it."""
        with self._chat_lock:
            found = [one for one in self._branches if thread.belongs_to(one.session)]
            if found:
                shown = self._transcript(thread, skip=thread.begun)
                self._nested.append(shown)
                found[0].add_thread(shown)

    def _show(self, branch: Transcript[Session]) -> None:
        with self._chat_lock:
            self._shown = branch
            self._full = True
        self.shown_changed()
        self.refresh()

    def shown_changed(self) -> None:
        """Another branch is shown."""

    # -- static ---------------------------------------------------------------------------------

    def headline(self) -> str:
        """Return how many messages there are, and what was said last."""
        with self._chat_lock:
            said = [entry for entry in self._shown.entries if entry.kind in ("user", "model")]
        last = shorten(said[-1].text, 60) if said else "nothing said yet"
        return f"{len(said)} messages: {last}"

    def static_html(self) -> str:
        """Return the newest messages, each call with its outcome folded below it."""
        with self._chat_lock:
            return chat_html(self._shown, self.cards_html(), self._remark())

    def static_text(self) -> str:
        """Return the newest messages as plain text."""
        with self._chat_lock:
            return chat_text(self._shown, self.cards_text(), self._remark())


def _call_id(card: AskedView) -> str | None:
    """The call that a card is about."""
    asked = getattr(card, "approval", None)
    if asked is not None:
        return asked.call.id  # type: ignore[no-any-return]
    return getattr(getattr(card, "question", None), "call_id", None)


def _in_a_line(text: str, limit: int) -> str:
    return shorten(" ".join(text.split()), limit)


def _seconds(shown: Transcript[Session]) -> Iterator[float]:
    for entry in shown.entries:
        if isinstance(entry.message, ModelMessage):
            yield entry.message.seconds
