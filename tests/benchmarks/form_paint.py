"""How long a form takes from ``FormView(...)`` to paint, in JupyterLab: ``python tests/benchmarks/form_paint.py``.

Each figure is the median of some runs, in ms, after one that is not counted: ``made`` is the
constructor in the kernel, ``painted`` the time from before the constructor until the frame in
which the browser shows the form's last field, through the server and the socket.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))

from browser.lab import NotebookPage, chromium, write_notebook  # noqa: E402
from browser.servers import serve  # noqa: E402

SETUP = f"""\
import sys, time
sys.path.insert(0, {str(TESTS)!r})
from form.schema_tool import SchemaTool, corpus
from agtools_nb.notebook.kernel_loop import KernelLoop
from agtools_nb.views.form import FormView
loop = KernelLoop()
kinds = [{{"type": "string"}}, {{"type": "integer", "minimum": 0}}, {{"type": "boolean"}}, {{"enum": ["a", "b"]}},
         {{"type": ["number", "null"], "default": None}}]
forty = SchemaTool({{"type": "object", "properties": {{
    f"field_{{n}}": {{**kinds[n % 5], "description": "What this one means."}} for n in range(40)}}}})
rows = sorted(corpus(), key=lambda row: len(row["schema"]["properties"]))
median = SchemaTool(rows[len(rows) // 2]["schema"])
largest = SchemaTool(rows[-1]["schema"])
"""

WATCH = """
    window.painted = 0;
    const look = () => {
        const fields = notebook.widgets[1].node.querySelectorAll('.agt-form .agt-field');
        if (fields.length && fields[fields.length - 1].getBoundingClientRect().height)
            requestAnimationFrame(() => { window.painted = Date.now() / 1000; });
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
"""


def measure(page: NotebookPage, tool: str, runs: int) -> tuple[float, float]:
    """Return the medians of ``made`` and ``painted`` in ms."""
    source = f"began = time.time()\nform = FormView(loop, {tool})\nmade = time.time()\nform"
    page.set_source(1, source)
    made, painted = [], []
    for _ in range(runs + 1):
        page.js("notebook.widgets[1].model.clearExecution();" + WATCH)
        page.run_cell(1)
        page.wait_for("window.painted", "the form painted")
        began = page.kernel("began")
        made.append(page.kernel("made") - began)
        painted.append(page.page.evaluate("window.painted") - began)
    return 1000 * statistics.median(made[1:]), 1000 * statistics.median(painted[1:])


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    for name in ("form.js", "form.css"):
        data = (TESTS.parent / "agtools_nb" / "static" / name).read_bytes()
        print(
            f"{name}: {len(data) / 1000:.1f} kB, {len(gzip.compress(data, 9)) / 1000:.1f} kB gzipped"
        )
    with (
        tempfile.TemporaryDirectory() as folder,
        serve("lab", "light", Path(folder)) as server,
        chromium() as browser,
    ):
        write_notebook(server.root / "paint.ipynb", [SETUP, ""])
        page = NotebookPage(browser.new_page(), server)
        page.open("paint.ipynb")
        page.run_cell(0)
        for tool in ("median", "forty", "largest"):
            fields = page.kernel(f"len({tool}.input_schema['properties'])")
            made, painted = measure(page, tool, runs)
            print(f"{tool:8} {fields:3} fields  made {made:5.1f} ms  painted {painted:6.1f} ms")
        page.close()


if __name__ == "__main__":
    main()
