"""What went wrong with a request, in words for the notebook's user."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2

from agtools_nb.agent.models.hosted.record import Record
from agtools_nb.agent.models.hosted.retry import status_words
from agtools_nb.agent.models.hosted.wire import CONNECT_SECONDS
from agtools_nb.jsonable import clean_text, shorten

_LONGEST = 1_000
_MOST_CAUSES = 10


def failure_words(
    error: Exception, record: Record, where: str, variables: str, timeout: float
) -> str:
    """What an exception of the request means.

    Args:
        error: What pydantic-ai raised.
        record: What went over the wire.
        where: The server, for people: a provider's name, or an address.
        variables: Environment variables that hold the key; ``""``: none.
        timeout: Longest silence, in seconds.
    """
    if record.request is None:
        return f"the request to {where} could not be made: {_said(error)}"
    if record.status is None:
        return _no_answer(error, where, timeout)
    if record.status >= 300:
        told = _told(record.body)
        text = f"{where} answered {status_words(record.status)}{_after(told)}"
        advice = _advice(record.status, variables)
        notes = "; ".join(record.notes)
        return ". ".join(part for part in (text, advice, notes and f"Before: {notes}") if part)
    if record.content_type and "event-stream" not in record.content_type:
        return (
            f"{where} answered with {shorten(clean_text(record.content_type), 80)}, not with a "
            "stream of events; is the address right?"
        )
    silence = _silence(timeout) if _timed_out(error) else ""
    return f"{where}: the answer broke off: {silence or _said(error)}"


def stop_words(where: str, reason: str, detail: str) -> str:
    """An answer that its provider stopped.

    Args:
        where: The provider, for people.
        reason: The provider's own word for why.
        detail: What it says of it.
    """
    return f"{where} stopped the answer ({clean_text(shorten(reason, 100))}){_after(detail)}"


def incomplete_words(where: str) -> str:
    """An answer whose connection ended before the answer did."""
    return f"{where}: the answer broke off: the connection ended before the answer did"


def _no_answer(error: Exception, where: str, timeout: float) -> str:
    late = _timed_out(error)
    if isinstance(late, httpx2.ConnectTimeout):
        seconds = min(CONNECT_SECONDS, timeout)
        return (
            f"{where} was not reached within {seconds:g} s. Is the address right, and is the "
            "server running?"
        )
    if late is not None:
        return (
            f"{where} did not answer: {_silence(timeout)}. A server that loads a model first may "
            "need longer"
        )
    return f"{where} was not reached: {_said(error)}"


def _silence(timeout: float) -> str:
    return f"nothing came for {timeout:g} s (timeout=)"


def _timed_out(error: BaseException) -> httpx2.TimeoutException | None:
    """The wait that came to its end, if that is the cause: the SDKs have words of their own."""
    return next((one for one in _causes(error) if isinstance(one, httpx2.TimeoutException)), None)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception, what it comes from, and so on."""
    inner: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if inner is None:
            return
        yield inner
        inner = inner.__cause__ or inner.__context__


def _said(error: BaseException) -> str:
    """The words of the innermost cause that has any: the outer ones say ``Connection error``."""
    said, last = "", error
    for inner in _causes(error):
        if not isinstance(inner, Exception):
            break  # how a library stops its own waiting says nothing to people
        said = str(getattr(inner, "message", None) or inner).strip() or said
        last = inner
    if not said or len(said) < 3:
        said = type(last).__name__
    return clean_text(shorten(said, _LONGEST))


def _told(body: Any) -> str:
    """What a provider says in the body of a refusal."""
    if isinstance(body, list) and body:
        body = body[0]
    error = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error.get("type") or ""
    return error if isinstance(error, str) else ""


def _after(told: str) -> str:
    told = clean_text(shorten(told.strip(), _LONGEST))
    return f": {told}" if told else ""


def _advice(status: int, variables: str) -> str:
    if status in (401, 403):
        return (
            f"Is the key in {variables} right?"
            if variables
            else (
                "It wants a key: put it into an environment variable, and name that: "
                "HostedModel(..., key_variable='...')"
            )
        )
    if status == 404:
        return "Are the model's name and the address right?"
    return ""
