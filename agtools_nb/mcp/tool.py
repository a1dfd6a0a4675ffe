"""``MCPTool``: a tool that runs on a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, Unpack

from agtools_nb.context import ToolContext
from agtools_nb.define import ToolWithSchema
from agtools_nb.define.checked_schema import checked_schema
from agtools_nb.define.options import ToolOptions
from agtools_nb.errors import DefinitionError
from agtools_nb.mcp.schemas import too_much
from agtools_nb.mcp.text import DESCRIPTION, cleaned, one_line, quoted

if TYPE_CHECKING:
    from mcp_types import Tool as Declared

MAX_NAME = 500
"""Most characters of a tool's own name; rules, cards and messages show it."""


class Caller(Protocol):
    """What runs the calls: a server."""

    @property
    def name(self) -> str:
        """The server's name."""

    async def call(
        self, tool: str, arguments: dict[str, Any], context: ToolContext | None, has_schema: bool
    ) -> Any:
        """Call one of its tools."""


class MCPTool(ToolWithSchema):
    """A tool of an MCP server. :meth:`MCPServer.tools` makes them.

    Everything that describes it was written by the server, and is not to be trusted.

    Args:
        fn: Has the server run it.
        input_schema: The server's schema of the arguments.
        remote_name: What the server calls it.
        title: What the server would have people call it; ``""`` if nothing.
        options: Those of :func:`tool`.

    Attributes:
        remote_name: What the server calls it.
        title: What the server would have people call it.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        input_schema: Mapping[str, Any],
        *,
        remote_name: str,
        title: str = "",
        **options: Unpack[ToolOptions],
    ) -> None:
        self.remote_name = remote_name
        self.title = title
        super().__init__(fn, input_schema, **options)

    @property
    def origin(self) -> str:  # a cached property there
        """Where it was defined, for messages."""
        return f"the MCP server {self.server_name!r}"


class RemoteCall:
    """The function of a tool that runs on a server.

    Args:
        server: Runs it.
        tool: What the server calls it.
        has_schema: Whether it says what its structured results are like.
    """

    def __init__(self, server: Caller, tool: str, has_schema: bool) -> None:
        self._server = server
        self._tool = tool
        self._has_schema = has_schema

    # A parameter of the server's may have any name, but hardly this one.
    async def __call__(
        self, _agtools_context: ToolContext | None = None, /, **arguments: Any
    ) -> Any:
        """Have the server run it; its runner has checked the arguments."""
        return await self._server.call(self._tool, arguments, _agtools_context, self._has_schema)

    def __repr__(self) -> str:
        return f"<{quoted(self._tool)} of MCP server {self._server.name!r}>"


def made(
    declared: Declared,
    name: str,
    server: Caller,
    *,
    timeout: float | None,
    trusts_hints: bool,
) -> tuple[MCPTool, str]:
    """Make a tool of what a server declared.

    Args:
        declared: The declaration.
        name: The name to register it under.
        server: Runs its calls.
        timeout: Most seconds that a call may take.
        trusts_hints: Whether it is ``read_only`` where the server says so. One that is not,
            and is not said to add only, is ``guarded``.

    Returns:
        The tool, and a note on what was left out of it; ``""`` if nothing was.

    Raises:
        DefinitionError: Its schema is none that can be used here.
    """
    reason = too_much(declared.input_schema)
    if reason is not None:
        raise DefinitionError(f"its input schema cannot be used: {reason}")
    output, note = _output_schema(declared)
    hints = declared.annotations if trusts_hints else None
    read_only = hints is not None and hints.read_only_hint is True
    adds_only = hints is not None and hints.destructive_hint is False
    tool = MCPTool(
        RemoteCall(server, declared.name, output is not None),
        declared.input_schema,
        remote_name=declared.name,
        title=one_line(declared.title or (hints.title if hints else None) or ""),
        name=name,
        description=cleaned(declared.description or "", DESCRIPTION),
        read_only=read_only,
        guarded=not (read_only or adds_only),
        response_schema=output,
        timeout=timeout,
        server_name=server.name,
    )
    return tool, note


def _output_schema(declared: Declared) -> tuple[dict[str, Any] | None, str]:
    schema = declared.output_schema
    if schema is None:
        return None, ""
    reason = too_much(schema)
    if reason is None:
        try:
            return checked_schema(schema, "its output schema"), ""
        except DefinitionError as error:
            reason = str(error)
    return None, f"the output schema of {quoted(declared.name)} is left out: {reason}"
