"""What stands between a call that is ready and its function, seen from the runner.

A runner without a gate runs every call. Who may call what is decided by whoever
implements these protocols; the runner only asks, and does what is said.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from agtools_nb.arguments import Prepared
from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.context import AnswerHandler
from agtools_nb.define import Tool

Prepare = Callable[[Any], Awaitable[Prepared]]
"""Makes arguments ready for the tool: coerced and validated, as the model's own are."""

Aside = Callable[[], AbstractAsyncContextManager[Any]]
"""Within it a call keeps no other waiting: a person is being asked about it."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A call that may run.

    Attributes:
        prepared: What it runs with.
        notes: Remarks for its result.
        path: The path that it is about, as it was judged.
    """

    prepared: Prepared
    notes: tuple[str, ...] = ()
    path: str | None = None


class Visit(Protocol):
    """One call at the gate, from its arguments to its result."""

    async def admit(
        self, tool: Tool, call: ToolCall, prepared: Prepared, prepare: Prepare, aside: Aside
    ) -> Admitted:
        """Say whether the call may run, and with what.

        Raises:
            DeniedError: It may not.
            AgtoolsError: It cannot: what it would run with instead does not fit, or what
                decides failed.
        """

    async def answered(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """The result to answer with, in place of ``result``. Must not raise."""

    def answering(self, handler: AnswerHandler | None) -> AnswerHandler | None:
        """Who answers what the tool asks a person; ``handler`` would without a gate."""


@dataclass(slots=True)
class Passage:
    """What is known of a call on its way past those who can refuse it.

    Attributes:
        visit: The call at the gate; ``None`` if there is no gate.
        aside: Within it the call keeps no other waiting.
        path: The path that it is about.
        is_denied: Whether it was refused.
    """

    visit: Visit | None = None
    aside: Aside = nullcontext
    path: str | None = None
    is_denied: bool = False


class Round(Protocol):
    """Calls that belong together: a batch, a stream, one call by itself."""

    async def began(self, calls: Sequence[ToolCall]) -> None:
        """The calls are about to run. What speaks against that is told in each one's result."""

    def visit(self) -> Visit:
        """One call comes."""

    async def ended(self, results: Sequence[ToolResult], *, stopped: bool) -> None:
        """Every call has its result. Must not raise."""


class Gate(Protocol):
    """Decides which calls run."""

    def shows(self, tool: Tool, owners: Iterable[str]) -> bool:
        """Whether there is such a tool for the model.

        Args:
            tool: The tool.
            owners: Names of the tools that it came with; none if somebody registered it.
        """

    @property
    def guards(self) -> bool:
        """Whether there are rules, so that guarded tools may be registered."""

    def check(self, tools: Sequence[Tool]) -> None:
        """Look whether the rules fit the tools, before calls run.

        Raises:
            UsageError: They cannot.
        """

    def round(self) -> Round:
        """Calls are about to run."""
