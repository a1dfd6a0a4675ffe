"""What a call brings back, in JupyterLab: images, warnings, and the line its author wrote for people."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from browser.lab import NotebookPage
from browser.scenes import SETUP
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

Open = Callable[..., NotebookPage]

DRAW = """
import warnings
import matplotlib.figure

@tk.tool(display="Draw {points} points")
def draw(points: int):
    \"\"\"Draw a line.\"\"\"
    warnings.warn("drawn by hand")
    print("drawing")
    figure = matplotlib.figure.Figure(figsize=(4, 2.5))
    figure.subplots().plot(range(points))
    return {"points": points, "chart": figure}
"""
RUN = "result = await tk.call('draw', points='5')\nawait tk.run([('draw', {'points': 3}), ('draw', {'points': 'x'})], strategy='sequential')"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_image_a_warning_and_a_display_line(open_notebook: Open, theme: str) -> None:
    """A figure is drawn as an image in its row; what Python warned of stands beside what was printed."""
    page = open_notebook([SETUP, DRAW, RUN, "draw"], theme=theme)
    page.run_selected(0, 3)
    first = page.output(2).locator(".agt").first
    image = first.locator("img").first
    expect(image).to_be_visible()
    assert image.evaluate("node => node.naturalWidth") > 100
    expect(first.get_by_text("UserWarning: drawn by hand").first).to_be_visible()
    expect(first.get_by_text("drawing").first).to_be_visible()
    batch = page.output(2).locator(".agt.agt-batch").nth(1)
    expect(batch.get_by_text("Draw 3 points").first).to_be_visible()
    page.screenshot(f"result-{theme}", page.cell(2))
    assert page.kernel("result.media[0].mime_type") == "image/png"
    assert page.kernel("result.stdout") == "drawing\n"
    assert page.kernel("result.stderr") == ""
    assert not page.watch.errors
