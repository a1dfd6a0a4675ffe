"""Define, inspect and run model-callable tools, in Jupyter and in plain Python.

The names below are the public interface; everything else may change. What needs
Jupyter (``Toolkit`` and the widgets) is imported on first use, so that scripts and
servers do not pay for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agtools_nb._version import __version__
from agtools_nb.arguments import Coerced, Prepared, coerce, prepare, validate
from agtools_nb.calls import Change, Fault, ToolCall, ToolResult
from agtools_nb.context import StateStore, StateWrite, ToolContext
from agtools_nb.define import PROVIDERS, Parameter, Tool, declaration, tool
from agtools_nb.errors import (
    AgtoolsError,
    ArgumentsError,
    DefinitionError,
    DuplicateToolError,
    ToolError,
    ToolExecutionError,
    UnknownToolError,
    UsageError,
)
from agtools_nb.run import ToolRunner

if TYPE_CHECKING:
    from agtools_nb.notebook import Toolkit

__all__ = [
    "PROVIDERS",
    "AgtoolsError",
    "ArgumentsError",
    "Change",
    "Coerced",
    "DefinitionError",
    "DuplicateToolError",
    "Fault",
    "Parameter",
    "Prepared",
    "StateStore",
    "StateWrite",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolError",
    "ToolExecutionError",
    "ToolResult",
    "ToolRunner",
    "Toolkit",
    "UnknownToolError",
    "UsageError",
    "__version__",
    "coerce",
    "declaration",
    "prepare",
    "tool",
    "validate",
]


def __getattr__(name: str) -> Any:
    """Import what needs Jupyter when it is first asked for (PEP 562)."""
    if name == "Toolkit":
        from agtools_nb.notebook import Toolkit

        return Toolkit
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
