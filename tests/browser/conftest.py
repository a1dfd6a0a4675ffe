"""An older ipykernel beside the newest: widget messages reach it on another thread."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from venvs import fresh_venv, pip_install, run

# 7.0 to 7.3 take widget messages on a subshell's thread, 7.4 on the main thread.
OLDER_IPYKERNEL = "7.1.*"


@pytest.fixture(scope="session")
def older_python(repo: Path, request: pytest.FixtureRequest) -> Path:
    """An interpreter with an older ipykernel and the package under test, kept in pytest's cache."""
    cache: Any = request.config.cache
    folder = Path(cache.mkdir("agtools-older-ipykernel")) / "venv"
    python = folder / "bin" / "python"
    if not python.exists():
        fresh_venv(folder)
        pip_install(python, f"ipykernel=={OLDER_IPYKERNEL}", cwd=repo)
    wheel = os.environ.get("AGTOOLS_WHEEL")
    target = ["--force-reinstall", "--no-deps", wheel] if wheel else ["--no-deps", "-e", str(repo)]
    pip_install(python, f"ipykernel=={OLDER_IPYKERNEL}", wheel or str(repo), cwd=repo)
    pip_install(python, *target, cwd=repo)
    version = run([python, "-c", "import ipykernel; print(ipykernel.__version__)"], repo)
    assert version.startswith(OLDER_IPYKERNEL.removesuffix("*"))
    return python


@pytest.fixture
def older_kernel(older_python: Path, server_of: Any) -> str:
    """The name under which JupyterLab offers the older ipykernel."""
    server_of("lab", "light").add_kernel("older", older_python)
    return "older"
