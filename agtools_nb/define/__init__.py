"""What a tool is: signature and docstring to validator, JSON Schema and wire forms."""

from agtools_nb.define.decorator import tool
from agtools_nb.define.describe import bounds_text, expected_text, type_text
from agtools_nb.define.explicit import ToolWithSchema
from agtools_nb.define.normal import normalized
from agtools_nb.define.options import ToolOptions
from agtools_nb.define.parameters import Parameter
from agtools_nb.define.stateful import StatefulTool, Turn
from agtools_nb.define.tool import Tool
from agtools_nb.define.wire import PROVIDERS, Provider, declaration

__all__ = [
    "PROVIDERS",
    "Parameter",
    "Provider",
    "StatefulTool",
    "Tool",
    "ToolOptions",
    "ToolWithSchema",
    "Turn",
    "bounds_text",
    "declaration",
    "expected_text",
    "normalized",
    "tool",
    "type_text",
]
