"""What went over the wire, for people to look at: requests, streamed events, retries."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agtools_nb.define.wire.declared import Provider
from agtools_nb.jsonable import clean_text, shorten

MOST_KEPT = 1_000_000
"""Characters of one answer's events that are kept to be looked at."""

LONGEST_STRING = 20_000
"""Characters of one string of a request that are kept: images are longer."""

LONGEST_EVENT = 16_000_000
"""Bytes of one event; what is longer is not read."""

HIDDEN = b"[key]"
"""What stands in the place of a key that came back."""

_SHORTEST_KEY = 8


class Hiding:
    """Takes a key out of bytes that come in pieces.

    A server may repeat the key that it was sent, in an error's words for example.

    Args:
        key: The key. One of less than 8 characters could be any word, and is let through.
    """

    def __init__(self, key: str | None) -> None:
        self._key = key.encode() if key and len(key) >= _SHORTEST_KEY else b""
        self._held = b""

    def __call__(self, piece: bytes, *, last: bool = False) -> bytes:
        """The next bytes without the key. What may be its beginning waits for the next piece."""
        if not self._key:
            return piece
        found = (self._held + piece).replace(self._key, HIDDEN)
        most = min(len(self._key) - 1, len(found))
        held = next((n for n in range(most, 0, -1) if found.endswith(self._key[:n])), 0)
        if last or not held:
            self._held = b""
            return found
        self._held = found[-held:]
        return found[:-held]

    def text(self, text: str) -> str:
        """A whole text without the key."""
        return text.replace(self._key.decode(), HIDDEN.decode()) if self._key else text

    def __repr__(self) -> str:
        return "<Hiding>"


@dataclass(slots=True)
class Record:
    """One request and its answer.

    Args:
        form: The provider's form, which says how an answer ends.
        told: Given each event of the answer.

    Attributes:
        request: Method, address and body of what was sent; ``None`` until then.
        status: HTTP status of the answer; ``None`` until it came.
        content_type: What the answer is said to be.
        body: The answer, if it is no stream.
        notes: What was done about failures, such as asking again.
        is_complete: Whether the answer came to its end.
    """

    form: Provider
    told: Callable[[Any], object]
    request: dict[str, Any] | None = None
    status: int | None = None
    content_type: str = ""
    body: Any = None
    notes: list[str] = field(default_factory=list)
    is_complete: bool = False
    _events: list[Any] = field(default_factory=list)
    _kept: int = 0
    _left_out: int = 0
    _line: bytes = b""
    _data: list[bytes] = field(default_factory=list)

    def sent(self, method: str, url: str, body: bytes) -> None:
        """A request goes out; whatever came before it is forgotten."""
        self.request = {"method": method, "url": url, "body": brief(read_json(body))}
        self.status, self.body, self.is_complete = None, None, False
        self._events, self._kept, self._left_out = [], 0, 0

    def answered(self, status: int, content_type: str) -> None:
        """The head of the answer came."""
        self.status, self.content_type = status, content_type

    def failed(self, body: bytes) -> None:
        """The answer is no stream; this is all of it."""
        self.body = brief(read_json(body))

    def came(self, piece: bytes, *, last: bool = False) -> None:
        """Bytes of the stream came (server-sent events)."""
        *lines, self._line = (self._line + piece).split(b"\n")
        if len(self._line) > LONGEST_EVENT:
            self._line = b""
            self._left_out += 1
        if last:
            lines += [self._line, b""]
            self._line = b""
        for line in lines:
            line = line.rstrip(b"\r")
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif not line and self._data:
                self._event(b"\n".join(self._data))
                self._data = []

    def _event(self, data: bytes) -> None:
        event = read_json(data)
        self.is_complete = self.is_complete or is_last(event, self.form)
        if self._kept + len(data) > MOST_KEPT:
            self._left_out += 1
        else:
            self._kept += len(data)
            self._events.append(event)
        self.told(event)

    @property
    def response(self) -> dict[str, Any] | None:
        """The answer as JSON; ``None`` if there was none."""
        if self.status is None:
            return {"notes": list(self.notes)} if self.notes else None
        told: dict[str, Any] = {"status": self.status}
        if self.body is None:
            told["events"] = list(self._events)
        else:
            told["body"] = self.body
        if self._left_out:
            told["events_left_out"] = self._left_out
        return {**told, "notes": list(self.notes)} if self.notes else told


def read_json(data: bytes) -> Any:
    """JSON, or text where it is none."""
    text = data.decode("utf-8", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return clean_text(shorten(text, LONGEST_STRING))


def brief(value: Any) -> Any:
    """The same with very long strings cut."""
    try:
        return _brief(value)
    except RecursionError:
        return "[nested too deeply to be shown]"


def _brief(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST_STRING:
        return f"{value[:100]} [... {len(value):,} characters]"
    if isinstance(value, dict):
        return {key: _brief(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_brief(inner) for inner in value]
    return value


def is_last(event: Any, form: Provider) -> bool:
    """Whether an event says that the answer is complete."""
    if form == "openai":
        choices = _list(event, "choices")
        return event == "[DONE]" or any(_has(choice, "finish_reason") for choice in choices)
    if form == "gemini":
        blocked = isinstance(event, dict) and _has(event.get("promptFeedback"), "blockReason")
        return blocked or any(_has(one, "finishReason") for one in _list(event, "candidates"))
    kind = event.get("type") if isinstance(event, dict) else None
    return kind in ("message_stop", "response.completed", "response.incomplete")


def _list(event: Any, key: str) -> list[Any]:
    found = event.get(key) if isinstance(event, dict) else None
    return found if isinstance(found, list) else []


def _has(value: Any, key: str) -> bool:
    return isinstance(value, dict) and bool(value.get(key))
