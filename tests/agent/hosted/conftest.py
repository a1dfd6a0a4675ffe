"""No key of the machine's is seen here, and no address but this machine's is reached."""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from agent.hosted.cases import SECRET, VARIABLE


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys and settings of providers are those of the tests, and no others."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_")):
            monkeypatch.delenv(name)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv(VARIABLE, SECRET)


@pytest.fixture(autouse=True)
def _network_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever leaves this machine fails, and says where to."""
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def is_here(host: Any) -> bool:
        host = host.decode() if isinstance(host, bytes) else host
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    def connect_here(own: socket.socket, address: Any) -> None:
        if own.family in (socket.AF_INET, socket.AF_INET6):
            assert is_here(address[0]), f"a test connects to {address}"
        connect(own, address)

    def look_up_here(host: Any, *args: Any, **options: Any) -> Any:
        assert host is None or is_here(host), f"a test looks up {host}"
        return look_up(host, *args, **options)

    monkeypatch.setattr(socket.socket, "connect", connect_here)
    monkeypatch.setattr(socket, "getaddrinfo", look_up_here)


@pytest.fixture(autouse=True)
def _log_is_clean(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """No log, however talkative, holds the key; and no event loop complains of what was left."""
    caplog.set_level(logging.DEBUG)
    yield
    records = [record for when in ("setup", "call") for record in caplog.get_records(when)]
    assert not [one for one in records if SECRET in repr(vars(one))]
    assert not [
        one.getMessage()
        for one in records
        if one.name == "asyncio" and one.levelno >= logging.WARNING
    ]
