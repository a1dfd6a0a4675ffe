"""What a model wrote as a path, taken apart. Nothing here looks at the disk."""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import PurePath

from agtools_nb.builtin.workspace.faults import outside, quoted, unusable

MAX_PATH = 4_096
"""Bytes of a path, and of a name in it: what Linux takes."""
MAX_NAME = 255
MAX_DEPTH = 100
"""Names in a path."""

IS_WINDOWS = os.name == "nt"
_DRIVE = re.compile(r"[A-Za-z]:")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
# Windows gives these to a device, in any folder, in any case and with any ending.
_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*([.:].*)?")
_SLASHES = "/\\"


def parts_of(path: str, roots: tuple[str, ...]) -> list[str]:
    """The names in a path, from the workspace on; ``".."`` may be among them.

    A path that ends like a folder's (``a/``, ``a/.``) has ``"."`` as its last one: dropped, it
    would be another spelling of a file's path.

    Args:
        path: Relative to the workspace, or absolute and below one of ``roots``.
        roots: The workspace's own paths, absolute and with ``/``.

    Raises:
        ToolError: It is outside, or no path that is used here.
    """
    _check_text(path)
    if path.startswith("/"):
        return _below(path, roots)
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if parts and parts[0] == "~":
        raise unusable(path, "'~' stands for no folder here")
    if len(parts) > MAX_DEPTH:
        raise unusable(path, f"it has {len(parts)} names, and at most {MAX_DEPTH} are read")
    for part in parts:
        _check_part(path, part)
    return [*parts, "."] if parts and path.endswith(("/", "/.")) else parts


def _below(path: str, roots: tuple[str, ...]) -> list[str]:
    names = [part for part in path.split("/") if part not in ("", ".")]
    for root in roots:
        start = [part for part in root.split("/") if part]
        if names[: len(start)] == start:
            end = "/" if path.endswith(("/", "/.")) else ""
            return parts_of(
                "/".join(names[len(start) :]) + end if names[len(start) :] else ".", roots
            )
    raise outside(path)


def _check_text(path: str) -> None:
    if not path:
        raise unusable(path, "it is empty")
    if "\0" in path:
        raise unusable(path, "it holds a NUL character")
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise unusable(path, "it holds half of a character (a lone surrogate)") from None
    if size > MAX_PATH:
        raise unusable(path, f"it has {size:,} bytes, and at most {MAX_PATH:,} are read")
    if "\\" in path:
        raise unusable(path, "it holds a backslash", "Write '/' between the names.")
    if _DRIVE.match(path):
        raise unusable(path, "it names a drive")
    if _ADDRESS.match(path):
        raise unusable(path, "it is an address, not a path")


def _check_part(path: str, part: str) -> None:
    """Refuse names that something else on the way to the disk could take for another name."""
    size = len(part.encode())
    if size > MAX_NAME:
        raise unusable(path, f"a name in it has {size} bytes, and at most {MAX_NAME} are possible")
    if part != ".." and _is_disguise(part):
        raise unusable(path, f"{quoted(part)} looks like another path")
    if IS_WINDOWS:
        _check_windows(path, part)


def _is_disguise(part: str) -> bool:
    """Whether a name becomes ``.``, ``..`` or several names once it is normalised or trimmed."""
    if part.isascii():
        plain = part
    else:
        plain = unicodedata.normalize("NFKC", part)
        if any(slash in plain for slash in _SLASHES) or any(map(_is_slash, part)):
            return True
    visible = "".join(letter for letter in plain if unicodedata.category(letter) not in _UNSEEN)
    return visible.strip() in ("", ".", "..")


_UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Me")


def _is_slash(letter: str) -> bool:
    """Whether a letter is drawn like a slash, although none becomes one by normalising."""
    return letter in "\u2044\u2215\u29f8\u29f9\u2216\u29f5\ufe68\uff0f\uff3c"


def check_new(path: str, parts: list[str]) -> None:
    """Refuse names for new files and folders that make trouble elsewhere.

    A workspace is carried between systems: Windows has no such names, or they look like
    another one to whoever reads them.

    Raises:
        ToolError: One of the names will not do.
    """
    for part in parts:
        shown = quoted(part)
        if not part.isprintable():
            raise unusable(path, f"{shown} holds characters that cannot be seen", _PLAIN)
        if part != unicodedata.normalize("NFC", part):
            raise unusable(path, f"{shown} has letters in pieces (it is not in form NFC)", _PLAIN)
        if part.startswith(("~", " ")):
            raise unusable(path, f"{shown} begins with {part[0]!r}", _PLAIN)
        _check_windows(path, part)


def _check_windows(path: str, part: str) -> None:
    shown = quoted(part)
    if part not in (".", "..") and part.endswith((" ", ".")):
        raise unusable(path, f"{shown} ends with a space or dot, which Windows drops", _PLAIN)
    if _DEVICES.fullmatch(part):
        raise unusable(path, f"{shown} is a device on Windows", _PLAIN)
    wrong = next((letter for letter in part if letter in '<>:"|?*'), None)
    if wrong is not None:
        raise unusable(path, f"{shown} holds {wrong!r}, which Windows has not in names", _PLAIN)


_PLAIN = "Choose a plain name, such as 'notes.txt'."


def absolute_text(path: str | os.PathLike[str]) -> str:
    """An absolute path as text with ``/``, nothing resolved."""
    return PurePath(os.path.abspath(path)).as_posix()  # noqa: PTH100 -- resolve() follows links
