"""What travels between a page and its kernel, read off the page's websocket."""

from __future__ import annotations

import json
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Direction = Literal["to kernel", "to page"]


@dataclass(frozen=True)
class Message:
    """One Jupyter message.

    Attributes:
        direction: Which way it went.
        kind: Its ``msg_type``.
        content: Its content.
        size: Bytes of the whole frame.
    """

    direction: Direction
    kind: str
    content: dict[str, Any]
    size: int


@dataclass
class Wire:
    """Every message a page exchanged with kernels, in order."""

    messages: list[Message] = field(default_factory=list)

    def record(self, direction: Direction, frame: str | bytes) -> None:
        """Take in one websocket frame; frames that are no Jupyter message are passed over."""
        parts = _json_parts(frame) if isinstance(frame, bytes) else None
        if parts is not None:
            header, content = parts
            self.messages.append(
                Message(direction, header.get("msg_type", ""), content, len(frame))
            )

    def of_kind(self, kind: str, direction: Direction | None = None) -> Iterator[Message]:
        """Yield the messages of one ``msg_type``, of one direction if it is given."""
        for message in list(self.messages):
            if message.kind == kind and direction in (None, message.direction):
                yield message

    def has_overlooked_cell(self) -> bool:
        """Whether a cell was sent to a kernel that is idle and has not taken it up."""
        sent = sum(
            1
            for message in self.of_kind("execute_request", "to kernel")
            if not message.content.get("silent")
        )
        taken = sum(1 for _ in self.of_kind("execute_input", "to page"))
        return sent > taken and self._is_idle()

    def has_overlooked(self) -> bool:
        """Whether a kernel that is idle owes the answer to a request of any kind."""
        owed: Counter[str] = Counter()
        for message in list(self.messages):
            name, _, what = message.kind.rpartition("_")
            owed[name] += {"request": 1, "reply": -1}.get(what, 0)
        return self._is_idle() and any(count > 0 for count in owed.values())

    def _is_idle(self) -> bool:
        states = [m.content["execution_state"] for m in self.of_kind("status", "to page")]
        return states[-1:] == ["idle"]

    def all_taken_up(self) -> bool:
        """Whether a kernel took up every cell that it was sent, and has been idle since."""
        return self._is_idle() and not self.has_overlooked_cell()

    def last(self, count: int = 12) -> list[str]:
        """Return the last messages in a few words each, for the message of a failed test."""
        return [
            f"{message.direction}: {message.kind} {str(message.content)[:60]}"
            for message in self.messages[-count:]
        ]

    def comm_opens(self) -> list[Message]:
        """Return the ``comm_open`` messages of widgets that the kernel sent."""
        return [
            message
            for message in self.of_kind("comm_open", "to page")
            if message.content.get("target_name") == "jupyter.widget"
        ]


def _json_parts(frame: bytes) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Split a frame of the ``v1.kernel.websocket.jupyter.org`` protocol into header and content.

    A frame is a little-endian uint64 count of offsets, the offsets themselves, and
    the parts they delimit: channel, header, parent header, metadata, content, buffers.
    """
    try:
        (count,) = struct.unpack_from("<Q", frame, 0)
        offsets = struct.unpack_from(f"<{count}Q", frame, 8)
        header, content = (json.loads(frame[offsets[i] : offsets[i + 1]]) for i in (1, 4))
    except (struct.error, IndexError, ValueError, MemoryError):
        return None
    return header, content
