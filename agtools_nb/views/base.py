"""What every view is: one comm, its whole state in ``data``, at most 20 messages a second.

Python holds the truth. The browser draws ``data``, hears of changes by messages, and asks for
changes by messages; nothing it sends is trusted. See ``widgets/README.md`` for the protocol.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import html
import inspect
import io
import json
import sys
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Coroutine, Iterator
from importlib import resources
from typing import Any, ClassVar, Protocol

import anywidget
import traitlets

from agtools_nb.jsonable import shorten

MESSAGE_INTERVAL = 0.05
"""Seconds between two messages of one view: at most 20 a second."""

PRINTED_LIMIT = 4_000
"""Characters of a handler's printed text that are shown."""


class Scheduler(Protocol):
    """Where a view's work runs: the kernel's main loop."""

    def soon(self, fn: Callable[[], None], /) -> None:
        """Run ``fn`` on the main loop, soon. Safe from any thread."""

    def later(self, seconds: float, fn: Callable[[], None], /) -> None:
        """Run ``fn`` on the main loop after ``seconds``. Safe from any thread."""

    def spawn(self, coro: Coroutine[Any, Any, None], /) -> None:
        """Start ``coro`` as a task of the main loop. Safe from any thread."""


class DirectScheduler:
    """Runs everything at once, for scripts and tests that have no loop to hand work to."""

    def soon(self, fn: Callable[[], None], /) -> None:
        """Call ``fn`` now."""
        fn()

    def later(self, seconds: float, fn: Callable[[], None], /) -> None:
        """Call ``fn`` now: nobody would wake it later."""
        fn()

    def spawn(self, coro: Coroutine[Any, Any, None], /) -> None:
        """Run ``coro`` to its end, or start it as a task if a loop runs on this thread."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(coro)
            return
        task = loop.create_task(coro)
        _TASKS.add(task)
        task.add_done_callback(_TASKS.discard)


_TASKS: set[asyncio.Task[None]] = set()  # asyncio itself holds tasks only weakly


class View(anywidget.AnyWidget):
    """A widget with one comm whose whole state is :attr:`data`.

    A subclass sets ``_view``, sets its own attributes *before* ``super().__init__(scheduler)``
    (which draws it for the first time), and defines :meth:`snapshot`, :meth:`static_html`,
    :meth:`static_text` and an ``on_<type>`` method for each message it takes.

    Args:
        scheduler: Where handlers and updates run.
    """

    _view: ClassVar[str] = ""
    _clock: Callable[[], float] = staticmethod(time.monotonic)
    _cpu: Callable[[], float] = staticmethod(time.thread_time)
    # The part of the loop's time, and of a processor's, that drawing and sending may take.
    _share: ClassVar[float] = 0.2
    _cpu_share: ClassVar[float] = 0.2

    # A Layout would be a second comm for every view; CSS does all of our layout.
    layout = traitlets.Any(None, allow_none=True).tag(sync=True)
    data = traitlets.Dict().tag(sync=True)
    _esm = traitlets.Unicode().tag(sync=True)
    _css = traitlets.Unicode().tag(sync=True)

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._view_lock = threading.Lock()
        self._dirty = False
        self._waking = False
        self._next_at = 0.0
        self._outbox: list[dict[str, Any]] = []
        self._problem: dict[str, str] | None = None
        self._rev = 0
        # Apart from what was sent: many changes go into one message.
        self._changes = 0
        # Made here and not by the comm, so that the first `data` can carry it.
        self._id = uuid.uuid4().hex
        super().__init__(data=self._next_data(), model_id=self._id)

    @traitlets.default("_esm")
    def _default_esm(self) -> str:
        return static_file(f"{self._view}.js")

    @traitlets.default("_css")
    def _default_css(self) -> str:
        return static_file(f"{self._view}.css")

    # -- what a subclass says ---------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """Return the state to draw, JSON-safe. Runs on the main loop, under no lock.

        Integers above 2**53 lose digits in the browser: send values as JSON text.
        """
        return {}

    def headline(self) -> str:
        """Return what is shown, in a few words, for ``repr``."""
        return ""

    def __repr__(self) -> str:
        """Return the class and :meth:`headline`; never raises, not even half made."""
        try:
            words = " ".join(self.headline().split())
        except Exception:  # what is shown may be code of anybody's
            words = ""
        name = type(self).__name__
        return f"<{name}: {shorten(words, 100)}>" if words else f"<{name}>"

    def static_html(self) -> str:
        """Return the view as HTML that reads well without style, class or script."""
        return f"<pre>{html.escape(self.static_text())}</pre>"

    def static_text(self) -> str:
        """Return the view as plain text."""
        return type(self).__name__

    # -- Python to browser ------------------------------------------------------------------

    def refresh(self) -> None:
        """Say that the state has changed. From any thread, as often as you like."""
        self._changes += 1
        if self._dirty:  # a write may follow 10,000 others this second
            return
        with self._view_lock:
            self._dirty = True
        self._wake()

    def refresh_now(self) -> None:
        """Send the state at once. On the main loop only; for the last word of a view."""
        self._changes += 1
        self._dirty = True
        self._flush()

    def post(self, content: dict[str, Any]) -> None:
        """Send one custom message to the browser, in order. From any thread."""
        with self._view_lock:
            self._outbox.append(content)
        self._wake()

    def publish(self) -> int:
        """Send what :meth:`refresh` announced, and return how many messages that took."""
        self.data = self._next_data()
        return 1

    @property
    def revision(self) -> int:
        """Grows with each change of the state, sent or about to be."""
        return self._changes

    def _wake(self) -> None:
        with self._view_lock:
            if self._waking:
                return
            self._waking = True
            wait = self._next_at - self._clock()
        if wait > 0:
            self._scheduler.later(wait, self._flush)
        else:
            self._scheduler.soon(self._flush)

    def _flush(self) -> None:
        with self._view_lock:
            # Whoever calls while this runs must not wake it again: the end of it does.
            self._waking = True
            dirty, self._dirty = self._dirty, False
            outbox, self._outbox = self._outbox, []
        started, cpu = self._clock(), self._cpu()
        sent = 0
        try:
            sent = self._send_all(dirty, outbox)
        finally:
            # A large state must not keep the loop busy.
            ended, cpu = self._clock(), self._cpu() - cpu
            pause = max((ended - started) / self._share, cpu / self._cpu_share)
            with self._view_lock:
                self._next_at = max(ended + sent * MESSAGE_INTERVAL, started + pause)
                self._waking = False
                more = self._dirty or bool(self._outbox)
            if more:
                self._wake()

    def _send_all(self, dirty: bool, outbox: list[dict[str, Any]]) -> int:
        if self.comm is None:  # closed
            return 0
        sent = 0
        if outbox:
            message = outbox[0] if len(outbox) == 1 else {"type": "many", "messages": outbox}
            self.send(wire_safe(message))
            sent += 1
        return sent + (self.publish() if dirty else 0)

    def _next_data(self) -> dict[str, Any]:
        self._rev += 1
        try:
            state = self.snapshot()
        except Exception as error:  # a view that cannot be drawn says so
            self._problem = _problem(error)
            state = {}
        # `rev` tells the browser's "ready" what it has; it also makes every update differ,
        # which 1 -> True or 1 -> 1.0 would not to a traitlet.
        own = {"id": self._id, "rev": self._rev, "problem": self._problem}
        safe: dict[str, Any] = wire_safe({**state, **own})
        return safe

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        bundle, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        bundle["text/plain"] = self.static_text()
        bundle["text/html"] = self.static_html()
        return wire_safe(bundle), metadata

    # -- browser to Python ------------------------------------------------------------------

    def on_ready(self, content: dict[str, Any]) -> None:
        """A page has drawn the view: send the state if what it has is not the newest."""
        if content.get("rev") != self._rev:
            self.refresh()

    def on_dismiss(self, content: dict[str, Any]) -> None:
        """The shown problem was read."""
        self._problem = None
        self.refresh()

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Ignore state that a page sends: a view's state is made in Python only."""

    def _handle_custom_msg(self, content: Any, buffers: Any) -> None:
        # Comes on the main thread or on a subshell's, as ipykernel likes.
        handler = self._handler(content)
        if handler is not None:
            self._scheduler.soon(functools.partial(self._run_handler, handler, content))

    def _handler(self, content: Any) -> Callable[[dict[str, Any]], Any] | None:
        """Find the ``on_<type>`` that a view class defines; ipywidgets' own are out of reach."""
        if not isinstance(content, dict) or not isinstance(content.get("type"), str):
            return None
        name = f"on_{content['type']}"
        for cls in type(self).__mro__:
            if name in cls.__dict__ and issubclass(cls, View):
                handler: Callable[[dict[str, Any]], Any] = getattr(self, name)
                return handler
        return None

    def _run_handler(self, handler: Callable[[dict[str, Any]], Any], content: Any) -> None:
        with self._handling():
            outcome = handler(content)
            if inspect.iscoroutine(outcome):
                self._scheduler.spawn(self._guarded(outcome))

    async def _guarded(self, coro: Coroutine[Any, Any, Any]) -> None:
        try:
            await coro
        except Exception as error:
            self._show_problem(error)

    @contextlib.contextmanager
    def _handling(self) -> Iterator[None]:
        """Show what a handler prints and how it fails: there is no cell that would."""
        printed = _OwnThreadText(sys.stdout)
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                yield
        except Exception as error:
            self._show_problem(error)
        finally:
            if text := printed.text():
                self.post({"type": "printed", "text": text})

    def _show_problem(self, error: Exception) -> None:
        self._problem = _problem(error)
        self.post({"type": "problem", **self._problem})


class _OwnThreadText(io.TextIOBase):
    """Keeps what this thread writes, and hands on what others do."""

    def __init__(self, others: Any) -> None:
        self._others = others
        self._thread = threading.get_ident()
        self._parts: list[str] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if threading.get_ident() != self._thread:
            self._others.write(text)
        else:
            self._parts.append(text[: max(0, PRINTED_LIMIT - self._size)])
            self._size += len(text)
        return len(text)

    def text(self) -> str:
        cut = self._size - PRINTED_LIMIT
        return "".join(self._parts) + (f"\n... {cut:,} more characters" if cut > 0 else "")


def _problem(error: Exception) -> dict[str, str]:
    lines = traceback.format_exception(error)
    return {"text": lines[-1].strip()[:2_000], "detail": "".join(lines)[-8_000:]}


def wire_safe(value: Any) -> Any:
    """Return JSON data as ipykernel can send it.

    Lone surrogates (which any tool can return) and NaN would make the send itself fail; they
    are written out as text: a backslash and ``ud800``, ``"NaN"``.
    """
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:  # UnicodeEncodeError is one
        return _spelled_out(value)
    return value


def _spelled_out(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, float) and not (float("-inf") < value < float("inf")):
        return str(value).replace("nan", "NaN").replace("inf", "Infinity")
    if isinstance(value, dict):
        return {_spelled_out(key): _spelled_out(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_spelled_out(item) for item in value]
    return value


@functools.cache
def static_file(name: str) -> str:
    """Return a built front-end file as text.

    Raises:
        FileNotFoundError: It was not built; the message says how to.
    """
    path = resources.files("agtools_nb").joinpath("static", name)
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileNotFoundError(
            f"agtools_nb/static/{name} is missing: run 'npm ci && npm run build' in widgets/"
        ) from None
