"""Names of files as text that can be shown."""

from __future__ import annotations

import unicodedata

from agtools_nb.builtin.workspace.names import parts_of
from agtools_nb.errors import ToolError


def shown_name(name: str) -> str:
    r"""A name with what cannot be seen or encoded escaped: ``a\u202eb``, ``a\xff``."""
    if name.isprintable() and name.isascii():
        return name
    return "".join(
        letter if letter.isprintable() or letter == " " else _escaped(letter) for letter in name
    )


def can_be_given(path: str) -> bool:
    r"""Whether a path that was found can be given to a tool as it is shown.

    One with ``\xff`` cannot: a backslash is in no path here, and no text holds such a byte.
    """
    if shown_name(path) != path:
        return False
    try:
        return parts_of(path, ()) == path.split("/")
    except ToolError:
        return False


def _escaped(letter: str) -> str:
    if unicodedata.category(letter) == "Cs":  # a byte that is no UTF-8
        return f"\\x{ord(letter) & 0xFF:02x}"
    return letter.encode("unicode_escape").decode("ascii")
