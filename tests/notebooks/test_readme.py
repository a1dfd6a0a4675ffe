"""The README's Python does what the README says it does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

README = Path(__file__).resolve().parents[2] / "README.md"
BLOCKS = re.findall(
    r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
SCRIPTS = [block for block in BLOCKS if "asyncio.run(" in block]
CELLS = [block for block in BLOCKS if "asyncio.run(" not in block]

pytestmark = pytest.mark.notebooks


def promised(block: str) -> str:
    """What the comment on the block's last line says comes out."""
    [said] = re.findall(r"#\s*(.+)$", block.strip().splitlines()[-1])
    return str(said)


def test_there_are_blocks_of_both_kinds() -> None:
    assert (len(CELLS), len(SCRIPTS)) == (4, 2)


@pytest.mark.parametrize("block", SCRIPTS)
def test_a_script_prints_what_it_says(block: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(block, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    said = promised(block)
    if said.endswith(" in some order"):
        assert sorted(done.stdout.strip()) == sorted(said.removesuffix(" in some order"))
    else:
        assert done.stdout.strip() == said


@pytest.mark.parametrize("block", CELLS)
def test_a_cell_shows_what_it_says(block: str) -> None:
    notebook: Any = new_notebook(cells=[new_code_cell(block)])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    [cell] = notebook.cells
    shown = [out.data["text/plain"] for out in cell.outputs if out.output_type == "execute_result"]
    assert shown == [promised(block)]
