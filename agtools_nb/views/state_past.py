"""A store's past as JSON data for its view: the state after each step, and what a search finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from agtools_nb.context import StateStore, StateWrite
from agtools_nb.errors import UsageError
from agtools_nb.views.state_data import changes_between, entries, note_writes, write_data
from agtools_nb.views.state_search import Search
from agtools_nb.views.steps import By, Span, Steps

FOUND_WRITES = 100


@dataclass(frozen=True, slots=True)
class Position:
    """A position of the slider.

    Attributes:
        by: What one step is.
        at: The step, from one before the first to the last.
    """

    by: By
    at: int


def position_of(content: Mapping[str, Any]) -> Position | None:
    """Return the position that a page names; ``None`` is the present."""
    by, at = content.get("by"), content.get("at")
    if type(at) is not int or by not in get_args(By):
        return None
    return Position("call" if by == "call" else "write", at)


class Past:
    """Looks into the history of a store.

    Args:
        state: The store.

    Attributes:
        last: The last write of each key, up to the history that was taken last. Kept here,
            because the store forgets a write after 10,000 others.
    """

    def __init__(self, state: StateStore) -> None:
        self.last: dict[str, StateWrite] = {}
        self._state = state
        self._steps = Steps()

    def take(self) -> tuple[StateWrite, ...]:
        """Return the history, after bringing steps and last writes up to date with it."""
        # Under no lock: a tool may hold the store for long, and the loop must not wait for it.
        history = self._state.history
        note_writes(self.last, self._steps.take(history))
        return history

    def bounds(self) -> dict[str, tuple[int, int]]:
        """Return the numbers of the first and the last step, for each kind of step."""
        return {by: self._steps.bounds(by) for by in get_args(By)}

    def moment(self, asked: Position) -> dict[str, Any]:
        """Return the state as it was after a step, and what the step had changed."""
        history, span, values = self._at(asked)
        before = values if span is None else self._state.at(span.first - 1)
        writes = [] if span is None else [w for w in history if span.first <= w.seq <= span.last]
        return {
            "by": asked.by,
            "at": asked.at,
            "write": write_data(writes[-1]) if writes else None,
            "writes": len(writes),
            "steps": self._numbers(self._seq(span)),
            **entries(values, _writers(history, self._seq(span))),
            **changes_between(before, values),
        }

    def present(self) -> dict[str, Any]:
        """Return the store's own values: a snapshot holds nothing of a parent's, either."""
        history = self._state.history
        return self._state.at(history[-1].seq) if history else self._state.snapshot()

    def found(self, text: str, asked: Position | None) -> dict[str, Any]:
        """Return what holds a text: keys and values of the state as it is or was, and writes."""
        if asked is None:
            history, values, last = self.take(), self._state.snapshot(), self.last
        else:
            history, span, values = self._at(asked)
            last = _writers(history, self._seq(span))
        search = Search(text)
        places = {key: search.places({key: value}) for key, value in values.items()}
        state = entries({key: values[key] for key, found in places.items() if found}, last)
        for entry in state["keys"]:
            entry["places"] = places[entry["key"]]
        writes = search.writes(reversed(history))
        return {
            **state,
            "text": text,
            "writes": [self.with_steps(write) for write in writes[:FOUND_WRITES]],
            "more_writes": max(0, len(writes) - FOUND_WRITES),
            "is_cut": search.is_cut,
            "upto": history[-1].seq if history else 0,
        }

    def _at(self, asked: Position) -> tuple[tuple[StateWrite, ...], Span | None, dict[str, Any]]:
        """The history, the step that stands nearest to what was asked, and the state after it."""
        history = self.take()
        span = self._steps.span(asked.by, asked.at)
        try:
            return history, span, self._state.at(self._seq(span))
        except UsageError:  # writes came meanwhile, and that one is no longer kept
            history = self.take()
            span = self._steps.span(asked.by, asked.at)
            return history, span, self._state.at(self._seq(span))

    def _seq(self, span: Span | None) -> int:
        return self._steps.first_write - 1 if span is None else span.last

    def with_steps(self, write: StateWrite) -> dict[str, Any]:
        """Return a write with the step that it belongs to, for each kind of step."""
        return {**write_data(write), "steps": self._numbers(write.seq)}

    def _numbers(self, seq: int) -> dict[str, int]:
        return {by: self._steps.number(by, seq) for by in get_args(By)}


def _writers(history: tuple[StateWrite, ...], seq: int) -> dict[str, StateWrite]:
    """Return the last write of each key up to ``seq``, as far back as the history goes."""
    last: dict[str, StateWrite] = {}
    note_writes(last, (write for write in history if write.seq <= seq))
    return last
