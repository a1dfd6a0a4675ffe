"""Characters that nobody sees, made visible: where a person decides, text must show all it is."""

from __future__ import annotations

import re

# Controls but tab and line end, soft hyphen, zero-width and bidirectional marks, line separators,
# fillers that are drawn as nothing, and tag characters. widgets/lib/unseen.js has the same ones.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000e0000-\U000e0fff]"
)


def show_unseen(text: str) -> str:
    """Return ``text`` with each character that is not seen written out: ``⟨U+202E⟩``."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", text)
