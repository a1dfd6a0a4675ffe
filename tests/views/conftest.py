"""A clock that tests turn by hand, and a record of all that views send."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Coroutine
from typing import Any

import ipywidgets
import pytest

from agtools_nb.views.base import View


class TurnedClock:
    """A :class:`Scheduler` whose loop runs only as far as the test turns its clock."""

    def __init__(self) -> None:
        self.now = 100.0
        self.coroutines: list[Coroutine[Any, Any, None]] = []
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def soon(self, fn: Callable[[], None], /) -> None:
        self.later(0.0, fn)

    def later(self, seconds: float, fn: Callable[[], None], /) -> None:
        heapq.heappush(self._due, (self.now + seconds, next(self._order), fn))

    def spawn(self, coro: Coroutine[Any, Any, None], /) -> None:
        self.coroutines.append(coro)

    def turn(self, seconds: float = 0.0) -> None:
        """Let ``seconds`` pass and run what becomes due."""
        end = self.now + seconds
        while self._due and self._due[0][0] <= end:
            at, _, fn = heapq.heappop(self._due)
            self.now = max(self.now, at)
            fn()
        self.now = end


class Wire:
    """What went to the browser: ``(seconds, view, message)``."""

    def __init__(self, clock: TurnedClock) -> None:
        self.log: list[tuple[float, View, dict[str, Any]]] = []
        self._clock = clock

    def record(self, view: View, message: dict[str, Any], buffers: Any = None) -> None:
        if view.comm is not None:  # without a comm, ipywidgets drops it
            self.log.append((self._clock.now, view, message))

    @property
    def custom(self) -> list[dict[str, Any]]:
        """The custom messages, those sent together one by one."""
        out: list[dict[str, Any]] = []
        for _, _, message in self.log:
            content = message.get("content")
            if content is not None:
                out += content["messages"] if content["type"] == "many" else [content]
        return out

    def times(self) -> list[float]:
        return [at for at, _, _ in self.log]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> TurnedClock:
    """The clock of every view of this test."""
    turned = TurnedClock()
    for name in ("_clock", "_cpu"):
        monkeypatch.setattr(View, name, staticmethod(lambda: turned.now))
    return turned


@pytest.fixture
def wire(clock: TurnedClock, monkeypatch: pytest.MonkeyPatch) -> Wire:
    """What views send after they were made."""
    recorded = Wire(clock)
    monkeypatch.setattr(ipywidgets.Widget, "_send", lambda *args, **kw: recorded.record(*args))
    return recorded


@pytest.fixture
def comms(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every comm that is opened."""
    from comm import create_comm
    from ipywidgets.widgets import widget

    opened: list[Any] = []

    def create(*args: Any, **kwargs: Any) -> Any:
        opened.append(create_comm(*args, **kwargs))
        return opened[-1]

    monkeypatch.setattr(widget.comm, "create_comm", create)
    return opened


@pytest.fixture
def say() -> Callable[..., None]:
    """Hand a view a custom message as the comm does: ``say(view, "open", i=3)``."""

    def hand(view: View, kind: object, **fields: Any) -> None:
        data = {"method": "custom", "content": {**fields, "type": kind}}
        view._handle_msg({"content": {"data": data}, "buffers": []})

    return hand
