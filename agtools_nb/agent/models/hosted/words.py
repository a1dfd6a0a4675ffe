"""What went wrong with a request, in words for the notebook's user."""

from __future__ import annotations

from typing import Any

from agtools_nb.agent.models.hosted.record import Record
from agtools_nb.agent.models.hosted.retry import status_words
from agtools_nb.jsonable import clean_text, shorten

_LONGEST = 1_000


def failure_words(error: Exception, record: Record, where: str, variables: str) -> str:
    """What an exception of the request means.

    Args:
        error: What pydantic-ai raised.
        record: What went over the wire.
        where: The server, for people: a provider's name, or an address.
        variables: Environment variables that hold the key; ``""``: none.
    """
    if record.request is None:
        return f"the request to {where} could not be made: {_said(error)}"
    if record.status is None:
        return _not_reached(error, where)
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
    return f"{where}: the answer broke off: {_said(error)}"


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


def _not_reached(error: Exception, where: str) -> str:
    return f"{where} was not reached: {_said(error)}"


def _said(error: BaseException) -> str:
    """The words of the innermost cause that has any: the outer ones say ``Connection error``."""
    said, seen = "", 0
    inner: BaseException | None = error
    while inner is not None and seen < 10:
        text = str(getattr(inner, "message", None) or inner).strip()
        said = text or said
        last = inner
        inner, seen = inner.__cause__ or inner.__context__, seen + 1
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
