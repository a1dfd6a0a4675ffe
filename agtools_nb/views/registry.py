"""The registry: every tool, what it takes, how often it was called, how the last call went."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from agtools_nb.access import PolicyEngine, Standing
from agtools_nb.calls import ToolResult
from agtools_nb.define import Tool
from agtools_nb.jsonable import shorten
from agtools_nb.views.base import Scheduler, View
from agtools_nb.views.describe import tool_data
from agtools_nb.views.markup import code, duration, plural, table, tag, text_table
from agtools_nb.views.result import STATUS_WORDS
from agtools_nb.views.values import preview

AccessKind = Standing | Literal["approved"]
"""How a tool stands; ``"approved"``: it asks, and a person approved it for this session."""


@dataclass(frozen=True, slots=True)
class RegistryRow:
    """One tool and what has become of its calls.

    Attributes:
        tool: The tool.
        calls: Calls that have ended.
        failures: How many of them did not end with ``"ok"``.
        running: Calls that are running now.
        last: The outcome of the call that ended last.
        access: Whether its calls run; ``None`` where nothing says that any does not.
    """

    tool: Tool
    calls: int = 0
    failures: int = 0
    running: int = 0
    last: ToolResult | None = None
    access: AccessKind | None = None


ACCESS_WORDS: dict[AccessKind, str] = {
    "on": "on",
    "off": "off",
    "denied": "denied",
    "asks": "asks you",
    "approved": "approved",
    "depends": "depends",
}
"""How a tool stands, in a word."""

_ACCESS_TEXTS: dict[AccessKind, str] = {
    "on": "Its calls run.",
    "off": "It is off: a model does not see it, and a call of it is a call of an unknown tool.",
    "denied": "Every call of it is denied, with the reason of the rule that denies.",
    "asks": "A person is asked about every call of it.",
    "approved": "Its calls run without asking: you approved them for this session.",
    "depends": "Whether a call runs depends on its arguments.",
}


def access_of(engine: PolicyEngine, tool: Tool) -> AccessKind:
    """Whether the calls of a tool run, as its rules have it and as people approved it."""
    return "approved" if engine.is_approved(tool) else engine.standing(tool)


class RegistryView(View):
    """Shows the tools that ``rows`` gives each time it is refreshed.

    Args:
        scheduler: Where updates run.
        rows: Gives the tools in their order. Called on the main loop.
    """

    _view: ClassVar[str] = "registry"

    def __init__(self, scheduler: Scheduler, rows: Callable[[], Sequence[RegistryRow]]) -> None:
        self._rows = rows
        self._described: dict[str, tuple[Tool, dict[str, Any]]] = {}
        super().__init__(scheduler)

    def snapshot(self) -> dict[str, Any]:
        """Return the tools and their counts."""
        rows = self._rows()
        names = {row.tool.name for row in rows}
        self._described = {name: kept for name, kept in self._described.items() if name in names}
        return {"tools": [self._row(row) for row in rows]}

    def _row(self, row: RegistryRow) -> dict[str, Any]:
        return {
            **self._tool(row.tool),
            "calls": row.calls,
            "failures": row.failures,
            "running": row.running,
            "last": _last(row.last),
            "access": _access(row.access),
        }

    def _tool(self, tool: Tool) -> dict[str, Any]:
        known = self._described.get(tool.name)
        if known is None or known[0] is not tool:
            known = self._described[tool.name] = (tool, tool_data(tool))
        return known[1]

    def headline(self) -> str:
        """Return how many tools there are, and their names."""
        names = [row.tool.name for row in self._rows()]
        return f"{plural(len(names), 'tool')}: {', '.join(names)}" if names else "no tools yet"

    def static_html(self) -> str:
        """Return the tools as a table."""
        rows = self.snapshot()["tools"]
        if not rows:
            return tag("p", "No tools yet.")
        head = ("Tool", "Access", "What it does", "Parameters", "Flags", "Calls", "Last outcome")
        body = [
            (
                tag("strong", row["name"]),
                _access_word(row),
                row["fault"] or _first_line(row["description"]),
                [[code(_signature(p)), " "] for p in row["parameters"]],
                ", ".join(row["flags"]),
                _counts(row),
                _outcome(row),
            )
            for row in rows
        ]
        return tag("div", tag("p", plural(len(rows), "tool")), table(head, body))

    def static_text(self) -> str:
        """Return one line a tool."""
        rows = self.snapshot()["tools"]
        if not rows:
            return "No tools yet."
        return text_table(
            ("tool", "access", "what it does", "parameters", "calls", "last outcome"),
            (
                (
                    row["name"],
                    _access_word(row),
                    row["fault"] or _first_line(row["description"]),
                    ", ".join(_signature(p) for p in row["parameters"]),
                    _counts(row),
                    _outcome(row),
                )
                for row in rows
            ),
        )


def _last(result: ToolResult | None) -> dict[str, Any] | None:
    if result is None:
        return None
    text = preview(result.result, 120).text if result.ok else result.error or ""
    return {
        "status": result.status,
        "word": STATUS_WORDS[result.status],
        "text": shorten(_first_line(text), 160),
        "duration": result.duration,
        "at": result.started_at + result.duration,
    }


def _access(access: AccessKind | None) -> dict[str, str] | None:
    if access is None:
        return None
    return {"kind": access, "word": ACCESS_WORDS[access], "text": _ACCESS_TEXTS[access]}


def _access_word(row: dict[str, Any]) -> str:
    return "" if row["access"] is None else str(row["access"]["word"])


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _signature(parameter: dict[str, Any]) -> str:
    return f"{parameter['name']}{'' if parameter['required'] else '?'}: {parameter['type']}"


def _counts(row: dict[str, Any]) -> str:
    parts = [f"{row['calls']:,}"] if row["calls"] else []
    parts += [f"{row['failures']:,} failed"] if row["failures"] else []
    parts += [f"{row['running']:,} running"] if row["running"] else []
    return ", ".join(parts)


def _outcome(row: dict[str, Any]) -> str:
    last = row["last"]
    return "" if last is None else f"{last['word']} · {duration(last['duration'])}"
