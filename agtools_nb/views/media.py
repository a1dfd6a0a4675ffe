"""The media of a result on a page: pictures where it is safe, everything else in words.

Data come from tools, and addresses too. Only the four raster formats become an image, as a
``data:`` URI, which runs nothing and fetches nothing; an address is fetched by nobody, and is a
link only if it is ``https``.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from agtools_nb.jsonable import clean_text, shorten
from agtools_nb.media import Media
from agtools_nb.views.markup import Html, image, join, link, plural, small, tag

IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")

LARGEST_IMAGE = 2_000_000
"""Bytes of an image that is shown; larger ones are described."""

MOST_PARTS = 20
"""Parts of one result that are shown."""


class Room:
    """How many bytes of images may still be shown.

    Args:
        size: Bytes, all images together.
    """

    def __init__(self, size: int = 8_000_000) -> None:
        self.left = size
        self.refused = 0

    def takes(self, media: Media) -> bool:
        """Whether this part is to be shown as an image; takes the room it needs."""
        if media.data is None or media.mime_type.lower() not in IMAGES:
            return False
        size = len(media.data)
        if size > LARGEST_IMAGE:
            return False
        if size > self.left:
            self.refused += 1
            return False
        self.left -= size
        return True


def about(number: int, media: Media) -> str:
    """Say what a part is: ``"part 1: image/png, 12 KB, dot.png"``."""
    name = f", {shorten(media.name, 80)}" if media.name else ""
    return clean_text(f"part {number}: {shorten(media.summary, 500)}{name}")


def media_html(media: Sequence[Media], room: Room) -> Html:
    """Return the parts, each as an image or in words, one below the other."""
    return join([_part_html(number, one, room) for number, one in _shown(media)] + [_more(media)])


def _part_html(number: int, media: Media, room: Room) -> Html:
    words = about(number, media)
    if room.takes(media):
        assert media.data is not None
        shown = image(media.mime_type.lower(), media.data, words)
        return tag("div", tag("div", shown), tag("p", small(words)))
    if is_link(media):
        assert media.uri is not None
        return tag("p", small(f"part {number}: {media.mime_type} at "), link(media.uri))
    return tag("p", small(words))


def _more(media: Sequence[Media]) -> Html | None:
    left = len(media) - MOST_PARTS
    return tag("p", small(f"and {plural(left, 'more part')}")) if left > 0 else None


def media_text(media: Sequence[Media]) -> list[str]:
    """Return one line a part."""
    lines = [about(number, one) for number, one in _shown(media)]
    left = len(media) - MOST_PARTS
    return [*lines, f"and {plural(left, 'more part')}"] if left > 0 else lines


def media_data(media: Sequence[Media], room: Room) -> dict[str, Any]:
    """Return the parts as JSON data for a widget, and a note of what is not shown."""
    if not media:
        return {}
    parts = [_part_data(number, one, room) for number, one in _shown(media)]
    left = len(media) - MOST_PARTS
    notes = [f"{plural(left, 'more part')} not shown"] if left > 0 else []
    if room.refused:
        notes.append(f"{plural(room.refused, 'image')} not shown for want of room")
    return {"media": parts, "media_note": "; ".join(notes)}


def _part_data(number: int, media: Media, room: Room) -> dict[str, str]:
    part = {"about": about(number, media)}
    if room.takes(media):
        assert media.data is not None
        text = base64.b64encode(media.data).decode("ascii")
        part["src"] = f"data:{media.mime_type.lower()};base64,{text}"
    elif is_link(media):
        assert media.uri is not None
        part["href"] = media.uri
    return part


def is_link(media: Media) -> bool:
    """Whether its address may be a link."""
    return media.uri is not None and media.uri.startswith("https://") and len(media.uri) <= 2_000


def _shown(media: Sequence[Media]) -> list[tuple[int, Media]]:
    return list(enumerate(media[:MOST_PARTS], 1))
