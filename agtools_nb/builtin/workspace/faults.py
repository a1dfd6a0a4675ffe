"""What a model is told when a path cannot be used."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from agtools_nb.errors import ToolError
from agtools_nb.jsonable import clean_text, shorten

_SHOWN = 200
_RELATIVE = "Give a path relative to the workspace, such as 'src/main.py'; '.' is the workspace."


def fault_of(code: str, message: str, hint: str | None = None, *, retry: bool = False) -> ToolError:
    """A fault with a path or file, for the model."""
    return ToolError(code, message, category="workspace", hint=hint, retryable=retry)


def quoted(path: str) -> str:
    """A path as messages show it: escaped, and not too long."""
    return repr(clean_text(shorten(path, _SHOWN)))


def outside(path: str) -> ToolError:
    """The path leads out of the workspace. Says nothing about what is there."""
    return fault_of(
        "outside_workspace", f"{quoted(path)} is outside of the workspace.", hint=_RELATIVE
    )


def unusable(path: str, why: str, hint: str = _RELATIVE) -> ToolError:
    """The text is no path that is used here."""
    return fault_of("bad_path", f"{quoted(path)} is no path that can be used: {why}.", hint)


def is_a_folder(path: str) -> ToolError:
    """The path is that of a folder, where a file is needed."""
    return fault_of(
        "is_a_folder", f"{quoted(path)} is a folder.", "list_directory shows what is in it."
    )


def swapped(path: str) -> ToolError:
    """What is at the path was exchanged while it was looked at."""
    return fault_of(
        "changed_meanwhile",
        f"{quoted(path)} was changed by something else during the call; nothing was done.",
        "Look at it again, then repeat the call if it still makes sense.",
        retry=True,
    )


@contextmanager
def telling(path: str) -> Iterator[None]:
    """Make errors of the operating system errors for the model.

    Raises:
        ToolError: In the place of any ``OSError``.
    """
    try:
        yield
    except OSError as error:
        code, words, hint = _WORDS.get(error.errno or 0, ("failed", "cannot be used", None))
        reason = "" if error.errno in _WORDS else f" ({error.strerror or type(error).__name__})"
        raise fault_of(code, f"{quoted(path)} {words}{reason}.", hint) from error


_WORDS: dict[int, tuple[str, str, str | None]] = {
    errno.ENOENT: ("not_found", "is not there", "list_directory and find_file show what there is."),
    errno.ENOTDIR: ("not_a_folder", "leads through a file", "list_directory shows what there is."),
    errno.EACCES: ("no_permission", "may not be used by this process", None),
    errno.EPERM: ("no_permission", "may not be changed by this process", None),
    errno.EROFS: ("no_permission", "is on a file system that cannot be written to", None),
    errno.ENAMETOOLONG: ("bad_path", "is too long a path", _RELATIVE),
    errno.EISDIR: ("is_a_folder", "is a folder", "list_directory shows what is in it."),
    errno.EEXIST: ("exists", "is there already", None),
    errno.ENOSPC: ("disk_full", "could not be written: there is no room left", None),
    errno.EDQUOT: ("disk_full", "could not be written: there is no room left", None),
    # O_NOFOLLOW met a link where there was none a moment ago.
    errno.ELOOP: (
        "changed_meanwhile",
        "was changed by something else during the call; nothing was done",
        "Look at it again, then repeat the call if it still makes sense.",
    ),
}
