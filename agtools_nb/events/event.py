"""What arrives in a session's inbox: results of dispatched calls, values, messages."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from secrets import token_hex
from typing import Any, Literal

from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr, clean_text, jsonable
from agtools_nb.media import Media, split

Kind = Literal["result", "event", "message", "report"]
EventStatus = Literal["waiting", "taken", "handled"]

LONGEST_ID = 500
"""Characters of a dedup id."""


def fresh_id(kind: str) -> str:
    """An id that nobody else has: ``"event_0123456789ab"``."""
    return f"{kind}_{token_hex(6)}"


@dataclass(frozen=True, slots=True)
class Event:
    """One item of an :class:`Inbox`.

    Attributes:
        kind: ``"result"`` of a dispatched call, ``"event"`` of a subscription,
            ``"message"`` of a user, trigger or tool, ``"report"`` of a subagent.
        content: What it says, as JSON.
        dedup_id: Two events with one are the same event; the second is dropped.
        id: The event's own id.
        call_id: Id of the call that it comes from; ``None`` if it comes from none.
        group_id: The same for all calls of one batch.
        tool_name: The call's tool.
        final: Whether nothing follows from this call.
        associative: Whether it enters the thread of its call, rather than a temporary
            child thread.
        error: Why the work ended in failure; ``None`` if it did not.
        at: Unix time in seconds at which it was put in.
        seq: Its place in the inbox, from 1; 0 as long as it is in none.
        status: ``"waiting"``, ``"taken"`` while somebody handles it, ``"handled"``.
    """

    kind: Kind
    content: Any
    dedup_id: str = field(default_factory=lambda: fresh_id("once"))
    id: str = field(default_factory=lambda: fresh_id("event"))
    call_id: str | None = None
    group_id: str | None = None
    tool_name: str | None = None
    final: bool = False
    associative: bool = False
    error: str | None = None
    at: float = field(default_factory=time.time)
    seq: int = 0
    status: EventStatus = "waiting"

    def to_json(self) -> str:
        """All of it as JSON text, but for its place and its status."""
        return json.dumps({name: getattr(self, name) for name in _WRITTEN})

    @classmethod
    def from_json(cls, text: str, seq: int, status: EventStatus) -> Event:
        """Read it back."""
        return cls(**json.loads(text), seq=seq, status=status)


_WRITTEN = tuple(one.name for one in fields(Event) if one.name not in ("seq", "status"))


@dataclass(frozen=True, slots=True)
class SubscriptionEvent:
    """What a subscription may yield instead of a bare value.

    Args:
        value: The value.
        dedup_id: Its stable id, where the source has one: the same event seen twice, also
            by another subscription or after a restart, is delivered once. Default:
            ``<call id>:<n>``.
        final: Nothing follows; the subscription is closed. Default ``False``.

    Raises:
        UsageError: ``dedup_id`` is no text of 1 to 500 characters.
    """

    value: Any
    dedup_id: Any = None
    final: bool = False

    def __post_init__(self) -> None:
        own = self.dedup_id
        if own is not None and (
            not isinstance(own, str) or not 0 < len(own) <= LONGEST_ID or clean_text(own) != own
        ):
            raise UsageError(
                f"SubscriptionEvent: dedup_id={brief_repr(own)} must be text of 1 to {LONGEST_ID} "
                "characters; write str(...) around a number"
            )


def as_content(value: Any) -> Any:
    """A value as JSON that holds all of it, its media as base64 ``inline_data``."""
    parts = split(value)
    content = jsonable(parts.response)
    if not parts.media:
        return content
    data = [_inline(media) for media in parts.media if media.data is not None]
    files = [
        {"mime_type": media.mime_type, "file_uri": media.uri}
        for media in parts.media
        if media.data is None
    ]
    found: dict[str, Any] = {"response": content}
    if data:
        found["inline_data"] = data
    if files:
        found["file_data"] = files
    return found


def _inline(media: Media) -> Mapping[str, Any]:
    text = base64.b64encode(media.data or b"").decode("ascii")
    return {"mime_type": media.mime_type, "data": text}
