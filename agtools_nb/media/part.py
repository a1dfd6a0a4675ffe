"""``Media``: one image, sound or file."""

from __future__ import annotations

import mimetypes
import re
from dataclasses import dataclass
from typing import Any

from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr
from agtools_nb.media.render import picture_of
from agtools_nb.media.sniff import UNKNOWN, mime_type_of

# RFC 6838: type and subtype of restricted names, and parameters.
_MIME_TYPE = re.compile(
    r"[A-Za-z0-9][\w!#$&^.+-]{0,126}/[A-Za-z0-9][\w!#$&^.+-]{0,126}(\s*;\s*[\w.-]+=[\w.\"-]+)*",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, repr=False)
class Media:
    """One part of a multimodal result: bytes, or the address of a file.

    Return one from a tool, alone or anywhere in a list, tuple or dict. :meth:`image`,
    :meth:`audio` and :meth:`file` make one without spelling out its type.

    Attributes:
        mime_type: Such as ``"image/png"``.
        data: The bytes; ``None`` if it is a file elsewhere.
        uri: Where the file is; ``None`` if the bytes are here.
        name: File name or title; ``""`` by default.

    Raises:
        UsageError: ``mime_type`` is none, or not exactly one of ``data`` and ``uri`` is given.
    """

    mime_type: str
    data: bytes | None = None
    uri: str | None = None
    name: str = ""

    def __post_init__(self) -> None:
        fault = _fault(self.mime_type, self.data, self.uri)
        if fault:
            raise UsageError(fault)
        if self.data is not None and type(self.data) is not bytes:
            object.__setattr__(self, "data", bytes(self.data))

    @classmethod
    def image(cls, source: Any, mime_type: str | None = None, name: str = "") -> Media:
        """Make an image.

        Args:
            source: The bytes of an image file; a PIL image, or a matplotlib figure or axes,
                which become PNG; or what Jupyter draws.
            mime_type: Default: what the first bytes tell.
            name: File name or title.

        Raises:
            UsageError: It is none of these, or the bytes are not those of a known image
                format and ``mime_type`` is not given.
        """
        if isinstance(source, (bytes, bytearray, memoryview)):
            return cls._sniffed(bytes(source), "image", mime_type, name)
        try:
            drawn = picture_of(source)
        except Exception as error:
            raise UsageError(f"{brief_repr(source)} could not be drawn: {error}") from error
        if drawn is None:
            raise UsageError(
                f"Media.image takes bytes, a PIL image or a matplotlib figure, not "
                f"{brief_repr(source)}; for a file write Media.image(Path(...).read_bytes())"
            )
        return cls(*drawn, name=name)

    @classmethod
    def audio(cls, data: bytes, mime_type: str | None = None, name: str = "") -> Media:
        """Make a sound of the bytes of an audio file (WAV, MP3, Ogg, FLAC, AIFF, M4A).

        Raises:
            UsageError: They are not bytes, or not of a known audio format and ``mime_type``
                is not given.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise UsageError(f"Media.audio takes the bytes of a file, not {brief_repr(data)}")
        return cls._sniffed(bytes(data), "audio", mime_type, name)

    @classmethod
    def file(cls, uri: str, mime_type: str | None = None, name: str = "") -> Media:
        """Point at a file elsewhere, such as ``gs://bucket/report.pdf``; nothing is fetched.

        Args:
            uri: Its address.
            mime_type: Default: by the address's ending, else ``application/octet-stream``.
            name: File name or title.

        Raises:
            UsageError: ``uri`` is not an address.
        """
        return cls(mime_type or mime_type_by_name(uri), uri=uri, name=name)

    @classmethod
    def _sniffed(cls, data: bytes, family: str, mime_type: str | None, name: str) -> Media:
        found = mime_type or mime_type_of(data)
        if mime_type is None and not found.startswith(f"{family}/"):
            raise UsageError(
                f"these {len(data):,} bytes are of no known {family} format ({found}); "
                f"say which: mime_type='{family}/...'"
            )
        return cls(found, data, name=name)

    @property
    def summary(self) -> str:
        """Type and size in a few words: ``"image/png, 12 KB"``, ``"video/mp4 at gs://b/v"``."""
        if self.data is None:
            return f"{self.mime_type} at {self.uri}"
        return f"{self.mime_type}, {size_text(len(self.data))}"

    def __repr__(self) -> str:
        return f"<Media {self.summary}{f', {self.name!r}' if self.name else ''}>"

    def _agtools_json_(self) -> dict[str, Any]:
        """Its JSON form: what it is, never the data."""
        shown: dict[str, Any] = {"media": self.summary}
        return {**shown, "name": self.name} if self.name else shown


def _fault(mime_type: Any, data: Any, uri: Any) -> str | None:
    if not is_mime_type(mime_type):
        return f"{brief_repr(mime_type)} is no MIME type; write one such as 'image/png'"
    if (data is None) == (uri is None):
        return "a Media has either data or a uri; give exactly one of the two"
    if data is not None and not isinstance(data, (bytes, bytearray, memoryview)):
        return f"a Media's data are bytes, not {brief_repr(data)}"
    if uri is not None and not is_uri(uri):
        return f"{brief_repr(uri)} is no uri; write one such as 'https://...'"
    return None


def is_uri(uri: Any) -> bool:
    """Whether this is an address: printable text of at most 8,192 characters, no spaces."""
    return (
        isinstance(uri, str)
        and 0 < len(uri) <= 8_192
        and uri.isprintable()
        and not any(letter.isspace() for letter in uri)
    )


def is_mime_type(text: Any) -> bool:
    """Whether this is written as RFC 6838 has it."""
    return isinstance(text, str) and _MIME_TYPE.fullmatch(text) is not None


def mime_type_by_name(uri: Any) -> str:
    """The MIME type by the ending of a file name or address."""
    if not isinstance(uri, str):
        return UNKNOWN
    return mimetypes.guess_type(uri.split("?")[0].split("#")[0])[0] or UNKNOWN


def size_text(size: int) -> str:
    """A size in bytes, for people: ``"1 byte"``, ``"12 KB"``, ``"3.4 MB"`` (of 1,000)."""
    if size < 1_000:
        return f"{size} byte{'' if size == 1 else 's'}"
    for unit in ("KB", "MB", "GB"):
        size_in_unit = size / 1_000 ** ("KB", "MB", "GB").index(unit) / 1_000
        if size_in_unit < 999.5 or unit == "GB":
            return (
                f"{size_in_unit:.2g} {unit}"
                if size_in_unit < 9.95
                else f"{size_in_unit:.0f} {unit}"
            )
    raise AssertionError
