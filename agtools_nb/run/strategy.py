"""Which calls of a batch run beside each other."""

from __future__ import annotations

import enum

from agtools_nb.define import Tool
from agtools_nb.errors import UsageError


class Strategy(enum.Enum):
    """How the calls of one batch are run. Results come in call order with each.

    Attributes:
        SEQUENTIAL: One by one, in call order.
        PARALLEL: All together. The default.
        AUTO: First, together, the calls whose tools are both ``read_only`` and
            ``concurrency_safe``; then the rest, one by one, in call order.
    """

    SEQUENTIAL = "sequential"
    PARALLEL = "parallel"
    AUTO = "auto"


def as_strategy(value: Strategy | str) -> Strategy:
    """Return the strategy, given as itself or by its value.

    Raises:
        UsageError: There is no such strategy.
    """
    try:
        return Strategy(value)
    except ValueError:
        known = ", ".join(repr(one.value) for one in Strategy)
        raise UsageError(f"there is no strategy {value!r}; known are {known}") from None


def runs_beside_others(tool: Tool | None) -> bool:
    """Whether AUTO may run a call of ``tool`` beside others. One of no tool does nothing."""
    return tool is None or (tool.read_only and tool.concurrency_safe)
