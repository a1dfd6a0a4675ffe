"""Tests of conversations are coroutines; each runs on an event loop of its own."""

from __future__ import annotations

import pytest
from coroutines import run_coroutine


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine, at most 30 seconds."""
    return run_coroutine(pyfuncitem, 30)
