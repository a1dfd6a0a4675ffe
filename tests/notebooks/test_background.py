"""A run that goes on after its cell is saved as it ended, by every client."""

from __future__ import annotations

from typing import Any

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

pytestmark = pytest.mark.notebooks

DEFINE = """\
import asyncio
from agtools_nb import Toolkit
tk = Toolkit()
gate = asyncio.Event()
@tk.tool
async def hold(n: int) -> int:
    await gate.wait()
    return n
"""


def executed(*cells: str) -> Any:
    notebook: Any = new_notebook(cells=[new_code_cell(cell) for cell in (DEFINE, *cells)])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return notebook.cells[1:]


def texts(cell: Any) -> str:
    return "\n".join(out.data["text/plain"] for out in cell.outputs if "data" in out)


def test_a_run_on_the_last_line_that_ends_later() -> None:
    shown, _, _ = executed(
        "tk.run([('hold', {'n': 1}), ('hold', {'n': 2})])",
        "gate.set(); await asyncio.sleep(0.2)",
        "1",
    )
    assert "2 calls · 2 ok" in texts(shown)


def test_a_handle_of_an_earlier_cell() -> None:
    _, awaited, again, value = executed(
        "handle = tk.run([('hold', {'n': 1}), ('hold', {'n': 2})])",
        "gate.set()\nresults = await handle\nresults",
        "handle",
        "results",
    )
    assert "2 calls · 2 ok" in texts(awaited)
    assert "2 calls · 2 ok" in texts(again)
    assert "hold: ok" in texts(value)
