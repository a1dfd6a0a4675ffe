"""Every error that agtools_nb raises, and who must act on it.

::

    AgtoolsError
    |-- DefinitionError (TypeError)      the tool's author: this function cannot be a tool
    |-- UsageError                       the notebook's user: this call of the package is wrong
    |   |-- DuplicateToolError           ... two tools want one name
    |   `-- UnknownToolError (KeyError)  ... no tool has this name
    |-- ToolError                        the model: raised by a tool to say what to do next
    |   `-- DeniedError                  ... a rule, a hook or a person refused the call
    |-- ArgumentsError (ValueError)      the model: these arguments do not fit the tool
    |-- CallTimeoutError (TimeoutError)  the model: the call took longer than it may
    |-- StateValueError (TypeError)      the tool's author: a store on disk cannot keep this value
    |-- StoreError                       the notebook's user: the store's file, see ``reason``
    |   `-- StoreInUseError              ... another process has it open
    |-- ModelError                       the notebook's user: the model cannot answer
    |-- ServerError                      the notebook's user: an MCP server cannot be used
    `-- ToolExecutionError               whoever reads the result; see ``__cause__``
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from agtools_nb.calls import Fault


class AgtoolsError(Exception):
    """Base of every error this package raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without calling the constructor: executors carry errors between processes."""
        return _rebuilt, (type(self), self.args, self.__dict__, _portable(self.__cause__))


def _rebuilt(
    kind: type[AgtoolsError],
    args: tuple[Any, ...],
    state: dict[str, Any],
    cause: BaseException | None,
) -> Any:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    error.__cause__ = cause
    return error


def _portable(cause: BaseException | None) -> BaseException | None:
    """The cause, if it can be pickled and read again; not every error can."""
    try:
        pickle.loads(pickle.dumps(cause))  # noqa: S301 -- what was written just now
    except Exception:
        return None
    return cause


class DefinitionError(AgtoolsError, TypeError):
    """A function that cannot be a tool. For the tool's author.

    Raised where the tool is defined or, for what only building the schema can
    show, at the first use of its schema. The message names the parameter and
    the fix.
    """


class UsageError(AgtoolsError):
    """The package was called in a way that cannot work. For the notebook's user."""


class DuplicateToolError(UsageError):
    """A second tool wants a name that is taken; the message says by what."""


class UnknownToolError(UsageError, KeyError):
    """No tool is registered under this name; the message lists those that are."""

    __str__ = Exception.__str__  # KeyError would show the repr of the message


class ToolError(AgtoolsError):
    """Raise this in a tool to tell the model what went wrong and what to do.

    Args:
        code: Short machine-readable name of the fault, such as ``"not_found"``.
        message: What went wrong, in words for the model.
        category: Family of the fault, free text; empty by default.
        retryable: Whether the same call may succeed later. Default ``False``.
        hint: What to do instead. Shown to the model after the message.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        category: str = "",
        retryable: bool = False,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.category = category
        self.retryable = retryable
        self.hint = hint


class DeniedError(ToolError):
    """A rule, a hook or a person refused the call; the tool was not run.

    Args:
        message: Who refused it and why, in words for the model.
        hint: What to do instead. Shown to the model after the message.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__("denied", message, category="access", hint=hint)


class ArgumentsError(AgtoolsError, ValueError):
    """Arguments that do not fit the tool; the tool was not run.

    Attributes:
        faults: What is wrong, one entry a place. Empty when the arguments
            could not be read as an object at all.
    """

    def __init__(self, message: str, faults: tuple[Fault, ...] = ()) -> None:
        super().__init__(message)
        self.faults = faults


class CallTimeoutError(AgtoolsError, TimeoutError):
    """A call took longer than it may. Its text says whether something still runs."""


class StateValueError(AgtoolsError, TypeError):
    """A value that a durable store cannot keep; nothing was changed.

    Attributes:
        key: What it was to be kept under.
        pointer: JSON Pointer (RFC 6901) into the value; ``""`` is all of it.
    """

    def __init__(self, message: str, *, key: str, pointer: str = "") -> None:
        super().__init__(message)
        self.key = key
        self.pointer = pointer


StoreFault = Literal[
    "closed", "damaged", "failed", "foreign", "full", "in use", "newer", "unreachable"
]


class StoreError(AgtoolsError):
    """A store's file cannot be used, or did not take a write. What was in it stays.

    Attributes:
        reason: ``"closed"``; ``"damaged"``: the file is not sound; ``"failed"``: anything
            else that SQLite reports; ``"foreign"``: no store of this package; ``"full"``:
            no room to write; ``"in use"``: by another process; ``"newer"``: written by a
            later version; ``"unreachable"``: it cannot be opened, read or written.
    """

    def __init__(self, message: str, reason: StoreFault = "failed") -> None:
        super().__init__(message)
        self.reason = reason


class StoreInUseError(StoreError):
    """Another process has the store open. For the notebook's user."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "in use")


class ModelError(AgtoolsError):
    """A model that cannot answer, or whose answer broke off. For the notebook's user.

    In a conversation it is the answer's :attr:`ModelMessage.error`, never an exception.
    """


class ServerError(AgtoolsError):
    """An MCP server that cannot be started, reached or understood. For the notebook's user."""


class ToolExecutionError(AgtoolsError):
    """One call failed. The original exception is ``__cause__``.

    Attributes:
        message: The text that the model sees.
        tool_name: Name that was called.
        server_name: MCP server of the tool; ``None`` for own tools.
        call_id: Id of the call.
    """

    def __init__(
        self,
        message: str,
        *,
        tool_name: str,
        call_id: str | None = None,
        server_name: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.tool_name = tool_name
        self.server_name = server_name
        self.call_id = call_id
