"""The file of a :class:`Database`: found, told apart from others, and kept to one process."""

from __future__ import annotations

import contextlib
import os
import stat
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agtools_nb.context.database_errors import damaged, foreign, in_use, store_error
from agtools_nb.errors import StoreError, UsageError
from agtools_nb.jsonable import brief_repr

if TYPE_CHECKING:
    import sqlite3

MAGIC = b"SQLite format 3\x00"
APPLICATION_ID = 0x6167_6E62  # "agnb"
VERSION = 1

# SQLite's locks start here; the byte of our own lock lies well behind them.
_SQLITE_LOCKS = 0x4000_0000
_OWN_LOCK = _SQLITE_LOCKS + 4096


def real_path(path: Any) -> Path:
    """Return where ``path`` leads, links followed.

    Raises:
        UsageError: It is no path.
        StoreError: There is no such folder.
    """
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else path
    if not isinstance(text, str) or not text or "\x00" in text:
        raise UsageError(f"a store's path is text such as 'work.db', not {brief_repr(path)}")
    real = Path(os.path.realpath(os.path.expanduser(text)))  # noqa: PTH111 -- never raises
    if not real.parent.is_dir():
        raise StoreError(
            f"the folder {real.parent} of the store {real.name} does not exist; make it first",
            "unreachable",
        )
    return real


class StoreFile:
    """An open file that this process alone may use as a store.

    SQLite keeps other processes out with locks that POSIX drops as soon as any part of the
    process closes any handle on the file: reading the file in a cell would let a second kernel
    in. So one byte of it is locked once more, where Linux can, in a way that stays until
    :meth:`close`.

    Args:
        path: Where it is or is to be.

    Attributes:
        path: The same.
        key: Tells it from every other file, whatever its name.

    Raises:
        StoreError: It cannot be opened, or is not a store that this version reads.
        StoreInUseError: Another process has it open.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with _unreachable(path):
            if path.exists() and not path.is_file():
                raise StoreError(f"{path} is not a file; a store is one", "unreachable")
            if not _has_content(path) and _has_content(self.beside("-wal")):
                raise damaged(path, f"it is gone, but not {path.name}-wal that goes with it")
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        try:
            with _unreachable(path):
                status = os.fstat(self._handle)
                self.key = (status.st_dev, status.st_ino)
                self._claim()
                self.is_new = self._check(status)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of it. SQLite must have closed it before. Twice is safe."""
        handle, self._handle = self._handle, -1
        if handle >= 0:  # the number may be another file's by now
            os.close(handle)

    def is_at(self, path: Path) -> bool:
        """Whether ``path`` leads to this very file."""
        try:
            status = path.stat()
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self.key

    def beside(self, ending: str) -> Path:
        """SQLite's companion of that ending, such as ``"-wal"``."""
        return self.path.with_name(self.path.name + ending)

    def _claim(self) -> None:
        try:
            import fcntl

            set_lock = fcntl.F_OFD_SETLK
        except (ImportError, AttributeError):  # not Linux: SQLite's own lock has to do
            return
        try:
            fcntl.fcntl(self._handle, set_lock, _lock_request(fcntl.F_WRLCK, _OWN_LOCK, 1))
        except (BlockingIOError, PermissionError):
            raise in_use(self.path, self._holder()) from None
        except OSError:  # a file system without such locks
            return

    def _holder(self) -> int | None:
        """The process that has SQLite's lock, if it can be told."""
        import fcntl

        with contextlib.suppress(OSError):
            request = _lock_request(fcntl.F_WRLCK, _SQLITE_LOCKS, 512)
            answer = fcntl.fcntl(self._handle, fcntl.F_GETLK, request)
            kind, *_, process = struct.unpack(_LOCK, answer[: struct.calcsize(_LOCK)])
            return process if kind != fcntl.F_UNLCK and process > 0 else None
        return None

    def _check(self, status: os.stat_result) -> bool:
        """Look at the header, and return whether the file is empty."""
        os.lseek(self._handle, 0, os.SEEK_SET)
        header = os.read(self._handle, 100)
        if not header:
            return True
        if len(header) < 100 and MAGIC.startswith(header[: len(MAGIC)]):
            raise damaged(self.path, f"only {status.st_size} bytes are left of it")
        if not header.startswith(MAGIC):
            raise foreign(self.path, "it is no SQLite database")
        version, application = (int.from_bytes(header[at : at + 4], "big") for at in (60, 68))
        if application != APPLICATION_ID:
            raise foreign(self.path, "it is another program's SQLite database")
        if version > VERSION:
            raise StoreError(
                f"the store {self.path} is of version {version}, and this agtools_nb reads up to "
                f"{VERSION}: update agtools_nb, or open another file. It was not changed.",
                "newer",
            )
        return False


def check_soundness(file: StoreFile) -> None:
    """Look through the whole file for damage, over a handle that cannot write.

    Args:
        file: A store that is not new.

    Raises:
        StoreError: It is damaged.
        StoreInUseError: Another process has it open.
    """
    import sqlite3

    if _has_content(file.beside("-journal")):
        return  # killed while it was made: only a handle that writes can clear that up
    made_here = [path for end in ("-wal", "-shm") if not (path := file.beside(end)).exists()]
    finding = "ok"
    try:
        # Not even a checkpoint on closing can write through this one.
        connection = sqlite3.connect(f"{file.path.as_uri()}?mode=ro", uri=True, timeout=0.2)
        try:
            finding = _first_finding(connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        found = store_error(error, file.path)
        if found.reason in ("damaged", "in use"):
            raise found from error
        # Whatever else keeps it from being read will show when it is opened to write.
    finally:
        for path in made_here:
            if not _has_content(path) or path.name.endswith("-shm"):
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)
    if finding != "ok":
        raise damaged(file.path, finding)


def _first_finding(connection: sqlite3.Connection) -> str:
    rows = connection.execute("PRAGMA quick_check(1)").fetchall()
    return " ".join(str(rows[0][0]).split()) if rows else "ok"


def _has_content(path: Path) -> bool:
    try:
        status = path.stat()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_size > 0


_LOCK = "hhqqi"  # struct flock of 64-bit Linux


def _lock_request(kind: int, start: int, length: int) -> bytes:
    return struct.pack(_LOCK, kind, os.SEEK_SET, start, length, 0)


@contextlib.contextmanager
def _unreachable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"the store {path} cannot be opened to read and write: {error.strerror or error}",
            "unreachable",
        ) from error
