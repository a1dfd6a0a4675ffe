"""What runs in the background is closed when the kernel ends: generators run their ``finally``."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Callable, Coroutine
from typing import Any

from agtools_nb.events import Background
from agtools_nb.notebook.kernel_loop import KernelLoop

# JupyterLab kills a kernel that has not ended after five seconds.
SECONDS = 3.0

EndSession = Callable[[], Coroutine[Any, Any, None]]
_open: weakref.WeakKeyDictionary[Background, tuple[KernelLoop, EndSession]] = (
    weakref.WeakKeyDictionary()
)


def close_at_exit(background: Background, loop: KernelLoop, end_session: EndSession) -> None:
    """Close ``background`` when the process ends, and end the session that it belongs to.

    Args:
        background: What is to be closed.
        loop: Where its work runs.
        end_session: Ends the session.
    """
    if not _open:
        # Registered late, so that it comes before the databases are closed.
        atexit.unregister(_close_all)
        atexit.register(_close_all)
    _open[background] = loop, end_session


def _close_all() -> None:
    for background, (loop, end_session) in list(_open.items()):
        loop.finish(_closed(background, end_session), SECONDS)


async def _closed(background: Background, end_session: EndSession) -> None:
    await background.close()
    await end_session()
