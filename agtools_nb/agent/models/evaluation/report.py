"""What an evaluation found: by tool, with the misses, as text and as a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

from agtools_nb.agent.models.evaluation.requests import EvaluationRequest
from agtools_nb.jsonable import clean_text, json_text, shorten

_NO_TOOL = "(text)"
_ALL = "all tools"
_HEADS = ("tool", "requests", "right tool", "right arguments", "seconds each")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a model made of one request.

    Attributes:
        wanted: The request, and what it asks for.
        tool: The tool that was called, ``None`` for none or for several.
        arguments: Its arguments as the model wrote them; several calls: all of them.
        text: What the model said besides.
        tool_is_right: Whether it called the right tool once, or none where none is for it.
        is_right: Whether the arguments are right, too.
        seconds: How long it took.
        error: Why it gave no answer.
    """

    wanted: EvaluationRequest
    tool: str | None
    arguments: Any
    text: str
    tool_is_right: bool
    is_right: bool
    seconds: float
    error: str | None = None

    @property
    def said(self) -> str:
        """What came, in one line."""
        if self.error is not None:
            said = f"failed: {self.error}"
        elif self.tool is not None:
            said = f"{self.tool} {json_text(self.arguments)}"
        elif self.arguments is not None:
            said = f"several calls: {json_text(self.arguments)}"
        else:
            said = f"text: {self.text}"
        return shorten(clean_text(" ".join(said.split())), 160)


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one tool."""

    tool: str
    requests: int
    right_tools: int
    right_arguments: int
    seconds: float

    @classmethod
    def of(cls, tool: str, outcomes: Iterable[Outcome]) -> Row:
        """Count."""
        found = list(outcomes)
        seconds = sum(one.seconds for one in found) / max(len(found), 1)
        right = sum(one.tool_is_right for one in found)
        return cls(tool, len(found), right, sum(one.is_right for one in found), seconds)

    @property
    def cells(self) -> tuple[str, ...]:
        """As text."""
        count = self.requests
        return (
            self.tool,
            str(count),
            f"{self.right_tools} ({_percent(self.right_tools, count)})",
            f"{self.right_arguments} ({_percent(self.right_arguments, count)})",
            f"{self.seconds:.2f} s",
        )


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation:
    """How well a model did. On the last line of a cell it is a table.

    Attributes:
        model: The model's name.
        outcomes: What it made of each request, in order.
    """

    model: str
    outcomes: tuple[Outcome, ...]

    @property
    def tool_accuracy(self) -> float:
        """Share of the requests for a tool at which the right one was called."""
        return _share([one.tool_is_right for one in self._of_tools])

    @property
    def argument_accuracy(self) -> float:
        """Share of the requests for a tool at which tool and arguments were right."""
        return _share([one.is_right for one in self._of_tools])

    @property
    def text_accuracy(self) -> float:
        """Share of the requests without a tool at which none was called."""
        return _share([one.is_right for one in self.outcomes if one.wanted.tool is None])

    @property
    def misses(self) -> tuple[Outcome, ...]:
        """What was not right."""
        return tuple(one for one in self.outcomes if not one.is_right)

    @property
    def rows(self) -> tuple[Row, ...]:
        """Figures by tool, all tools together, and what no tool is for."""
        names = dict.fromkeys(one.wanted.tool for one in self._of_tools if one.wanted.tool)
        rows = [
            Row.of(name, [one for one in self.outcomes if one.wanted.tool == name])
            for name in names
        ]
        rows.append(Row.of(_ALL, self._of_tools))
        rest = [one for one in self.outcomes if one.wanted.tool is None]
        return (*rows, Row.of(_NO_TOOL, rest)) if rest else tuple(rows)

    @property
    def _of_tools(self) -> list[Outcome]:
        return [one for one in self.outcomes if one.wanted.tool is not None]

    def __repr__(self) -> str:
        cells = [_HEADS, *(row.cells for row in self.rows)]
        widths = [max(len(row[at]) for row in cells) for at in range(len(_HEADS))]
        lines = [f"{self.model}: {len(self.outcomes)} requests"]
        lines += ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
                  for row in cells]  # fmt: skip
        lines += [f"missed: {one.wanted.request}\n        {one.said}" for one in self.misses]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        table = _table(_HEADS, (row.cells for row in self.rows))
        said = f"<p>{escape(self.model)}: {len(self.outcomes)} requests</p>{table}"
        if not self.misses:
            return said
        misses = _table(
            ("asked", "wanted", "came"),
            ((one.wanted.request, one.wanted.tool or _NO_TOOL, one.said) for one in self.misses),
        )
        return f"{said}<details><summary>{len(self.misses)} missed</summary>{misses}</details>"


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _share(right: list[bool]) -> float:
    return sum(right) / len(right) if right else 0.0
