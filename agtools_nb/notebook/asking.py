"""Asking the person at the notebook: cards in the output of what asks, or a refusal at once."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from agtools_nb.access import Approval, ApprovalDecision
from agtools_nb.context import Question
from agtools_nb.context.questions import Answer
from agtools_nb.errors import ToolError
from agtools_nb.notebook.kernel_loop import KernelLoop
from agtools_nb.notebook.live_output import LiveOutput
from agtools_nb.notebook.surroundings import in_cell, in_voila, is_reentered, nobody_here
from agtools_nb.run import Batch
from agtools_nb.views.approval import ApprovalView
from agtools_nb.views.asked import AskedView
from agtools_nb.views.base import Scheduler
from agtools_nb.views.batch import BatchView
from agtools_nb.views.hosting import HostView
from agtools_nb.views.question import QuestionView

APPROVAL_SECONDS = 300.0
"""How long a card waits unless told otherwise."""

_EXPIRED: Any = object()
_GO_ON = "Go on with what you know, and say what you assumed."

HEARTBEAT_SECONDS = 0.1
"""An interrupt does not wake a loop that sleeps: one that asks looks up this often."""


class BatchAsked:
    """A batch whose calls ask, and the view that shows which of them wait.

    Args:
        batch: The batch.
        view: Its view, if it has one.
    """

    def __init__(self, batch: Batch, view: BatchView | None = None) -> None:
        self._batch = batch
        self._view = view

    def sent(self, call_id: str | None) -> Mapping[str, Any] | None:
        """The arguments of a call as they came; ``None`` if they were no object."""
        at = self._index(call_id)
        args = None if at is None else self._batch.calls[at].args
        return args if isinstance(args, Mapping) else None

    def asks(self, call_id: str | None, begins: bool) -> None:
        """A call begins, or ceases, to wait."""
        at = self._index(call_id)
        if self._view is not None and at is not None:
            self._view.call_asks(at, begins)

    def _index(self, call_id: str | None) -> int | None:
        found = (at for at, call in enumerate(self._batch.calls) if call.id == call_id)
        return next(found, None)


@dataclass(slots=True)
class Place:
    """Where the calls of a run ask.

    Attributes:
        host: The view below which cards are shown; ``None``: in the running cell.
        calls: Told of what waits; ``None`` if nobody needs to know.
        is_blocking: Whether the cell blocks, so that no answer could come in.
        is_awaited: Whether a cell waits for the run.
        is_elsewhere: Whether cards are shown in the running cell, too: the host may be far off.
        within: The place of the call that began the run, if that was one.
    """

    host: HostView | None = None
    calls: BatchAsked | None = None
    is_blocking: bool = False
    is_awaited: bool = False
    is_elsewhere: bool = False
    within: Place | None = None

    @property
    def blocks(self) -> bool:
        """Whether a cell blocks until the run, or the call that began it, has ended."""
        return self.is_blocking or (self.within is not None and self.within.blocks)


_place: ContextVar[Place | None] = ContextVar("agtools_nb_place", default=None)


@contextlib.contextmanager
def asking_in(place: Place) -> Iterator[None]:
    """Have what runs inside ask there; tasks that it starts do, too."""
    here = _place.get()
    if here is not None and here is not place and here.blocks:
        place.within = here
    before = _place.set(place)
    try:
        yield
    finally:
        _place.reset(before)


Finder = Callable[[str | None], Place | None]
_finders: list[Finder] = []


def look_for_places(finder: Finder) -> None:
    """Have ``finder(call_id)`` asked where a call asks that nobody has given a place."""
    _finders.append(finder)


def _place_for(call_id: str | None) -> Place:
    """Where a call asks."""
    given = _place.get()
    if given is not None:
        return given
    found = (finder(call_id) for finder in _finders)
    return next((place for place in found if place is not None), Place())


class Asking:
    """Asks the person at the notebook. Its methods are handlers for a runner.

    Args:
        loop: The kernel's loop, on which cards live.
        seconds: How long a card waits; ``None``: without end.
        changed: Called when a card was answered.
    """

    def __init__(
        self, loop: KernelLoop, seconds: float | None, changed: Callable[[], None]
    ) -> None:
        self._loop = loop
        self.seconds = seconds
        self._changed = changed
        self._waiting: list[tuple[AskedView, Place]] = []

    @property
    def waiting(self) -> tuple[AskedView, ...]:
        """The cards that wait for an answer, the one that waits longest first."""
        return tuple(card for card, _ in self._waiting)

    async def approve(self, approval: Approval) -> ApprovalDecision:
        """Ask whether a call may run: the ``approve=`` of a runner.

        Raises:
            ToolError: There is nobody who could be asked, or nobody answered in time.
        """
        place = _place_for(approval.call.id)
        who = f"the rule {approval.policy.label} asks a person, and nobody"
        if (why := _nobody(place, "approve=")) is not None:
            raise ToolError("nobody_to_ask", f"{who} can be asked: {why}", category="access")
        sent = None if place.calls is None else place.calls.sent(approval.call.id)

        def card(scheduler: Scheduler, settle: Callable[[Any], None]) -> ApprovalView:
            return ApprovalView(scheduler, approval, settle, self.seconds, sent)

        decision = await self._asked(card, place, approval.call.id)
        if decision is _EXPIRED:
            late = f"{who} answered within {self.seconds:g} s"
            raise ToolError("no_answer", late, category="access")
        assert isinstance(decision, ApprovalDecision)
        if decision.approved and decision.remember:
            self._approve_the_like(approval)
        return decision

    async def answer(self, question: Question) -> Answer:
        """Put a question: the ``answer=`` of a runner.

        Raises:
            ToolError: There is nobody who could answer, or nobody did in time.
        """
        place = _place_for(question.call_id)
        if (why := _nobody(place, "answer=")) is not None:
            text = f"The question was not put, and nobody can be asked: {why}."
            raise ToolError("nobody_to_ask", text, category="access", hint=_GO_ON)

        def card(scheduler: Scheduler, settle: Callable[[Any], None]) -> QuestionView:
            return QuestionView(scheduler, question, settle, self.seconds)

        said = await self._asked(card, place, question.call_id)
        if said is _EXPIRED:
            raise ToolError(
                "no_answer",
                f"Nobody answered the question within {self.seconds:g} s.",
                category="access",
                hint=_GO_ON,
            )
        answer: Answer = said
        return answer

    def _approve_the_like(self, approved: Approval) -> None:
        """What was approved for the session is approved for calls that wait already."""
        for card in self.waiting:
            if isinstance(card, ApprovalView):
                waits = card.approval
                same = waits.tool is approved.tool and waits.policy is approved.policy
                if same and card.form is None:
                    card.approve(remember=True)

    async def _asked(
        self,
        make: Callable[[Scheduler, Callable[[Any], None]], AskedView],
        place: Place,
        call_id: str | None,
    ) -> Any:
        """Show a card until it is answered, and return the answer, or that it expired."""
        loop = asyncio.get_running_loop()  # need not be the kernel's
        answer: asyncio.Future[Any] = loop.create_future()

        def settle(value: Any) -> None:
            loop.call_soon_threadsafe(_set, answer, value)

        card = make(self._loop, settle)
        self._begin(card, place, call_id)
        # On the loop of the card, which alone knows whether it was answered before.
        late = self.seconds
        timer = None if late is None else loop.call_later(late, self._loop.soon, card.expire)
        try:
            while not answer.done():
                await asyncio.wait({answer}, timeout=HEARTBEAT_SECONDS)
            return _EXPIRED if card.state == "expired" else answer.result()
        finally:
            if timer is not None:
                timer.cancel()
            self._end(card, place, call_id)

    def _begin(self, card: AskedView, place: Place, call_id: str | None) -> None:
        self._waiting.append((card, place))
        if place.calls is not None:
            place.calls.asks(call_id, True)
        if place.host is None or place.is_elsewhere:
            LiveOutput(card).show()
        if place.host is not None:
            host = place.host
            self._loop.soon(lambda: host.show_card(card))
        self._changed()

    def _end(self, card: AskedView, place: Place, call_id: str | None) -> None:
        self._waiting.remove((card, place))

        def ended() -> None:
            card.stop()  # if nobody answered: the call was cancelled
            if place.host is not None:
                place.host.cards_changed()

        self._loop.soon(ended)
        if place.calls is not None:
            place.calls.asks(call_id, False)
        self._changed()


def _nobody(place: Place, argument: str) -> str | None:
    """Why nobody can answer here, and what its author can do; ``None`` if somebody can."""
    if (why := nobody_here()) is not None:
        return f"{why}. Its author can answer in code, by a function: Toolkit({argument}...)"
    waited_for = place.host is None or place.is_awaited
    if place.blocks or (waited_for and is_reentered()):
        return (
            "the cell blocks, and no click would reach the kernel. Run it with await: "
            "await tk.run(...) or await tk.call(...) in place of run_sync, call_sync and "
            "run_until_complete"
        )
    if in_voila() and in_cell() and (place.is_awaited or place.host is None):
        return (
            "a Voila page comes up only when its cells have ended. Leave the run going: "
            "tk.run(...) as a cell's last line, without await"
        )
    return None


def _set(answer: asyncio.Future[Any], value: Any) -> None:
    if not answer.done():
        answer.set_result(value)
