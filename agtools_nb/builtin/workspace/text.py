"""Names of files as text that can be shown."""

from __future__ import annotations

import unicodedata


def shown_name(name: str) -> str:
    r"""A name with what cannot be seen or encoded escaped: ``a\u202eb``, ``a\xff``."""
    if name.isprintable() and name.isascii():
        return name
    return "".join(
        letter if letter.isprintable() or letter == " " else _escaped(letter) for letter in name
    )


def _escaped(letter: str) -> str:
    if unicodedata.category(letter) == "Cs":  # a byte that is no UTF-8
        return f"\\x{ord(letter) & 0xFF:02x}"
    return letter.encode("unicode_escape").decode("ascii")
