"""Bounds that a notebook's user sets, checked where they are set."""

from __future__ import annotations

from typing import TypeVar

from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr

F = TypeVar("F")


def checked_seconds(seconds: float | None) -> float | None:
    """A time limit as given.

    Raises:
        UsageError: It is no finite number above 0.
    """
    if seconds is None:
        return None
    if type(seconds) in (int, float) and 0 < seconds <= _MOST_SECONDS:
        return seconds
    raise UsageError(
        f"timeout must be a number of seconds above 0, not {brief_repr(seconds)}; None is no limit"
    )


def checked_concurrency(limit: int | None) -> int | None:
    """A limit of calls at once, as given.

    Raises:
        UsageError: It is no whole number of at least 1.
    """
    if limit is None or (type(limit) is int and limit >= 1):
        return limit
    raise UsageError(
        f"max_concurrency must be a whole number of at least 1, not {brief_repr(limit)}; "
        "None is no limit"
    )


# What an event loop's clock can still add to its time.
_MOST_SECONDS = 1e9


def checked_function(what: str, given: F) -> F:
    """A function as given; ``None`` is none.

    Raises:
        UsageError: It cannot be called.
    """
    if given is None or callable(given):
        return given
    raise UsageError(f"{what} must be a function, not {brief_repr(given)}")
