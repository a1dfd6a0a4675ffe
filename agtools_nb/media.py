"""Parts of a result that are no JSON: images, sound, files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Media:
    """One part of a multimodal result: bytes, or the address of a file.

    Attributes:
        mime_type: Such as ``"image/png"``.
        data: The bytes; ``None`` if it is a file elsewhere.
        uri: Where the file is; ``None`` if the bytes are here.
        name: File name or title; ``""`` by default.
    """

    mime_type: str
    data: bytes | None = None
    uri: str | None = None
    name: str = ""
