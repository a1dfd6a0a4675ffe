"""An open folder, and what can be done with one name in it.

A path that is looked up as a whole can lead elsewhere between a check and its use: someone
puts a link in. So nothing here takes a path. A folder is held by a descriptor, each operation
is about one name in it, and no operation follows a link: ``openat`` and its kin with
``O_NOFOLLOW``. Where the system has none of these (Windows), :class:`PathFolder` checks the
path right before each use, which leaves a moment to an attacker who runs beside it.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from typing_extensions import override

HAS_DESCRIPTORS = (
    {os.open, os.stat, os.readlink, os.rename, os.unlink, os.mkdir, os.link} <= os.supports_dir_fd
    and os.scandir in os.supports_fd
    and hasattr(os, "O_NOFOLLOW")
    and hasattr(os, "O_DIRECTORY")
)

_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_CLOSED_ON_EXEC = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)
_READ = os.O_RDONLY | _NO_WAIT | _BINARY | _NO_LINK | _CLOSED_ON_EXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY | _NO_LINK | _CLOSED_ON_EXEC
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINK | _CLOSED_ON_EXEC


class Folder:
    """A folder held by a descriptor. Closed by :meth:`close` or at the end of ``with``.

    Args:
        fd: An open descriptor of a folder, which is taken over.

    Every method may raise ``OSError``.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @classmethod
    def at(cls, path: Path) -> Self:
        """Open the folder at a path that a person gave."""
        return cls(os.open(path, _FOLDER & ~_NO_LINK))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def own_stat(self) -> os.stat_result:
        """What the folder itself is."""
        return os.fstat(self._fd)

    @property
    def fd(self) -> int | None:
        """Its descriptor, which stays its own; ``None`` where it has none."""
        return self._fd

    def twin(self) -> Self:
        """The same folder once more, to be closed by itself.

        Opened anew: descriptors made by ``dup`` share the place up to which names were read, and
        of two who list the folder at the same time each would get a part.
        """
        return type(self)(os.open(".", _FOLDER, dir_fd=self._fd))

    def lstat(self, name: str) -> os.stat_result:
        """What a name is; a link is a link."""
        return os.stat(name, dir_fd=self._fd, follow_symlinks=False)

    def read_link(self, name: str) -> str:
        """Where a link leads, as it is written."""
        return os.readlink(name, dir_fd=self._fd)

    def folder(self, name: str) -> Self:
        """Open a folder in this one. No link is followed."""
        return type(self)(os.open(name, _FOLDER, dir_fd=self._fd))

    def names(self) -> Iterator[str]:
        """Every name in it, in no order."""
        with os.scandir(self._fd) as entries:
            for entry in entries:
                yield entry.name

    def make_folder(self, name: str) -> None:
        """Make a folder in this one."""
        os.mkdir(name, dir_fd=self._fd)

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder."""
        os.rmdir(name, dir_fd=self._fd)

    @contextmanager
    def opened(self, name: str) -> Iterator[tuple[int, os.stat_result]]:
        """Open a regular file to read it: its descriptor, and what it is.

        What is something else is not opened, for that alone can block or do things; if it
        takes the file's place at that very moment, opening does not wait for anyone.

        Raises:
            NotRegularError: It is a folder, device, pipe or socket.
        """
        _check_regular(self.lstat(name))
        fd = self._open(name, _READ)
        try:
            status = os.fstat(fd)
            _check_regular(status)
            yield fd, status
        finally:
            os.close(fd)

    def write_beside(self, name: str, data: bytes, like: os.stat_result | None) -> str:
        """Write a new file under a name of our own, on the disk when this returns.

        Args:
            name: What it is to become.
            data: Its content.
            like: Whose owner and permissions it gets, as far as this process may give them;
                ``None`` for those of any new file.

        Returns:
            Its name.
        """
        temporary = f".{name[:40]}.{secrets.token_hex(8)}.tmp"
        fd = self._open(temporary, _NEW, 0o666 if like is None else 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                if like is not None and hasattr(os, "fchmod"):
                    _make_like(fd, like)
                os.fsync(fd)
        except BaseException:
            self.remove(temporary)
            raise
        return temporary

    def replace(self, temporary: str, name: str) -> None:
        """Give a file its name, in the place of what had it."""
        os.replace(temporary, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        self._sync()

    def give_name(self, temporary: str, name: str) -> None:
        """Give a file its name.

        Raises:
            FileExistsError: Something has that name.
        """
        try:
            self._link(temporary, name)
        except FileExistsError:
            raise
        except OSError:  # no hard links on this file system: hold the name, then take it
            os.close(self._open(name, _NEW))
            try:
                self.replace(temporary, name)
            except BaseException:
                self.remove(name)
                raise
            return
        self.remove(temporary)
        self._sync()

    def remove(self, name: str) -> None:
        """Remove a file, if it can be."""
        with suppress(OSError):
            os.unlink(name, dir_fd=self._fd)

    def _open(self, name: str, flags: int, mode: int = 0o666) -> int:
        return os.open(name, flags, mode, dir_fd=self._fd)

    def _link(self, temporary: str, name: str) -> None:
        os.link(temporary, name, src_dir_fd=self._fd, dst_dir_fd=self._fd, follow_symlinks=False)

    def _sync(self) -> None:
        """Have the names on the disk too; some file systems cannot be asked."""
        with suppress(OSError):
            os.fsync(self._fd)


def _make_like(fd: int, like: os.stat_result) -> None:
    """Give a new file the owner and permissions of another, as far as that may be.

    Not the bits that would lend new content the rights of the owner. What a group may that
    cannot be kept, is not for another group.
    """
    mode = like.st_mode & 0o777
    now = os.fstat(fd)
    if now.st_uid != like.st_uid:
        with suppress(OSError):
            os.fchown(fd, like.st_uid, -1)
    if now.st_gid != like.st_gid:
        try:
            os.fchown(fd, -1, like.st_gid)
        except OSError:
            mode &= ~0o070 | (mode & 0o007) << 3
    os.fchmod(fd, mode)


class NotRegularError(OSError):
    """What is there is no regular file; ``args[0]`` says what it is."""


def kind_of(mode: int) -> str:
    """What an ``st_mode`` says a thing is, in a word."""
    kinds = {
        stat.S_IFREG: "file",
        stat.S_IFDIR: "folder",
        stat.S_IFLNK: "link",
        stat.S_IFIFO: "pipe",
        stat.S_IFSOCK: "socket",
        stat.S_IFCHR: "device",
        stat.S_IFBLK: "device",
    }
    return kinds.get(stat.S_IFMT(mode), "thing of another kind")


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise NotRegularError(kind_of(status.st_mode))


class PathFolder(Folder):
    """A folder held by its path, where there are no descriptors of folders.

    Args:
        path: Where it is, links resolved.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def at(cls, path: Path) -> Self:
        """Open the folder at a path that a person gave."""
        return cls(path.resolve(strict=True))

    @override
    def close(self) -> None:
        """Nothing is held."""

    @override
    def own_stat(self) -> os.stat_result:
        return self._path.lstat()

    @property
    @override
    def fd(self) -> int | None:
        return None

    @override
    def twin(self) -> Self:
        return type(self)(self._path)

    @override
    def lstat(self, name: str) -> os.stat_result:
        return self._checked(name).lstat()

    @override
    def read_link(self, name: str) -> str:
        return str(self._checked(name).readlink())

    @override
    def folder(self, name: str) -> Self:
        path = self._checked(name)
        if not stat.S_ISDIR(path.lstat().st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        return type(self)(path)

    @override
    def names(self) -> Iterator[str]:
        yield from (path.name for path in self._checked().iterdir())

    @override
    def make_folder(self, name: str) -> None:
        self._checked(name).mkdir()

    @override
    def remove_folder(self, name: str) -> None:
        self._checked(name).rmdir()

    @override
    def replace(self, temporary: str, name: str) -> None:
        self._checked(temporary).replace(self._checked(name))

    @override
    def remove(self, name: str) -> None:
        with suppress(OSError):
            self._checked(name).unlink()

    @override
    def _open(self, name: str, flags: int, mode: int = 0o666) -> int:
        return os.open(self._checked(name), flags, mode)

    @override
    def _link(self, temporary: str, name: str) -> None:
        self._checked(name).hardlink_to(self._checked(temporary))

    @override
    def _sync(self) -> None:
        """Folders cannot be synced here."""

    def _checked(self, name: str = "") -> Path:
        """The path of a name, if the folder is still where it was.

        Raises:
            OSError: A link or junction has taken its place.
        """
        if self._path.resolve(strict=True) != self._path:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        return self._path / name


def open_root(path: Path) -> Folder:
    """Open a workspace's own folder, by the best means there are.

    Raises:
        OSError: It cannot be opened, or is no folder.
    """
    return Folder.at(path) if HAS_DESCRIPTORS else PathFolder.at(path)
