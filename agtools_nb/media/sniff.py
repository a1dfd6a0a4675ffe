"""What bytes are, by how they begin."""

from __future__ import annotations

UNKNOWN = "application/octet-stream"

# From the formats' own specifications; the WHATWG's "MIME Sniffing" lists most of them.
_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"%PDF-", "application/pdf"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
)
# Containers name their content at byte 8.
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}
_AIFF = {b"AIFF": "audio/aiff", b"AIFC": "audio/aiff"}
_ISO = {
    b"avif": "image/avif",
    b"heic": "image/heic",
    b"mif1": "image/heif",
    b"M4A ": "audio/mp4",
    b"qt  ": "video/quicktime",
}


def mime_type_of(data: bytes) -> str:
    """Return the MIME type that the first bytes tell, else ``application/octet-stream``."""
    head, brand = data[:4], data[8:12]
    if head == b"RIFF":
        return _RIFF.get(brand, UNKNOWN)
    if head == b"FORM":
        return _AIFF.get(brand, UNKNOWN)
    if data[4:8] == b"ftyp":
        return _ISO.get(brand, "video/mp4")
    if _is_mpeg_audio(data):
        return "audio/mpeg"
    for beginning, mime_type in _BEGINNINGS:
        # Two letters alone are too common: a bitmap says its size as well.
        if data.startswith(beginning) and (beginning != b"BM" or _is_bitmap(data)):
            return mime_type
    return UNKNOWN


def _is_mpeg_audio(data: bytes) -> bool:
    """A frame header of layer III: 11 bits set, version and layer not the reserved ones."""
    return (
        len(data) > 2
        and data[0] == 0xFF
        and data[1] & 0xE6 == 0xE2
        and data[1] & 0x18 != 0x08
        and data[2] & 0xF0 not in (0x00, 0xF0)
    )


def _is_bitmap(data: bytes) -> bool:
    return len(data) > 14 and int.from_bytes(data[2:6], "little") == len(data)
