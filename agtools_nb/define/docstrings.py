"""Descriptions out of a docstring: Google, NumPy, reST or Epydoc, whichever fits best."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from docstring_parser import Docstring, ParseError, epydoc, google, numpydoc, rest

# The Google style guide knows only "Args" and its kind; these headings are as common in the
# wild. One that were no section would be taken for prose, or for the end of a parameter.
_PARAMETERS = ("Keyword Args", "Keyword Arguments", "Other Parameters", "Other Args")
_REMARKS = (
    "Note", "Notes", "Warning", "Warnings", "Caution", "Important", "Tip", "Todo", "See Also",
    "References", "Usage", "Warns", "Return", "Yield", "Raise",
)  # fmt: skip
_GOOGLE = google.GoogleParser(
    [
        *google.DEFAULT_SECTIONS,
        *(google.Section(t, "param", google.SectionType.MULTIPLE) for t in _PARAMETERS),
        *(google.Section(t, "remark", google.SectionType.SINGULAR) for t in _REMARKS),
    ]
)
_NUMPY = numpydoc.NumpydocParser()

# Each style with a cheap sign of it: reading a text in all of them takes four times as long.
_STYLES: tuple[tuple[re.Pattern[str], Callable[[str], Docstring]], ...] = (
    (_GOOGLE.titles_re, _GOOGLE.parse),
    (re.compile(r"^-{3,}[ \t]*$", re.MULTILINE), _NUMPY.parse),
    (re.compile(r"^:\w", re.MULTILINE), rest.parse),
    (re.compile(r"^@\w", re.MULTILINE), epydoc.parse),
)


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

    A docstring that shows no sign of a style, or that no style can read, is taken as
    prose, whole. Never raises.
    """
    text = inspect.cleandoc(doc or "").strip()
    readings = [_read(parse, text) for sign, parse in _STYLES if sign.search(text)]
    best = max(readings, key=lambda reading: _fit(reading, names), default=None)
    if best is None:
        return Described(text, {})
    gap = "\n\n" if best.blank_after_short_description else "\n"
    prose = [part.strip() for part in (best.short_description, best.long_description) if part]
    return Described(gap.join(prose), _parameters(best, names))


def _read(parse: Callable[[str], Docstring], text: str) -> Docstring | None:
    try:
        return parse(text)
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
        if not parameter.description or parameter.args[0] == "attribute":
            continue  # an attribute of the object, which may be named like a parameter
        # NumPy groups parameters: "x, y : float".
        for name in parameter.arg_name.split(","):
            name = name.strip().lstrip("*")
            if name in names:
                found[name] = parameter.description.strip()
    return found
