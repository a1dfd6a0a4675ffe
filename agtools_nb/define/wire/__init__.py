"""What providers send and are sent: declarations, calls and replies.

==================  ==========================================================================
provider            declaration
==================  ==========================================================================
openai              chat completions: ``{"type": "function", "function": {..., "parameters"}}``
openai-responses    the same in one level, with ``strict``
anthropic           messages: ``{"name", "description", "input_schema"}``
gemini              ``FunctionDeclaration``: ``parameters``, or ``parametersJsonSchema``
mcp                 ``tools/list``: ``inputSchema``, ``outputSchema``, ``annotations``
==================  ==========================================================================
"""

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
