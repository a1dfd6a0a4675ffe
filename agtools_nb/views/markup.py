"""HTML and text for the static forms: what a saved notebook shows without a kernel.

GitHub, nbconvert and an untrusted JupyterLab drop style, class and script, so the meaning is
in the elements alone: tables, ``<details>``, ``<code>``, ``<strong>``. Every piece of text is
escaped unless it is :class:`Html`, which only this module's functions make.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterable, Sequence
from typing import Any

from agtools_nb.jsonable import shorten

Content = Any
"""What an element holds: :class:`Html`, text (which is escaped), or an iterable of these."""


class Html(str):
    """Text that is HTML already. Never wrap text from outside in it."""

    __slots__ = ()


def escape(text: str) -> Html:
    """Escape text, which may hold lone surrogates."""
    clean = text.encode("utf-8", "backslashreplace").decode()
    return Html(html.escape(clean).replace("\x00", "\ufffd"))


def join(content: Content) -> Html:
    """Put content together, escaping what is not :class:`Html`; ``None`` is nothing."""
    if content is None:
        return Html("")
    if isinstance(content, Html):
        return content
    if isinstance(content, str):
        return escape(content)
    return Html("".join(join(one) for one in content))


def tag(name: str, *content: Content, **attributes: str) -> Html:
    """Make an element: ``tag("td", "a < b", align="right")``."""
    attrs = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
    return Html(f"<{name}{attrs}>{join(content)}</{name}>")


def image(mime_type: str, data: bytes, alt: str) -> Html:
    """Make an image that holds its own data; ``mime_type`` must be a raster format's."""
    text = base64.b64encode(data).decode("ascii")
    uri = escape(f"data:{mime_type};base64,{text}")
    return Html(f'<img src="{uri}" alt="{escape(alt)}" style="max-width: 100%">')


def link(address: str) -> Html:
    """Make a link to an address from outside, shown in full.

    Raises:
        ValueError: It is not an ``https`` address; others could run a script.
    """
    if not address.startswith("https://"):
        raise ValueError(f"{address!r} is not an https address")
    return tag("a", address, href=address, rel="noopener noreferrer", target="_blank")


def code(text: str, limit: int = 2_000) -> Html:
    """Make inline code of at most ``limit`` characters."""
    return tag("code", shorten(text, limit))


def pre(text: str, limit: int = 4_000) -> Html:
    """Make a block of code of at most ``limit`` characters, saying if there were more."""
    if len(text) <= limit:
        return tag("pre", tag("code", text))
    return join(
        [
            tag("pre", tag("code", text[:limit])),
            small(f"first {limit:,} of {len(text):,} characters"),
        ]
    )


def small(*content: Content) -> Html:
    """Make a remark."""
    return tag("small", *content)


def details(summary: Content, *content: Content) -> Html:
    """Make a part that opens on a click."""
    return tag("details", tag("summary", summary), *content)


def table(head: Sequence[Content], rows: Iterable[Sequence[Content]]) -> Html:
    """Make a table with left-aligned cells. Columns that are empty throughout are left out.

    The alignment stands twice: JupyterLab's own style outweighs ``align``, GitHub drops ``style``.
    """
    left = {"align": "left", "style": "text-align: left"}
    body = [[join(cell) for cell in row] for row in rows]
    keep = [at for at in range(len(head)) if any(row[at] for row in body)]
    if not body:
        return Html("")
    return tag(
        "table",
        tag("thead", tag("tr", *(tag("th", head[at], **left) for at in keep))),
        tag(
            "tbody",
            *(tag("tr", *(tag("td", row[at], **left) for at in keep)) for row in body),
        ),
    )


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]], width: int = 48) -> str:
    """Lay out columns in plain text, each cell one line of at most ``width`` characters."""
    lines = [[_one_line(cell, width) for cell in row] for row in rows]
    keep = [at for at in range(len(head)) if any(line[at] for line in lines)]
    if not lines:
        return ""
    all_lines = [list(head), *lines]
    widths = {at: max(len(line[at]) for line in all_lines) for at in keep}
    return "\n".join(
        "  ".join(line[at].ljust(widths[at]) for at in keep).rstrip() for line in all_lines
    )


def duration(seconds: float) -> str:
    """A duration as the widgets write it: ``0.4 ms``, ``312 ms``, ``2.15 s``, ``3 min 20 s``."""
    if seconds < 0.0995:
        return f"{float(f'{seconds * 1000:.2g}'):g} ms"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.995:
        return f"{seconds:.2f} s"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def plural(count: int, one: str, many: str | None = None) -> str:
    """``1 call``, ``1,000 calls``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def pretty(text: str) -> str:
    """Indent JSON text, or return it as it is if it is none."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def _one_line(text: str, width: int) -> str:
    return shorten(" ".join(text.split()), width)
