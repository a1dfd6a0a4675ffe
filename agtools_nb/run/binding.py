"""Values bound to a function's parameters, as Python passes them."""

from __future__ import annotations

from typing import Any

from agtools_nb.context import ToolContext
from agtools_nb.define import Tool
from agtools_nb.errors import UsageError


def bound(
    tool: Tool, values: dict[str, Any], context: ToolContext | None
) -> tuple[list[Any], dict[str, Any]]:
    """Return what is passed by position, because it must be, and what by name.

    Args:
        tool: The tool.
        values: The arguments as Python values, without defaults.
        context: What its context parameters are given, if it has any.

    Raises:
        UsageError: It asks for a context and there is none.
        TypeError: A parameter that must be passed by position has no value.
    """
    signature = tool.signature
    given = dict(values)
    for argument in signature.arguments:
        by_hand = argument.positional_only or argument.default_is_field
        if argument.name not in given and by_hand and not argument.required:
            given[argument.name] = argument.default_value()
    for injected in signature.injected:
        # Without validation a model's value may stand here.
        given.pop(injected.name, None)
        if context is not None:
            given[injected.name] = context
        elif injected.required:
            raise UsageError(
                f"{tool.name} asks for a ToolContext in parameter {injected.name!r}, and this "
                "runner has none: call runner.set_context(ToolContext()) first"
            )
        elif injected.positional_only:
            given[injected.name] = None
    missing = [name for name in signature.positional if name not in given]
    if missing:
        raise TypeError(f"{tool.name}() misses the argument {missing[0]!r}")
    return [given.pop(name) for name in signature.positional], given
