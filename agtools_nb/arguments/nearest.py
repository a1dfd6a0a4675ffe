"""Names that a model may have meant, and lists of names that stay short."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

_COMPARED = 100
"""Characters of a name that are looked at: comparing takes the square of them."""
_CLOSE = 0.6
_LISTED_FIRST = 10


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The one name that ``name`` may stand for: a slip, or other case or separators.

    Returns:
        ``None`` if no name is close.
    """
    found = _ranked(name, known, 1, _CLOSE)
    return found[0] if found else None


def listed(name: str, known: Sequence[str], limit: int) -> str:
    """``known`` in one line of about ``limit`` characters; what is nearest to ``name`` comes first.

    The order stays as it is where all of them have room. ``"none"`` if there are none.
    """
    if not known:
        return "none"
    text = ", ".join(known)
    if len(text) <= limit:
        return text
    first = _ranked(name, known, _LISTED_FIRST, 0.3)
    shown: list[str] = []
    for one in dict.fromkeys([*first, *known]):
        limit -= len(one) + 2
        if limit < 0:
            break
        shown.append(one)
    return f"{', '.join(shown)} and {len(known) - len(shown)} more".removeprefix(" and ")


def _ranked(name: str, known: Iterable[str], count: int, cutoff: float) -> list[str]:
    by_letters: dict[str, str] = {}
    for one in known:
        by_letters.setdefault(_letters(one), one)
    close = difflib.get_close_matches(_letters(name), by_letters, count, cutoff)
    return [by_letters[letters] for letters in close]


def _letters(name: str) -> str:
    """A name without what joins its words: ``getWeather`` and ``get-weather`` are alike."""
    start = name[:_COMPARED].lower()
    return "".join(filter(str.isalnum, start)) or start
