"""These tools as an MCP server."""

from agtools_nb.mcp.serving.serve import serve

__all__ = ["serve"]
