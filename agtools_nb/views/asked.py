"""What every card is that waits for a person: open until it is answered, once, then frozen."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal

from agtools_nb.views.base import Scheduler, View

State = Literal["open", "answered", "expired", "stopped"]


class AskedView(View):
    """A card that waits for an answer.

    A subclass calls :meth:`_answer` with what its person said, and draws what was said.

    Args:
        scheduler: Where handlers and updates run.
        settle: Called once, on the main loop, with the answer; with ``None`` when it expires.
        seconds: How long it waits. Default: without end.
    """

    _time: Callable[[], float] = staticmethod(time.time)

    def __init__(
        self, scheduler: Scheduler, settle: Callable[[Any], None], seconds: float | None = None
    ) -> None:
        self._settle = settle
        self._seconds = seconds
        self._state: State = "open"
        self._asked_at = self._time()
        self._ended_at: float | None = None
        super().__init__(scheduler)

    @property
    def id(self) -> str:
        """The id by which a page finds it."""
        return self._id

    @property
    def is_open(self) -> bool:
        """Whether it still waits."""
        return self._state == "open"

    @property
    def state(self) -> State:
        """``"open"``, ``"answered"``, ``"expired"`` (nobody answered in time), or ``"stopped"``."""
        return self._state

    def expire(self) -> None:
        """Nobody answered in time: settle it with ``None``. On the main loop only."""
        if self.is_open:
            self._end("expired")
            self._settle(None)

    def stop(self) -> None:
        """The call that asked was stopped. On the main loop only."""
        self._end("stopped")

    def on_ready(self, content: dict[str, Any]) -> None:
        """A page has drawn it: tell how long it waits from now."""
        if self.is_open:
            self.refresh()
        else:
            super().on_ready(content)

    def _answer(self, value: Any) -> None:
        """Take the first answer; a second page may have sent another one meanwhile."""
        if self.is_open:
            self._end("answered")
            self._settle(value)

    def _end(self, state: State) -> None:
        if not self.is_open:
            return
        self._state = state
        self._ended_at = self._time()
        # Not coalesced: whoever pressed the button must see at once that it was heard.
        self.refresh_now()

    def _clock_data(self) -> dict[str, Any]:
        """Where it stands; the time that is left, since clocks of two machines differ."""
        left = None
        if self._seconds is not None and self.is_open:
            left = max(self._asked_at + self._seconds - self._time(), 0.0)
        return {"state": self._state, "left": left, "ended_at": self._ended_at}
