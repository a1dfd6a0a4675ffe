"""What a tool is: signature and docstring to validator, JSON Schema and wire forms."""

from agtools_nb.define.describe import bounds_text, expected_text, type_text
from agtools_nb.define.tool import Parameter, Tool, tool
from agtools_nb.define.wire import PROVIDERS, Provider, declaration

__all__ = [
    "PROVIDERS",
    "Parameter",
    "Provider",
    "Tool",
    "bounds_text",
    "declaration",
    "expected_text",
    "tool",
    "type_text",
]
