"""What a server writes to its standard output: messages, one a line, each of bounded size."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_BYTES = 16 * 1024 * 1024
"""Most bytes of one message, unless the caller says otherwise."""

MAX_OBJECTS = 200_000
"""Most objects in one message: each costs far more as a Python value than as text."""

_ENDS = 4096
_ID = re.compile(rb'"id"\s*:\s*(-?[0-9]{1,18}|"[^"\\]{0,200}")')
_ANSWER = re.compile(rb'"(?:result|error)"\s*:')
_METHOD = re.compile(rb'"method"\s*:')


@dataclass(frozen=True, slots=True)
class Dropped:
    """A message that was not kept.

    Attributes:
        why: What is too much about it.
        id: Id of the request that it answers, as JSON; ``None`` if it cannot be told.
    """

    why: str
    id: bytes | None


class Lines:
    """Takes bytes as they come, and gives whole lines. No more than one line is held.

    Args:
        limit: Most bytes of a line; of a longer one only its beginning and end are looked at.
    """

    def __init__(self, limit: int = MAX_BYTES) -> None:
        self.limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._head = b""

    def feed(self, chunk: bytes) -> Iterator[bytes | Dropped]:
        """Yield the lines that a chunk completes, without their ends."""
        *complete, rest = chunk.split(b"\n")
        for end in complete:
            self._add(end)
            yield self._taken()
        self._add(rest)

    def _add(self, part: bytes) -> None:
        if not part:
            return
        if self._size <= self.limit < self._size + len(part):
            self._head = b"".join([*self._parts, part])[:_ENDS]
            self._parts.clear()
        self._size += len(part)
        self._parts.append(part)
        if self._size > self.limit:
            # From here on only the end is kept.
            self._parts = [b"".join(self._parts)[-_ENDS:]]

    def _taken(self) -> bytes | Dropped:
        whole, size, head = b"".join(self._parts), self._size, self._head
        self._parts, self._size, self._head = [], 0, b""
        if size > self.limit:
            why = f"it has {size:,} bytes, more than {self.limit:,}"
            return Dropped(why, answered_id(head, whole))
        line = whole.rstrip(b"\r")
        objects = line.count(b"{")
        if objects > MAX_OBJECTS:
            why = f"it has {objects:,} objects, more than {MAX_OBJECTS:,}"
            return Dropped(why, answered_id(line[:_ENDS], line[-_ENDS:]))
        return line


def answered_id(head: bytes, tail: bytes) -> bytes | None:
    """The id of the request that a message answers, by its beginning and its end.

    A server may say any id, as it may answer any request: what is found is only used to end
    the wait for that answer.
    """
    answer = _ANSWER.search(head)
    before = head[: answer.start()] if answer else head
    if _METHOD.search(before):
        return None  # a notification, or a request of the server's own
    found = _ID.search(before)
    if found is None:
        ends = list(_ID.finditer(tail))
        found = ends[-1] if ends else None
    return None if found is None else found[1]
