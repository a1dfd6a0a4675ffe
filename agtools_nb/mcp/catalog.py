"""The tools of one server, as they were last listed, and what was remarked on."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agtools_nb.errors import DefinitionError
from agtools_nb.mcp.names import registered_names
from agtools_nb.mcp.text import cleaned, one_line, quoted

if TYPE_CHECKING:
    from mcp_types import Tool as Declared

    from agtools_nb.mcp.listing import Listing
    from agtools_nb.mcp.tool import Caller, MCPTool

_log = logging.getLogger("agtools_nb")
MAX_NOTES = 200
_SHOWN = 5


class Catalog:
    """Makes tools of what a server declares.

    Args:
        server: Runs their calls.
        timeout: Most seconds of a call.
        trusts_hints: Whether the server is believed about which of them only read.

    Attributes:
        tools: The tools by the server's own names; ``None`` before they were listed.
        left_out: Why a tool is not among them, by the server's own name.
        notes: Remarks, the last 200.
        news: What whoever connects is to be warned of.
    """

    def __init__(self, server: Caller, timeout: float | None, trusts_hints: bool) -> None:
        self._server = server
        self._timeout = timeout
        self._trusts_hints = trusts_hints
        self.tools: dict[str, MCPTool] | None = None
        self.left_out: dict[str, str] = {}
        self.notes: deque[str] = deque(maxlen=MAX_NOTES)
        self.news: list[str] = []

    def take(self, listing: Listing) -> None:
        """Make tools of a new listing, and remark on what is different from the last one."""
        before, known = self.tools, self.left_out
        self.tools, self.left_out = self._made(listing.tools)
        for note in listing.notes:
            self.note(note)
        self.news = list(listing.notes)
        new = {raw: why for raw, why in self.left_out.items() if raw not in known}
        if new:
            self.news.append(_told(new))
            self.note(self.news[-1])
        if before is not None:
            self._compare(before, self.tools)

    def note(self, text: str) -> None:
        """Keep a remark, and log it."""
        self.notes.append(text)
        _log.info("MCP server %r: %s", self._server.name, text)

    def _made(self, listing: Sequence[Declared]) -> tuple[dict[str, MCPTool], dict[str, str]]:
        from agtools_nb.mcp.tool import MAX_NAME, made

        fits = [declared for declared in listing if 0 < len(declared.name) <= MAX_NAME]
        left_out = {
            declared.name[:MAX_NAME]: f"its name is empty, or has over {MAX_NAME} characters"
            for declared in listing
            if not 0 < len(declared.name) <= MAX_NAME
        }
        names = registered_names([declared.name for declared in fits])
        tools: dict[str, MCPTool] = {}
        for declared in fits:
            raw = declared.name
            try:
                tools[raw], note = made(
                    declared,
                    names[raw],
                    self._server,
                    timeout=self._timeout,
                    trusts_hints=self._trusts_hints,
                )
            except DefinitionError as error:
                left_out[raw] = cleaned(str(error), 500)
                continue
            if note:
                self.note(note)
            if names[raw] != raw:
                self.note(f"the tool {quoted(raw)} is registered as {names[raw]!r}")
        return tools, left_out

    def _compare(self, before: Mapping[str, MCPTool], now: Mapping[str, MCPTool]) -> None:
        """A tool that became another one after a person looked at it must not go unseen."""
        for raw in sorted(before.keys() | now.keys()):
            old, new = before.get(raw), now.get(raw)
            if old is None or new is None:
                self.note(f"the tool {quoted(raw)} {'is new' if old is None else 'is gone'}")
            elif (old.description, old.input_schema) != (new.description, new.input_schema):
                self.note(f"the tool {quoted(raw)} has another description or schema now")


def _told(reasons: Mapping[str, str]) -> str:
    shown = [f"{quoted(raw)}: {one_line(why, 300)}" for raw, why in list(reasons.items())[:_SHOWN]]
    more = f"; and {len(reasons) - _SHOWN} more, see left_out" if len(reasons) > _SHOWN else ""
    count = "1 tool is" if len(reasons) == 1 else f"{len(reasons)} tools are"
    return f"{count} left out: {'; '.join(shown)}{more}"
