"""One write to a store, and copies of what is written."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Literal

Operation = Literal["set", "update", "delete", "reset", "load"]

WHOLE = ("reset", "load")
"""Operations on all keys at once."""


# Not frozen: that makes an object of 8 fields five times as dear, and each write makes one.
@dataclass(slots=True)
class StateWrite:
    """One write to a :class:`StateStore`. Not meant to be changed.

    Attributes:
        seq: Counts every write of this store from 1; it alone gives their order, because a
            clock may be set back.
        key: The key written; ``""`` for a reset or load of the whole store.
        before: Value before; :data:`ABSENT` if there was none. Of a reset or load, all values.
        after: Value after; :data:`ABSENT` when deleted. Of a reset or load, all values.
        operation: ``"set"``, ``"update"``, ``"delete"``, ``"reset"`` or ``"load"``.
        call_id: Id of the call that wrote, ``None`` when no tool did.
        tool_name: Name of the tool that wrote, ``None`` when no tool did.
        at: Unix time in seconds, as the clock had it.
    """

    seq: int
    key: str
    before: Any
    after: Any
    operation: Operation
    call_id: str | None
    tool_name: str | None
    at: float

    def apply(self, values: dict[str, Any]) -> None:
        """Do to ``values`` what this write did to the store. They share what was written."""
        if self.operation in WHOLE:
            values.clear()
            values.update(self.after)
        elif self.after is ABSENT:
            values.pop(self.key, None)
        else:
            values[self.key] = self.after


class _Absent:
    """The value of a key that is not there."""

    def __repr__(self) -> str:
        return "ABSENT"

    def __reduce__(self) -> str:
        return "ABSENT"  # unpickled, it is the same one


ABSENT = _Absent()


_CONTAINERS = (dict, list, set, tuple)
_PLAIN = frozenset((str, int, float, bool, type(None)))


def copied(value: Any, memo: dict[int, Any] | None = None) -> Any:
    """Copy containers all the way down, and keep every other value as it is.

    A tool that mutates a list it read must not change the store behind the
    lock; a data frame or a connection cannot be copied on each read. A container
    that stands in several places, or in itself, does so in the copy too.
    """
    if not isinstance(value, _CONTAINERS):
        return value
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)]
    if type(value) is tuple:
        return tuple(copied(item, memo) for item in value)
    new = memo[id(value)] = copy.copy(value)
    # Most hold nothing that needs a copy, and of a thousand numbers it is soon told.
    if isinstance(new, dict) and not _PLAIN.issuperset(map(type, new.values())):
        for key, item in new.items():
            if isinstance(item, _CONTAINERS):
                new[key] = copied(item, memo)
    elif isinstance(new, list) and not _PLAIN.issuperset(map(type, new)):
        for place, item in enumerate(new):
            if isinstance(item, _CONTAINERS):
                new[place] = copied(item, memo)
    return new
