"""Makes Markdown of HTML, as a program of its own: HTML to standard input, JSON from output.

What a stranger's page does to the library, it does to this process alone: its memory and
time are bounded, and it is ended from outside. Nothing of the package is imported here.
"""

from __future__ import annotations

import html as markup
import json
import re
import sys

MOST_MEMORY = 1 << 30
"""Bytes of address space that it may take for itself."""


def main() -> None:
    """Read HTML, and print its title and its text.

    Arguments: the seconds that it may take, and the most characters to print.
    """
    seconds, most = int(sys.argv[1]), int(sys.argv[2])
    _limit(seconds)
    html = sys.stdin.buffer.read().decode("utf-8", "replace")
    text = readable_text(html)
    found = {"title": title_of(html), "text": text[:most], "length": len(text)}
    sys.stdout.buffer.write(json.dumps(found).encode())


def readable_text(html: str) -> str:
    """The text, without menus and forms if anything is left then."""
    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

    for remove in (True, False):
        cleaning = PreprocessingOptions(remove_navigation=remove, remove_forms=remove)
        options = ConversionOptions(
            preprocessing=cleaning, extract_metadata=False, inline_data_media="alt_text_only"
        )
        text = (convert(html, options).content or "").strip()
        if text:
            return text
    return ""


def title_of(html: str) -> str:
    """What stands in the first ``<title>``."""
    found = re.search(r"<title[^>]{0,200}>([^<]{0,1000})", html[:100_000], re.IGNORECASE)
    return " ".join(markup.unescape(found[1]).split()) if found else ""


def _limit(seconds: int) -> None:
    """Bound what this process may take; it writes no file at all.

    Where the system has no such bounds, its time is bounded from outside.
    """
    try:
        import resource
    except ImportError:
        return
    for what, most in (
        (resource.RLIMIT_AS, MOST_MEMORY),
        (resource.RLIMIT_CPU, seconds + 1),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # Some systems do not take every bound.
        try:
            resource.setrlimit(what, (most, hard))
        except (ValueError, OSError):
            continue


if __name__ == "__main__":
    main()
