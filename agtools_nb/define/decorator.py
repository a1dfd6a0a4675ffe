"""The ``@tool`` decorator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack, overload

from agtools_nb.define.options import ToolOptions, check_options
from agtools_nb.define.tool import Tool, caller_scope


@overload
def tool(fn: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    fn: None = None, /, **options: Unpack[ToolOptions]
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(fn: Callable[..., Any] | None = None, /, **options: Unpack[ToolOptions]) -> Any:
    """Make a tool of a function: ``@tool``, or ``@tool(read_only=True)``.

    The JSON Schema comes from the signature: each parameter's annotation, its
    default, and its description in the docstring (Google, NumPy, reST) or in
    ``Annotated[..., Field(description=...)]``, which wins. A parameter annotated
    with :class:`ToolContext` is injected and stays out of the schema.

    Args:
        fn: A function, bound method, partial or callable object, sync or async.
        name: What the model calls it: 1 to 64 ASCII letters, digits, ``_``, ``-``.
            Default: the function's name.
        description: What it does. Default: the prose of the docstring.
        read_only: It changes nothing. Default ``False``.
        concurrency_safe: It may run beside itself and others. Default ``True``.
        long_running: A call answers at once with ``{"task_id": ..., "status": "pending"}``
            and the function runs on; a sentence in the description tells the model how to
            wait for it. Default ``False``.
        status_tool: Name of the tool that tells how such a task is. Default:
            ``check_<name>``, which is made and registered by itself.
        mode: ``"dispatched"``: a call answers at once, and what the function returns
            arrives in the session's inbox. Default ``"inline"``.
        passive: Events get through while a call of it waits; otherwise they are held until
            it has its result. Default ``False``.
        associative: Events of a subscription (an async generator) enter the thread that
            subscribed; otherwise each is for a temporary child thread. Default ``False``.
        scopes: What the context must grant; one text is one scope. Default: nothing.
        timeout: Most seconds that a call may take, more than 0. Default: no limit.
        display: A call in one line for people: text with ``{parameter}`` in it (plain
            names only), or a function that is given the arguments as one dict and
            returns text. Default: none.
        response_schema: JSON Schema of the result. Default: from the return annotation.
        capture: ``"progress"`` shows what it prints while it runs, as progress of the call,
            and not only with the result. Default ``"result"``.
        guarded: It changes files, runs programs or the like: a runner takes it only together
            with policies. Default ``False``.
        path_of: A function from the arguments of a call to the path it is about, absolute and
            with its links followed, or ``None``. Default: calls are not about paths.
        server_name: The MCP server that it comes from. Default: none, it is an own tool.

    Raises:
        DefinitionError: The function cannot be a tool; the message names the
            parameter and the fix.
    """
    scope = caller_scope(2)
    if fn is not None:
        return Tool(fn, scope=scope, **options)
    check_options(options)
    return lambda given: Tool(given, scope=scope, **options)
