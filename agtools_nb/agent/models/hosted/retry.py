"""When a request that was refused is sent again, and after how long."""

from __future__ import annotations

import email.utils
import math
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from agtools_nb.agent.models.hosted.record import read_json

LONGEST_WAIT_SECONDS = 60.0
"""Whoever asks for a longer wait is told so to a person instead."""

FIRST_WAIT_SECONDS = 1.0
"""Wait after a refusal that says nothing of one; doubled each time."""

_TOO_MANY = 429
_PASSING = frozenset((500, 502, 503, 504, 529))
_FINAL_CODES = frozenset(("insufficient_quota", "billing_not_active"))


class Patience:
    """Counts the tries of one request.

    A request that came too often (429) is sent again up to ``tries`` times; one that the server
    failed at (500, 502, 503, 504, 529) once.

    Args:
        tries: How often a request that came too often is sent again.
        notes: Where it is told, in words, what was done.
    """

    def __init__(self, tries: int, notes: list[str]) -> None:
        self._tries = tries
        self._failures = 0
        self._notes = notes

    def seconds(self, status: int, headers: Mapping[str, str], body: bytes) -> float | None:
        """How long to wait before the request is sent again; ``None``: it is not."""
        most = self._tries if status == _TOO_MANY else min(self._tries, 1)
        may_pass = status == _TOO_MANY or status in _PASSING
        if not may_pass or self._failures >= most or _is_final(headers, body):
            return None
        asked = asked_wait(headers, body)
        if asked is not None and asked > LONGEST_WAIT_SECONDS:
            self._notes.append(
                f"{status_words(status)}: it asks to wait {asked:,.0f} s, which is too long to be "
                "waited for here"
            )
            return None
        wait = FIRST_WAIT_SECONDS * 2**self._failures if asked is None else asked
        self._failures += 1
        self._notes.append(
            f"{status_words(status)}: sent again after {wait:.3g} s ({self._failures} of {most})"
        )
        return wait


def status_words(status: int) -> str:
    """A status with its name: ``"429 Too Many Requests"``."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def asked_wait(headers: Mapping[str, str], body: bytes) -> float | None:
    """The seconds that a refusal asks to wait, at least 0; ``None`` if it does not say."""
    found = _number(headers.get("retry-after-ms"))
    if found is not None:
        return found / 1_000
    given = headers.get("retry-after")
    found = _number(given)
    if found is None and given:
        found = _until(given)
    return _google_delay(read_json(body)) if found is None else found


def _number(text: str | None) -> float | None:
    try:
        found = float(text or "")
    except ValueError:
        return None
    return max(found, 0.0) if math.isfinite(found) else None


def _until(date: str) -> float | None:
    try:
        return max(email.utils.parsedate_to_datetime(date).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return None


def _error(told: Any) -> Mapping[str, Any]:
    if isinstance(told, list) and told:
        told = told[0]
    error = told.get("error") if isinstance(told, dict) else None
    return error if isinstance(error, dict) else {}


def _google_delay(told: Any) -> float | None:
    """``{"error": {"details": [{"@type": ".../google.rpc.RetryInfo", "retryDelay": "3s"}]}}``."""
    details = _error(told).get("details")
    for one in details if isinstance(details, list) else ():
        delay = one.get("retryDelay") if isinstance(one, dict) else None
        if isinstance(delay, str):
            return _number(delay.removesuffix("s"))
    return None


def _is_final(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether waiting would not help: no credit is left, or the server says so."""
    if headers.get("x-should-retry", "").lower() == "false":
        return True
    error = _error(read_json(body))
    return any(error.get(key) in _FINAL_CODES for key in ("code", "type"))
