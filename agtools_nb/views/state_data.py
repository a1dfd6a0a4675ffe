"""A state as JSON data for its view: values, writes, and what differs between two states."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agtools_nb.context import ABSENT, StateWrite, diff
from agtools_nb.jsonable import shorten
from agtools_nb.views.values import Preview, preview

TOTAL_LIMIT = 64_000
"""Characters that all values together may take in one message."""

VALUE_LIMIT = 8_000
"""Characters of one value in a message; all of it is sent when it is asked for."""

CHANGE_LIMIT = 400
"""Characters of a value before or after a change."""

KEYS_SHOWN = 500
CHANGES_SHOWN = 200

Values = Mapping[str, Any]
Previewer = Callable[[str, Any, int], Preview]


def entries(
    values: Values,
    last: Mapping[str, StateWrite],
    show: Previewer | None = None,
) -> dict[str, Any]:
    """Return the values in their order, each as JSON text, with who wrote it last.

    Args:
        values: The state.
        last: The last write of each key, of those that are known.
        show: Makes the text of a key and its value in so many characters.
    """
    shown = list(values)[:KEYS_SHOWN]
    room = max(200, min(VALUE_LIMIT, TOTAL_LIMIT // max(len(shown), 1)))
    show = show or _show
    return {
        "keys": [_entry(key, show(key, values[key], room), last.get(key)) for key in shown],
        "more_keys": len(values) - len(shown),
    }


def _show(key: str, value: Any, room: int) -> Preview:
    return preview(value, room)


def _entry(key: str, shown: Preview, write: StateWrite | None) -> dict[str, Any]:
    return {
        "key": key,
        "text": shown.text,
        "note": shown.note,
        "write": None if write is None else write_data(write),
    }


def write_data(write: StateWrite) -> dict[str, Any]:
    """Return one write; of a whole state's, what it was is left out."""
    after = "" if write.after is ABSENT or is_whole(write) else preview(write.after, 120).text
    return {
        "seq": write.seq,
        "key": write.key,
        "operation": write.operation,
        "text": shorten(after, 160),
        "tool": write.tool_name,
        "call": write.call_id,
        "at": write.at,
    }


def is_whole(write: StateWrite) -> bool:
    """Tell whether a write was of the whole state and not of one key."""
    return write.operation in ("reset", "load")


def note_writes(last: dict[str, StateWrite], writes: Iterable[StateWrite]) -> None:
    """Bring the last write of each key up to date with further writes."""
    for write in writes:
        if is_whole(write):
            last.clear()
            last.update(dict.fromkeys(write.after, write))
        elif write.after is ABSENT:
            last.pop(write.key, None)
        else:
            last[write.key] = write


def changes_between(before: Values, after: Values) -> dict[str, Any]:
    """Return what differs between two states, place by place."""
    found = diff(before, after)
    return {
        "changes": [
            {
                "pointer": change.pointer,
                "before": _side(change.before),
                "after": _side(change.after),
            }
            for change in found[:CHANGES_SHOWN]
        ],
        "more_changes": max(0, len(found) - CHANGES_SHOWN),
    }


def _side(value: Any) -> str | None:
    """Return one side of a change as JSON text; ``None`` where there was nothing."""
    return None if value is ABSENT else preview(value, CHANGE_LIMIT).text
