"""Tests that are coroutines: each runs on an event loop of its own, and not for ever."""

from __future__ import annotations

import asyncio
import inspect

import pytest


def run_coroutine(pyfuncitem: pytest.Function, seconds: float) -> bool | None:
    """Run a test if it is a coroutine: what ``pytest_pyfunc_call`` of a conftest returns.

    Raises:
        TimeoutError: It took longer than ``seconds``.
    """
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames

    async def run() -> None:
        async with asyncio.timeout(seconds):
            await pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})

    asyncio.run(run())
    return True
