"""Which cell of a notebook runs: what it defines takes the place of what it defined before."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Cell:
    """One execution of a cell.

    Attributes:
        id: The notebook's id of the cell; ``None`` where the client sends none
            (consoles, nbclient).
        run: Tells this execution from every other.
        number: The number in ``In [3]``.
    """

    id: str | None
    run: str
    number: int


def running_cell() -> Cell | None:
    """The cell that is being executed; ``None`` outside of IPython."""
    shell = ipython()
    if shell is None:
        return None
    # Not shell.execution_count: newer IPython counts on before the cell runs.
    number = int(shell.displayhook.prompt_count)
    parent: Any = shell.get_parent() if hasattr(shell, "get_parent") else {}
    run = str(parent.get("header", {}).get("msg_id") or number)
    cell_id = parent.get("metadata", {}).get("cellId")
    return Cell(cell_id if isinstance(cell_id, str) else None, run, number)


def ipython() -> Any:
    """The running IPython shell, ``None`` if there is none. Imports nothing."""
    module = sys.modules.get("IPython")
    return None if module is None else module.get_ipython()


def is_rerun(first: Cell | None, second: Cell | None) -> bool:
    """Whether the second is the first one's cell, run again.

    Where the client sends no cell ids, each input is a redefinition, as it is for
    any name in Python.
    """
    if first is None or second is None:
        return False
    return first.id == second.id and first.run != second.run
