"""What a model may write as an address, before anything is looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agtools_nb.errors import ToolError
from agtools_nb.jsonable import clean_text, shorten

if TYPE_CHECKING:
    import httpx2

LONGEST_URL = 8_192
"""Characters of a URL."""

_SHOWN = 200
_EXAMPLE = "Give a whole address, such as 'https://example.org/page'."


def read_url(text: str) -> httpx2.URL:
    """The URL that a text is.

    Raises:
        ToolError: It is none, or one that is not read.
    """
    import httpx2

    _check_text(text)
    try:
        url = httpx2.URL(text)
    except (httpx2.InvalidURL, ValueError) as error:
        raise bad_url(text, f"it cannot be read ({error})") from error
    check_url(url)
    return url


def check_url(url: httpx2.URL) -> None:
    """Refuse a URL that is not read, also when another one led to it.

    Raises:
        ToolError: Its scheme is not ``http`` or ``https``, it has no host, or it brings a
            user's name or password.
    """
    text = str(url)
    _check_text(text)
    if url.scheme not in ("http", "https"):
        raise bad_url(text, "only http and https are read")
    if not url.raw_host.strip(b"."):
        raise bad_url(text, "it names no host")
    if url.userinfo or "@" in url.netloc.decode("ascii", "replace"):
        raise bad_url(text, "it brings a user name or password, which are not sent")
    if url.port is not None and not 0 < url.port < 65_536:
        raise bad_url(text, "its port is not from 1 to 65,535")


def shown(url: object) -> str:
    """A URL as messages show it: cleaned, and not too long."""
    return clean_text(shorten(str(url), _SHOWN))


def bad_url(text: object, why: str) -> ToolError:
    """The URL cannot be read, for a reason that it shows itself."""
    return ToolError(
        "bad_url", f"{shown(text)!r} was not read: {why}.", category="web", hint=_EXAMPLE
    )


def _check_text(text: str) -> None:
    if len(text) > LONGEST_URL:
        raise bad_url(text, f"it has more than {LONGEST_URL:,} characters")
    # Programs that read URLs do not agree on what these mean.
    if "\\" in text or any(one.isspace() or not one.isprintable() for one in text):
        raise bad_url(text, "it holds a blank, a backslash or a control character")
