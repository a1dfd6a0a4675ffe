"""``Registry``: tools under names, in order, and which of them there are for the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agtools_nb.define import Tool
from agtools_nb.define.tool import caller_scope
from agtools_nb.errors import DuplicateToolError, UnknownToolError, UsageError
from agtools_nb.run.companions import Companions
from agtools_nb.run.gate import Gate
from agtools_nb.run.work import WorkKeeper


class Registry:
    """Holds tools: each name once, in the order of registration.

    Args:
        gate: Says which tools there are for the model. Default: all.
        background: Says which tools come with those that outlive their calls.
    """

    def __init__(self, gate: Gate | None = None, background: WorkKeeper | None = None) -> None:
        self._gate = gate
        self._background = background
        self._tools: dict[str, Tool] = {}
        self._companions = Companions()
        # What a model sees; looked up again after each change.
        self._shown: dict[str, Tool] | None = None

    def _add_all(
        self, tools: Iterable[Tool | Callable[..., Any]], scope: Mapping[str, Any] | None
    ) -> None:
        for tool in tools:
            self._add(tool, None, scope)

    def _take_over(self, other: Registry, gate: Gate | None, background: WorkKeeper | None) -> None:
        """Hold the tools of another one; what comes with them is made anew."""
        Registry.__init__(self, gate, background)
        for tool in other._tools.values():
            if not other._companions.made(tool):
                self._put(tool)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that are on, in the order of registration, which is the order a model sees."""
        return tuple(self._on().values())

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Their names, in the same order."""
        return tuple(self._on())

    @property
    def all_tools(self) -> tuple[Tool, ...]:
        """Every tool, also those that are off and that no model sees."""
        return tuple(self._tools.values())

    def _on(self) -> dict[str, Tool]:
        """The tools that are on, by name."""
        gate = self._gate
        if gate is None:
            return self._tools
        if self._shown is None:
            owners = self._companions.owners
            self._shown = {
                name: tool for name, tool in self._tools.items() if gate.shows(tool, owners(name))
            }
        return self._shown

    def register(self, tool: Tool | Callable[..., Any], name: str | None = None) -> Tool:
        """Add a tool.

        Args:
            tool: A tool, or a function to make one of.
            name: Another name to register it under.

        Returns:
            The tool as registered.

        Raises:
            DefinitionError: The function cannot be a tool, or the name is not one.
            DuplicateToolError: The name is taken.
        """
        return self._add(tool, name, caller_scope(2))

    def _add(
        self,
        tool: Tool | Callable[..., Any],
        name: str | None,
        scope: Mapping[str, Any] | None,
    ) -> Tool:
        made = tool if isinstance(tool, Tool) else Tool(tool, name=name, scope=scope)
        if name is not None and made.name != name:
            made = made.renamed(name)
        self._check_guarded(made)
        first = self._tools.get(made.name)
        if first is not None and not self._companions.made(first):
            raise DuplicateToolError(
                f"the name {made.name!r} is taken by the tool defined in {first.origin}; this "
                f"one is defined in {made.origin}. Rename one, or unregister({made.name!r}) first."
            )
        self._put(made)
        return made

    def replace(self, tool: Tool) -> None:
        """Put ``tool`` in the place of the one of its name, or add it at the end.

        Raises:
            UsageError: It is guarded, and there are no rules.
        """
        self._check_guarded(tool)
        if tool.name in self._tools:
            self._companions.leave(tool.name, self._tools)
        self._put(tool)

    def _check_guarded(self, tool: Tool) -> None:
        gate = self._gate
        if not tool.guarded or (gate is not None and (gate.guards or not gate.shows(tool, ()))):
            return
        raise UsageError(
            f"{tool.name} can change what is outside of this session, and this runner has no rules "
            "on who may call it: give policies=safe_defaults(), which asks you about each call, or "
            "rules of your own, such as policies=[allow_all()]"
        )

    def _put(self, tool: Tool) -> None:
        self._tools[tool.name] = tool
        self._changed(tool.name)
        if tool.outlives_call and self._background is not None:
            companion = self._background.companion(tool)
            if companion is not None:
                self._companions.join(tool.name, companion, self._tools)

    def _changed(self, name: str) -> None:
        """The tool of a name came, went, or is another one now."""
        self._shown = None

    def unregister(self, name: str) -> Tool:
        """Remove a tool and return it. What came with it, such as a status tool, goes too.

        Raises:
            UnknownToolError: There is none of that name.
        """
        tool = self.any_tool(name)
        del self._tools[name]
        self._changed(name)
        self._companions.leave(name, self._tools)
        return tool

    def tool(self, name: str) -> Tool:
        """Return the tool of that name.

        Raises:
            UnknownToolError: There is none, or it is off; the message lists those there are.
        """
        return _found(name, self._on())

    def any_tool(self, name: str) -> Tool:
        """Return the tool of that name, also if it is off.

        Raises:
            UnknownToolError: There is none; the message lists those there are.
        """
        return _found(name, self._tools)


def _found(name: str, tools: Mapping[str, Tool]) -> Tool:
    try:
        return tools[name]
    except (KeyError, TypeError):
        known = ", ".join(tools) or "none"
        raise UnknownToolError(f"there is no tool named {name!r}; registered: {known}") from None
