"""What SQLite reports, in words that say what to do about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agtools_nb.errors import StoreError, StoreInUseError
from agtools_nb.jsonable import clean_text, shorten

if TYPE_CHECKING:
    import sqlite3

_BUSY, _LOCKED, _READONLY, _IOERR = 5, 6, 8, 10
_CORRUPT, _FULL, _CANTOPEN, _TOOBIG, _NOTADB = 11, 13, 14, 18, 26
_FULL_WRITE = 10 | 3 << 8  # SQLITE_IOERR_WRITE: a quota, or a limit of the process

# Python's own finding: all texts were written by it, so the file is at fault.
_NO_TEXT = "Could not decode to UTF-8"


def store_error(error: sqlite3.Error, path: Path | None) -> StoreError:
    """Return the error of this package that stands for one of SQLite's.

    Args:
        error: What SQLite raised.
        path: The store's file; ``None`` for one in memory.
    """
    code = getattr(error, "sqlite_errorcode", 0) or 0
    store = "the store in memory" if path is None else f"the store {path}"
    text = shorten(clean_text(str(error)), 300)
    primary = code & 0xFF
    if primary in (_BUSY, _LOCKED):
        return in_use(path)
    if primary in (_CORRUPT, _NOTADB) or text.startswith(_NO_TEXT):
        return damaged(path, text)
    if primary == _FULL or code == _FULL_WRITE:
        return StoreError(
            f"{store} has no room: this was not written ({text}), what was there stays. Free "
            "some disk space and try again.",
            "full",
        )
    if primary in (_READONLY, _IOERR, _CANTOPEN):
        return StoreError(
            f"{store} cannot be read or written: {text}. Check that its disk is there and that "
            "you may write to its folder. What was in it stays.",
            "unreachable",
        )
    if primary == _TOOBIG:
        return StoreError(
            f"this is more than {store} takes in one piece (1 GB); keep it in a file of its own "
            "and its name here"
        )
    return StoreError(f"{store} did not do what it was asked: {text}")


def in_use(path: Path | None, process: int | None = None) -> StoreInUseError:
    """The error for a store that another process has open."""
    who = "another process" if process is None else f"another process ({process})"
    return StoreInUseError(
        f"{who} has the store {path} open, and one process at a time may: shut down the kernel "
        "that uses it (or call close() on its store there), or open another file here"
    )


def damaged(path: Path | None, finding: str) -> StoreError:
    """The error for a file that is not sound."""
    return StoreError(
        f"the store {path} is damaged: {finding}. Nothing was changed in it. Put a backup in its "
        "place, or move it away and start a new one.",
        "damaged",
    )


def foreign(path: Path, finding: str) -> StoreError:
    """The error for a file that is no store of this package."""
    return StoreError(
        f"{path} is no store of agtools_nb: {finding}. It was not changed; open another file.",
        "foreign",
    )


def closed(path: Path | None) -> StoreError:
    """The error for a store that was closed."""
    again = "make a new one" if path is None else f"open it again with Store.open({path.name!r})"
    return StoreError(f"this store was closed; {again}", "closed")
