"""Media: made, found in what tools return, and taken out of it."""

from __future__ import annotations

import base64
import io
import json
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb.errors import UsageError
from agtools_nb.jsonable import json_text, jsonable
from agtools_nb.media import Media, json_part, size_text, split
from agtools_nb.media.sniff import UNKNOWN, mime_type_of
from tests.core.schemas import JSON


def png(colour: str = "red", mode: str = "RGB") -> bytes:
    from PIL import Image

    target = io.BytesIO()
    Image.new("RGB", (2, 2), colour).convert(mode).save(target, "PNG")
    return target.getvalue()


def wav() -> bytes:
    return b"RIFF" + struct.pack("<I", 36) + b"WAVEfmt " + bytes(24)


PNG = png()


@pytest.mark.parametrize(
    ("data", "mime_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0rest", "image/jpeg"),
        (b"GIF89a..", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (wav(), "audio/wav"),
        (b"ID3\x04rest", "audio/mpeg"),
        (b"\xff\xfb\x90\x64rest", "audio/mpeg"),
        (b"OggSrest", "audio/ogg"),
        (b"%PDF-1.7", "application/pdf"),
        (b"\x00\x00\x00\x18ftypM4A ", "audio/mp4"),
        (b"\x00\x00\x00\x18ftypisom", "video/mp4"),
        (b"BM no bitmap at all", UNKNOWN),
        (b"\xff\xff\xff\xff", UNKNOWN),
        (b"RIFF\x00\x00\x00\x00????", UNKNOWN),
        (b"plain text", UNKNOWN),
        (b"", UNKNOWN),
        (b"\xff", UNKNOWN),
    ],
)
def test_bytes_are_known_by_how_they_begin(data: bytes, mime_type: str) -> None:
    assert mime_type_of(data) == mime_type


@pytest.mark.parametrize("kind", ["BMP", "TIFF", "JPEG", "GIF", "WEBP", "PNG"])
def test_what_pillow_writes_is_known(kind: str) -> None:
    from PIL import Image

    target = io.BytesIO()
    Image.new("RGB", (3, 3)).save(target, kind)
    assert mime_type_of(target.getvalue()) == f"image/{kind.lower()}"


@given(st.binary(max_size=40))
def test_law_sniffing_never_raises(data: bytes) -> None:
    assert "/" in mime_type_of(data)


def test_constructors() -> None:
    assert Media.image(PNG) == Media("image/png", PNG)
    assert Media.image(bytearray(PNG)).data == PNG
    assert Media.image(b"??", "image/x-own").mime_type == "image/x-own"
    assert Media.audio(wav()).mime_type == "audio/wav"
    assert Media.file("gs://bucket/a.pdf") == Media("application/pdf", uri="gs://bucket/a.pdf")
    assert Media.file("https://x.org/a.png?v=2").mime_type == "image/png"
    assert Media.file("https://x.org/a").mime_type == UNKNOWN
    assert repr(Media.image(PNG, name="dot")) == f"<Media image/png, {len(PNG)} bytes, 'dot'>"
    assert len(repr(Media("image/png", bytes(10_000_000)))) < 60


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Media.image(b"no image"), r"these 8 bytes are of no known image format"),
        (lambda: Media.image(wav()), r"no known image format \(audio/wav\)"),
        (lambda: Media.image("a.png"), r"read_bytes"),
        (lambda: Media.audio(PNG), r"no known audio format"),
        (lambda: Media.audio("a.wav"), r"takes the bytes of a file"),
        (lambda: Media.file("has space"), r"is no uri"),
        (lambda: Media.file(""), r"is no uri"),
        (lambda: Media("png", PNG), r"is no MIME type"),
        (lambda: Media('image/png"><script>', PNG), r"is no MIME type"),
        (lambda: Media("image/png"), r"exactly one of the two"),
        (lambda: Media("image/png", PNG, "https://x"), r"exactly one of the two"),
        (lambda: Media("image/png", "text"), r"are bytes, not"),
    ],
)
def test_what_cannot_be_media(make: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1_000, "1 KB"), (12_345, "12 KB"),
     (1_250_000, "1.2 MB"), (999_499, "999 KB"), (999_900, "1 MB"), (5 * 10**12, "5000 GB")],
)  # fmt: skip
def test_sizes(size: int, text: str) -> None:
    assert size_text(size) == text


# -- taking parts out --------------------------------------------------------------------------


def encodings(data: bytes) -> list[Any]:
    text = base64.b64encode(data).decode()
    safe = base64.urlsafe_b64encode(data).decode()
    return [
        data, bytearray(data), memoryview(data), text, text.rstrip("="), safe, safe.rstrip("="),
        "\n".join(text[n : n + 5] for n in range(0, len(text), 5)), f"data:image/png;base64,{text}",
        list(data), tuple(data),
    ]  # fmt: skip


@given(st.binary(min_size=1, max_size=50))
def test_law_data_are_read_however_they_are_written(data: bytes) -> None:
    for written in encodings(data):
        parts = split({"n": 1, "inline_data": {"mime_type": "image/png", "data": written}})
        assert parts == ({"n": 1}, (Media("image/png", data),), ())


def test_the_keys_of_a_returned_dict() -> None:
    one = {"mime_type": "image/png", "data": PNG, "display_name": "dot"}
    other = {"mimeType": "application/pdf", "fileUri": "gs://b/a.pdf"}
    dot = Media("image/png", PNG, name="dot")
    pdf = Media("application/pdf", uri="gs://b/a.pdf")
    assert split({"response": {"n": 1}, "inline_data": one}) == ({"n": 1}, (dot,), ())
    assert split({"response": 3, "inline_data": [one, one], "file_data": other}) == (
        3,
        (dot, dot, pdf),
        (),
    )
    assert split({"response": 3, "more": 1, "inlineData": one}).response == {
        "response": 3,
        "more": 1,
    }
    assert split({"a": 1, "fileData": [other]}) == ({"a": 1}, (pdf,), ())
    assert split({"inline_data": {"data": PNG}}) == ({}, (Media("image/png", PNG),), ())
    assert split({"file_data": {"uri": "https://x.org/a.png"}}).media[0].mime_type == "image/png"


def test_ordinary_keys_of_these_names_stay() -> None:
    for value in (
        {"inline_data": "hello"},
        {"inline_data": 5},
        {"inline_data": {"rows": 3}},
        {"file_data": [1, 2]},
        {"response": {"a": 1}},
    ):
        assert split(value) == (value, (), ())
        assert split(value).response is value


def test_deeper_ones_leave_their_place() -> None:
    value = {
        "pages": [{"n": 1, "inline_data": {"data": PNG}}, (2, PNG), Media.file("gs://b/c.wav")]
    }
    parts = split(value)
    assert parts.response == {
        "pages": [
            {"n": 1, "inline_data": "<part 1: image/png>"},
            [2, "<part 2: image/png>"],
            "<part 3: audio/x-wav>",
        ]
    }
    assert [media.mime_type for media in parts.media] == ["image/png", "image/png", "audio/x-wav"]
    assert value["pages"][0]["inline_data"] == {"data": PNG}, "what the tool returned is unchanged"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"data": "not base64!", "mime_type": "image/png"}, "no base64 text"),
        ({"data": "QUFB*", "mime_type": "image/png"}, "no base64 text"),
        ({"data": "A", "mime_type": "image/png"}, "no base64 text"),
        ({"data": [1, 256], "mime_type": "image/png"}, "byte 1 of its data is 256"),
        ({"data": [1, True], "mime_type": "image/png"}, "byte 1 of its data is True"),
        ({"data": 5, "mime_type": "image/png"}, "no bytes, base64 text or byte values"),
        ({"data": b"", "mime_type": "image/png"}, "empty"),
        ({"data": PNG, "mime_type": "not a type"}, "is no MIME type"),
        ({"data": PNG, "mime_type": 3}, "is no MIME type"),
        ("text among parts", "no object with data"),
    ],
)  # fmt: skip
def test_one_bad_part_is_named_and_the_good_ones_stay(bad: Any, reason: str) -> None:
    good = {"data": PNG, "mime_type": "image/png"}
    parts = split({"ok": True, "inline_data": [good, bad, good]})
    assert parts.response == {"ok": True}
    assert len(parts.media) == 2
    (note,) = parts.notes
    assert note.startswith("The part at /inline_data/1 is left out: ")
    assert reason in note


def test_a_bad_address() -> None:
    parts = split(
        {"file_data": [{"file_uri": "a b", "mime_type": "image/png"}, {"file_uri": "gs://x"}]}
    )
    assert len(parts.media) == 1
    assert "/file_data/0" in parts.notes[0]


def test_bytes_anywhere() -> None:
    parts = split({"a": PNG, "b": [b"??"], "c": b""})
    assert parts.response == {
        "a": "<part 1: image/png>",
        "b": ["<part 2: application/octet-stream>"],
        "c": b"",
    }
    assert split(PNG).response == "<part 1: image/png>"


def test_pictures() -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from IPython.display import Image as Shown
    from PIL import Image

    figure, axes = plt.subplots()
    axes.plot([1, 2])
    shown = Shown(data=PNG, format="png")
    jpeg = io.BytesIO()
    Image.new("RGB", (2, 2)).save(jpeg, "JPEG")
    value = [
        Image.new("RGB", (2, 2)),
        figure,
        axes,
        shown,
        Shown(data=jpeg.getvalue(), format="jpeg"),
    ]
    parts = split(value)
    plt.close(figure)
    assert [media.mime_type for media in parts.media] == ["image/png"] * 4 + ["image/jpeg"]
    for media in parts.media:
        Image.open(io.BytesIO(media.data)).load()
    assert parts.response[1] == "<part 2: image/png>"
    assert Media.image(figure).data == parts.media[1].data
    assert json_part(value) == parts.response


@pytest.mark.parametrize(
    "mode",
    [
        "1",
        "L",
        "LA",
        "P",
        "PA",
        "RGB",
        "RGBA",
        "RGBa",
        "CMYK",
        "YCbCr",
        "LAB",
        "HSV",
        "I",
        "F",
        "I;16",
    ],
)
def test_pil_images_of_every_mode(mode: str) -> None:
    from PIL import Image

    (media,) = split(Image.new(mode, (3, 2))).media
    assert Image.open(io.BytesIO(media.data)).size == (3, 2)


def test_data_frames_stay_rows() -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1, 2]})
    parts = split({"table": frame})
    assert parts.response["table"] is frame
    assert jsonable(parts.response) == {"table": [{"a": 1}, {"a": 2}]}


class Torn:
    def _repr_png_(self) -> bytes:
        raise RuntimeError("no")


class Liar(dict):
    def items(self) -> Any:
        raise SystemExit


class Odd(dict):
    def get(self, *args: Any) -> Any:
        raise RuntimeError("no")


class Hostile:
    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    @property
    def __class__(self) -> type:  # type: ignore[override]
        raise SystemExit

    def __str__(self) -> str:
        raise RuntimeError("no")

    __repr__ = __str__


@pytest.mark.parametrize(
    "make",
    [
        Torn,
        lambda: Liar(a=1),
        Hostile,
        lambda: {Hostile(): [1]},
        lambda: {Hostile(): [PNG]},
        lambda: Media,
        lambda: Torn,
    ],
)
def test_an_objects_own_code_breaks_nothing(make: Any) -> None:
    parts = split([make(), PNG])
    assert parts.media[-1] == Media("image/png", PNG)
    json_text(parts.response)


def test_a_part_whose_own_code_raises_is_a_bad_part() -> None:
    parts = split({"inline_data": [Odd(data=PNG), {"data": PNG}]})
    assert len(parts.media) == len(parts.notes) == 1


def test_a_picture_that_cannot_be_drawn_is_named() -> None:
    from PIL import Image

    image = Image.new("RGB", (0, 0))
    parts = split({"a": image, "b": PNG})
    assert len(parts.media) == 1
    assert "The part at /a is left out: Image could not be drawn" in parts.notes[0]


def test_cycles_depth_and_sharing() -> None:
    loop: Any = {"a": PNG}
    loop["self"] = loop
    assert split(loop).media == (Media("image/png", PNG),)
    deep: Any = PNG
    for _ in range(10_000):
        deep = [deep]
    assert split(deep).response is deep
    shared: Any = [PNG]
    for _ in range(25):
        shared = [shared, shared]
    assert len(split(shared).media) == 1, "the same object in two places is one part"
    bomb: Any = [1]
    for _ in range(28):
        bomb = [bomb, bomb]
    assert split(bomb).response is bomb


@given(JSON)
def test_law_json_is_its_own_json_part(value: Any) -> None:
    assert split(value).response is value


LEAVES = st.one_of(
    st.integers(), st.text(max_size=5), st.binary(min_size=1, max_size=5).map(lambda b: b"\xfe" + b),
    st.just(PNG), st.builds(Media, st.just("audio/wav"), st.binary(min_size=30, max_size=40)),
)  # fmt: skip
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.builds(
            lambda data, rest: {
                "inline_data": {"data": base64.b64encode(data).decode()},
                "r": rest,
            },
            st.binary(min_size=30, max_size=40),
            inner,
        )
    ),
    max_leaves=10,
)


@given(VALUES)
def test_law_data_never_stand_in_the_json_text_too(value: Any) -> None:
    parts = split(value)
    text = json_text(parts.response)
    json.loads(text)
    for media in parts.media:
        if len(media.data) > 20:
            assert base64.b64encode(media.data).decode() not in text
    assert jsonable(json_part(value)) == jsonable(parts.response)


def test_the_json_form_of_media_is_what_they_are() -> None:
    assert jsonable([Media.image(PNG, name="dot")]) == [
        {"media": f"image/png, {len(PNG)} bytes", "name": "dot"}
    ]


def test_a_figure_of_pyplot_is_not_left_for_jupyter_to_show_again() -> None:
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots()
    axes.plot([1, 2])
    [part] = split({"chart": figure}).media
    assert part.mime_type == "image/png"
    assert plt.get_fignums() == []
