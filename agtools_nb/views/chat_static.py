"""A chat as a saved notebook shows it without a kernel: its newest messages and calls."""

from __future__ import annotations

from typing import Any

from agtools_nb.agent.messages import ModelMessage, UserMessage
from agtools_nb.jsonable import shorten
from agtools_nb.views.batch_row import outcome
from agtools_nb.views.chat_entries import Call, Entry, usage_words
from agtools_nb.views.chat_transcript import Transcript
from agtools_nb.views.markup import Html, code, details, duration, join, pre, small, tag
from agtools_nb.views.media import Room, media_html, media_text
from agtools_nb.views.result import STATUS_WORDS, body_html
from agtools_nb.views.values import cut_text, preview

STATIC_ENTRIES = 100
STATIC_TEXT = 20_000
STATIC_TOTAL = 300_000

_TASK = "Task"
_APART = "Answered apart from the conversation"
_EVENTS = {"result": "Result", "event": "Event", "message": "Message", "report": "Report"}


def chat_html(shown: Transcript[Any], cards: Html, remark: str = "") -> Html:
    """Return the newest entries; each call is folded."""
    entries, left_out = _newest(shown)
    room = Room()
    name = shown.name
    return tag(
        "div",
        tag("p", tag("strong", f"Chat with {name}"), f" · {_counts(shown)}{remark}"),
        tag("p", small(f"{left_out:,} earlier messages are not shown")) if left_out else None,
        [_entry_html(entry, name, room) for entry in entries],
        cards,
    )


def chat_text(shown: Transcript[Any], cards: list[str], remark: str = "") -> str:
    """Return the newest entries as plain text."""
    entries, left_out = _newest(shown)
    name = shown.name
    lines = [f"Chat with {name} · {_counts(shown)}{remark}"]
    if left_out:
        lines.append(f"({left_out:,} earlier messages are not shown)")
    for entry in entries:
        lines += _entry_text(entry, name)
    return "\n".join([*lines, *cards])


def speaker(entry: Entry, name: str, person: str = "You") -> str:
    """Who says it: ``"You"``, the model's name, or what it came from."""
    if entry.kind == "model":
        return name
    event = entry.message.event if isinstance(entry.message, UserMessage) else None
    return person if event is None else _EVENTS.get(event, event)


def end_words(entry: Entry) -> str:
    """How an answer ended, in words."""
    reply = entry.reply
    if reply is None:
        return ""
    return "finished" if reply.reason == "finished" else reply.detail or reply.reason


def _newest(shown: Transcript[Any]) -> tuple[list[Entry], int]:
    entries = shown.entries
    left, begin = STATIC_TOTAL, len(entries)
    while begin > 0 and len(entries) - begin < STATIC_ENTRIES and left > 0:
        begin -= 1
        left -= min(entries[begin].length, STATIC_TEXT)
    return entries[begin:], begin


def _counts(shown: Transcript[Any]) -> str:
    usage = shown.session.usage
    said = sum(entry.kind in ("user", "model") for entry in shown.entries)
    return f"{said:,} messages · {usage_words(usage)}"


def _entry_html(entry: Entry, name: str, room: Room, person: str = "You") -> Html:
    if entry.kind == "end":
        return _end_html(entry)
    if entry.child is not None:
        inner = [_entry_html(one, name, room) for one in _newest(entry.child)[0]]
        return tag("blockquote", tag("p", small(_APART)), inner)
    shown = cut_text(entry.text, STATIC_TEXT)
    parts: list[Any] = [tag("p", tag("strong", speaker(entry, name, person)), _small_print(entry))]
    if shown.text:
        # Line breaks are the writer's; without a style only <pre> keeps all of them.
        lines = shown.text.split("\n\n")
        parts.append([tag("p", _lines(paragraph)) for paragraph in lines])
    if shown.note:
        parts.append(tag("p", small(shown.note)))
    if isinstance(entry.message, UserMessage):
        parts.append(media_html(entry.message.media, room))
    if isinstance(entry.message, ModelMessage) and entry.message.error:
        parts.append(tag("p", "broke off: ", entry.message.error))
    parts.append([_call_html(call, name, room) for call in entry.calls])
    return join(parts)


def _lines(paragraph: str) -> Html:
    shown = [join(line) for line in paragraph.split("\n")]
    return Html("<br>".join(shown))


def _small_print(entry: Entry) -> Html | None:
    message = entry.message
    if not isinstance(message, ModelMessage):
        return None
    return join([" ", small(f"{duration(message.seconds)} · {usage_words(message.usage)}")])


def _end_html(entry: Entry) -> Html:
    words = tag("p", tag("em", end_words(entry)))
    if entry.reply is None or entry.reply.reason != "finished":
        return words
    return join([words, pre(preview(entry.reply.output, 4_000, indent=2).text)])


def _call_html(call: Call, name: str, room: Room) -> Html:
    row = call.row
    status = STATUS_WORDS.get(row.status, row.status)
    head = [tag("strong", row.call.name), " ", code(row.summary), f" · {status}"]
    if row.result is not None:
        head.append(f" · {duration(row.result.duration)}")
    if call.repair:
        left = call.repair <= call.of
        head.append(f" · repair {call.repair} of {call.of}" if left else " · no repair left")
    body: list[Any] = [Html(card.static_html()) for card in call.cards]
    if row.result is not None:
        body.append(body_html(row.result, room))
    elif row.reported is not None:
        body.append(tag("p", row.running_text()))
    if call.child is not None:
        entries, _ = _newest(call.child)
        child = call.child.name
        body.append(tag("blockquote", [_entry_html(one, child, room, _TASK) for one in entries]))
    return details(head, body)


def _entry_text(entry: Entry, name: str, person: str = "You") -> list[str]:
    if entry.kind == "end":
        return [f"[{end_words(entry)}]"]
    if entry.child is not None:
        inner = [line for one in entry.child.entries for line in _entry_text(one, name)]
        return [f"({_APART})", *(f"    {line}" for line in inner[:STATIC_ENTRIES])]
    shown = cut_text(entry.text, STATIC_TEXT)
    lines = [f"{speaker(entry, name, person)}: {shown.text}".rstrip()]
    if shown.note:
        lines.append(f"  ({shown.note})")
    if isinstance(entry.message, UserMessage):
        lines += media_text(entry.message.media)
    for call in entry.calls:
        row = call.row
        what = outcome(row.result) if row.result is not None else row.running_text()
        status = STATUS_WORDS.get(row.status, row.status)
        lines.append(f"  {row.call.name} {shorten(row.summary, 80)}: {status}  {what}".rstrip())
        lines += [f"    {line}" for card in call.cards for line in card.static_text().split("\n")]
        if call.child is not None:
            child = call.child.name
            inner = [line for one in call.child.entries for line in _entry_text(one, child, _TASK)]
            lines += [f"    {line}" for line in inner[:STATIC_ENTRIES]]
    return lines
