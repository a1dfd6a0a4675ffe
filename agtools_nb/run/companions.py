"""Tools that come and go with other tools: a status tool, the one that ends subscriptions."""

from __future__ import annotations

from agtools_nb.define import Tool


class Companions:
    """Knows which tools of a registry came with which. One that somebody registered stays."""

    def __init__(self) -> None:
        self._made: dict[str, Tool] = {}
        self._needed_by: dict[str, set[str]] = {}

    def made(self, tool: Tool) -> bool:
        """Whether a tool came with another one, and gives way to one that somebody registers."""
        return self._made.get(tool.name) is tool

    def owners(self, name: str) -> frozenset[str]:
        """Names of the tools that the tool of a name came with; none if somebody registered it."""
        return frozenset(self._needed_by.get(name, ()) if name in self._made else ())

    def join(self, owner: str, companion: Tool, tools: dict[str, Tool]) -> None:
        """Add the companion of a tool, unless there is a tool of that name.

        Args:
            owner: Name of the tool that needs it.
            companion: The companion.
            tools: The registry, changed in place.
        """
        name = companion.name
        if name not in tools:
            tools[name] = self._made[name] = companion
        if name in self._made:
            self._needed_by.setdefault(name, set()).add(owner)

    def leave(self, owner: str, tools: dict[str, Tool]) -> None:
        """Remove what came with a tool and is needed by no other.

        Args:
            owner: Name of the tool that goes.
            tools: The registry, changed in place.
        """
        for name, owners in list(self._needed_by.items()):
            owners.discard(owner)
            if owners:
                continue
            del self._needed_by[name]
            made = self._made.pop(name)
            if tools.get(name) is made:
                del tools[name]
