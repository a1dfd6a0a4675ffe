"""Reading a web page without being led into the network that this runs in."""

from agtools_nb.builtin.url.tool import read_url_content_tool

__all__ = ["read_url_content_tool"]
