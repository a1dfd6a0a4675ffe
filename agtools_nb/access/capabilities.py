"""``CapabilitiesConfig``: which of the registered tools there are for the model."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from agtools_nb.access.names import BuiltinTools
from agtools_nb.access.policy import Policy, PolicyKind, read_target
from agtools_nb.define import Tool
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr

_BUILTIN = frozenset(tool.value for tool in BuiltinTools)


@dataclass(frozen=True, slots=True, init=False)
class CapabilitiesConfig:
    """Which tools are on. One that is off is in no declaration, and a call to it finds no tool.

    A list of built-in tools is about those: ``enabled_tools=BuiltinTools.read_only()`` turns the
    other built-in ones off, and own functions stay on. A list that names anything else is
    about all: with ``enabled_tools=["add"]`` there is ``add`` and nothing else. What comes with
    a tool, such as the status tool of a ``long_running`` one, is on and off with it.

    Names are those of rules: a tool's, ``"server/tool"``, ``"server/*"`` for all of a server's,
    and ``"*"`` for all there are.

    Args:
        enabled_tools: Names of the tools that are on, or :class:`BuiltinTools`. Default: all.
        disabled_tools: Names of those that are off; the others are on. Default: none.

    Raises:
        UsageError: Both are given, or one of them is no list of such names.
    """

    enabled_tools: frozenset[str] | None
    disabled_tools: frozenset[str] | None

    def __init__(
        self,
        enabled_tools: Iterable[str] | None = None,
        disabled_tools: Iterable[str] | None = None,
    ) -> None:
        if enabled_tools is not None and disabled_tools is not None:
            raise UsageError(
                "give enabled_tools (these and no others) or disabled_tools (all but these), not "
                "both"
            )
        object.__setattr__(self, "enabled_tools", _names("enabled_tools", enabled_tools))
        object.__setattr__(self, "disabled_tools", _names("disabled_tools", disabled_tools))

    def allows(self, tool: Tool | str) -> bool:
        """Whether a tool is on. Names are compared exactly.

        Args:
            tool: The tool; or the name of one that comes from no server.
        """
        if self.enabled_tools is not None:
            name = tool.name if isinstance(tool, Tool) else tool
            is_about_all = not self.enabled_tools <= _BUILTIN
            is_left_alone = not (is_about_all or name in _BUILTIN)
            return is_left_alone or _is_among(self.enabled_tools, tool, "allow")
        return self.disabled_tools is None or not _is_among(self.disabled_tools, tool, "deny")

    def turns_off(self, tool: Tool) -> bool:
        """Whether ``disabled_tools`` names this very tool, and not only all tools there are."""
        return _is_among((self.disabled_tools or frozenset()) - {"*"}, tool, "deny")

    @property
    def names(self) -> frozenset[str]:
        """Every name that one of the lists holds."""
        return (self.enabled_tools or frozenset()) | (self.disabled_tools or frozenset())


def is_named(name: str, tool: Tool) -> bool:
    """Whether a name of one of the lists is about a tool."""
    return _is_among({name}, tool, "deny")


def _is_among(names: Collection[str], tool: Tool | str, kind: PolicyKind) -> bool:
    """Whether a tool is named; as by rules of that kind where a server is."""
    if "*" in names or (tool.name if isinstance(tool, Tool) else tool) in names:
        return True
    if not isinstance(tool, Tool) or tool.server_name is None:
        return False
    return any(
        Policy(kind, name, server=name.rpartition("/")[0]).names(tool)
        for name in names
        if "/" in name
    )


def _names(which: str, given: Iterable[Any] | None) -> frozenset[str] | None:
    if given is None:
        return None
    if isinstance(given, str):
        raise UsageError(f"{which}={brief_repr(given)} is one name; write {which}=[...]")
    if not isinstance(given, Iterable):
        raise UsageError(f"{which}={brief_repr(given)} is no list of names; write {which}=[...]")
    names = [one.name if isinstance(one, Tool) else getattr(one, "value", one) for one in given]
    for name in names:
        read_target(f"{which}=[{brief_repr(name)}]", name, f"{which} names")
    return frozenset(names)
