"""``StatefulTool``: a tool whose function is given one shared object, one call at a time."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Unpack

from agtools_nb.define.options import ToolOptions
from agtools_nb.define.reading import read_signature
from agtools_nb.define.tool import Tool
from agtools_nb.errors import DefinitionError
from agtools_nb.jsonable import brief_repr


class Turn:
    """The right to use an object that one call at a time may use.

    Tasks of any event loop, in any thread, wait for it in the order in which
    they asked. Who waits and is cancelled leaves the queue; a turn that was on
    its way to it goes to the next. It cannot be taken twice by one holder: a call
    that waits for another call on the same object waits forever.

    Args:
        state: What the turn is for. It lives at least as long as the turn.
    """

    def __init__(self, state: Any = None) -> None:
        self.state = state
        self._lock = threading.Lock()
        self._held = False
        self._waiting: deque[_Waiter] = deque()

    @property
    def is_held(self) -> bool:
        """Whether somebody has it now."""
        return self._held

    async def acquire(self) -> None:
        """Wait for the turn and take it.

        Raises:
            asyncio.CancelledError: The waiting task was cancelled; it has no turn.
        """
        with self._lock:
            if not self._held:
                self._held = True
                return
            waiter = _Waiter()
            self._waiting.append(waiter)
        try:
            await waiter.future
        except BaseException:  # also GeneratorExit: the loop was closed under the waiter
            self._leave(waiter)
            raise

    def release(self) -> None:
        """Give the turn to the next who waits. From any thread.

        Raises:
            RuntimeError: Nobody has it.
        """
        with self._lock:
            if not self._held:
                raise RuntimeError("a turn that nobody has cannot be given back")
            while self._waiting:
                waiter = self._waiting.popleft()
                if waiter.hand_over():
                    return
            self._held = False

    def _leave(self, waiter: _Waiter) -> None:
        with self._lock:
            if not waiter.has_turn:
                with contextlib.suppress(ValueError):  # its loop was closed and it was passed over
                    self._waiting.remove(waiter)
                return
        self.release()


class _Waiter:
    """One task in the queue. Touched only under the turn's lock, but for its future."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[None] = self.loop.create_future()
        self.has_turn = False

    def hand_over(self) -> bool:
        """Wake the task; ``False`` if its loop is closed, so that it never will run."""
        try:
            self.loop.call_soon_threadsafe(self._wake)
        except RuntimeError:
            return False
        self.has_turn = True
        return True

    def _wake(self) -> None:
        if not self.future.done():
            self.future.set_result(None)


# By the id of the state: it may be of a type that knows no hash and no weak reference. A
# turn holds its state, so an id means the same object as long as its turn is here.
_turns: weakref.WeakValueDictionary[int, Turn] = weakref.WeakValueDictionary()
_turns_lock = threading.Lock()


def turn_of(state: Any) -> Turn:
    """The turn of an object: the same one for every tool that shares the object."""
    with _turns_lock:
        turn = _turns.get(id(state))
        if turn is None:
            turn = _turns[id(state)] = Turn(state)
        return turn


class StatefulTool(Tool):
    """A tool whose function is given a shared object as its first parameter.

    It is the same object on each call, never a copy, and the model does not see
    the parameter. Calls that share one object, also those of other tools, run
    one at a time, unless ``concurrency_safe=True`` says that the object can
    stand more.

    Args:
        fn: A callable whose first parameter takes ``state`` by position.
        state: Any object.
        options: Those of :func:`tool`; ``concurrency_safe`` is ``False`` by default.

    Raises:
        DefinitionError: ``fn`` takes nothing by position, or cannot be a tool.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        state: Any,
        *,
        scope: Mapping[str, Any] | None = None,
        **options: Unpack[ToolOptions],
    ) -> None:
        self.state = state
        options.setdefault("concurrency_safe", False)
        super().__init__(fn, scope=scope, **options)
        if self.is_subscription and not self.concurrency_safe:
            raise DefinitionError(
                f"{self.name} is an async generator, which would keep the state from all others "
                "until it ends; give concurrency_safe=True if the object can stand that"
            )
        self.turn = None if self.concurrency_safe else turn_of(state)

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]} on {brief_repr(self.state)}>"

    def _bound(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        if not _takes_by_position(fn):
            raise DefinitionError(
                f"{brief_repr(fn)} cannot be a StatefulTool: it takes nothing by position. Give "
                "it a first parameter for the state: def f(state, ...)."
            )
        if _takes_context_first(fn):
            raise DefinitionError(
                f"{brief_repr(fn)} cannot be a StatefulTool: its first parameter is a ToolContext, "
                "and the state is passed first. Write def f(state, ..., ctx: ToolContext)."
            )
        return functools.partial(fn, self.state)


def _takes_context_first(fn: Callable[..., Any]) -> bool:
    try:
        first = next(iter(inspect.signature(fn).parameters))
    except Exception:  # Tool says what is wrong with it
        return False
    found = read_signature(fn, tool_name="", lenient=True).injected
    return any(one.name == first for one in found)


def _takes_by_position(fn: Callable[..., Any]) -> bool:
    try:
        parameters = list(inspect.signature(fn).parameters.values())
    except Exception:  # Tool says what is wrong with it
        return True
    by_position = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
    )
    return bool(parameters) and parameters[0].kind in by_position
