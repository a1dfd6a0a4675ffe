"""Who could answer here: a page with widgets, nobody, or nobody yet."""

from __future__ import annotations

import os
import sys
import threading
from types import FrameType
from typing import Any

from agtools_nb.notebook.cells import ipython


def nobody_here() -> str | None:
    """Say why no page can show a card to answer; ``None`` if one can.

    A front end in which a person works lets the kernel ask for input; what runs notebooks from
    top to bottom (nbclient, papermill, nbval) does not.
    """
    shell = ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return "this is a script, not a notebook"
    content = _request().get("content", {})
    if content.get("allow_stdin") is False and not in_voila():
        return "this notebook is run by a program (nbclient, papermill or the like)"
    return None


def in_voila() -> bool:
    """Whether the kernel belongs to a Voila page, which comes up only once its cells have run."""
    return os.environ.get("SERVER_SOFTWARE", "").startswith("voila")


def in_cell() -> bool:
    """Whether what runs now was started by a cell, not by a message of a widget."""
    return bool(_request().get("header", {}).get("msg_type") == "execute_request")


def is_reentered() -> bool:
    """Whether a cell blocks in ``run_until_complete``, which a patched loop allows.

    What is asked now need not be what the cell waits for, but most likely is.
    """
    if threading.current_thread() is not threading.main_thread():
        return False
    frame: FrameType | None = sys._getframe(1)
    is_inside = False
    while frame is not None:
        name, module = frame.f_code.co_name, str(frame.f_globals.get("__name__"))
        # The kernel's own loop may have been started by a patched function: then there is no
        # other around it.
        if is_inside and name == "_run_once":
            return True
        if name == "run_until_complete" and module.startswith("nest_asyncio"):
            is_inside = True
        frame = frame.f_back
    return False


def _request() -> dict[str, Any]:
    """The message that the kernel works for; empty if there is none."""
    shell = ipython()
    found = shell.get_parent() if hasattr(shell, "get_parent") else None
    return found if isinstance(found, dict) else {}
