"""Byte order marks, for files and pages alike."""

from __future__ import annotations

import codecs

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    # Before UTF-16: its mark is the beginning of this one.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""What a text may begin with, and how it is written then; the first that fits counts."""
