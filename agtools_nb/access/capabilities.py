"""``CapabilitiesConfig``: which of the registered tools there are for the model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agtools_nb.access.names import BuiltinTools
from agtools_nb.define import Tool
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr

_BUILTIN = frozenset(tool.value for tool in BuiltinTools)


@dataclass(frozen=True, slots=True, init=False)
class CapabilitiesConfig:
    """Which tools are on. One that is off is in no declaration, and a call to it finds no tool.

    A list of built-in tools is about those: ``enabled_tools=BuiltinTools.read_only()`` turns the
    other built-in ones off, and own functions stay on. A list that names an own function is
    about all: with ``enabled_tools=["add"]`` there is ``add`` and nothing else. What comes with
    a tool, such as the status tool of a ``long_running`` one, is on and off with it.

    Args:
        enabled_tools: Names of the tools that are on, or :class:`BuiltinTools`. Default: all.
        disabled_tools: Names of those that are off; the others are on. Default: none.

    Raises:
        UsageError: Both are given, or one of them is no list of names.
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

    def allows(self, name: str) -> bool:
        """Whether the tool of that name is on. Names are compared exactly."""
        if self.enabled_tools is not None:
            is_about_all = not self.enabled_tools <= _BUILTIN
            return name in self.enabled_tools or not (is_about_all or name in _BUILTIN)
        return self.disabled_tools is None or name not in self.disabled_tools

    @property
    def names(self) -> frozenset[str]:
        """Every name that one of the lists holds."""
        return (self.enabled_tools or frozenset()) | (self.disabled_tools or frozenset())


def _names(which: str, given: Iterable[Any] | None) -> frozenset[str] | None:
    if given is None:
        return None
    if isinstance(given, str):
        raise UsageError(f"{which}={brief_repr(given)} is one name; write {which}=[...]")
    names = [one.name if isinstance(one, Tool) else getattr(one, "value", one) for one in given]
    for name in names:
        if not isinstance(name, str) or not name:
            raise UsageError(f"{which}: {brief_repr(name)} is no name of a tool")
    return frozenset(names)
