"""The state that tools share, live: values, who changed them; its history, snapshots, search."""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from agtools_nb.context import StateStore
from agtools_nb.jsonable import shorten
from agtools_nb.views.base import Scheduler, View
from agtools_nb.views.markup import code, details, plural, table, tag, text_table
from agtools_nb.views.state_data import changes_between, entries, write_data
from agtools_nb.views.state_past import Past, position_of
from agtools_nb.views.values import Preview, preview

OPEN_LIMIT = 400_000
"""Characters of a value that is asked for, and of one that can be edited."""

RECENT_WRITES = 50
STATIC_WRITES = 20
SNAPSHOTS_SHOWN = 100
NAME_LIMIT = 200


class InspectorView(View):
    """Shows a store, lets its values be edited, and looks into its past.

    Args:
        scheduler: Where updates and handlers run.
        state: The store; it is watched until the view is closed.
        title: What the store is called.
    """

    _view: ClassVar[str] = "inspector"
    _time: Callable[[], float] = staticmethod(time.time)
    # A tool that writes all the time must hardly notice that somebody looks on.
    _share: ClassVar[float] = 0.04
    _cpu_share: ClassVar[float] = 0.0125

    def __init__(self, scheduler: Scheduler, state: StateStore, title: str = "State") -> None:
        self._state = state
        self._past = Past(state)
        self._title = title
        self._previews: dict[str, tuple[int, int, Preview]] = {}
        self._recent = 1
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
        history = self._past.take()
        values = self._state.snapshot()
        old, self._previews = self._previews, {}
        return {
            "title": self._title,
            "now": self._time(),
            **entries(values, self._past.last, lambda *one: self._preview(old, *one)),
            "writes": [self._past.with_steps(one) for one in reversed(history[-self._recent :])],
            "total_writes": history[-1].seq if history else 0,
            "steps": self._past.bounds(),
            "snapshots": [
                {"name": one.name, "at": one.at, "keys": len(one.values)}
                for one in self._state.snapshots[-SNAPSHOTS_SHOWN:]
            ],
        }

    def _preview(
        self, old: Mapping[str, tuple[int, int, Preview]], key: str, value: Any, room: int
    ) -> Preview:
        """Return the value as text, from the last time if it was not written since."""
        write = self._past.last.get(key)
        seq = write.seq if write is not None else 0
        known = old.get(key)
        if known is None or known[:2] != (seq, room):
            known = seq, room, preview(value, room)
        self._previews[key] = known
        return known[2]

    def on_recent(self, content: dict[str, Any]) -> None:
        """The recent writes were opened: from now on more than the last one is sent."""
        self._recent = RECENT_WRITES
        self.refresh()

    # -- the past ---------------------------------------------------------------------------

    def on_look(self, content: dict[str, Any]) -> None:
        """The slider was moved: send the state as it was after that step."""
        if (position := position_of(content)) is not None:
            self.post({"type": "moment", **self._past.moment(position)})

    def on_find(self, content: dict[str, Any]) -> None:
        """A text is looked for: in the state as it is or was, and in the writes."""
        text, position = content.get("text"), position_of(content)
        if isinstance(text, str) and text:
            asked = {"by": content.get("by"), "at": content.get("at")} if position else {}
            began = time.thread_time()
            found = self._past.found(text[:NAME_LIMIT], position)
            # A page asks again while writes come, so it must know what that costs.
            took = time.thread_time() - began
            self.post({"type": "found", **found, **asked, "took": took})

    def on_save(self, content: dict[str, Any]) -> None:
        """The state is to be kept under a name."""
        name = content.get("name")
        if not isinstance(name, str):
            return
        fault = None
        if not name.strip():
            fault = "A snapshot needs a name."
        elif len(name) > NAME_LIMIT:
            fault = f"A name has at most {NAME_LIMIT} characters."
        else:
            self._state.save(name.strip())
            self.refresh()
        self.post({"type": "saved", "fault": fault})

    def on_load(self, content: dict[str, Any]) -> None:
        """The state is to be what it was when a snapshot was saved; the page has asked twice."""
        name = content.get("name")
        if isinstance(name, str):
            self._state.load(name)

    def on_forget(self, content: dict[str, Any]) -> None:
        """A snapshot is to go; the page has asked twice."""
        name = content.get("name")
        if isinstance(name, str):
            self._state.forget(name)
            self.refresh()

    def on_compare(self, content: dict[str, Any]) -> None:
        """Two states are to be compared, each a snapshot's name; ``None`` is the state now."""
        names = content.get("before"), content.get("after")
        saved = {one.name: one.values for one in self._state.snapshots}
        if all(name is None or (isinstance(name, str) and name in saved) for name in names):
            now = self._past.present()
            before, after = (now if name is None else saved[name] for name in names)
            changes = changes_between(before, after)
            self.post({"type": "compared", "before": names[0], "after": names[1], **changes})

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

    def headline(self) -> str:
        """Return the store's title, and how many keys and writes it has."""
        history = self._state.history
        writes = plural(history[-1].seq if history else 0, "write")
        return f"{self._title}, {plural(len(self._state), 'key')}, {writes}"

    def static_html(self) -> str:
        """Return the values as a table, the recent writes folded below."""
        data = self.snapshot()
        recent = reversed(self._state.history[-STATIC_WRITES:])
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
                for w in map(write_data, recent)
            ),
        )
        saved = table(
            ("Snapshot", "Keys", "Saved"),
            ((one["name"], str(one["keys"]), _time_of(one["at"])) for one in data["snapshots"]),
        )
        more = data["more_keys"]
        return tag(
            "div",
            tag("p", tag("strong", data["title"]), " · ", _counts(data)),
            keys or tag("p", "No state now." if data["total_writes"] else "No state yet."),
            tag("p", f"and {plural(more, 'more key')}") if more else None,
            details("Snapshots", saved) if saved else None,
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
    return f"{write['operation']} by {write['tool'] or 'no tool'}, {_time_of(write['at'])}"


def _time_of(at: float) -> str:
    return f"{dt.datetime.fromtimestamp(at, dt.UTC):%Y-%m-%d %H:%M:%S} UTC"


def _counts(data: dict[str, Any]) -> str:
    keys = len(data["keys"]) + data["more_keys"]
    return f"{plural(keys, 'key')}, {plural(data['total_writes'], 'write')}"
