"""Who may write, where several could: within this process, and among programs that ask."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from agtools_nb.define.stateful import Turn

LOCK_SECONDS = 2.0
"""How long another program may hold a folder before its lock is passed over."""

_LOOK_SECONDS = 0.005

# By the numbers of the folder itself: one folder has many paths.
_turns: weakref.WeakValueDictionary[tuple[int, int], Turn] = weakref.WeakValueDictionary()
_turns_lock = threading.Lock()
_replacing = threading.Lock()


def turn_in(status: os.stat_result) -> Turn:
    """The turn of a folder, the same one for every workspace of this process that is there."""
    key = (status.st_dev, status.st_ino)
    with _turns_lock:
        turn = _turns.get(key)
        if turn is None:
            turn = _turns[key] = Turn()
        return turn


@contextmanager
def alone(fd: int | None) -> Iterator[None]:
    """Between looking at a file and replacing it: no other thread of this process does that.

    Other processes that use a workspace wait as well, where the system has locks on folders.

    Args:
        fd: An open descriptor of the folder; ``None`` where there are none.
    """
    with _replacing:
        is_locked = fd is not None and _lock(fd)
        try:
            yield
        finally:
            if is_locked and fd is not None:
                _unlock(fd)


if sys.platform == "win32":

    def _lock(fd: int) -> bool:
        return False

    def _unlock(fd: int) -> None: ...

else:
    import fcntl

    def _lock(fd: int) -> bool:
        """Lock a folder, if that can be done in some time.

        Nobody is to hold one for longer than a file takes to be replaced; whoever does so is
        no reason to write nothing.
        """
        until = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    return False
                time.sleep(_LOOK_SECONDS)
            except OSError:  # not on this file system
                return False
            else:
                return True

    def _unlock(fd: int) -> None:
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)
