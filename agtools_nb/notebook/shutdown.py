"""What runs in the background is closed when the kernel ends: generators run their ``finally``."""

from __future__ import annotations

import asyncio
import atexit
import weakref
from collections.abc import Callable, Coroutine
from typing import Any

from agtools_nb.events import Background
from agtools_nb.notebook.kernel_loop import KernelLoop

# JupyterLab kills a kernel that has not ended after five seconds.
SECONDS = 3.0

EndSession = Callable[[], Coroutine[Any, Any, None]]
# Weak twice: what ends the session knows the tools, and those know the background.
_open: weakref.WeakKeyDictionary[Background, tuple[KernelLoop, weakref.WeakMethod[EndSession]]] = (
    weakref.WeakKeyDictionary()
)


def close_at_exit(background: Background, loop: KernelLoop, end_session: EndSession) -> None:
    """Close ``background`` when the process ends, and end the session that it belongs to.

    Args:
        background: What is to be closed.
        loop: Where its work runs.
        end_session: Ends the session; a method of something that is there as long as that is.
    """
    if not _open:
        # Registered late, so that it comes before the databases are closed.
        atexit.unregister(_close_all)
        atexit.register(_close_all)
    _open[background] = loop, weakref.WeakMethod(end_session)


def _close_all() -> None:
    for background, (loop, ending) in list(_open.items()):
        end_session = ending()
        loop.finish(_closed(background, end_session), SECONDS)
        if end_session is not None:
            _end_without_loop(end_session)


async def _closed(background: Background, end_session: EndSession | None) -> None:
    await background.close()
    if end_session is not None:
        await end_session()


def _end_without_loop(end_session: EndSession) -> None:
    """End a session whose loop is gone: a script's. One that has ended does no harm."""
    if asyncio._get_running_loop() is None:
        asyncio.run(asyncio.wait_for(end_session(), SECONDS))
