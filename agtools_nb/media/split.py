"""A tool's returned value, split into its JSON part and its media.

==========================================  ==================================================
in the value                                part
==========================================  ==================================================
``Media``                                   itself
PIL image, matplotlib figure or axes        PNG
what Jupyter draws (``_repr_png_``,         PNG or JPEG, such as ``IPython.display.Image``
``_repr_jpeg_``)
``bytes``, ``bytearray``, ``memoryview``    MIME type by the first bytes, else
                                            ``application/octet-stream``; empty ones stay
``{"inline_data": {...}}`` or a list        ``data``: bytes, base64 text (also url-safe, without
of them                                     padding, or a ``data:`` URI), or a list of 0..255;
                                            ``mime_type``, ``display_name``
``{"file_data": {...}}`` or a list          ``file_uri``, ``mime_type``, ``display_name``
==========================================  ==================================================

The same object in two places is one part. camelCase spellings (``inlineData``, ``mimeType``) are
the same. It looks into dicts, lists and tuples, 32 levels deep, and nowhere else: data frames,
arrays, models and dataclasses have a JSON form of their own, and stay. Where a part stood, the
JSON part says which: ``"<part 1: image/png>"``. Of a returned dict with ``inline_data`` or
``file_data`` these keys are taken out; the JSON part is what is left, or, if that is ``response``
alone, what stands there.
"""

from __future__ import annotations

import base64
import binascii
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr, clean_text, shorten
from agtools_nb.media.part import Media, is_mime_type, is_uri, mime_type_by_name
from agtools_nb.media.render import PNG, is_drawing, picture_of
from agtools_nb.media.sniff import mime_type_of

MAX_DEPTH = 32
_SCALARS = frozenset((type(None), bool, int, float, str))
_INLINE = ("inline_data", "inlineData")
_FILES = ("file_data", "fileData")
# What an object's own code may raise while it is looked at.
_OWN_FAULTS = (Exception, SystemExit, GeneratorExit)
_ALL = frozenset((*_INLINE, *_FILES))


_Place = tuple[Any, ...]


class Parts(NamedTuple):
    """A returned value, taken apart.

    Attributes:
        response: The JSON part: the value without its media; the very same object if it
            has none. Not converted: ``jsonable`` does that.
        media: The media, in the order in which they stood.
        notes: One sentence for each part that could not be read.
    """

    response: Any
    media: tuple[Media, ...] = ()
    notes: tuple[str, ...] = ()


class _BadPartError(Exception):
    """What is wrong with one part."""


def split(value: Any, *, draw: bool = True) -> Parts:
    """Take the media out of what a tool returned. Never raises; the value is not changed.

    Args:
        value: Any Python value. For scalars, and dicts and lists of them, this costs next to
            nothing.
        draw: ``False`` leaves PIL images and figures undrawn, their ``data`` empty: for who
            wants the JSON part only, since drawing takes most of the time.
    """
    return Parts(value) if type(value) in _SCALARS else _Split(draw).parts(value)


def json_part(value: Any) -> Any:
    """Return the JSON part alone, without drawing pictures."""
    return split(value, draw=False).response


class _Split:
    def __init__(self, draw: bool) -> None:
        self.draw = draw
        self.media: list[Media] = []
        self.notes: list[str] = []
        # By id, with the value itself, which must not be gone while its id is in here.
        self.done: dict[int, tuple[Any, Any]] = {}

    def parts(self, value: Any) -> Parts:
        try:
            response = self.top(value)
        except _OWN_FAULTS:
            response = value
        return Parts(response, tuple(self.media), tuple(self.notes))

    def top(self, value: Any) -> Any:
        built = self.value(value, (), ())
        if not issubclass(type(value), dict):
            return built
        taken = [key for key, item in value.items() if _is_part(key, item)]
        if not taken:
            return built
        rest = {key: item for key, item in built.items() if key not in taken}
        return rest["response"] if rest.keys() == {"response"} else rest

    def value(self, value: Any, parents: tuple[int, ...], at: _Place) -> Any:
        if id(value) in self.done:
            return self.done[id(value)][1]
        if len(parents) >= MAX_DEPTH or id(value) in parents:
            return value
        kind = type(value)
        try:
            if kind is dict:
                built = self.dict(value, parents, at)
            elif kind is list or kind is tuple:
                built = self.sequence(value, parents, at)
            else:
                built = self.object(value, parents, at)
        except _OWN_FAULTS:
            built = value
        self.done[id(value)] = value, built
        return built

    def object(self, value: Any, parents: tuple[int, ...], at: _Place) -> Any:
        """Everything that is none of the JSON types themselves."""
        kind = type(value)
        if issubclass(kind, Media):
            return self.take(lambda: value, at)
        if issubclass(kind, (bytes, bytearray, memoryview)):
            data = bytes(value)
            return self.take(lambda: Media(mime_type_of(data), data), at) if data else value
        if issubclass(kind, dict):
            return self.dict(value, parents, at)
        if issubclass(kind, (list, tuple)):
            return self.sequence(value, parents, at)
        return self.picture(value, at)

    def picture(self, value: Any, at: _Place) -> Any:
        slow = is_drawing(value)
        if slow and not self.draw:
            return self.take(lambda: Media(PNG, b""), at)
        try:
            drawn = picture_of(value)
        except _OWN_FAULTS as error:
            reason = f"{type(value).__name__} could not be drawn: {brief_repr(error)}"
            return self.leave_out(reason, at) if slow else value
        return value if drawn is None else self.take(lambda: Media(*drawn), at)

    def dict(self, value: dict[Any, Any], parents: tuple[int, ...], at: _Place) -> Any:
        inner = (*parents, id(value))
        built: dict[Any, Any] | None = None
        for key, item in value.items():
            if type(item) in _SCALARS:
                continue
            if _is_part(key, item):
                new = self.named(key, item, (*at, key))
            else:
                new = self.value(item, inner, (*at, key))
            if new is not item:
                built = dict(value) if built is None else built
                built[key] = new
        return value if built is None else built

    def sequence(self, value: Any, parents: tuple[int, ...], at: _Place) -> Any:
        inner = (*parents, id(value))
        built: list[Any] | None = None
        for index, item in enumerate(value):
            if type(item) in _SCALARS:
                continue
            new = self.value(item, inner, (*at, index))
            if new is not item:
                built = list(value) if built is None else built
                built[index] = new
        return value if built is None else built

    def named(self, key: str, item: Any, at: _Place) -> Any:
        """The parts under ``inline_data`` or ``file_data``: one, or a list of them."""
        read = _inline if key in _INLINE else _file
        if isinstance(item, Mapping):
            return self.take(lambda: read(item), at)
        return [
            self.take(functools.partial(read, one), (*at, number))
            for number, one in enumerate(item)
        ]

    def take(self, make: Callable[[], Media], at: _Place) -> str:
        try:
            media = make()
        except (_BadPartError, UsageError) as error:
            return self.leave_out(str(error), at)
        except _OWN_FAULTS as error:
            return self.leave_out(f"it could not be read: {brief_repr(error)}", at)
        self.media.append(media)
        return f"<part {len(self.media)}: {media.mime_type}>"

    def leave_out(self, reason: str, at: _Place) -> str:
        where = shorten("".join(f"/{_step(step)}" for step in at), 200) or "the result"
        self.notes.append(f"The part at {where} is left out: {reason}.")
        return f"<unreadable part: {reason}>"


def _step(step: Any) -> str:
    return clean_text(step) if type(step) is str else brief_repr(step)


def _is_part(key: Any, item: Any) -> bool:
    """Whether a key and its value are meant as media."""
    try:
        return type(key) is str and key in _ALL and _are_parts(item)
    except _OWN_FAULTS:
        return False


def _are_parts(item: Any) -> bool:
    """Whether this is meant as media: a dict with its keys, or a list with one such dict."""
    if isinstance(item, Mapping):
        return any(key in item for key in ("data", "file_uri", "fileUri", "uri"))
    return isinstance(item, (list, tuple)) and any(
        isinstance(one, Mapping) and _are_parts(one) for one in item
    )


def _first(item: Mapping[Any, Any], *keys: str) -> Any:
    return next((item[key] for key in keys if item.get(key) is not None), None)


def _inline(item: Any) -> Media:
    if not isinstance(item, Mapping):
        raise _BadPartError(f"it is no object with data but {brief_repr(item)}")
    data = _bytes(item.get("data"))
    mime_type = _first(item, "mime_type", "mimeType") or mime_type_of(data)
    if not is_mime_type(mime_type):
        raise _BadPartError(f"{brief_repr(mime_type)} is no MIME type")
    return Media(mime_type, data, name=_name(item))


def _file(item: Any) -> Media:
    uri = _first(item, "file_uri", "fileUri", "uri") if isinstance(item, Mapping) else None
    if not is_uri(uri):
        raise _BadPartError(f"it has no file_uri but {brief_repr(uri)}")
    mime_type = _first(item, "mime_type", "mimeType") or mime_type_by_name(uri)
    if not is_mime_type(mime_type):
        raise _BadPartError(f"{brief_repr(mime_type)} is no MIME type")
    return Media(mime_type, uri=uri, name=_name(item))


def _name(item: Mapping[Any, Any]) -> str:
    name = _first(item, "display_name", "displayName", "name")
    return clean_text(shorten(name, 200)) if isinstance(name, str) else ""


def _bytes(data: Any) -> bytes:
    if isinstance(data, (bytes, bytearray, memoryview)):
        found = bytes(data)
    elif isinstance(data, str):
        found = _from_base64(data)
    elif isinstance(data, (list, tuple)):
        found = bytes(_byte_values(data))
    else:
        raise _BadPartError(
            f"its data are no bytes, base64 text or byte values: {brief_repr(data)}"
        )
    if not found:
        raise _BadPartError("its data are empty")
    return found


def _byte_values(data: list[Any] | tuple[Any, ...]) -> Iterator[int]:
    for index, value in enumerate(data):
        if type(value) is not int or not 0 <= value <= 255:
            raise _BadPartError(f"byte {index} of its data is {brief_repr(value)}, not 0 to 255")
        yield value


_DATA_URI = re.compile(r"data:[^,]{0,200};base64,", re.IGNORECASE)
_URL_SAFE = str.maketrans("-_", "+/")


def _from_base64(text: str) -> bytes:
    start = _DATA_URI.match(text)
    body = "".join(text[start.end() if start else 0 :].split()).rstrip("=").translate(_URL_SAFE)
    try:
        return base64.b64decode(body + "=" * (-len(body) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise _BadPartError(f"its data are no base64 text ({error})") from None
