"""A turn's request and response as they went over the wire, or would have."""

from __future__ import annotations

from typing import Any

from agtools_nb.agent.messages import ModelMessage
from agtools_nb.agent.model import ModelRequest, RawPart, model_name
from agtools_nb.agent.session import Session
from agtools_nb.agent.thread import Thread
from agtools_nb.agent.wire_form import ChatProvider, answer_form, request_form
from agtools_nb.jsonable import shorten
from agtools_nb.views.chat_entries import Entry
from agtools_nb.views.values import preview

RAW_LIMIT = 200_000
"""Characters of a request, and of a response, that a page is sent."""


def raw_wire(session: Session | Thread, entry: Entry, provider: ChatProvider) -> dict[str, Any]:
    """What a page shows of a turn of the model.

    Args:
        session: The conversation.
        entry: A complete message of the model.
        provider: In whose form the turn is written if the model does not tell.
    """
    message = entry.message
    notes = message.notes if isinstance(message, ModelMessage) else ()
    raw, note = _raw(session, entry, provider)
    request, response = preview(raw.request, RAW_LIMIT), preview(raw.response, RAW_LIMIT)
    return {
        "note": note,
        "notes": [shorten(one, 500) for one in notes[:20]],
        "request": request.text,
        "request_note": request.note,
        "response": response.text,
        "response_note": response.note,
    }


def _raw(session: Session | Thread, entry: Entry, provider: ChatProvider) -> tuple[RawPart, str]:
    message = entry.message
    if entry.raw is not None:
        return entry.raw, ""
    if not isinstance(message, ModelMessage):
        return RawPart(), ""
    messages = session.messages
    end = next((at for at, one in enumerate(messages) if one.id == message.id), len(messages))
    request = ModelRequest(messages[:end], session.system_instructions, session.runner.tools)
    answer = answer_form(message.text, message.calls, provider)
    name = shorten(" ".join(model_name(session.model).split()), 40)
    note = (
        f"{name} does not tell what went over the wire; this is the turn in the form of "
        f"{provider}, with the tools there are now"
    )
    return RawPart(request_form(request, provider), answer), note
