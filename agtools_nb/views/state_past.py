"""A store's past as JSON data for its view: the state after each step, and what a search finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from agtools_nb.context import StateStore, StateWrite
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
    """

    def __init__(self, state: StateStore) -> None:
        self._state = state
        self._steps = Steps()

    def take(self, history: tuple[StateWrite, ...]) -> tuple[StateWrite, ...]:
        """Bring the steps up to date, and return the writes that are new."""
        return self._steps.take(history)

    def bounds(self) -> dict[str, tuple[int, int]]:
        """Return the numbers of the first and the last step, for each kind of step."""
        return {by: self._steps.bounds(by) for by in get_args(By)}

    def moment(self, asked: Position) -> dict[str, Any]:
        """Return the state as it was after a step, and what the step had changed."""
        history, span = self._at(asked)
        values = self._state.at(self._seq(span))
        before = values if span is None else self._state.at(span.first - 1)
        writes = [] if span is None else [w for w in history if span.first <= w.seq <= span.last]
        return {
            "by": asked.by,
            "at": asked.at,
            "write": write_data(writes[-1]) if writes else None,
            "writes": len(writes),
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
            history, values = self._state.history, self._state.snapshot()
            last = _writers(history, history[-1].seq if history else 0)
        else:
            history, span = self._at(asked)
            values, last = self._state.at(self._seq(span)), _writers(history, self._seq(span))
        search = Search(text)
        places = {key: search.places({key: value}) for key, value in values.items()}
        state = entries({key: values[key] for key, found in places.items() if found}, last)
        for entry in state["keys"]:
            entry["places"] = places[entry["key"]]
        writes = search.writes(reversed(history))
        return {
            **state,
            "text": text,
            "writes": [self._found(write) for write in writes[:FOUND_WRITES]],
            "more_writes": max(0, len(writes) - FOUND_WRITES),
            "is_cut": search.is_cut,
            "upto": history[-1].seq if history else 0,
        }

    def _at(self, asked: Position) -> tuple[tuple[StateWrite, ...], Span | None]:
        return self._state.history, self._steps.span(asked.by, asked.at)

    def _seq(self, span: Span | None) -> int:
        return self._steps.first_write - 1 if span is None else span.last

    def _found(self, write: StateWrite) -> dict[str, Any]:
        steps = {by: self._steps.number(by, write.seq) for by in get_args(By)}
        return {**write_data(write), "steps": steps}


def _writers(history: tuple[StateWrite, ...], seq: int) -> dict[str, StateWrite]:
    """Return the last write of each key up to ``seq``, as far back as the history goes."""
    last: dict[str, StateWrite] = {}
    note_writes(last, (write for write in history if write.seq <= seq))
    return last
