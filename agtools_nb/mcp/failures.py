"""What is said when a server cannot do what it is asked for: to people, and to models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agtools_nb.errors import ServerError, ToolError
from agtools_nb.mcp.text import ERROR, cleaned, one_line, quoted

if TYPE_CHECKING:
    from agtools_nb.mcp.address import Address


_LAST_WORDS = 1_500
_LAST_LINE = 200


def unreachable(server: str, address: Address, why: str, end: tuple[str, str]) -> ServerError:
    """It could not be started, reached or understood; with its own last words, if any."""
    how, said = end
    reasons = "; ".join(dict.fromkeys(filter(None, (why, how))))
    words = f"\nIts last words:\n{said[-_LAST_WORDS:]}" if said else ""
    told = f"the MCP server {server!r} {address} cannot be used: {reasons}. {address.advice}{words}"
    return ServerError(address.scrubbed(cleaned(told, ERROR)))


def not_connected(server: str) -> ToolError:
    """A tool was called before its server was connected, or after that was closed."""
    return ToolError(
        "not_connected",
        f"the MCP server {server!r} is not connected.",
        category="mcp",
        hint="Go on without its tools, and tell the person.",
    )


def down(error: ServerError) -> ToolError:
    """The server was gone before the call, and could not be reached again."""
    return ToolError(
        "server_down",
        f"{error} The call was not made.",
        category="mcp",
        retryable=True,
        hint="Try once more later, or go on without it.",
    )


def gone(server: str, address: Address, tool: str, end: tuple[str, str]) -> ToolError:
    """The server ended in the middle of a call."""
    how, said = end
    last = said.strip().rpartition("\n")[2][-_LAST_LINE:]
    words = "; ".join(filter(None, (how, f"it said last: {last}" if last else "")))
    told = address.scrubbed(one_line(words, 2 * _LAST_LINE))
    return ToolError(
        "server_gone",
        f"the MCP server {server!r} ended while {quoted(tool)} ran{f' ({told})' if told else ''}. "
        "How far it came is not known.",
        category="mcp",
        retryable=True,
        hint="The next call starts or connects to it again.",
    )


def refused(server: str, code: int, message: str) -> ToolError:
    """The server answered with an error of the protocol."""
    return ToolError(
        "server_error",
        f"the MCP server {server!r} refused the call with error {code}: {cleaned(message, ERROR)}",
        category="mcp",
    )
