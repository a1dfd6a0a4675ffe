"""The package indexes that this machine's pip is set up with, for tools that do not read pip's settings."""

from __future__ import annotations

import ast
import hashlib
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urldefrag, urljoin

from venvs import run


def _settings() -> dict[str, list[str]]:
    """pip's settings; what the environment says wins over what files say."""
    found: dict[str, list[str]] = {}
    lines = run([sys.executable, "-m", "pip", "config", "list"], Path.cwd()).splitlines()
    for line in sorted(lines, reverse=True):  # ":env:" sorts before "global", so it comes last
        key, _, value = line.partition("=")
        found[key.rpartition(".")[2]] = str(ast.literal_eval(value)).split()
    return found


def _default_index() -> str:
    """What pip asks when nothing is set; it knows, and it is written nowhere here."""
    code = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    return run([sys.executable, "-c", code], Path.cwd()).strip()


def indexes() -> list[str]:
    """Addresses of package indexes (PEP 503), the first one asked first."""
    settings = _settings()
    return [
        *settings.get("extra-index-url", []),
        *(settings.get("index-url") or [_default_index()]),
    ]


def uv_environment() -> dict[str, str]:
    """Environment variables that make uv ask what pip would ask."""
    *others, default = indexes()
    return {
        "UV_DEFAULT_INDEX": default,
        "UV_INDEX": " ".join(others),
        "UV_INDEX_STRATEGY": "unsafe-best-match",  # as pip: all indexes are equal
        "UV_FIND_LINKS": " ".join(_settings().get("find-links", [])),
        "UV_NO_CONFIG": "1",
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_NO_PROGRESS": "1",
    }


def sdist(project: str, version: str, sha256: str, folder: Path) -> Path:
    """Fetch a source archive into ``folder`` unless it is there; nothing of it is built or run.

    Raises:
        AssertionError: No index has it, or it is not the one that was pinned.
    """
    name = f"{project}-{version}.tar.gz"
    target = folder / name
    if not target.exists() or _digest(target.read_bytes()) != sha256:
        data = _fetched(project, name)
        assert _digest(data) == sha256, f"{name} is not the pinned one: {_digest(data)}"
        folder.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(".part")
        part.write_bytes(data)
        part.replace(target)
    return target


def _fetched(project: str, name: str) -> bytes:
    tried = []
    for index in indexes():
        page = f"{index.rstrip('/')}/{project}/"
        if page.startswith("file:"):
            page += "index.html"
        try:
            text = _read(page).decode()
        except (urllib.error.URLError, OSError) as error:
            tried.append(f"{page}: {error}")
            continue
        for link in re.findall(r"""href=["']([^"']+)["']""", text):
            address = urldefrag(urljoin(page, link)).url
            if address.rpartition("/")[2] == name:
                return _read(address)
        tried.append(f"{page}: no {name}")
    raise AssertionError("\n".join([f"{name} is in none of pip's indexes:", *tried]))


def _read(address: str) -> bytes:
    request = urllib.request.Request(address, headers={"Accept": "text/html"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return answer.read()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
