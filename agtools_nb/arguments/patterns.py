"""Regular expressions out of schemas, matched so that no pattern can hang the kernel.

Python's ``re`` takes exponential time for some patterns, and both the pattern and the
text come from outside. The engine behind pydantic takes linear time; it knows no
look-around and no back-references, and only patterns with those go to ``re``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from pydantic_core import SchemaError, SchemaValidator, core_schema

# Longer text is not tried against a pattern that only ``re`` can read.
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
    except re.error:
        return None
    return lambda text: len(text) > MAX_RE_TEXT or compiled.search(text) is not None
