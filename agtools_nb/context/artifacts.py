"""Artifacts: files that tools make, kept by name and version."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from typing import Any

from agtools_nb.context.database import Database
from agtools_nb.context.database_errors import damaged
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr, shorten
from agtools_nb.media import Media, size_text
from agtools_nb.media.part import is_mime_type, mime_type_by_name
from agtools_nb.media.sniff import UNKNOWN, mime_type_of

LARGEST_BYTES = 500_000_000
"""Most that one artifact may hold."""

LONGEST_NAME = 500

_TEXT = "text/plain; charset=utf-8"

_TABLE = """CREATE TABLE IF NOT EXISTS artifacts (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, version INTEGER NOT NULL,
    mime_type TEXT NOT NULL, size INTEGER NOT NULL, at REAL NOT NULL, uri TEXT,
    digest BLOB NOT NULL, data BLOB, UNIQUE (name, version))"""

_COLUMNS = "name, version, mime_type, size, at"


@dataclass(frozen=True, slots=True)
class Artifact:
    """One version of an artifact, without its data.

    Attributes:
        name: Its label.
        version: Counts the versions of its name from 1.
        mime_type: Such as ``"image/png"``.
        size: Bytes; 0 if it is a file elsewhere.
        at: Unix time in seconds at which it was saved, as the clock had it.
    """

    name: str
    version: int
    mime_type: str
    size: int
    at: float


class Artifacts:
    """Bytes under names, every version kept. Safe to use from any thread.

    A name is a label and never a path: ``"../plan"`` is as good as any.

    Args:
        database: Where they last.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        database.create(_TABLE)

    def save(self, name: str, data: bytes | str | Media, mime_type: str | None = None) -> Artifact:
        """Keep ``data`` as the next version of ``name``.

        Args:
            name: The label, at most 500 characters.
            data: The bytes, a text, or a ``Media``; one that points at a file elsewhere is
                kept as its address.
            mime_type: Default: that of the ``Media``; ``text/plain`` for text; what the
                first bytes, or else the ending of the name, tell.

        Returns:
            What was kept, with its version.

        Raises:
            UsageError: The name, the type or the data is none, or there are over 500 MB of it.
            StoreError: It could not be written; nothing was.
        """
        media = _media(_checked(name), data, mime_type)
        content = media.data
        size, digest = len(content or b""), _digest(media)
        with self._database.transaction():
            [(version,)] = self._database.execute(
                "SELECT coalesce(max(version), 0) + 1 FROM artifacts WHERE name = ?", (name,)
            )
            made = Artifact(name, version, media.mime_type, size, time.time())
            self._database.execute(
                f"INSERT INTO artifacts ({_COLUMNS}, uri, digest, data) "  # noqa: S608
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (name, version, made.mime_type, size, made.at, media.uri, digest, content),
            )
        return made

    def load(self, name: str, version: int | None = None) -> Media:
        """Return an artifact with its data.

        Args:
            name: Its label.
            version: Which; default: the newest.

        Raises:
            UsageError: There is no such artifact.
            StoreError: It can no longer be read as it was saved.
        """
        _check_version(version)
        rows = self._database.execute(
            "SELECT mime_type, data, uri, digest FROM artifacts "
            "WHERE name = ? AND (? IS NULL OR version = ?) ORDER BY version DESC LIMIT 1",
            (_checked(name), version, version),
        )
        if not rows:
            raise UsageError(self._unknown(name, version))
        mime_type, data, uri, digest = rows[0]
        media = Media(mime_type, data, uri, name)
        if _digest(media) != digest:
            raise damaged(self._database.path, f"the artifact {name!r} is not what was saved")
        return media

    def list(self) -> tuple[Artifact, ...]:
        """Return the newest version of each, in the order in which the names came."""
        return self._found(
            "WHERE version = (SELECT max(version) FROM artifacts a WHERE a.name = artifacts.name) "
            "ORDER BY (SELECT min(number) FROM artifacts a WHERE a.name = artifacts.name)"
        )

    def versions(self, name: str) -> tuple[Artifact, ...]:
        """Return every version of one, oldest first; empty if there is none of that name."""
        return self._found("WHERE name = ? ORDER BY version", _checked(name))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _is_text(name) and bool(self.versions(name))

    def __repr__(self) -> str:
        names = [one.name for one in self.list()]
        return f"<Artifacts: {shorten(', '.join(names), 200) or 'none'}>"

    def _found(self, which: str, *parameters: Any) -> tuple[Artifact, ...]:
        rows = self._database.execute(
            f"SELECT {_COLUMNS} FROM artifacts {which}",  # noqa: S608 -- no word of it from outside
            parameters,
        )
        return tuple(Artifact(*row) for row in rows)

    def _unknown(self, name: str, version: int | None) -> str:
        versions = self.versions(name)
        if versions:
            return (
                f"the artifact {name!r} has no version {brief_repr(version)}; it has 1 to "
                f"{versions[-1].version}"
            )
        known = ", ".join(repr(one.name) for one in self.list()) or "none"
        return f"there is no artifact {name!r}; there are: {shorten(known, 1_000)}"


def _checked(name: Any) -> str:
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not _is_text(name):
        raise UsageError(
            f"an artifact's name is text of 1 to {LONGEST_NAME} characters, not {brief_repr(name)}"
        )
    return name


def _check_version(version: Any) -> None:
    if version is not None and (type(version) is not int or not 0 < version < 2**63):
        raise UsageError(
            f"an artifact's version is a number from 1, or None for the newest, not "
            f"{brief_repr(version)}"
        )


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _media(name: str, data: Any, mime_type: str | None) -> Media:
    """What is to be saved.

    Raises:
        UsageError: It cannot be.
    """
    if mime_type is not None and not is_mime_type(mime_type):
        raise UsageError(f"{brief_repr(mime_type)} is no MIME type; write one such as 'image/png'")
    if isinstance(data, Media):
        media = data if mime_type is None else Media(mime_type, data.data, data.uri, data.name)
    elif isinstance(data, str):
        if not _is_text(data):
            raise UsageError(f"the text of {name!r} holds half a character; it has no UTF-8 form")
        media = Media(mime_type or _TEXT, data.encode())
    elif isinstance(data, (bytes, bytearray, memoryview)):
        media = Media(mime_type or _type_of(bytes(data), name), bytes(data))
    else:
        raise UsageError(
            f"an artifact is bytes, text or a Media, not {brief_repr(data)}; for a picture or "
            "figure write Media.image(...)"
        )
    if len(media.data or b"") > LARGEST_BYTES:
        raise UsageError(
            f"{name!r} has {size_text(len(media.data or b''))}, and an artifact may have "
            f"{size_text(LARGEST_BYTES)}; keep it in a file, and its path in the state"
        )
    return media


def _type_of(data: bytes, name: str) -> str:
    found = mime_type_of(data)
    return mime_type_by_name(name) if found == UNKNOWN else found


def _digest(media: Media) -> bytes:
    content = media.data if media.data is not None else (media.uri or "").encode()
    return hashlib.sha256(content).digest()
