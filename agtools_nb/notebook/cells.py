"""Which cell defined which tool: running a cell again replaces its own tools, no others."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agtools_nb.define import Tool
from agtools_nb.define.cell import Cell, ipython, is_rerun, running_cell
from agtools_nb.define.signature import unwrapped
from agtools_nb.errors import DuplicateToolError

__all__ = ["Cell", "Ledger", "ipython", "on_cell_end", "running_cell"]


@dataclass(frozen=True, slots=True)
class _Owner:
    cell: Cell | None
    origin: str


class Ledger:
    """Who owns each name of one toolkit.

    Args:
        drop: Called with a name that its edited cell no longer defines.
    """

    def __init__(self, drop: Callable[[str], None]) -> None:
        self._owners: dict[str, _Owner] = {}
        self._drop = drop
        _watch_cells(self)

    def claim(self, tool: Tool, *, taken: bool, file: str) -> None:
        """Give ``tool``'s name to the running cell, and write the cell into the tool's origin.

        Args:
            tool: The tool to be registered.
            taken: Whether a tool of that name is registered.
            file: Name of the code that registers it, to tell whether the function
                stands in the same cell.

        Raises:
            DuplicateToolError: The name belongs to another cell or module, or to
                another tool of this very run; the message says where it came from.
        """
        cell = running_cell()
        if cell is not None and _is_interactive(tool):
            tool.origin = f"cell [{cell.number}]"
            code = getattr(unwrapped(tool.fn), "__code__", None)
            if code is not None and code.co_filename == file:
                tool.origin += f", line {code.co_firstlineno}"
        owner = self._owners.get(tool.name) if taken else None
        if owner is not None and not is_rerun(owner.cell, cell):
            raise DuplicateToolError(
                f"the name {tool.name!r} is taken by the tool defined in {owner.origin}; this one "
                f"is defined in {tool.origin}. Rename one of them, or remove the first: "
                f"tk.remove({tool.name!r})."
            )
        self._owners[tool.name] = _Owner(cell, tool.origin)

    def forget(self, name: str) -> None:
        """The name is free again."""
        self._owners.pop(name, None)

    def cell_ended(self, cell: Cell, failed: bool) -> None:
        """Drop what the cell defined in an earlier run and not in this one.

        A cell that failed may just not have come to its tools: it keeps them.
        """
        if failed or cell.id is None:
            return
        for name, owner in list(self._owners.items()):
            mine = owner.cell is not None and owner.cell.id == cell.id
            if mine and owner.cell is not None and owner.cell.run != cell.run:
                self.forget(name)
                self._drop(name)


def _is_interactive(tool: Tool) -> bool:
    return getattr(unwrapped(tool.fn), "__module__", None) == "__main__"


CellEnd = Callable[[Cell, bool], None]

_at_cell_end: list[CellEnd] = []
_ledgers: weakref.WeakSet[Ledger] = weakref.WeakSet()
_watched: weakref.WeakSet[Any] = weakref.WeakSet()


def on_cell_end(listener: CellEnd) -> CellEnd:
    """Have ``listener(cell, failed)`` called after each cell of a notebook with a toolkit."""
    _at_cell_end.append(listener)
    return listener


def _watch_cells(ledger: Ledger) -> None:
    _ledgers.add(ledger)
    shell = ipython()
    if shell is not None and shell not in _watched:
        _watched.add(shell)
        shell.events.register("post_run_cell", _after_cell)


def _after_cell(result: Any) -> None:
    cell = running_cell()
    if cell is None:
        return
    failed = not getattr(result, "success", False)
    for ledger in list(_ledgers):
        ledger.cell_ended(cell, failed)
    for listener in _at_cell_end:
        listener(cell, failed)
