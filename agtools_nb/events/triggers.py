"""Triggers: what sends a session messages by itself, at times or when something happens."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from agtools_nb.errors import UsageError
from agtools_nb.events.ending import stopped
from agtools_nb.events.event import fresh_id
from agtools_nb.events.files import changes_of
from agtools_nb.jsonable import brief_repr
from agtools_nb.run.words import error_text

Send = Callable[[Any], Any]

SHORTEST, LONGEST = 0.01, 366 * 86_400.0
"""Seconds between two messages of :func:`every`."""

_GONE_SECONDS = 1.0

_log = logging.getLogger("agtools_nb")


@runtime_checkable
class Trigger(Protocol):
    """Sends messages until it is cancelled. Its ``str()`` says in a few words when."""

    async def run(self, send: Send) -> None:
        """Run to the end; ``send(message)`` puts a message into the session's inbox."""


@dataclass(frozen=True, slots=True)
class Every:
    """Made by :func:`every`."""

    seconds: float
    message: Any

    async def run(self, send: Send) -> None:
        """Send the message each time so many seconds have passed."""
        loop = asyncio.get_running_loop()
        due = loop.time() + self.seconds
        while True:
            await asyncio.sleep(due - loop.time())
            send(self.message() if callable(self.message) else self.message)
            # Times that were missed, because the kernel was busy or asleep, are left out.
            due += self.seconds * max(1, math.ceil((loop.time() - due) / self.seconds))

    def __str__(self) -> str:
        return f"every {self.seconds:g} s"


@dataclass(frozen=True, slots=True)
class OnFileChange:
    """Made by :func:`on_file_change`."""

    path: Path
    message: Any

    async def run(self, send: Send) -> None:
        """Send a message for each bundle of changes."""
        async for changes in changes_of(self.path):
            if self.message is None:
                send({"changes": changes})
            else:
                send(self.message(changes) if callable(self.message) else self.message)
            if not self.path.exists():
                # Editors replace a file in two steps; what is gone for good is not watched.
                await asyncio.sleep(_GONE_SECONDS)
                if not self.path.exists():
                    raise UsageError(f"{self.path} is gone, and is not watched any more")

    def __str__(self) -> str:
        return f"on change of {self.path}"


def every(seconds: Any, message: Any = "tick") -> Every:
    """Send the session ``message`` every so many seconds, the first one after ``seconds``.

    The time is the event loop's own, so a clock that is set does not matter. What falls into
    a time in which the loop stood still is left out, not made up for.

    Args:
        seconds: How often, from 0.01 to a year.
        message: Text, or a value with a JSON form, or a function without arguments that
            returns one each time.

    Raises:
        UsageError: ``seconds`` is out of range, or there is no message.
    """
    is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if not is_number or not SHORTEST <= seconds <= LONGEST:
        raise UsageError(
            f"every({brief_repr(seconds)}): seconds must be a number from {SHORTEST:g} to "
            f"{LONGEST:,.0f} (a year)"
        )
    if message is None or (isinstance(message, str) and not message.strip()):
        raise UsageError("every(...): there is nothing to send; give a message")
    _check_maker(message)
    return Every(float(seconds), message)


def _check_maker(message: Any) -> None:
    if inspect.iscoroutinefunction(message):
        raise UsageError(
            "a message is made by a plain function; to await something first, write a trigger "
            "of your own: an object with async def run(self, send)"
        )


def on_file_change(path: str | os.PathLike[str], message: Any = None) -> OnFileChange:
    """Send the session a message when a file, or anything below a folder, changes.

    Changes that come close together are one message. What changes before the cell's next
    ``await`` may be missed: watching begins there. If the path goes away for good, the
    trigger ends. Needs ``watchfiles``, which the extra ``watch`` installs.

    Args:
        path: A file or folder; it must exist.
        message: Text, a value with a JSON form, or a function that is given the changes as
            a list of ``{"change": "added" | "modified" | "deleted", "path": ...}``. Default:
            ``{"changes": [...]}``.

    Raises:
        UsageError: There is nothing at ``path``, or ``watchfiles`` is missing.
    """
    where = Path(path)
    if not where.exists():
        raise UsageError(f"on_file_change({os.fspath(path)!r}): there is no such file or folder")
    _check_maker(message)
    return OnFileChange(where, message)


@dataclass(slots=True)
class RunningTrigger:
    """A trigger at work.

    Attributes:
        id: Its id.
        trigger: The trigger.
        sent: How many messages it has sent.
        error: Why it ended by itself; ``None`` while it runs.
    """

    trigger: Trigger
    id: str = field(default_factory=lambda: fresh_id("trigger"))
    sent: int = 0
    error: str | None = None


class Triggers:
    """The triggers of a session.

    Args:
        send: Puts a message into the inbox.
        changed: Called after each change.
    """

    def __init__(self, send: Send, changed: Callable[[], None]) -> None:
        self._send = send
        self._changed = changed
        self._known: dict[str, RunningTrigger] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def all(self) -> tuple[RunningTrigger, ...]:
        """Those that were added and not removed."""
        return tuple(self._known.values())

    def add(self, trigger: Any) -> RunningTrigger:
        """Start one.

        Raises:
            UsageError: It is none, or no event loop runs here.
        """
        if not isinstance(trigger, Trigger) or isinstance(trigger, type):
            raise UsageError(
                f"{brief_repr(trigger)} is no trigger; give every(seconds, message) or "
                "on_file_change(path)"
            )
        running = RunningTrigger(trigger)
        work = self._run(running)
        try:
            task = asyncio.get_running_loop().create_task(work, name=f"trigger {trigger}")
        except RuntimeError:
            work.close()
            raise UsageError(
                "a trigger needs a running event loop: add it in a cell, or inside of an async "
                "function"
            ) from None
        self._known[running.id] = running
        self._tasks[running.id] = task
        self._changed()
        return running

    async def _run(self, running: RunningTrigger) -> None:
        def send(message: Any) -> None:
            self._send(message)
            running.sent += 1

        try:
            await running.trigger.run(send)
            running.error = "it ended by itself"
        except asyncio.CancelledError:
            running.error = "it was removed"
            raise
        except Exception as error:  # its author's code; it must not vanish silently
            running.error = error_text(error)
            _log.exception("trigger %s failed", running.trigger)
        finally:
            self._changed()

    async def remove(self, trigger_id: str) -> None:
        """Stop one. One that is gone already does no harm."""
        self._known.pop(trigger_id, None)
        await stopped(self._tasks.pop(trigger_id, None))
        self._changed()

    async def close(self) -> None:
        """Stop all."""
        for trigger_id in tuple(self._known):
            with contextlib.suppress(Exception):
                await self.remove(trigger_id)
