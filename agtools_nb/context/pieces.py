"""One piece of progress as a tool gives it: checked, and cut to size."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import NamedTuple

from agtools_nb.jsonable import brief_repr

CHUNK_BYTES = 8 * 1024
"""Most bytes of one chunk, as UTF-8; the rest of it is dropped."""

CALL_BYTES = 1024 * 1024
"""Most bytes that one call may offer, whether or not they found room."""

STREAM_CHARACTERS = 64

BAR = "progress"
"""The stream of a call's first bar; a bar inside it reports on ``"progress 2"``, and so on."""


class Piece(NamedTuple):
    """What is to be reported: text, or where a bar stands."""

    stream: str
    chunk: str
    done: float | None = None
    total: float | None = None
    is_printed: bool = False


def text_piece(stream: object, chunk: object) -> Piece:
    """A piece of text as a tool gave it; bytes are read as UTF-8.

    Raises:
        TypeError: The stream's name or the chunk is not text.
    """
    if isinstance(chunk, (bytes, bytearray)):
        # What is cut off anyway need not be read; four bytes are the longest character.
        chunk = bytes(chunk[: CHUNK_BYTES + 4]).decode("utf-8", "replace")
    if not isinstance(chunk, str):
        raise TypeError(
            f"emit_progress(stream, chunk): chunk must be text or bytes, not {brief_repr(chunk)} "
            f"({type(chunk).__name__}). Write str(...) or json.dumps(...) of it; for numbers there "
            "is report_progress(done, total)."
        )
    return Piece(_named(stream), chunk)


def bar_piece(stream: object, done: object, total: object, text: object) -> Piece:
    """Where a bar stands, as a tool gave it.

    Raises:
        TypeError: A number is none, or a text is none.
        ValueError: A number is not finite or below 0.
    """
    if not isinstance(text, str):
        raise TypeError(
            f"report_progress(done, total, text): text must be text, not {brief_repr(text)}"
        )
    total = None if total is None else _amount("total", total)
    return Piece(_named(stream), text, _amount("done", done), total)


def cut(text: str, most: int) -> tuple[str, int]:
    """The beginning of ``text`` that takes at most so many bytes of UTF-8, and how many it takes.

    It ends at the end of a character. A lone surrogate, which has no UTF-8, becomes ``?``.
    """
    head = text[: max(most, 0)]
    if head.isascii():
        return head, len(head)
    data = head.encode("utf-8", "replace")[:most]
    kept = data.decode("utf-8", "ignore")
    return kept, len(kept.encode())


def _named(stream: object) -> str:
    if not isinstance(stream, str) or not stream:
        raise TypeError(
            "the stream of progress must be a word such as 'stdout' or 'log', not "
            f"{brief_repr(stream)}"
        )
    return cut(stream[:STREAM_CHARACTERS], 4 * STREAM_CHARACTERS)[0]


def amount(value: object) -> float | None:
    """A finite number of at least 0 as Python's own; ``None`` for whatever is none."""
    try:
        return _amount("", value)
    except (TypeError, ValueError):
        return None


def _amount(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(
            f"report_progress: {name}={brief_repr(value)} must be a number, "
            f"not {type(value).__name__}"
        )
    if not math.isfinite(value) or value < 0:
        raise ValueError(
            f"report_progress: {name}={brief_repr(value)} must be a finite number of at least 0"
            + ("; leave total out where nobody knows it" if name == "total" else "")
        )
    return int(value) if isinstance(value, Integral) else float(value)
