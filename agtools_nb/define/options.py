"""What can be said about a tool beside its function: the keyword arguments of ``@tool``."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypedDict, cast, get_args

from agtools_nb.errors import DefinitionError
from agtools_nb.jsonable import brief_repr

Capture = Literal["result", "progress"]
Display = str | Callable[[Mapping[str, Any]], str]


class ToolOptions(TypedDict, total=False):
    """Keyword arguments of ``@tool``, ``Tool``, ``ToolWithSchema`` and ``StatefulTool``.

    Attributes:
        name: What the model calls it: 1 to 64 ASCII letters, digits, ``_``, ``-``.
            Default: the function's name.
        description: What it does, for the model. Default: the prose of the docstring.
        read_only: It changes nothing outside itself. Default ``False``.
        concurrency_safe: It may run beside itself and others. Default ``True``;
            ``False`` for a ``StatefulTool``.
        long_running: It starts work that outlives the call; a sentence in the
            description tells the model how to wait for it. Default ``False``.
        scopes: What the context must grant; one text is one scope. Default: nothing.
        timeout: Most seconds that a call may take, more than 0. Default ``None``: no limit.
        display: A call in one line for people: text with ``{parameter}`` in it, or a
            function that is given the arguments as one dict. Default ``None``.
        response_schema: JSON Schema of the result. Default: from the return annotation.
        capture: ``"progress"`` shows what it prints while it runs, as progress of the call;
            ``"result"`` only with the result, where it stands in any case. Default ``"result"``.
    """

    name: str | None
    description: str | None
    read_only: bool
    concurrency_safe: bool
    long_running: bool
    scopes: Iterable[str]
    timeout: float | None
    display: Display | None
    response_schema: Mapping[str, Any] | None
    capture: Capture


_KNOWN = tuple(ToolOptions.__annotations__)

# What a model must know before it calls such a tool. The status tool's name is not known here.
LONG_RUNNING_NOTE = (
    "This starts a task and answers at once with the task's id, not with its result. While that "
    "task is pending, do not call this again with the same arguments; ask the status tool for it."
)


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse an option that does not exist.

    Raises:
        DefinitionError: There is no such option; the message lists those there are.
    """
    for name in options:
        if name not in _KNOWN:
            close = difflib.get_close_matches(name, _KNOWN, n=1)
            remark = f"; did you mean {close[0]!r}?" if close else ""
            raise DefinitionError(
                f"a tool has no option {name!r}{remark} Options: {', '.join(_KNOWN)}."
            )


def checked_description(value: Any, tool_name: str) -> str | None:
    """The description as given.

    Raises:
        DefinitionError: It is not text.
    """
    if value is None or isinstance(value, str):
        return value
    raise DefinitionError(
        f"{tool_name}: description={value!r} must be text, not {type(value).__name__}"
    )


def checked_scopes(value: Any, tool_name: str) -> tuple[str, ...]:
    """The scopes as a tuple; a single text is one scope, never its letters.

    Raises:
        DefinitionError: One of them is not text.
    """
    if isinstance(value, str):
        return (value,)
    try:
        scopes = tuple(value)
    except TypeError:
        scopes = (value,)
    for scope in scopes:
        if not isinstance(scope, str) or not scope:
            raise DefinitionError(
                f"{tool_name}: scopes={value!r}: each scope must be text that is not empty, "
                f"and {scope!r} is not. Write scopes=['files:read']."
            )
    return scopes


def checked_timeout(value: Any, tool_name: str) -> float | None:
    """Seconds a call may take; ``None`` without a limit.

    Raises:
        DefinitionError: It is no finite number above 0.
    """
    if value is None:
        return None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value <= 0:
        raise DefinitionError(
            f"{tool_name}: timeout={value!r} must be a finite number of seconds above 0, "
            "or None for no limit"
        )
    return float(value)


def checked_capture(value: Any, tool_name: str) -> Capture:
    """What becomes of what the tool prints, as given.

    Raises:
        DefinitionError: It is neither of the two.
    """
    for capture in get_args(Capture):
        if value == capture:
            return cast("Capture", capture)
    raise DefinitionError(
        f"{tool_name}: capture={brief_repr(value)} must be 'result' (what it prints is in its "
        "result) or 'progress' (it is also shown while it runs)"
    )
