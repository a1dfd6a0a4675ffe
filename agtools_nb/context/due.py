"""Calls that have to be made, also when Ctrl-C comes while they are."""

from __future__ import annotations

import logging
from collections.abc import Callable

_log = logging.getLogger("agtools_nb")
_MOST_TRIES = 3


class DueCalls:
    """Calls to be made in their order. Whoever uses it holds a lock.

    One that an interrupt falls into is made again, so it must bear being made twice; one that
    fails is logged and gone.

    Attributes:
        waiting: Those not made yet. Extending it with ``+=`` cannot be interrupted: Python looks
            for signals at calls and at the turns of loops only.
        is_running: Whether one of them is being made now.
    """

    def __init__(self) -> None:
        self.waiting: list[Callable[[], object]] = []
        self.is_running = False

    def make(self, call: Callable[[], object]) -> None:
        """Make one call now."""
        first = len(self.waiting)
        self.waiting += [call]
        self.run(first)

    def run(self, first: int = 0) -> None:
        """Make those that wait from place ``first`` on; then raise what interrupted it, if any."""
        was_running = self.is_running
        interrupt: BaseException | None = None
        tries = 0
        try:
            self.is_running = True
            while self.waiting[first:]:
                try:
                    self._run(first)
                except BaseException as error:
                    interrupt = error
                    tries += 1
                    if tries % _MOST_TRIES == 0:  # it raises SystemExit, say, by itself
                        _log.exception("%r failed", self.waiting[first:][:1])
                        del self.waiting[first : first + 1]
            if interrupt is not None:
                raise interrupt
        finally:
            self.is_running = was_running
            del interrupt  # its traceback holds this frame

    def _run(self, first: int) -> None:
        while self.waiting[first:]:
            try:
                self.waiting[first]()
            except Exception:  # what it tells has happened; who hears of it cannot undo that
                _log.exception("%r failed", self.waiting[first])
            del self.waiting[first]
