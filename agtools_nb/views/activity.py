"""What goes on beside the calls, live: running tasks, subscriptions and triggers; the inbox."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from agtools_nb.events import Background, BackgroundTask, RunningTrigger, Subscription
from agtools_nb.views.activity_rows import (
    Work,
    event_detail,
    event_row,
    is_open,
    when,
    work_detail,
    work_id,
    work_row,
)
from agtools_nb.views.base import Scheduler, View
from agtools_nb.views.markup import Html, code, details, join, plural, table, tag, text_table

OPEN_SHOWN = 100
ENDED_SHOWN = 50
EVENTS_SHOWN = 100
DETAIL_LIMIT = 100_000
"""Characters of each part of what a row shows when it is opened."""

Drawn = dict[tuple[str, Any], tuple[Any, dict[str, Any]]]
"""Rows by kind and id, each with the record that it was made of."""


class ActivityView(View):
    """Shows the work of a session that outlives its calls, and lets it be cancelled.

    Args:
        scheduler: Where updates and handlers run.
        background: The work and the inbox; watched until the view is closed.
    """

    _view: ClassVar[str] = "activity"
    _time: Callable[[], float] = staticmethod(time.time)

    def __init__(self, scheduler: Scheduler, background: Background) -> None:
        self._background = background
        self._cancelling: set[tuple[str, str]] = set()
        self._drawn: Drawn = {}
        super().__init__(scheduler)
        # It is told on the thread of each change: it only says "dirty".
        self._unwatch = background.watch(self.refresh)

    def close(self) -> None:
        """Stop watching and close the comm."""
        getattr(self, "_unwatch", lambda: None)()
        super().close()

    # -- to the browser ---------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """Return what runs, oldest first; what has ended and what arrived, newest first."""
        old, self._drawn = self._drawn, {}
        work = self._work()
        running = [one for one in work if is_open(one)]
        ended = [one for one in work if not is_open(one)]
        items = self._background.inbox.items
        to_handle = sum(event.status != "handled" for event in items)
        return {
            "now": self._time(),
            "running": [self._row(old, one) for one in running[:OPEN_SHOWN]],
            "more_running": max(0, len(running) - OPEN_SHOWN),
            "ended": [self._row(old, one) for one in _newest(ended)],
            "more_ended": max(0, len(ended) - ENDED_SHOWN),
            "events": [
                self._cached(old, ("event", event.seq), event, event_row)
                for event in reversed(items[-EVENTS_SHOWN:])
            ],
            "more_events": max(0, len(items) - EVENTS_SHOWN),
            "to_handle": to_handle,
            "held": self._background.inbox.held,
        }

    def _work(self) -> list[Work]:
        one = self._background
        return [*one.tasks, *one.subscriptions, *one.triggers]

    def _row(self, old: Drawn, one: Work) -> dict[str, Any]:
        key = work_id(one)
        row = self._cached(old, key, one, work_row)
        return {**row, "cancelling": key in self._cancelling}

    def _cached(
        self, old: Drawn, key: tuple[str, Any], one: Any, make: Callable[[Any], dict[str, Any]]
    ) -> dict[str, Any]:
        """Return a row, as it was made before if nothing about it has changed.

        Records are replaced when they change, but for triggers.
        """
        known = old.get(key)
        if known is None or known[0] is not one or isinstance(one, RunningTrigger):
            known = one, make(one)
        self._drawn[key] = known
        return known[1]

    # -- from the browser -------------------------------------------------------------------

    def on_open(self, content: dict[str, Any]) -> None:
        """A row was opened: send its details."""
        key = content.get("way"), content.get("id")
        detail: dict[str, Any] | None = None
        if key[0] == "event":
            events = (one for one in self._background.inbox.items if one.seq == key[1])
            detail = next((event_detail(one, DETAIL_LIMIT) for one in events), None)
        elif (found := self._found(key)) is not None:
            detail = work_detail(found, DETAIL_LIMIT)
        if detail is not None:
            self.post({"type": "detail", "way": key[0], "id": key[1], "detail": detail})

    def _found(self, key: tuple[Any, Any]) -> Work | None:
        return next((one for one in self._work() if work_id(one) == key), None)

    async def on_cancel(self, content: dict[str, Any]) -> None:
        """Cancel was pressed."""
        key = content.get("way"), content.get("id")
        one = self._found(key)
        if one is None or not is_open(one) or work_id(one) in self._cancelling:
            return
        self._cancelling.add(work_id(one))
        self.refresh()
        try:
            await _cancel(self._background, one)
        finally:
            self._cancelling.discard(work_id(one))
            self.refresh()

    # -- static -----------------------------------------------------------------------------

    def headline(self) -> str:
        """Return how many things run, and how many events wait."""
        items = self._background.inbox.items
        return _summary(
            {
                "running": [one for one in self._work() if is_open(one)],
                "more_running": 0,
                "to_handle": sum(event.status != "handled" for event in items),
                "held": self._background.inbox.held,
            }
        )

    def static_html(self) -> str:
        """Return what runs and the inbox as tables, what has ended folded below."""
        data = self.snapshot()
        ended = _work_table(data["ended"], data["more_ended"])
        return tag(
            "div",
            tag("p", tag("strong", "Activity"), " · ", _summary(data)),
            _work_table(data["running"], data["more_running"]),
            _event_table(data["events"], data["more_events"]),
            details("Ended", ended) if data["ended"] else None,
        )

    def static_text(self) -> str:
        """Return one line for each thing that runs, has ended, or arrived."""
        data = self.snapshot()
        work = text_table(
            ("", "what", "status", "began", "about"),
            (
                (row["kind"], row["name"], row["word"], when(row["began"]), row["text"])
                for row in [*data["running"], *data["ended"]]
            ),
        )
        events = text_table(
            ("inbox", "from", "status", "at", "says"),
            (
                (
                    f"#{row['id']} {row['kind']}",
                    row["name"],
                    row["word"],
                    when(row["at"]),
                    _says(row),
                )
                for row in data["events"]
            ),
        )
        return "\n\n".join(filter(None, (f"Activity: {_summary(data)}", work, events)))


async def _cancel(background: Background, one: Work) -> None:
    if isinstance(one, BackgroundTask):
        await background.cancel(one.task_id)
    elif isinstance(one, Subscription):
        await background.cancel_subscription(one.id)
    else:
        await background.remove_trigger(one.id)


def _newest(ended: Sequence[Work]) -> Iterable[Work]:
    """The last that ended, the newest first; triggers know no time, and come last."""
    return sorted(ended, key=_ended_at, reverse=True)[:ENDED_SHOWN]


def _ended_at(one: Work) -> float:
    if isinstance(one, BackgroundTask):
        return one.ended_at or one.started_at
    return (one.last_at or one.started_at) if isinstance(one, Subscription) else 0.0


def _summary(data: dict[str, Any]) -> str:
    running = len(data["running"]) + data["more_running"]
    words = [f"{running:,} running", f"{plural(data['to_handle'], 'event')} to handle"]
    if data["held"]:
        words.append("held while a call is waited for")
    return " · ".join(words)


def _work_table(rows: list[dict[str, Any]], more: int) -> Html:
    head = ("Kind", "What", "Status", "Began", "About")
    body = (
        (
            row["kind"],
            join([tag("strong", row["name"]), " ", code(row["args"]) if row["args"] else None]),
            row["word"],
            when(row["began"]),
            row["text"],
        )
        for row in rows
    )
    return join([table(head, body), tag("p", f"and {more:,} more") if more else None])


def _event_table(rows: list[dict[str, Any]], more: int) -> Html:
    head = ("Inbox", "From", "Status", "At", "Says")
    body = (
        (
            f"#{row['id']} {row['kind']}",
            row["name"],
            row["word"] + (", final" if row["final"] else ""),
            when(row["at"]),
            code(_says(row)),
        )
        for row in rows
    )
    return join([table(head, body), tag("p", f"and {more:,} older") if more else None])


def _says(row: dict[str, Any]) -> str:
    return str(row["error"] or row["text"])
