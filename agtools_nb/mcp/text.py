"""Text that a server wrote, made fit to be shown: bounded, and without what only misleads."""

from __future__ import annotations

import re
from typing import Any

from agtools_nb.jsonable import clean_text

DESCRIPTION = 8_000
"""Most characters of a tool's description."""

ERROR = 10_000
"""Most characters of what a server says went wrong."""

# Controls (but tab and line feed); marks that turn the direction of what follows; the "tag"
# characters, which nobody sees and a model reads; and separators that pass for a line's end.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)


def cleaned(text: str, limit: int) -> str:
    """Return a server's text as plain text of at most ``limit`` characters.

    It stays text, and is never markup: ``<b>`` is three characters. What is longer is cut,
    and says so.
    """
    shown = clean_text(_UNSEEN.sub("", text[: limit + 1].replace("\r\n", "\n")))
    if len(text) <= limit:
        return shown
    return f"{shown[:limit]}\n[cut: these are the first {limit:,} of {len(text):,} characters]"


def one_line(text: str, limit: int = 200) -> str:
    """The same in one line, for messages."""
    return " ".join(cleaned(text[:limit], limit).split())


def quoted(name: str, limit: int = 80) -> str:
    """A name that a server gave, in quotes, with whatever is unusual in it escaped."""
    shown = name if len(name) <= limit else f"{name[:limit]}…"
    return repr(clean_text(shown)) if shown.isprintable() else ascii(shown)


def misfit(error: Any) -> str:
    """What pydantic says does not fit the protocol, in a line."""
    details = error.errors(include_url=False, include_context=False, include_input=False)
    shown = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in details[:3]]
    more = f"; and {len(details) - 3} more" if len(details) > 3 else ""
    return f"its answer does not fit the protocol: {one_line('; '.join(shown), 500)}{more}"
