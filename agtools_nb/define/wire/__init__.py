"""What providers send and are sent: declarations, calls and replies.

==================  ==========================================================================
provider            declaration
==================  ==========================================================================
openai              chat completions: ``{"type": "function", "function": {..., "parameters"}}``
openai-responses    the same in one level, with ``strict``
anthropic           messages: ``{"name", "description", "input_schema"}``
gemini              ``FunctionDeclaration``: ``parameters``, or ``parametersJsonSchema``
mcp                 ``tools/list``: ``inputSchema``, ``outputSchema``, ``annotations``
ollama              as openai
==================  ==========================================================================

The names are imported when they are first asked for (PEP 562): who runs tools without a model
needs none of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agtools_nb.define.wire.declared import (
        PROVIDERS,
        Declared,
        Provider,
        declaration,
        read_declaration,
        why_not_strict,
    )
    from agtools_nb.define.wire.reading import read_calls
    from agtools_nb.define.wire.replies import call_message, reply
    from agtools_nb.define.wire.stream import CallAssembler
    from agtools_nb.define.wire.unset import without_unset

__all__ = [
    "PROVIDERS",
    "CallAssembler",
    "Declared",
    "Provider",
    "call_message",
    "declaration",
    "read_calls",
    "read_declaration",
    "reply",
    "why_not_strict",
    "without_unset",
]

_HOMES = {
    "CallAssembler": "stream",
    "call_message": "replies",
    "read_calls": "reading",
    "reply": "replies",
    "without_unset": "unset",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_HOMES.get(name, 'declared')}")
    found = globals()[name] = getattr(module, name)
    return found
