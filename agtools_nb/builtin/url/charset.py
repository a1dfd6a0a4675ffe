"""Bytes of a page as text."""

from __future__ import annotations

import codecs
import re

from agtools_nb.builtin.marks import MARKS

_META = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([a-z0-9_:.-]{1,40})", re.IGNORECASE)
_META_BYTES = 2_048


# Python's codecs are more than character sets, and some take forever on hostile bytes.
_KNOWN = re.compile(
    r"utf-8|utf-16(-le|-be)?|ascii|iso8859-\d+|cp\d{3,4}|koi8-[rtu]|mac-[a-z]+|gb2312|gbk|gb18030|"
    r"big5(hkscs)?|euc_(jp|kr)|shift_jis|iso2022_jp|tis-620"
)
# What pages call by these names is in truth the larger set, as browsers know.
_MEANT = {"ascii": "cp1252", "iso8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
_DEFAULT = "cp1252"


def decoded(
    data: bytes, charset: str | None, *, is_html: bool, is_cut: bool = False
) -> tuple[str, str]:
    """Return text, and the name of the character set that it was read with.

    A mark at the beginning wins, then what the header says, then in HTML what the page says,
    then UTF-8 if it fits, then Windows' western set. What does not fit becomes ``U+FFFD``.

    Args:
        data: The bytes.
        charset: What the header ``Content-Type`` says.
        is_html: Whether the page may say it in a ``<meta>``.
        is_cut: Whether the bytes may end within a character. Default ``False``.
    """
    for mark, name in MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace"), name
    said = _known(charset)
    if said is None and is_html:
        found = _META.search(data[:_META_BYTES])
        said = _known(found[1].decode("ascii")) if found else None
        if said is not None and said.startswith("utf-16"):
            said = "utf-8"  # or this could not have been found
    if said is not None:
        return data.decode(said, "replace"), said
    if _is_utf8(data, is_cut):
        return data.decode("utf-8", "replace"), "utf-8"
    return data.decode(_DEFAULT, "replace"), _DEFAULT


def _known(name: str | None) -> str | None:
    """The codec of that name, if it is a character set of pages."""
    if not name or not name.isascii():
        return None
    try:
        found = codecs.lookup(name.strip().strip("\"'")).name
    except (LookupError, ValueError):
        return None
    return _MEANT.get(found, found) if _KNOWN.fullmatch(found) else None


def _is_utf8(data: bytes, is_cut: bool) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=not is_cut)
    except UnicodeDecodeError:
        return False
    return True
