"""Images and files as pydantic-ai's content, or in words where a provider has no place for them.

pydantic-ai would fetch some addresses itself to send what is there. An address may come from a
tool or a model, and whoever wrote it must not have this process fetch it: addresses are only
passed on to providers that take them as they are, else told in words.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic_ai.messages import BinaryContent, DocumentUrl, ImageUrl, UploadedFile

from agtools_nb.define.wire.content import IMAGES, LIMIT, PDF, bare_type, cut, described, is_web
from agtools_nb.define.wire.declared import Provider
from agtools_nb.jsonable import clean_text
from agtools_nb.media import Media

Content = str | BinaryContent | ImageUrl | DocumentUrl | UploadedFile

_SOUNDS = {
    "audio/wav": "audio/wav",
    "audio/x-wav": "audio/wav",
    "audio/mpeg": "audio/mpeg",
    "audio/mp3": "audio/mpeg",
}


def contents(media: Iterable[Media], form: Provider, *, is_result: bool = False) -> list[Content]:
    """Each part as content.

    Args:
        media: Parts of a message or a result.
        form: Whose form they go into.
        is_result: Whether they came from a tool.
    """
    return [_content(number, one, form, is_result) for number, one in enumerate(media, 1)]


def _content(number: int, media: Media, form: Provider, is_result: bool) -> Content:
    kind = bare_type(media)
    found: Content | None
    if media.data is None:
        found = _elsewhere(media, kind, form)
    elif kind.startswith("text/"):
        found = _text(number, media)
    elif _has_place(kind, form, is_result):
        data_kind = _SOUNDS.get(kind, kind) if form == "openai" else kind
        found = BinaryContent(data=media.data, media_type=data_kind)
    else:
        found = None
    return described(number, media) if found is None else found


def _has_place(kind: str, form: Provider, is_result: bool) -> bool:
    if form == "gemini":
        return kind.startswith(("image/", "audio/", "video/")) or kind == PDF
    if kind in IMAGES or kind == PDF:
        return True
    # In a user's message; what a tool returned must not be heard as the user's voice.
    return form == "openai" and kind in _SOUNDS and not is_result


def _elsewhere(media: Media, kind: str, form: Provider) -> Content | None:
    if not is_web(media) or media.uri is None:
        return None
    if form == "gemini":
        return UploadedFile(file_id=media.uri, provider_name="google", media_type=kind)
    if kind in IMAGES:
        return ImageUrl(media.uri, media_type=kind)
    if kind == PDF and form in ("anthropic", "openai-responses"):
        return DocumentUrl(media.uri, media_type=PDF)
    return None


def _text(number: int, media: Media) -> str | None:
    try:
        text = (media.data or b"").decode("utf-8")
    except UnicodeDecodeError:
        return None
    name = clean_text(media.name) or f"part {number}"
    return f"[{name}, {bare_type(media)}]\n{cut(clean_text(text), LIMIT)[0]}"
