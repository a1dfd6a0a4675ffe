"""The writes of a store, and the state as it was after each."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from agtools_nb.context.writes import StateWrite, copied
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr

HISTORY_LIMIT = 10_000
"""Most writes that a store remembers."""

SLACK = 1_000
"""How many more may gather before the oldest are given up together."""


class History:
    """The last writes of one store. One thread at a time adds; any may read meanwhile.

    Args:
        base: The values before the oldest of the writes.
        seq: Number of the last write before them.
        writes: The writes, oldest first.
    """

    def __init__(
        self,
        base: dict[str, Any] | None = None,
        seq: int = 0,
        writes: Iterable[StateWrite] = (),
    ) -> None:
        # Replaced as one, never changed: who reads them without a lock gets what belongs together.
        self._base: tuple[int, dict[str, Any]] = (seq, base or {})
        self._writes = deque(writes)

    @property
    def last(self) -> int:
        """Number of the last write; 0 before the first."""
        return self._writes[-1].seq if self._writes else self._base[0]

    @property
    def given_up(self) -> int:
        """Number of the last write that is no longer kept; 0 if all are."""
        return self._base[0]

    @property
    def writes(self) -> tuple[StateWrite, ...]:
        """The last 10,000, oldest first."""
        return self._past()[2][-HISTORY_LIMIT:]

    def add(self, write: StateWrite) -> None:
        """Remember one more write."""
        self._writes.append(write)
        if len(self._writes) > HISTORY_LIMIT + SLACK:
            self.give_up(len(self._writes) - HISTORY_LIMIT)

    def give_up(self, count: int) -> None:
        """Forget the oldest writes."""
        base = dict(self._base[1])
        oldest = [write for write in self._all() if write.seq > self._base[0]][:count]
        for write in oldest:
            write.apply(base)
        self._base = (oldest[-1].seq, base) if oldest else self._base
        # An interrupt may leave some of them here: whoever reads leaves them out.
        while self._writes and self._writes[0].seq <= self._base[0]:
            self._writes.popleft()

    def at(self, seq: int) -> dict[str, Any]:
        """Return a copy of the values after write ``seq``.

        Raises:
            UsageError: There was no such write, or it is no longer kept.
        """
        first, base, writes = self._past()
        last = writes[-1].seq if writes else first
        if not _is_number(seq) or not first <= seq <= last:
            raise UsageError(
                f"at() takes the number of a write, from {first} to {last} (about the last "
                f"{HISTORY_LIMIT:,} are kept), not {brief_repr(seq)}"
            )
        values = dict(base)
        for write in writes:
            if write.seq > seq:  # a number may be missing, so its place does not tell
                break
            write.apply(values)
        return {key: copied(value) for key, value in values.items()}

    def _past(self) -> tuple[int, dict[str, Any], tuple[StateWrite, ...]]:
        """What belongs together: a number, the values after that write, and the writes since."""
        while True:
            past = self._base
            writes = self._all()
            if self._base is past:  # if not, the oldest were given up in between
                seq, base = past
                if writes and writes[0].seq <= seq:
                    writes = tuple(write for write in writes if write.seq > seq)
                return seq, base, writes

    def _all(self) -> tuple[StateWrite, ...]:
        while True:
            try:
                return tuple(self._writes)
            except RuntimeError:  # a write came in between
                continue


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
