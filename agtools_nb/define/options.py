"""What can be said about a tool beside its function: the keyword arguments of ``@tool``."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypedDict, cast, get_args

from agtools_nb.errors import DefinitionError
from agtools_nb.jsonable import brief_repr

Mode = Literal["inline", "dispatched"]
Capture = Literal["result", "progress"]
Display = str | Callable[[Mapping[str, Any]], str]
PathOf = Callable[[Mapping[str, Any]], str | os.PathLike[str] | None]


class ToolOptions(TypedDict, total=False):
    """Keyword arguments of ``@tool``, ``Tool``, ``ToolWithSchema`` and ``StatefulTool``.

    Attributes:
        name: What the model calls it: 1 to 64 ASCII letters, digits, ``_``, ``-``.
            Default: the function's name.
        description: What it does, for the model. Default: the prose of the docstring.
        read_only: It changes nothing outside itself. Default ``False``.
        concurrency_safe: It may run beside itself and others. Default ``True``;
            ``False`` for a ``StatefulTool``.
        long_running: A call answers at once with ``{"task_id": ..., "status": "pending"}``
            and the function runs on; a sentence in the description tells the model how to
            wait for it. Default ``False``.
        status_tool: Name of the tool that tells how such a task is. Default:
            ``check_<name>``, which is made and registered by itself.
        mode: ``"dispatched"``: a call answers at once, and what the function returns
            arrives in the session's inbox. Default ``"inline"``.
        passive: Events get through while a call of it waits; otherwise they are held until
            it has its result. Default ``False``.
        associative: Events of a subscription enter the thread that subscribed; otherwise
            each is for a temporary child thread. Default ``False``.
        scopes: What the context must grant; one text is one scope. Default: nothing.
        timeout: Most seconds that a call may take, more than 0. Default ``None``: no limit.
        display: A call in one line for people: text with ``{parameter}`` in it, or a
            function that is given the arguments as one dict. Default ``None``.
        response_schema: JSON Schema of the result. Default: from the return annotation.
        capture: ``"progress"`` shows what it prints while it runs, as progress of the call;
            ``"result"`` only with the result, where it stands in any case. Default ``"result"``.
        guarded: It changes files, runs programs or the like: a runner takes it only together
            with policies, or where it is disabled. Default ``False``.
        path_of: Says which path a call is about, absolute and with its links followed, or
            ``None`` if about none. It is given a copy of the arguments as the tool gets them;
            if it raises, the tool is not run. Policies and hooks see the path as the call's
            ``canonical_path``. Default ``None``: calls are not about paths.
        server_name: The MCP server that it comes from. Default ``None``: an own tool.
    """

    name: str | None
    description: str | None
    read_only: bool
    concurrency_safe: bool
    long_running: bool
    status_tool: str | None
    mode: Mode
    passive: bool
    associative: bool
    scopes: Iterable[str]
    timeout: float | None
    display: Display | None
    response_schema: Mapping[str, Any] | None
    capture: Capture
    guarded: bool
    path_of: PathOf | None
    server_name: str | None


_KNOWN = tuple(ToolOptions.__annotations__)

# What a model must know before it calls such a tool.
LONG_RUNNING_NOTE = (
    "This starts a task and answers at once with the task's id, not with its result. While that "
    "task is pending, do not call this again with the same arguments; ask the status tool "
    "{status_tool} for it."
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


def checked_path_of(value: Any, tool_name: str) -> PathOf | None:
    """What says which path a call is about, as given.

    Raises:
        DefinitionError: It cannot be called.
    """
    if value is None or callable(value):
        return cast("PathOf | None", value)
    raise DefinitionError(
        f"{tool_name}: path_of={brief_repr(value)} must be a function that is given the arguments "
        "of a call and returns the path it is about, or None"
    )


def checked_server_name(value: Any, tool_name: str) -> str | None:
    """The server that a tool comes from, as given.

    Raises:
        DefinitionError: It is no text, or empty: the tool would pass for an own one.
    """
    if value is None or (isinstance(value, str) and value):
        return value
    raise DefinitionError(
        f"{tool_name}: server_name={brief_repr(value)} must be the name of an MCP server, or None "
        "for an own tool"
    )


def checked_mode(options: ToolOptions, tool_name: str, is_subscription: bool) -> Mode:
    """How a call gives its result, as given.

    Raises:
        DefinitionError: There is no such mode, or two ways of answering exclude each other.
    """
    mode = options.get("mode", "inline")
    if mode not in get_args(Mode):
        raise DefinitionError(
            f"{tool_name}: mode={mode!r} must be one of {', '.join(map(repr, get_args(Mode)))}"
        )
    ways = {
        "an async generator (a subscription)": is_subscription,
        "long_running=True (the model asks for the result)": options.get("long_running", False),
        "mode='dispatched' (the result arrives in the inbox)": mode == "dispatched",
    }
    chosen = [way for way, is_chosen in ways.items() if is_chosen]
    if len(chosen) > 1:
        raise DefinitionError(f"{tool_name} is {' and '.join(chosen)}; a tool can be one of them")
    if options.get("status_tool") is not None and not options.get("long_running"):
        raise DefinitionError(f"{tool_name}: status_tool= is for tools with long_running=True")
    if options.get("associative") and not is_subscription:
        raise DefinitionError(
            f"{tool_name}: associative= is for subscriptions, which are async generators; make "
            "it one (async def with yield), or leave the option out"
        )
    return mode
