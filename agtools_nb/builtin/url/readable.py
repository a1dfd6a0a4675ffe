"""The readable text of an HTML page, made in a process that cannot do harm."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakKeyDictionary

from agtools_nb.builtin.command.environment import without_secrets
from agtools_nb.errors import ToolError, UsageError

CONVERT_SECONDS = 20
"""How long the making of text may take."""

MOST_PROCESSES = 4
"""Pages that are made into text at once."""

_WORKER = Path(__file__).with_name("html_worker.py")
_JSON_BYTES_A_LETTER = 12  # an astral letter is escaped as two of \\uXXXX

_places: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Readable:
    """What a page says.

    Attributes:
        title: Its title, ``""`` if it has none.
        text: Its text as Markdown, cut at the bound that was given.
        length: Characters of the whole text.
    """

    title: str
    text: str
    length: int


async def readable(html: str, most_characters: int) -> Readable:
    """Make Markdown of HTML.

    Args:
        html: The page.
        most_characters: Characters of text that are wanted.

    Raises:
        ToolError: It took too long, or the page broke it.
        UsageError: ``html-to-markdown`` is not installed.
    """
    if importlib.util.find_spec("html_to_markdown") is None:
        raise UsageError("reading HTML pages needs html-to-markdown: pip install 'agtools_nb[web]'")
    async with _place():
        said = await _converted(html, most_characters)
    try:
        return Readable(**json.loads(said))
    except (ValueError, TypeError) as error:
        raise _broken() from error


def _place() -> asyncio.Semaphore:
    """One of a few places: each page costs a process, and a batch may read hundreds."""
    loop = asyncio.get_running_loop()
    return _places.setdefault(loop, asyncio.Semaphore(MOST_PROCESSES))


async def _converted(html: str, most_characters: int) -> bytes:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", str(_WORKER), str(CONVERT_SECONDS), str(most_characters),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=without_secrets(),
    )  # fmt: skip
    try:
        async with asyncio.timeout(CONVERT_SECONDS):
            return await _said(process, html, most_characters * _JSON_BYTES_A_LETTER + 65_536)
    except TimeoutError as error:
        raise _broken() from error
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _said(process: asyncio.subprocess.Process, html: str, most_bytes: int) -> bytes:
    """What the process prints, at most so much, once it was given the page."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError, ConnectionResetError):  # it ended before it had read all
        process.stdin.write(html.encode("utf-8", "replace"))
        await process.stdin.drain()
        process.stdin.close()
    parts = bytearray()
    while len(parts) < most_bytes and (part := await process.stdout.read(65_536)):
        parts += part
    return bytes(parts)


def _broken() -> ToolError:
    return ToolError(
        "not_readable",
        "The page came, but no text could be made of its HTML: it is too big or too odd.",
        category="web",
    )
