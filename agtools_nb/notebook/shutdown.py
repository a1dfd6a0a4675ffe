"""What runs in the background is closed when the kernel ends: generators run their ``finally``."""

from __future__ import annotations

import atexit
import weakref

from agtools_nb.events import Background
from agtools_nb.notebook.kernel_loop import KernelLoop

# JupyterLab kills a kernel that has not ended after five seconds.
SECONDS = 3.0

_open: weakref.WeakKeyDictionary[Background, KernelLoop] = weakref.WeakKeyDictionary()


def close_at_exit(background: Background, loop: KernelLoop) -> None:
    """Close ``background`` when the process ends.

    Args:
        background: What is to be closed.
        loop: Where its work runs.
    """
    if not _open:
        # Registered late, so that it comes before the databases are closed.
        atexit.unregister(_close_all)
        atexit.register(_close_all)
    _open[background] = loop


def _close_all() -> None:
    for background, loop in list(_open.items()):
        loop.finish(background.close(), SECONDS)
