"""One call of a batch as JSON data: its row, and all that is shown when the row is opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agtools_nb.calls import Change, ToolCall, ToolResult
from agtools_nb.jsonable import shorten
from agtools_nb.views.reported import Reported, bar_text
from agtools_nb.views.result import arguments_text, call_detail, value_preview

SUMMARY_LIMIT = 200
"""Characters of arguments and of an outcome in a row."""

OUTPUT_LIMIT = 32_000
"""Characters of what a call wrote, from the end, when its row is opened."""

PARTS = ("sent", "got", "result", "media", "stdout", "stderr", "warnings", "error", "output")


class Row:
    """What is known of one call.

    Args:
        call: The call.

    Attributes:
        asking: How many answers of a person it waits for.
        reported: What it has reported; ``None`` if nothing.
        sent: Characters of its output that pages were sent; ``None`` while nobody reads it.
    """

    __slots__ = (
        "arguments",
        "asking",
        "call",
        "changes",
        "reported",
        "result",
        "sent",
        "started",
        "summary",
    )

    def __init__(self, call: ToolCall) -> None:
        self.call = call
        self.arguments: Mapping[str, Any] | None = None
        self.changes: tuple[Change, ...] = ()
        self.started: float | None = None
        self.result: ToolResult | None = None
        self.asking = 0
        self.reported: Reported | None = None
        self.sent: int | None = None
        self.summary = shorten(arguments_text(call.args, SUMMARY_LIMIT).text, SUMMARY_LIMIT)

    @property
    def status(self) -> str:
        """The result's status, or ``"waiting"``, ``"asking"`` (a person) or ``"running"``."""
        if self.result is not None:
            return self.result.status
        if self.asking:
            return "asking"
        return "waiting" if self.started is None else "running"

    def data(self, index: int, began: float) -> dict[str, Any]:
        """Return the row.

        Args:
            index: Its place in the batch.
            began: When the batch began, Unix time in seconds.
        """
        data: dict[str, Any] = {
            "i": index,
            "name": self.call.name,
            "args": self.summary,
            "status": self.status,
            "changes": len(self.changes),
        }
        if self.started is not None:
            data["start"] = max(self.started - began, 0.0)
        if self.result is not None:
            data["duration"] = self.result.duration
            data["outcome"] = outcome(self.result)
        elif self.reported is not None:
            data["bars"] = self.reported.bars()
            data["line"] = self.reported.line()
        return data

    def output(self) -> dict[str, Any]:
        """Return what it wrote, for a page that begins to read it while it runs."""
        if self.result is not None or self.sent is None:
            return {}
        reported = self.reported or Reported()
        self.sent = reported.end
        return {"output": reported.output(OUTPUT_LIMIT)}

    def further_output(self) -> dict[str, Any]:
        """Return what it wrote since pages were last sent some."""
        if self.reported is None or self.sent is None or self.result is not None:
            return {}
        begin, self.sent = self.sent, self.reported.end
        return {"output": self.reported.since(begin)}

    def detail(self, limit: int, images: int) -> dict[str, Any]:
        """Return what the open row shows.

        Args:
            limit: Characters that each part may take.
            images: Bytes of images.
        """
        detail = call_detail(self.call, self.arguments, self.changes, self.result, limit, images)
        if self.reported is None or self.result is None:
            return detail
        # What was printed stands in the result, too.
        shown = [name for name in ("stdout", "stderr") if getattr(self.result, name)]
        output = self.reported.output(min(limit, OUTPUT_LIMIT), shown)
        cut = f"without the first {output['from']:,} characters" if output["from"] else ""
        return detail | {
            "bars": self.reported.bars(),
            "output": output["pieces"],
            "output_note": self.reported.note or (cut if output["pieces"] else ""),
        }

    def running_text(self) -> str:
        """Return how far it is and what it last wrote, in one line."""
        if self.result is not None or self.reported is None:
            return ""
        parts = [bar_text(bar) for bar in self.reported.bars()[:1]]
        return " · ".join(dict.fromkeys(filter(None, [*parts, self.reported.line()])))


def detail_size(detail: dict[str, Any]) -> int:
    """Return about how many characters a row's details take."""
    texts = sum(len(detail.get(name) or "") for name in (*PARTS, "traceback"))
    texts += sum(len(text) for part in detail.get("media", ()) for text in part.values())
    texts += sum(len(text) for _, text in detail.get("output", ()))
    return texts + 100 * len(detail["changes"]) + 100


def outcome(result: ToolResult) -> str:
    """Return the outcome in one short line."""
    if result.ok:
        return shorten(value_preview(result, SUMMARY_LIMIT).text, SUMMARY_LIMIT)
    return shorten((result.error or "").strip().partition("\n")[0], SUMMARY_LIMIT)
