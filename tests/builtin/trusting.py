"""A runner that lets its tools do what they want, as tests of tools need it."""

from __future__ import annotations

from typing import Any

from agtools_nb import Tool, ToolRunner
from agtools_nb.access import allow_all


def trusting(*tools: Tool, **options: Any) -> ToolRunner:
    """A runner with these tools, in which every call runs."""
    return ToolRunner(tools, policies=[allow_all()], **options)
