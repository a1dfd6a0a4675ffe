"""Tasks, subscriptions, triggers and events as JSON data for their view."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from agtools_nb.events import BackgroundTask, Event, RunningTrigger, Subscription
from agtools_nb.jsonable import shorten
from agtools_nb.views.markup import plural
from agtools_nb.views.reported import percent, share_of
from agtools_nb.views.values import cut_text, preview

Work = BackgroundTask | Subscription | RunningTrigger

SUMMARY_LIMIT = 160
"""Characters of arguments, of a result and of an event in a row."""

_KINDS = {"dispatched": "dispatched", "long_running": "long running"}
# The class that a status is drawn with, and the word for it.
_WORK_WORDS = {
    "pending": ("running", "running"),
    "active": ("running", "active"),
    "done": ("ok", "done"),
    "ended": ("ok", "ended"),
    "failed": ("error", "failed"),
    "cancelled": ("cancelled", "cancelled"),
    "interrupted": ("cancelled", "interrupted"),
}
_EVENT_WORDS = {
    "waiting": ("waiting", "to handle"),
    "taken": ("running", "being handled"),
    "handled": ("ok", "handled"),
}

_SUBSCRIBED = (
    "the conversation that subscribed",
    "It becomes part of the conversation in which the call was made (associative=True).",
)
_APART = (
    "a side conversation of its own",
    """It is handled apart: the conversation in which the call was made does not grow by it. \
With associative=True a tool sends its events there instead.""",
)


def work_id(one: Work) -> tuple[str, str]:
    """Return kind and id, by which a page names it."""
    if isinstance(one, BackgroundTask):
        return "task", one.task_id
    return ("subscription" if isinstance(one, Subscription) else "trigger"), one.id


def is_open(one: Work) -> bool:
    """Tell whether it runs, so that it can be cancelled."""
    return one.error is None if isinstance(one, RunningTrigger) else one.is_open


def work_row(one: Work) -> dict[str, Any]:
    """Return the row of a task, a subscription or a trigger."""
    way, own_id = work_id(one)
    row: dict[str, Any] = {"way": way, "id": own_id, "kind": way, "args": "", "ended": None}
    row["share"] = None
    if isinstance(one, RunningTrigger):
        name, status = str(one.trigger), "active" if one.error is None else "ended"
        row |= {"began": None, "text": one.error or plural(one.sent, "message")}
    else:
        name, status = one.tool_name, one.status
        row |= {"args": _brief(one.arguments), "began": one.started_at, "text": one.error or ""}
    if isinstance(one, BackgroundTask):
        row |= {"kind": _KINDS[one.kind], "ended": one.ended_at}
        if one.status == "done":
            row["text"] = _brief(one.result)
        elif one.is_open:
            row |= _progress(one)
    elif isinstance(one, Subscription):
        row |= {"events": one.events, "last": one.last_at}
        row["text"] = one.error or plural(one.events, "event")
    look, word = _WORK_WORDS[status]
    row |= {"name": shorten(name, 200), "status": look, "word": word}
    row["text"] = shorten(_first_line(row["text"]), SUMMARY_LIMIT)
    return row


def _progress(one: BackgroundTask) -> dict[str, Any]:
    """Return how far a task is, as a share and in words."""
    share = share_of(one.done, one.total)
    parts = [one.progress] if share is None else [percent(share), one.progress]
    return {"share": share, "text": " · ".join(filter(None, parts))}


def work_detail(one: Work, limit: int) -> dict[str, Any]:
    """Return all there is to say of a task, a subscription or a trigger."""
    if isinstance(one, RunningTrigger):
        return {"facts": [["id", one.id], ["sent", plural(one.sent, "message")]], "parts": []}
    parts = [_json("Arguments", one.arguments, limit)]
    facts = [["id", one.id], ["call", one.call_id], ["group", one.group_id]]
    if isinstance(one, Subscription):
        facts.append(["its events are for", *_audience(one.associative)])
    elif one.status == "done":
        parts.append(_json("Result", one.result, limit))
    if one.error is not None:
        parts.append(_text("Error", one.error, limit))
    return {"facts": facts, "parts": parts}


def event_row(event: Event) -> dict[str, Any]:
    """Return the row of an event."""
    look, word = _EVENT_WORDS[event.status]
    return {
        "id": event.seq,
        "kind": event.kind,
        "name": shorten(event.tool_name or "", 200),
        "status": look,
        "word": word,
        "text": "" if event.error is not None else _brief(event.content),
        "error": None if event.error is None else shorten(_first_line(event.error), SUMMARY_LIMIT),
        "final": event.final,
        "at": event.at,
    }


def event_detail(event: Event, limit: int) -> dict[str, Any]:
    """Return all there is to say of an event."""
    parts = []
    if event.content is not None or event.error is None:
        parts.append(_json("Content", event.content, limit))
    if event.error is not None:
        parts.append(_text("Error", event.error, limit))
    facts = [["id", event.id], ["dedup id", event.dedup_id]]
    facts += [["call", event.call_id]] if event.call_id else []
    facts += [["group", event.group_id]] if event.group_id else []
    if event.kind == "event":
        facts.append(["for", *_audience(event.associative)])
    return {"facts": [[shorten(text, 200) for text in fact] for fact in facts], "parts": parts}


def when(at: float | None) -> str:
    """Return a time for a file, which is read much later."""
    if at is None:
        return ""
    return f"{dt.datetime.fromtimestamp(at, dt.UTC):%Y-%m-%d %H:%M:%S} UTC"


def _audience(associative: bool) -> tuple[str, str]:
    """Return which conversation an event is for, and what that means."""
    return _SUBSCRIBED if associative else _APART


def _json(title: str, value: Any, limit: int) -> dict[str, Any]:
    shown = preview(value, limit)
    return {"title": title, "json": shown.text, "note": shown.note}


def _text(title: str, text: str, limit: int) -> dict[str, Any]:
    shown = cut_text(text, limit)
    return {"title": title, "text": shown.text, "note": shown.note}


def _brief(value: Any) -> str:
    """Return a value on one line; text without its quotes, since nobody parses it."""
    if isinstance(value, str):
        return shorten(_first_line(value), SUMMARY_LIMIT)
    if not value and isinstance(value, (dict, list)):
        return json.dumps(value)
    return shorten(preview(value, SUMMARY_LIMIT).text, SUMMARY_LIMIT)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
