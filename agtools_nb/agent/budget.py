"""How far a conversation may go, and why it stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from agtools_nb.agent.messages import NO_USAGE, Usage
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr

Reason = Literal[
    "answered",
    "finished",
    "max_turns",
    "token_budget",
    "time_budget",
    "repairs",
    "length",
    "model_error",
    "denied",
    "cancelled",
]


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds of a conversation.

    Attributes:
        max_turns: Most answers of the model to one message. Default 20.
        tokens: Most tokens of the whole conversation, sent and written. Default: no bound.
        seconds: Longest time for one message, tools and people included. Default: no bound.
        max_repairs: How often in a row a model may send a tool arguments that do not fit, or
            call a tool that there is not. Default 3.

    Raises:
        UsageError: A bound is not above 0 (``max_repairs``: below 0).
    """

    max_turns: int = 20
    tokens: int | None = None
    seconds: float | None = None
    max_repairs: int = 3

    def __post_init__(self) -> None:
        _check("max_turns", self.max_turns, whole=True, least=1)
        _check("max_repairs", self.max_repairs, whole=True, least=0)
        if self.tokens is not None:
            _check("token_budget", self.tokens, whole=True, least=1)
        if self.seconds is not None:
            _check("time_budget", self.seconds, whole=False, least=0)


@dataclass(slots=True)
class Meter:
    """Counts the tokens of a conversation, its temporary threads included.

    Attributes:
        usage: Tokens so far.
        parent: Counts them, too: that of the conversation that started this one.
        keep: Told of what there is after each request, to keep it. Default: nobody.
    """

    usage: Usage = NO_USAGE
    parent: Meter | None = None
    keep: Callable[[Usage], None] | None = None

    def add(self, usage: Usage) -> None:
        """One more request."""
        self.usage += usage
        if self.keep is not None:
            self.keep(self.usage)
        if self.parent is not None:
            self.parent.add(usage)


# The meter of the message that the running code is part of answering.
_spending: ContextVar[Meter | None] = ContextVar("spending", default=None)


def meter_within(meter: Meter) -> Meter:
    """The meter of the message that is being answered here, if ``meter`` counts that one's tokens.

    Where no such message is being answered, it is ``meter`` itself.
    """
    found = _spending.get()
    return found if found is not None and found.parent is meter else meter


@dataclass(slots=True)
class Spent:
    """What one message has cost so far.

    Attributes:
        budget: The bounds.
        meter: Tokens of the whole conversation.
        turns: Answers of the model.
    """

    budget: Budget
    meter: Meter
    clock: Callable[[], float] = time.monotonic
    turns: int = 0
    _began: float = field(init=False)
    _message: Meter = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.clock()
        self._message = Meter(parent=self.meter)
        # Subagents that the message's calls start are counted for it, and not for what is
        # answered beside it.
        _spending.set(self._message)

    @property
    def usage(self) -> Usage:
        """Tokens of this message, those of subagents included."""
        return self._message.usage

    def add(self, usage: Usage) -> None:
        """One more request."""
        self._message.add(usage)

    @property
    def seconds(self) -> float:
        """How long it has taken."""
        return self.clock() - self._began

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the time is over; ``None`` if it has no bound."""
        if self.budget.seconds is None:
            return None
        return max(self.budget.seconds - self.seconds, 0.0)

    def over(self) -> tuple[Reason, str] | None:
        """Why no more answer may be asked for, and the same in words; ``None`` if one may."""
        budget = self.budget
        if self.turns >= budget.max_turns:
            return "max_turns", (
                f"stopped after {self.turns} answers of the model to one message "
                f"(max_turns={budget.max_turns})"
            )
        used = self.meter.usage
        if budget.tokens is not None and used.total >= budget.tokens:
            kind = "about " if used.is_estimate else ""
            return "token_budget", (
                f"stopped: the conversation has used {kind}{used.total:,} tokens "
                f"(token_budget={budget.tokens:,})"
            )
        if self.seconds_left == 0.0:
            return self.out_of_time()
        return None

    def out_of_time(self) -> tuple[Reason, str]:
        """The time is over."""
        return "time_budget", f"stopped after {self.budget.seconds:g} s (time_budget)"


def _check(name: str, value: object, *, whole: bool, least: int) -> None:
    kinds = (int,) if whole else (int, float)
    fits = isinstance(value, kinds) and not isinstance(value, bool)
    if fits and not whole:
        try:
            value = float(value)  # type: ignore[arg-type]
        except OverflowError:  # a whole number of hundreds of digits
            fits = False
    in_bounds = fits and (value >= least if whole else value > least)  # type: ignore[operator]
    if not in_bounds:
        kind = "a whole number of at least" if whole else "a number of seconds above"
        raise UsageError(f"{name}={brief_repr(value)} must be {kind} {least}")
