"""What a tool prints and warns of, caught on its own call, whichever task or thread does it.

While calls run, ``sys.stdout`` and ``sys.stderr`` are routers that look at a
context variable for the call they are in. Text printed outside of any call goes
where it always went. Threads that a tool starts itself do not carry the variable
(before Python 3.14), so what they print goes there too, as does what C code writes.
"""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TextIO

from agtools_nb.context import CallProgress
from agtools_nb.run.bars import BarAdapter
from agtools_nb.run.warned import WarningRouter

LIMIT_CHARACTERS = 1024 * 1024
MAX_WARNINGS = 100

Stream = str  # "stdout" or "stderr"

# One lock for all: most calls print nothing, and need none of their own. Re-entrant, because
# a finalizer may print in the middle of a write.
_lock = threading.RLock()


class CallOutput:
    """What one call printed: the first MiB of characters of each stream, and 100 warnings.

    Attributes:
        is_over: Whether the call has its result, so that what a task of it prints later
            goes outside.
        progress: Where its progress goes; ``None`` if nobody follows it.
    """

    __slots__ = ("_closed", "_said", "is_over", "progress")

    def __init__(self) -> None:
        self.is_over = False
        self.progress: CallProgress | None = None
        self._closed = False
        self._said: _Said | None = None  # most calls say nothing

    def write(self, stream: Stream, text: str) -> None:
        """Keep ``text`` as far as there is room; after :meth:`close`, drop it."""
        with _lock:
            if self._closed:
                return
            self._kept().write(stream, text)
        # Not under the lock: there may be no room, and this thread waits.
        if self.progress is not None and self.progress.lines is not None:
            self.progress.lines.write(stream, text)

    def flush(self) -> None:
        """Show what was printed, also where its line has not ended."""
        if self.progress is not None and self.progress.lines is not None:
            self.progress.lines.flush()

    def warn(self, text: str) -> None:
        """Keep a warning; after :meth:`close`, drop it."""
        with _lock:
            if not self._closed:
                self._kept().warn(text)

    def close(self) -> None:
        """Drop what comes from now on: the call was answered before its function ended."""
        self._closed = True
        self.is_over = False

    def texts(self) -> tuple[str, str, tuple[str, ...]]:
        """Standard output, standard error and warnings, each with a note on what was dropped."""
        if self._said is None:
            return "", "", ()
        with _lock:
            return self._said.text("stdout"), self._said.text("stderr"), self._said.warnings()

    def text(self, stream: Stream) -> str:
        """What was printed, with a note on how much was dropped."""
        with _lock:
            return "" if self._said is None else self._said.text(stream)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings, with a note on how many were dropped."""
        return self.texts()[2]

    def _kept(self) -> _Said:
        if self._said is None:
            self._said = _Said()
        return self._said


class _Said:
    """The text and the warnings of a call that says something. Used under the lock."""

    def __init__(self) -> None:
        self._parts: dict[Stream, list[str]] = {}
        self._length: dict[Stream, int] = {}
        self._dropped: dict[Stream, int] = {}
        self._warnings: list[str] = []
        self._warnings_dropped = 0

    def write(self, stream: Stream, text: str) -> None:
        length = self._length.get(stream, 0)
        kept = text[: max(LIMIT_CHARACTERS - length, 0)]
        if kept:
            self._parts.setdefault(stream, []).append(kept)
            self._length[stream] = length + len(kept)
        if len(text) > len(kept):
            self._dropped[stream] = self._dropped.get(stream, 0) + len(text) - len(kept)

    def warn(self, text: str) -> None:
        if len(self._warnings) < MAX_WARNINGS:
            self._warnings.append(text)
        else:
            self._warnings_dropped += 1

    def text(self, stream: Stream) -> str:
        text = "".join(self._parts.get(stream, ()))
        dropped = self._dropped.get(stream, 0)
        return f"{text}\n[{dropped:,} more characters were not kept]" if dropped else text

    def warnings(self) -> tuple[str, ...]:
        more = self._warnings_dropped
        note = (f"[{more:,} more warnings were not kept]",) if more else ()
        return (*self._warnings, *note)


# The output of the call that the current task or thread runs. Each call has a context of its own,
# so nobody needs to set it back.
current_output: ContextVar[CallOutput | None] = ContextVar("agtools_nb_call_output", default=None)


def _open_output() -> CallOutput | None:
    """The output of the call that runs here, unless that is over."""
    output = current_output.get()
    return None if output is None or output.is_over else output


def _progress_here() -> tuple[bool, CallProgress | None]:
    """Whether a call runs here, and where its progress goes."""
    output = _open_output()
    return (False, None) if output is None else (True, output.progress)


def _keep_warning(text: str) -> None:
    output = _open_output()
    if output is not None:
        output.warn(text)


class _Router(io.TextIOBase):
    """Stands in for ``sys.stdout`` or ``sys.stderr``."""

    def __init__(self, stream: Stream, outside: TextIO) -> None:
        self._stream = stream
        self.outside = outside

    def write(self, text: str, /) -> int:
        output = _open_output()
        if output is None:
            return self.outside.write(text)
        output.write(self._stream, str(text))
        return len(text)

    def flush(self) -> None:
        output = _open_output()
        if output is None:
            self.outside.flush()
        else:
            output.flush()

    def close(self) -> None:
        """Do nothing: the stream is somebody else's, and the finalizer of the base calls this."""

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return getattr(self.outside, "encoding", "utf-8")

    def isatty(self) -> bool:
        return _open_output() is None and self.outside.isatty()

    def fileno(self) -> int:
        return self.outside.fileno()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.outside, name)


class _Routing:
    """Counts who needs the routers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._warnings = WarningRouter(lambda: _open_output() is not None, _keep_warning)
        self._bars = BarAdapter(_progress_here)

    def enter(self) -> None:
        with self._lock:
            self._users += 1
            if self._users == 1:
                self._warnings.enter()
                self._bars.enter()
            for stream in ("stdout", "stderr"):
                outside = getattr(sys, stream)
                if outside is not None and not isinstance(outside, _Router):
                    setattr(sys, stream, _Router(stream, outside))

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users:
                return
            self._warnings.leave()
            self._bars.leave()
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


def kept_routed() -> Callable[..., None]:
    """Keep the routers in place until the returned function is called, with whatever.

    For what still runs after its call was answered: what it prints belongs nowhere,
    least of all to the cell that happens to run then.
    """
    _routing.enter()

    def release(*_: object) -> None:
        _routing.leave()

    return release
