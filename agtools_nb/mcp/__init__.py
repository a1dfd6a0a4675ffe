"""Tools of MCP servers, and these tools as an MCP server.

The official SDK (extra ``mcp``) is imported when a server is connected or served, not before.
"""

from agtools_nb.mcp.server import MCPServer
from agtools_nb.mcp.serving import serve

__all__ = ["MCPServer", "serve"]
