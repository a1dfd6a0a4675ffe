"""What a conversation is given, checked before anything is changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from agtools_nb.agent.messages import UserMessage
from agtools_nb.context import Store
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr, clean_text
from agtools_nb.media import Media, split

_WANTED = (
    "give Media.image(...), Media.audio(...) or Media.file(...), a PIL image or a figure, or a "
    "list of these"
)


def said(text: Any, media: Any = ()) -> UserMessage:
    """What a person says, as a message.

    Args:
        text: The text.
        media: A part that goes with it, or an iterable of parts: media, or what becomes one
            as in a tool's result.

    Raises:
        UsageError: There is nothing to say, or a part is none.
    """
    parts = _parts(media)
    if not isinstance(text, str) or not (text.strip() or parts):
        raise UsageError(f"{brief_repr(text)} is nothing to say; give a text")
    return UserMessage(clean_text(text), parts)


def _parts(media: Any) -> tuple[Media, ...]:
    if media is None:
        return ()
    alone = _part(media)
    if alone is not None:
        return (alone,)
    if isinstance(media, (str, bytes, bytearray, Mapping)) or not isinstance(media, Iterable):
        raise UsageError(f"media={brief_repr(media)} is no image or file; {_WANTED}")
    found = []
    for one in media:
        part = _part(one)
        if part is None:
            raise UsageError(f"media: {brief_repr(one)} is no image or file; {_WANTED}")
        found.append(part)
    return tuple(found)


def _part(one: Any) -> Media | None:
    """One thing as a part; ``None`` if it is none by itself."""
    if isinstance(one, Media):
        return one
    # Bare bytes are of no type, and a list is looked through by whoever asks.
    if isinstance(one, (str, bytes, bytearray, memoryview, list, tuple, set, frozenset)):
        return None
    found = split(one)
    if len(found.media) != 1 or found.notes:
        return None
    # A dict with an image and other things in it would lose the others.
    is_whole = not isinstance(one, Mapping) or found.response in ({}, None)
    return found.media[0] if is_whole else None


def as_store(store: Any) -> Store | None:
    """A store, or the one at a path.

    Raises:
        UsageError: It is neither.
        StoreError: Its file cannot be used.
    """
    if store is None or isinstance(store, Store):
        return store
    if isinstance(store, (str, os.PathLike)):
        return Store.open(store)
    raise UsageError(
        f"store={brief_repr(store)} is no store; give a path such as 'work.db', or Store.open(...)"
    )


def instructions(text: Any) -> str:
    """System instructions; ``None`` is none.

    Raises:
        UsageError: They are no text.
    """
    if text is None:
        return ""
    if isinstance(text, str):
        return text
    raise UsageError(f"system_instructions={brief_repr(text)} must be a text")


def listed(name: str, given: Any, kind: str, example: str) -> tuple[Any, ...]:
    """What was given as a list.

    Raises:
        UsageError: It is one thing, or no list at all.
    """
    is_one = isinstance(given, (str, bytes, Mapping)) or callable(given)
    if is_one or not isinstance(given, Iterable):
        raise UsageError(f"{name}={brief_repr(given)} must be a list of {kind}: {example}")
    return tuple(given)
