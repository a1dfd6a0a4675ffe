"""One :class:`ToolResult` on a page: as data for the widgets, as static HTML, as text."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any

from agtools_nb.calls import Change, Fault, ToolCall, ToolResult
from agtools_nb.jsonable import shorten
from agtools_nb.media import json_part
from agtools_nb.views.markup import Html, code, details, duration, join, pre, small, tag
from agtools_nb.views.media import Room, media_data, media_html, media_text
from agtools_nb.views.values import Preview, cut_text, preview

STATUS_WORDS = {
    "ok": "ok",
    "error": "error",
    "invalid": "invalid arguments",
    "cancelled": "cancelled",
    "denied": "denied",
}

DETAIL_IMAGES = 300_000
"""Bytes of images in a result's details, unless more are asked for."""

STATIC_LIMIT = 4_000
"""Characters of a result in the static form."""


def result_html(result: ToolResult) -> str:
    """Return a result as HTML that needs no style."""
    return tag("div", headline_html(result), body_html(result))


def result_text(result: ToolResult) -> str:
    """Return a result as plain text."""
    lines = [f"{result.name}: {STATUS_WORDS[result.status]}, {duration(result.duration)}"]
    lines += [f"  {change_text(change)}" for change in result.coercions]
    if result.ok:
        shown = value_preview(result, 1_000)
        lines.append(shown.text + (f"  ({shown.note})" if shown.note else ""))
        lines += media_text(result.media)
    else:
        lines.append(shorten(result.error or "", 2_000))
    for title, text in _beside(result):
        if text:
            lines.append(f"{title}: {shorten(text.rstrip(), 1_000)}")
    return "\n".join(lines)


def _beside(result: ToolResult) -> list[tuple[str, str]]:
    """What came out beside the result, with its title; empty text is none."""
    return [
        ("printed", result.stdout),
        ("stderr", result.stderr),
        ("warnings", "\n".join(result.warnings)),
    ]


def value_preview(result: ToolResult, limit: int, *, indent: int | None = None) -> Preview:
    """Return what a call returned as JSON text of bounded size, without its media."""
    value = json_part(result.result) if result.media else result.result
    return preview(value, limit, indent=indent)


def headline_html(result: ToolResult) -> Html:
    """Return name, status and duration as a paragraph."""
    status = STATUS_WORDS[result.status]
    return tag("p", tag("strong", result.name), f" · {status} · {duration(result.duration)}")


def body_html(result: ToolResult, room: Room | None = None) -> Html:
    """Return what came of a call: coercions, result or error, media, printed text.

    Args:
        result: The result.
        room: How many bytes of images it may show, shared with others on the page.
    """
    return join(
        [
            changes_html(result.coercions),
            outcome_html(result),
            media_html(result.media, Room() if room is None else room),
            [printed_html(title, text) for title, text in _beside(result)],
            [tag("p", small(note)) for note in result.notes],
        ]
    )


def outcome_html(result: ToolResult) -> Html:
    """Return the result as indented JSON, or the error as the model sees it."""
    if result.ok:
        return join(noted(value_preview(result, STATIC_LIMIT, indent=2)))
    return join([tag("p", small("what the model sees:")), pre(result.error or "")])


def noted(shown: Preview) -> list[Html]:
    """Return a preview as a block, with its note."""
    parts = [tag("pre", shown.text)]
    if shown.note:
        parts.append(tag("p", small(shown.note)))
    return parts


def changes_html(changes: tuple[Change, ...]) -> Html:
    """Return coercions as a list: place, before, after, rule."""
    if not changes:
        return Html("")
    return tag(
        "ul",
        *(
            tag(
                "li",
                code(change.pointer or "(all arguments)"),
                ": ",
                code(preview(change.before, 200).text),
                " → ",
                code(preview(change.after, 200).text),
                f" ({change.rule})",
            )
            for change in changes
        ),
    )


def printed_html(title: str, text: str) -> Html:
    """Return captured output, folded."""
    if not text:
        return Html("")
    return details(f"{title} ({len(text):,} characters)", pre(text, 2_000))


def change_text(change: Change) -> str:
    """Return a coercion as one line."""
    before, after = preview(change.before, 80).text, preview(change.after, 80).text
    return f"{change.pointer or '(all arguments)'}: {before} -> {after} ({change.rule})"


def arguments_text(arguments: Mapping[str, Any] | str, limit: int) -> Preview:
    """Return arguments as JSON text; a model's own text is kept as it is."""
    if isinstance(arguments, str):
        return cut_text(arguments, limit)
    return preview(arguments, limit)


def call_detail(
    call: ToolCall,
    got: Mapping[str, Any] | None,
    changes: tuple[Change, ...],
    result: ToolResult | None,
    limit: int,
    images: int = DETAIL_IMAGES,
) -> dict[str, Any]:
    """Return all there is to say about one call, as JSON data for a widget.

    Args:
        call: The call as it came.
        got: The arguments as the tool gets them, if they could be read.
        changes: What was coerced.
        result: The outcome; ``None`` while it runs.
        limit: Characters that each part may take.
        images: Bytes of images that are sent along; others are described.
    """
    sent = arguments_text(call.args, limit)
    detail: dict[str, Any] = {
        "sent": sent.text,
        "sent_note": sent.note,
        "changes": [_change(change, limit) for change in changes[:200]],
    }
    if got is not None:
        arguments = preview(got, limit)
        detail |= {"got": arguments.text, "got_note": arguments.note}
    return detail if result is None else detail | _outcome(result, limit, images)


def _outcome(result: ToolResult, limit: int, images: int) -> dict[str, Any]:
    outcome: dict[str, Any] = {"notes": [shorten(note, 500) for note in result.notes[:20]]}
    for name, written in zip(("stdout", "stderr", "warnings"), _beside(result), strict=True):
        text = cut_text(written[1], limit)
        if text.text:
            outcome |= {name: text.text, f"{name}_note": text.note}
    if result.ok:
        shown = value_preview(result, limit)
        value = {"result": shown.text, "result_note": shown.note}
        return outcome | value | media_data(result.media, Room(images))
    error = cut_text(result.error or "", limit)
    return outcome | {
        "error": error.text,
        "error_note": error.note,
        "faults": [_fault(fault) for fault in result.faults[:50]],
        "traceback": _traceback(result),
    }


def _change(change: Change, limit: int) -> list[str]:
    room = min(limit, 500)
    before, after = preview(change.before, room).text, preview(change.after, room).text
    return [change.pointer, before, after, change.rule]


def _fault(fault: Fault) -> dict[str, str]:
    return {
        "pointer": fault.pointer,
        "expected": shorten(fault.expected, 500),
        "got": shorten(fault.got, 500),
    }


def _traceback(result: ToolResult) -> str:
    """Return the tool's own traceback, for its author; the model never sees it.

    A call that was denied has none: its function was never reached.
    """
    if result.status == "denied":
        return ""
    cause = result.exception.__cause__ if result.exception is not None else None
    if cause is None or cause.__traceback__ is None:
        return ""
    return "".join(traceback.format_exception(cause))[-8_000:]
