"""The state that tools share, live: values, what changed last, who changed it; editable."""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Callable
from typing import Any, ClassVar

from agtools_nb.context.state import ABSENT, StateStore, StateWrite
from agtools_nb.jsonable import shorten
from agtools_nb.views.base import Scheduler, View
from agtools_nb.views.markup import code, details, plural, table, tag, text_table
from agtools_nb.views.values import Preview, preview

TOTAL_LIMIT = 64_000
"""Characters that all values together may take in one message."""

VALUE_LIMIT = 8_000
"""Characters of one value in a message; all of it is sent when it is asked for."""

OPEN_LIMIT = 400_000
"""Characters of a value that is asked for, and of one that can be edited."""

KEYS_SHOWN = 500
RECENT_WRITES = 50
NAME_LIMIT = 200


class InspectorView(View):
    """Shows a store and lets its values be edited.

    Args:
        scheduler: Where updates and handlers run.
        state: The store; it is watched until the view is closed.
        title: What the store is called.
    """

    _view: ClassVar[str] = "inspector"
    _time: Callable[[], float] = staticmethod(time.time)

    def __init__(self, scheduler: Scheduler, state: StateStore, title: str = "State") -> None:
        self._state = state
        self._title = title
        self._previews: dict[str, tuple[int, int, Preview]] = {}
        # Kept here too: the store forgets a key's last write after 10,000 others.
        self._last: dict[str, StateWrite] = {}
        self._seen = 0
        super().__init__(scheduler)
        # The watcher runs under the store's lock on the writer's thread: it only says "dirty".
        self._unwatch = state.watch(lambda write: self.refresh())

    def close(self) -> None:
        """Stop watching and close the comm."""
        getattr(self, "_unwatch", lambda: None)()
        super().close()

    # -- to the browser ---------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """Return keys in their order, values as JSON text, and the newest writes first."""
        # Under no lock: a tool may hold the store for long, and the loop must not wait for it.
        history = self._state.history
        values = self._state.snapshot()
        last = self._last_writes(history)
        shown = list(values)[:KEYS_SHOWN]
        room = max(200, min(VALUE_LIMIT, TOTAL_LIMIT // max(len(shown), 1)))
        previews = {key: self._preview(key, values[key], last.get(key), room) for key in shown}
        self._previews = previews
        return {
            "title": self._title,
            "now": self._time(),
            "keys": [
                {
                    "key": key,
                    "text": previews[key][2].text,
                    "note": previews[key][2].note,
                    "write": _write_data(last[key]) if key in last else None,
                }
                for key in shown
            ],
            "more_keys": len(values) - len(shown),
            "writes": [_write_data(write) for write in reversed(history[-RECENT_WRITES:])],
            "total_writes": history[-1].seq if history else 0,
        }

    def _last_writes(self, history: tuple[StateWrite, ...]) -> dict[str, StateWrite]:
        news = history[-1].seq - self._seen if history else 0
        for write in history[-news:] if news > 0 else ():
            if write.operation == "reset":
                self._last.clear()
            elif write.after is ABSENT:
                self._last.pop(write.key, None)
            else:
                self._last[write.key] = write
            self._seen = write.seq
        return self._last

    def _preview(
        self, key: str, value: Any, write: StateWrite | None, room: int
    ) -> tuple[int, int, Preview]:
        """Return the value as text, from the last time if it was not written since."""
        seq = write.seq if write is not None else 0
        known = self._previews.get(key)
        if known is not None and known[:2] == (seq, room):
            return known
        return seq, room, preview(value, room)

    # -- from the browser -------------------------------------------------------------------

    def on_open(self, content: dict[str, Any]) -> None:
        """All of a value is wanted, to read it or to edit it."""
        key = content.get("key")
        if isinstance(key, str) and key in self._state:
            value = self._state.get(key)
            shown = preview(value, OPEN_LIMIT, indent=2)
            self.post(
                {
                    "type": "value",
                    "key": key,
                    "text": shown.text,
                    "note": shown.note,
                    "same": _is_json(value),
                }
            )

    def on_edit(self, content: dict[str, Any]) -> None:
        """A value was typed as JSON text: store it, or say what is wrong with it."""
        key, text = content.get("key"), content.get("text")
        if not isinstance(key, str) or not isinstance(text, str):
            return
        new = content.get("new") is True
        fault = _fault(key, text, new, self._state)
        if fault is None:
            self._state.set(key, json.loads(text))
        self.post({"type": "edited", "key": key, "new": new, "fault": fault})

    def on_delete(self, content: dict[str, Any]) -> None:
        """A key is to go."""
        key = content.get("key")
        if isinstance(key, str):
            self._state.delete(key)

    def on_reset(self, content: dict[str, Any]) -> None:
        """Everything is to go; the page has asked twice."""
        self._state.reset()

    # -- static -----------------------------------------------------------------------------

    def static_html(self) -> str:
        """Return the values as a table, the recent writes folded below."""
        data = self.snapshot()
        keys = table(
            ("Key", "Value", "Last written"),
            (
                (
                    tag("strong", one["key"]),
                    code(one["text"], 400),
                    _by(one["write"]),
                )
                for one in data["keys"]
            ),
        )
        writes = table(
            ("Write", "Key", "Value", "By"),
            (
                (f"#{w['seq']} {w['operation']}", w["key"], w["text"], _by(w))
                for w in data["writes"][:20]
            ),
        )
        more = data["more_keys"]
        return tag(
            "div",
            tag("p", tag("strong", data["title"]), " · ", _counts(data)),
            keys or tag("p", "No state yet."),
            tag("p", f"and {plural(more, 'more key')}") if more else None,
            details("Recent writes", writes) if writes else None,
        )

    def static_text(self) -> str:
        """Return one line a key."""
        data = self.snapshot()
        lines = text_table(
            ("key", "value", "last written"),
            ((one["key"], one["text"], _by(one["write"])) for one in data["keys"]),
        )
        return "\n".join(filter(None, (f"{data['title']}: {_counts(data)}", lines)))


def _write_data(write: StateWrite) -> dict[str, Any]:
    after = "" if write.after is ABSENT else preview(write.after, 120).text
    return {
        "seq": write.seq,
        "key": write.key,
        "operation": write.operation,
        "text": "" if write.operation == "reset" else shorten(after, 160),
        "tool": write.tool_name,
        "call": write.call_id,
        "at": write.at,
    }


def _fault(key: str, text: str, new: bool, state: StateStore) -> str | None:
    """Return what is wrong with an edit, or ``None``."""
    if not key:
        return "A key needs at least one character."
    if new and key in state:
        return f"There is a key {shorten(key, 60)!r} already."
    if len(text) > OPEN_LIMIT * 2:
        return f"At most {OPEN_LIMIT * 2:,} characters can be edited here."
    try:
        json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        return f"Not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
    except RecursionError:
        return "Nested too deeply."
    except ValueError as error:
        return f"Not JSON: {error}"
    return None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def _is_json(value: Any) -> bool:
    """Whether a value is JSON as it is, so that an edit keeps its Python types."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(item) for key, item in value.items())
    if isinstance(value, list):
        return all(_is_json(item) for item in value)
    if isinstance(value, float):
        return value - value == 0
    return value is None or type(value) in (str, bool, int)


def _by(write: dict[str, Any] | None) -> str:
    """Who wrote and when; not how long ago, because a file is read much later."""
    if write is None:
        return ""
    at = dt.datetime.fromtimestamp(write["at"], dt.UTC)
    who = write["tool"] or "no tool"
    return f"{write['operation']} by {who}, {at:%Y-%m-%d %H:%M:%S} UTC"


def _counts(data: dict[str, Any]) -> str:
    keys = len(data["keys"]) + data["more_keys"]
    return f"{plural(keys, 'key')}, {plural(data['total_writes'], 'write')}"
