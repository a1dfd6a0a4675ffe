"""The objects that are pictures, drawn: PIL images, matplotlib figures, what Jupyter can draw.

None of these libraries is imported here: an object of theirs exists only once they are.
"""

from __future__ import annotations

import base64
import io
import sys
from typing import Any

# What PNG holds as it is; other modes are turned into RGB, or RGBA if they have transparency.
_PNG_MODES = ("1", "L", "LA", "I;16", "P", "RGB", "RGBA")


PNG = "image/png"


def is_drawing(value: Any) -> bool:
    """Whether this is a PIL image or of matplotlib, which is always a PNG but slow to make."""
    kind = type(value)
    return any(_inherits(kind, *names) for names in _KINDS)


def _figure(figure: Any) -> bytes:
    target = io.BytesIO()
    figure.savefig(target, format="png")
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        # Or Jupyter would show it once more, under whichever cell comes next.
        pyplot.close(figure)
    return target.getvalue()


def picture_of(value: Any) -> tuple[str, bytes] | None:
    """Return MIME type and bytes of a picture; ``None`` if it is none.

    Raises:
        Exception: Whatever the object's own code raises while it draws.
    """
    kind = type(value)
    if _inherits(kind, "PIL.Image", "Image"):
        return PNG, _pil(value)
    if _inherits(kind, "matplotlib.axes", "Axes"):
        return picture_of(value.figure)
    if _inherits(kind, "matplotlib.figure", "FigureBase"):
        return PNG, _figure(getattr(value, "figure", value))
    for method, mime_type in _DRAWN_BY.items():
        if not issubclass(kind, type) and callable(getattr(kind, method, None)):
            data = _bytes_of(getattr(value, method)())
            if data:
                return mime_type, data
    return None


_KINDS = (
    ("PIL.Image", "Image"),
    ("matplotlib.axes", "Axes"),
    ("matplotlib.figure", "FigureBase"),
)


def _inherits(kind: type, module: str, name: str) -> bool:
    """``isinstance`` against a class of a library that may not be loaded."""
    known = getattr(sys.modules.get(module), name, None)
    return isinstance(known, type) and known in kind.__mro__


def _pil(image: Any) -> bytes:
    if image.mode == "I":
        image = image.convert("I;16")  # PNG has no more than 16 bits
    elif image.mode not in _PNG_MODES:
        image = image.convert("RGBA" if image.mode in ("PA", "RGBa", "La") else "RGB")
    target = io.BytesIO()
    image.save(target, format="PNG")
    return target.getvalue()


# Jupyter's own protocol; IPython.display.Image answers to one of them, by its format.
_DRAWN_BY = {"_repr_png_": PNG, "_repr_jpeg_": "image/jpeg"}


def _bytes_of(drawn: Any) -> bytes | None:
    """Bytes or base64 text, alone or with metadata, or nothing."""
    if isinstance(drawn, tuple) and drawn:
        drawn = drawn[0]
    if isinstance(drawn, str):
        drawn = base64.b64decode(drawn)
    return bytes(drawn) if isinstance(drawn, (bytes, bytearray)) else None
