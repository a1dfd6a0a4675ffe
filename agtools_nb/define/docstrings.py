"""Descriptions out of a docstring: Google, NumPy, reST or Epydoc, whichever fits best."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from dataclasses import dataclass

from docstring_parser import Docstring, ParseError, epydoc, google, numpydoc, rest

# The Google style guide knows only "Args"; these headings are as common in the wild.
_MORE_GOOGLE_SECTIONS = [
    google.Section(title, "param", google.SectionType.MULTIPLE)
    for title in ("Keyword Args", "Keyword Arguments", "Other Parameters", "Other Args")
]
_GOOGLE = google.GoogleParser(google.DEFAULT_SECTIONS + _MORE_GOOGLE_SECTIONS)


@dataclass(frozen=True, slots=True)
class Described:
    """What a docstring says.

    Attributes:
        summary: The prose, without any section.
        parameters: Description by parameter name.
    """

    summary: str
    parameters: dict[str, str]


def describe(doc: str | None, names: Collection[str]) -> Described:
    """Read a docstring in the style that describes most of the parameters ``names``.

    A docstring that no style can read is taken as prose, whole. Never raises.
    """
    text = inspect.cleandoc(doc or "")
    if not text:
        return Described("", {})
    readings = [
        _read(parse, text) for parse in (_GOOGLE.parse, numpydoc.parse, rest.parse, epydoc.parse)
    ]
    best = max(readings, key=lambda reading: _fit(reading, names))
    if best is None:
        return Described(text, {})
    prose = [part.strip() for part in (best.short_description, best.long_description) if part]
    return Described("\n\n".join(prose), _parameters(best, names))


def _read(parse: object, text: str) -> Docstring | None:
    try:
        return parse(text)  # type: ignore[operator, no-any-return]
    except (ParseError, ValueError, IndexError, AttributeError, TypeError):
        return None


def _fit(reading: Docstring | None, names: Collection[str]) -> tuple[int, int]:
    """Parameters described, then sections found; the first style wins a tie."""
    if reading is None:
        return (-1, 0)
    return (len(_parameters(reading, names)), len(reading.meta))


def _parameters(reading: Docstring, names: Collection[str]) -> dict[str, str]:
    found = {}
    for parameter in reading.params:
        # NumPy groups parameters: "x, y : float".
        for name in parameter.arg_name.split(","):
            name = name.strip().lstrip("*")
            if name in names and parameter.description:
                found[name] = parameter.description.strip()
    return found
