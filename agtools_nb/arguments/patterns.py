"""Regular expressions out of schemas, matched so that no pattern can hang the kernel.

Python's ``re`` takes exponential time for some patterns, and both the pattern and the
text come from outside. The engine behind pydantic takes linear time; it knows no
look-around and no back-references. Patterns with those go to ``re`` if they hold no
choice within a repeat, and then for short texts only; what is not tried counts as fitting.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Iterator
from typing import Any

from pydantic_core import SchemaError, SchemaValidator, core_schema

# Longer text is never tried against a pattern that only ``re`` can read.
MAX_RE_TEXT = 1_000


def found_in(pattern: str, text: str, *, unreadable: bool = True) -> bool:
    """Whether ``pattern`` is found anywhere in ``text``.

    Args:
        pattern: A regular expression.
        text: Where to look.
        unreadable: The answer for a pattern that no engine can read. Default ``True``.
    """
    matcher = _matcher(pattern)
    return unreadable if matcher is None else matcher(text)


@functools.lru_cache(maxsize=512)
def _matcher(pattern: str) -> Callable[[str], bool] | None:
    try:
        return SchemaValidator(core_schema.str_schema(pattern=pattern)).isinstance_python
    except SchemaError:
        pass
    try:
        compiled = re.compile(pattern)
        longest = _longest_text(pattern)
    except (re.error, RecursionError, OverflowError):
        return None
    if longest is None:
        return None
    return lambda text: len(text) > longest or compiled.search(text) is not None


def _longest_text(pattern: str) -> int | None:
    """How long a text ``re`` may be given for a pattern, so that it answers soon.

    A repeat of what can itself be read in several ways can take exponential time, and
    ``n`` repeats the ``n``-th power of the text's length; to look for a start counts as one
    more, unless the pattern begins with ``^``.

    Returns:
        Characters; ``None`` for a pattern that no text is short enough for.
    """
    parsed = _parser.parse(pattern)
    repeats = _repeats(parsed, inside=False)
    if repeats is None:
        return None
    is_anchored = len(parsed) > 0 and parsed[0] == (_parser.AT, _parser.AT_BEGINNING)
    power = max(repeats + (not is_anchored), 1)
    return min(MAX_RE_TEXT, int(_MAX_STEPS ** (1 / power)))


def _repeats(parsed: Any, *, inside: bool) -> int | None:
    """How many repeats a parsed pattern has; ``None`` if one holds a choice of ways on."""
    count = 0
    for operator, argument in parsed:
        is_choice = operator in _CHOICES or (operator in _REPEATS and argument[1] != argument[0])
        if is_choice and inside:
            return None
        is_repeat = operator in _REPEATS and argument[1] > 1
        count += is_repeat
        for inner in _inner(argument):
            found = _repeats(inner, inside=inside or is_repeat)
            if found is None:
                return None
            count += found
    return count


def _inner(argument: Any) -> Iterator[Any]:
    """The patterns inside a part of a pattern."""
    if isinstance(argument, _parser.SubPattern):
        yield argument
    elif isinstance(argument, (tuple, list)):
        for part in argument:
            yield from _inner(part)


_parser: Any = importlib.import_module("re._parser")
_REPEATS = frozenset(
    getattr(_parser, name)
    for name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
    if hasattr(_parser, name)
)
_CHOICES = frozenset((_parser.BRANCH, _parser.GROUPREF_EXISTS))
_MAX_STEPS = 1_000_000
