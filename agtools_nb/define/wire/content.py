"""What a model is told of a result: its JSON part as value and as text, and its media."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Any

from agtools_nb.calls import ToolResult
from agtools_nb.jsonable import clean_text, json_text, jsonable
from agtools_nb.media import Media, split

LIMIT = 100_000
"""Characters of one result's text that a model is sent: about 25,000 tokens."""

IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""What OpenAI and Anthropic both take as images."""

PDF = "application/pdf"


@dataclass(frozen=True, slots=True)
class Content:
    """One result, ready for any provider's form.

    Attributes:
        name: Name that was called.
        id: Id of the call; ``""`` without one.
        is_error: Whether the call failed.
        value: The JSON part, whole; ``None`` on failure.
        text: The same as text (text as it is, all else as JSON), or the error; cut.
        is_cut: Whether ``text`` is not all of it.
        notes: What could not be read of its media.
        media: The media, in the order that their placeholders in ``text`` are numbered in.
    """

    name: str
    id: str
    is_error: bool
    value: Any
    text: str
    is_cut: bool
    notes: tuple[str, ...]
    media: tuple[Media, ...]

    @property
    def full_text(self) -> str:
        """The text and the notes."""
        return "\n".join([self.text, *(f"[{note}]" for note in self.notes)])


def content_of(result: ToolResult, limit: int | None) -> Content:
    """Return what a model is told of ``result``, cut at ``limit`` characters."""
    name, call_id = clean_text(str(result.name)), clean_text(str(result.id or ""))
    if not result.ok:
        text, is_cut = cut(clean_text(result.error or f"the call ended as {result.status}"), limit)
        return Content(name, call_id, True, None, text, is_cut, (), ())
    # What was drawn once when the tool returned is not drawn again.
    parts = split(result.result, draw=not result.media)
    if result.media and len(parts.media) != len(result.media):
        parts = split(result.result)
    value = jsonable(parts.response)
    if result.subscription:
        # The model needs to know that more will come, and by which id it can end that.
        value = {"subscription": True, "subscription_id": result.subscription, "value": value}
    whole = value if isinstance(value, str) else json_text(value)
    text, is_cut = cut(whole, limit)
    media = result.media or parts.media
    return Content(name, call_id, False, value, text, is_cut, parts.notes, media)


def cut(text: str, limit: int | None) -> tuple[str, bool]:
    """Return the first ``limit`` characters with a note that says so, and whether it was cut."""
    if limit is None or len(text) <= limit:
        return text, False
    note = f"[cut: these are the first {limit:,} of {len(text):,} characters]"
    return f"{text[:limit]}\n{note}", True


def described(number: int, media: Media) -> str:
    """A part in words, where a provider's form has no place for it."""
    name = f", {media.name}" if media.name else ""
    return f"[part {number}: {media.summary}{name}; it cannot be shown here]"


def base64_text(media: Media) -> str:
    """The data as base64 text."""
    return base64.b64encode(media.data or b"").decode("ascii")


def data_uri(media: Media) -> str:
    """The data as a ``data:`` URI."""
    return f"data:{bare_type(media)};base64,{base64_text(media)}"


def bare_type(media: Media) -> str:
    """The MIME type without parameters, in small letters."""
    return media.mime_type.partition(";")[0].strip().lower()


def is_web(media: Media) -> bool:
    """Whether it is at an address that a provider can fetch."""
    return media.uri is not None and media.uri.startswith("https://")


# The runner's own ids for calls that came without one (run/numbering.py).
_MADE_ID = re.compile(r"call_[0-9a-f]{12}[0-9]{1,9}")


def is_made(call_id: str) -> bool:
    """Whether the runner made this id up, so that the provider knows no call by it."""
    return not call_id or _MADE_ID.fullmatch(call_id) is not None
