"""The state as it was, and what is different between two states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from agtools_nb.context.writes import ABSENT, copied
from agtools_nb.jsonable import pointer_step


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The values of a store at one moment, under a name.

    Attributes:
        name: What it was saved under.
        seq: The last write before it.
        at: Unix time in seconds at which it was saved.
        values: The store's own values then, not to be changed.
    """

    name: str
    seq: int
    at: float
    values: Mapping[str, Any] = field(repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # A view of a dict that cannot be written to can be neither pickled nor copied.
        return _again, (self.name, self.seq, self.at, dict(self.values))


def _again(name: str, seq: int, at: float, values: dict[str, Any]) -> Snapshot:
    return Snapshot(name, seq, at, MappingProxyType(values))


def frozen(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """A copy of values that cannot be written to."""
    return MappingProxyType({key: copied(value) for key, value in values.items()})


@dataclass(frozen=True, slots=True)
class StateChange:
    """One place where two states differ.

    Attributes:
        pointer: JSON Pointer (RFC 6901); ``"/route/to/0"`` is the first item of ``to`` in the
            value under the key ``route``.
        before: What stood there; :data:`ABSENT` if nothing did.
        after: What stands there; :data:`ABSENT` if nothing does.
    """

    pointer: str
    before: Any
    after: Any


def diff(
    before: Snapshot | Mapping[str, Any], after: Snapshot | Mapping[str, Any]
) -> tuple[StateChange, ...]:
    """Return where two states differ, in the order of the keys.

    Dicts are compared key by key, lists and tuples item by item: an item put in at the front
    is a change at each place after it. ``True`` is not ``1``, but ``1`` is ``1.0``.

    Args:
        before: A snapshot, or a dict such as ``store.snapshot()`` or ``store.at(3)``.
        after: Another.
    """
    old = before.values if isinstance(before, Snapshot) else before
    new = after.values if isinstance(after, Snapshot) else after
    found: list[StateChange] = []
    # A stack instead of recursion: values may be nested as deeply as they like.
    waiting: list[tuple[str, Any, Any]] = [("", dict(old), dict(new))]
    seen: set[tuple[int, int]] = set()
    while waiting:
        pointer, one, other = waiting.pop()
        if one is other or (id(one), id(other)) in seen:
            continue
        inner = _inner(one, other)
        if inner is None:
            if not _is_same(one, other):
                found.append(StateChange(pointer, one, other))
            continue
        # Containers that hold themselves are met again; each pair is compared once.
        seen.add((id(one), id(other)))
        waiting.extend(
            reversed([(f"{pointer}/{pointer_step(str(step))}", a, b) for step, a, b in inner])
        )
    return tuple(found)


def _inner(one: Any, other: Any) -> Iterator[tuple[Any, Any, Any]] | None:
    """What stands in two containers of a kind, place by place; ``None`` for anything else."""
    if isinstance(one, dict) and isinstance(other, dict):
        return _of_dicts(one, other)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return _of_lists(one, other)
    return None


def _of_dicts(one: dict[Any, Any], other: dict[Any, Any]) -> Iterator[tuple[Any, Any, Any]]:
    for key, value in one.items():
        yield key, value, other.get(key, ABSENT)
    for key, value in other.items():
        if key not in one:
            yield key, ABSENT, value


def _of_lists(
    one: list[Any] | tuple[Any, ...], other: list[Any] | tuple[Any, ...]
) -> Iterator[tuple[Any, Any, Any]]:
    for place in range(max(len(one), len(other))):
        yield (
            place,
            one[place] if place < len(one) else ABSENT,
            other[place] if place < len(other) else ABSENT,
        )


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) is not isinstance(other, bool):
        return False
    try:
        # NaN differs from itself, and is no change; a data frame's == is no bool.
        return bool(one == other) or bool(one != one and other != other)
    except Exception:
        return False
