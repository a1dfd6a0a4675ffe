"""What travels between a model and a tool: calls, results, changes and faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agtools_nb.errors import ToolExecutionError
from agtools_nb.jsonable import brief_repr, clean_text, shorten
from agtools_nb.media import Media

Status = Literal["ok", "error", "invalid", "denied", "cancelled"]


@dataclass(frozen=True, slots=True)
class Change:
    """One coercion: what the model sent at a place, and what the tool got there.

    Attributes:
        pointer: JSON Pointer (RFC 6901) into the arguments; ``""`` is the whole object.
        before: The value as it came.
        after: The value as the tool gets it.
        rule: Which conversion it was, for people: ``"text to integer"``.
    """

    pointer: str
    before: Any
    after: Any
    rule: str


@dataclass(frozen=True, slots=True)
class Fault:
    """One place where arguments do not fit the tool's schema.

    Attributes:
        pointer: JSON Pointer (RFC 6901) into the arguments; ``""`` is the whole object.
        expected: What the schema asks for there: ``"an integer from 1 to 10"``.
        got: What came, shortened: ``'"ten" (a string)'``, or ``"nothing"``.
        message: One sentence that names the place, what was expected and what came.
    """

    pointer: str
    expected: str
    got: str
    message: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request to run one tool.

    Attributes:
        name: The tool's registered name.
        args: Arguments as a dict, or as the JSON text a model sent.
        id: The provider's id of the call; a fresh one is made when it is missing.
        step_id: Id of the model turn it belongs to.
        canonical_path: The workspace path that the call is about, if any.
        server_name: MCP server of the tool; ``None`` for own tools.
        timeout: Seconds it may take; ``None`` leaves that to the batch, then to the tool.
    """

    name: str
    args: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None
    step_id: str | None = None
    canonical_path: str | None = None
    server_name: str | None = None
    timeout: float | None = None


# Not frozen: that makes an object of 20 fields eight times as dear.
@dataclass(slots=True, repr=False)
class ToolResult:
    """What became of one call. Made by the runner; not meant to be changed.

    Attributes:
        name: Name that was called.
        id: Id of the call (given or made).
        step_id: Copied from the call.
        result: What the tool returned, as it is in Python; ``None`` on failure.
        error: What the model is told when the call failed, else ``None``.
        exception: The failure as an exception, its original as ``__cause__``.
        server_name: MCP server of the tool; ``None`` for own tools.
        status: ``"ok"``; ``"invalid"`` when the arguments did not fit or no such
            tool exists, so that nothing ran; ``"denied"`` when a rule, a hook or a person
            refused it, so that nothing ran; ``"error"`` when the tool failed;
            ``"cancelled"`` when it was stopped.
        arguments: The arguments as the tool got them (JSON), ``None`` if unreadable. Where
            there are rules or hooks, also what its types made of them.
        coercions: What was converted on the way in.
        faults: What did not fit, for ``"invalid"``.
        stdout: What the tool printed, at most 1 MiB of text.
        stderr: The same for standard error.
        started_at: Unix time in seconds at which the call was taken up.
        duration: Seconds from then to the result.
        notes: Remarks, such as a call id that had to be replaced.
        media: Images, sound and files found in what the tool returned.
        warnings: What Python warned of during the call: ``"UserWarning: text (file:line)"``.
        index: Place of the call in its batch or stream, from 0.
        subscription: Id of the subscription whose first value this is; ``None`` if of none.
    """

    name: str
    id: str | None = None
    step_id: str | None = None
    result: Any = None
    error: str | None = None
    exception: ToolExecutionError | None = None
    server_name: str | None = None
    status: Status = "ok"
    arguments: Mapping[str, Any] | None = None
    coercions: tuple[Change, ...] = ()
    faults: tuple[Fault, ...] = ()
    stdout: str = ""
    stderr: str = ""
    started_at: float = 0.0
    duration: float = 0.0
    notes: tuple[str, ...] = ()
    media: tuple[Media, ...] = ()
    warnings: tuple[str, ...] = ()
    index: int = 0
    subscription: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the tool ran and returned."""
        return self.status == "ok"

    def __repr__(self) -> str:
        outcome = self.error if self.error is not None else brief_repr(self.result)
        name = clean_text(str(self.name))
        return f"<ToolResult {name}: {self.status}, {shorten(outcome, 200)}>"

    def unwrap(self) -> Any:
        """Return :attr:`result`.

        Raises:
            ToolExecutionError: The call failed.
        """
        if self.exception is not None:
            raise self.exception
        return self.result
