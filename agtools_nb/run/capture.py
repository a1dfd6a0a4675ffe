"""What a tool prints, caught on its own call, whichever task or thread prints it.

While calls run, ``sys.stdout`` and ``sys.stderr`` are routers that look at a
context variable for the call they are in. Text printed outside of any call goes
where it always went. Threads that a tool starts itself do not carry the variable
(before Python 3.14), so what they print goes there too, as does what C code writes.
"""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TextIO

LIMIT_CHARACTERS = 1024 * 1024

Stream = str  # "stdout" or "stderr"


class CallOutput:
    """What one call printed: the first MiB of characters of each stream."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parts: dict[Stream, list[str]] = {"stdout": [], "stderr": []}
        self._kept = {"stdout": 0, "stderr": 0}
        self._dropped = {"stdout": 0, "stderr": 0}
        self._closed = False

    def write(self, stream: Stream, text: str) -> None:
        """Keep ``text`` as far as there is room; after :meth:`close`, drop it."""
        with self._lock:
            if self._closed:
                return
            room = LIMIT_CHARACTERS - self._kept[stream]
            kept = text[: max(room, 0)]
            if kept:
                self._parts[stream].append(kept)
                self._kept[stream] += len(kept)
            self._dropped[stream] += len(text) - len(kept)

    def close(self) -> None:
        """Drop what comes from now on: the call has been answered."""
        with self._lock:
            self._closed = True

    def text(self, stream: Stream) -> str:
        """What was printed, with a note on how much was dropped."""
        with self._lock:
            text = "".join(self._parts[stream])
            dropped = self._dropped[stream]
        return f"{text}\n[{dropped:,} more characters were not kept]" if dropped else text


_current: ContextVar[CallOutput | None] = ContextVar("agtools_nb_call_output", default=None)


@contextmanager
def captured(output: CallOutput) -> Iterator[None]:
    """Catch what the current task or thread context prints in the block."""
    token = _current.set(output)
    try:
        yield
    finally:
        _current.reset(token)


class _Router(io.TextIOBase):
    """Stands in for ``sys.stdout`` or ``sys.stderr``."""

    def __init__(self, stream: Stream, outside: TextIO) -> None:
        self._stream = stream
        self.outside = outside

    def write(self, text: str, /) -> int:
        output = _current.get()
        if output is None:
            return self.outside.write(text)
        output.write(self._stream, str(text))
        return len(text)

    def flush(self) -> None:
        if _current.get() is None:
            self.outside.flush()

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self.outside, "encoding", "utf-8")

    def isatty(self) -> bool:
        return _current.get() is None and self.outside.isatty()

    def fileno(self) -> int:
        return self.outside.fileno()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.outside, name)


class _Routing:
    """Counts who needs the routers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0

    def enter(self) -> None:
        with self._lock:
            self._users += 1
            for stream in ("stdout", "stderr"):
                outside = getattr(sys, stream)
                if outside is not None and not isinstance(outside, _Router):
                    setattr(sys, stream, _Router(stream, outside))

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users:
                return
            for stream in ("stdout", "stderr"):
                router = getattr(sys, stream)
                # Someone who replaced the stream meanwhile keeps theirs.
                if isinstance(router, _Router):
                    setattr(sys, stream, router.outside)


_routing = _Routing()


@contextmanager
def routed_output() -> Iterator[None]:
    """Keep the routers in place for the block; the last block to end takes them away."""
    _routing.enter()
    try:
        yield
    finally:
        _routing.leave()
