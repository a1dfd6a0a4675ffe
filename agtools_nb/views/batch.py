"""A batch as it runs: one row a call, on a common time axis, with a Stop button."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from agtools_nb.calls import Change, ToolCall, ToolResult
from agtools_nb.context import Progress
from agtools_nb.jsonable import shorten
from agtools_nb.views.base import Scheduler, wire_safe
from agtools_nb.views.batch_row import PARTS, SUMMARY_LIMIT, Row, detail_size, outcome
from agtools_nb.views.hosting import HostView
from agtools_nb.views.markup import (
    Html,
    code,
    details,
    duration,
    join,
    plural,
    table,
    tag,
    text_table,
)
from agtools_nb.views.media import Room
from agtools_nb.views.reported import Reported
from agtools_nb.views.result import (
    STATUS_WORDS,
    arguments_text,
    body_html,
    headline_html,
    result_text,
)

INLINE_LIMIT = 2_000
"""Characters of each part of a row's details that are sent along with the row."""

INLINE_TOTAL = 200_000
"""Characters of details that a whole batch sends along; the rest is sent when a row is opened."""

DETAIL_LIMIT = 200_000
"""Characters of each part of a row's details when the row is opened."""

INLINE_IMAGES = 50_000
"""Bytes of a row's images that are sent along with the row."""

DETAIL_IMAGES = 8_000_000
"""Bytes of a row's images when the row is opened."""

STATIC_ROWS = 100


class BatchView(HostView):
    """Shows calls while they run and after.

    The methods ``call_started``, ``call_progress``, ``call_finished`` and ``batch_finished``
    are called from one thread, the loop's.

    Args:
        scheduler: Where updates and handlers run.
        calls: The calls, in their order.
        stop: Cancels the batch; ``None`` leaves the Stop button out.
    """

    _view: ClassVar[str] = "batch"
    _time: Callable[[], float] = staticmethod(time.time)

    def __init__(
        self,
        scheduler: Scheduler,
        calls: Sequence[ToolCall],
        stop: Callable[[], None] | None,
    ) -> None:
        self._rows = [Row(call) for call in calls]
        if len(self._rows) == 1:
            self._rows[0].sent = 0  # it is open from the start
        self._stop = stop
        self._stopping = False
        self._finished = False
        self._is_running = False
        self._began = self._time()
        self._elapsed = 0.0
        self._changed: set[int] = set()
        self._full = False
        super().__init__(scheduler)

    # -- what the runner tells --------------------------------------------------------------

    def call_started(
        self,
        index: int,
        call: ToolCall,
        arguments: Mapping[str, Any] | None,
        changes: tuple[Change, ...],
        shown: str | None = None,
    ) -> None:
        """A call begins.

        Args:
            index: Its place in the batch.
            call: The call, with the id that it got.
            arguments: The arguments as the tool gets them; ``None`` if unreadable.
            changes: What was coerced in them.
            shown: What the tool's author wants people to read in place of the arguments.
        """
        row = self._rows[index]
        row.call, row.arguments, row.changes = call, arguments, changes
        row.started = self._time()
        if shown is not None:
            row.summary = shorten(shown, SUMMARY_LIMIT)
        if not self._is_running:
            # The axis begins with the first call, not with the drawing of the view.
            self._is_running = True
            self._began = row.started
        self._touch(index)

    def call_asks(self, index: int, asks: bool) -> None:
        """A call begins, or ceases, to wait for a person's answer."""
        self._rows[index].asking += 1 if asks else -1
        self._touch(index)

    def call_progress(self, index: int, progress: Progress) -> None:
        """A running call reports how far it is, or writes something."""
        row = self._rows[index]
        if row.reported is None:
            row.reported = Reported()
        row.reported.add(progress)
        self._touch(index)

    def call_finished(self, index: int, result: ToolResult) -> None:
        """A call has ended with ``result``."""
        row = self._rows[index]
        row.result = result
        row.changes = result.coercions or row.changes
        if result.arguments is not None:
            row.arguments = result.arguments
        if result.started_at:
            row.started = result.started_at
        self._touch(index)

    def batch_finished(self) -> None:
        """No call of the batch runs any more."""
        self._finished = self._full = True
        self._elapsed = self._time() - self._began
        # Not coalesced: the cell ends now, and perhaps the kernel, and the page is saved.
        self.refresh_now()

    def _touch(self, index: int) -> None:
        self._changed.add(index)
        self.refresh()

    # -- to the browser ---------------------------------------------------------------------

    def snapshot(self) -> dict[str, Any]:
        """Return every row; details of small ones, up to a total."""
        self._changed.clear()
        self._full = False
        left = INLINE_TOTAL
        rows = []
        for index, row in enumerate(self._rows):
            data = row.data(index, self._began) | row.output()
            detail = self._inline_detail(index, left)
            if detail is not None:
                data["detail"] = detail
                left -= detail_size(detail)
            rows.append(data)
        return {"rows": rows, "can_stop": self._stop is not None, **self._head()}

    def publish(self) -> int:
        """Send the changed rows, or everything at the end and when a page was reloaded."""
        if self._full:
            return super().publish()
        self._rev += 1
        changed = [(index, self._rows[index]) for index in sorted(self._changed)]
        self._changed.clear()
        rows = [row.data(index, self._began) | row.further_output() for index, row in changed]
        self.send(wire_safe({"type": "rows", "rev": self._rev, "rows": rows, **self._head()}))
        return 1

    def _head(self) -> dict[str, Any]:
        elapsed = self._elapsed if self._finished else self._time() - self._began
        return {
            "began": self._began,
            "elapsed": max(elapsed, 0.0),
            "finished": self._finished,
            "stopping": self._stopping,
        }

    def _inline_detail(self, index: int, left: int) -> dict[str, Any] | None:
        row = self._rows[index]
        if left <= 0 or row.result is None:
            return None
        detail = row.detail(INLINE_LIMIT, INLINE_IMAGES)
        whole = not any(detail.get(f"{name}_note") for name in PARTS)
        return detail if whole and detail_size(detail) <= left else None

    # -- from the browser -------------------------------------------------------------------

    def on_ready(self, content: dict[str, Any]) -> None:
        """A page was loaded or loaded again: send everything if it has an older state."""
        if content.get("rev") != self._rev:
            self._full = True
            self.refresh()

    def on_open(self, content: dict[str, Any]) -> None:
        """A row was opened: send its details."""
        index = content.get("i")
        if type(index) is int and 0 <= index < len(self._rows):
            row = self._rows[index]
            if row.sent is None:
                row.sent = 0
            detail = row.detail(DETAIL_LIMIT, DETAIL_IMAGES)
            self.post({"type": "detail", "i": index, "detail": detail, **row.output()})

    def on_stop(self, content: dict[str, Any]) -> None:
        """Stop was pressed."""
        if self._stop is None or self._finished or self._stopping:
            return
        self._stopping = True
        self.refresh()
        self._stop()

    # -- static -----------------------------------------------------------------------------

    def static_html(self) -> str:
        """Return a table of the calls with their outcomes folded below each."""
        if len(self._rows) == 1 and self._rows[0].result is not None:
            return self._single_html(self._rows[0], self._rows[0].result)
        shown = self._rows[:STATIC_ROWS]
        head = ("", "Status", "Call", "Start", "Took", "Outcome")
        more = len(self._rows) - len(shown)
        room = Room()
        return tag(
            "div",
            tag("p", tag("strong", self._summary())),
            table(head, (self._static_row(at, row, room) for at, row in enumerate(shown))),
            self.cards_html(),
            tag("p", f"and {plural(more, 'more call')}") if more else None,
        )

    def _single_html(self, row: Row, result: ToolResult) -> Html:
        arguments = tag("p", "Arguments: ", code(arguments_text(row.call.args, 1_000).text, 1_100))
        return tag("div", headline_html(result), arguments, self.cards_html(), body_html(result))

    def _static_row(self, index: int, row: Row, room: Room) -> list[Any]:
        result = row.result
        shown: Any = row.running_text() if result is None else None
        if result is not None:
            shown = details(outcome(result), body_html(result, room))
        start = None if row.started is None else duration(max(row.started - self._began, 0.0))
        return [
            str(index + 1),
            STATUS_WORDS.get(row.status, row.status),
            join([tag("strong", row.call.name), " ", code(row.summary)]),
            f"+{start}" if start else None,
            None if result is None else duration(result.duration),
            shown,
        ]

    def headline(self) -> str:
        """Return how many calls there are, and how they stand."""
        return self._summary()

    def static_text(self) -> str:
        """Return one line a call."""
        if len(self._rows) == 1 and self._rows[0].result is not None:
            return "\n".join([*self.cards_text(), result_text(self._rows[0].result)])
        lines = text_table(
            ("", "status", "call", "took", "outcome"),
            (
                (
                    str(index + 1),
                    STATUS_WORDS.get(row.status, row.status),
                    f"{row.call.name} {row.summary}",
                    "" if row.result is None else duration(row.result.duration),
                    row.running_text() if row.result is None else outcome(row.result),
                )
                for index, row in enumerate(self._rows[:STATIC_ROWS])
            ),
            width=56,
        )
        return "\n".join([self._summary(), lines, *self.cards_text()])

    def _summary(self) -> str:
        states = [row.status for row in self._rows]
        words = [plural(len(states), "call")]
        counts = (
            ("ok", states.count("ok")),
            ("failed", states.count("error") + states.count("invalid")),
            ("denied", states.count("denied")),
            ("cancelled", states.count("cancelled")),
            ("waiting for an answer", states.count("asking")),
            ("running", states.count("running")),
            ("waiting", states.count("waiting")),
        )
        words += [f"{count:,} {word}" for word, count in counts if count]
        return " · ".join([*words, duration(self._head()["elapsed"])])
