"""What tests of several rooms share: real Jupyter servers and a real browser.

Playwright and the servers are imported where they are used, so that unit tests
neither need nor pay for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from browser.lab import NotebookPage, VoilaPage
    from browser.servers import Kind, Server, Theme

REPO = Path(__file__).resolve().parent.parent

ServerFactory = Callable[["Kind", "Theme"], "Server"]
OpenNotebook = Callable[..., "NotebookPage"]
OpenVoila = Callable[..., "VoilaPage"]


@pytest.fixture(scope="session")
def repo() -> Path:
    """The checkout that these tests belong to."""
    return REPO


@pytest.fixture(scope="session")
def server_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerFactory]:
    """Give the session's server of a kind and theme, started when first asked for."""
    from browser.servers import serve

    running: dict[tuple[str, str], Server] = {}
    with ExitStack() as stack:

        def server_of(kind: Kind, theme: Theme = "light") -> Server:
            if (kind, theme) not in running:
                folder = tmp_path_factory.mktemp(f"{kind}-{theme}")
                running[kind, theme] = stack.enter_context(serve(kind, theme, folder))
            return running[kind, theme]

        yield server_of


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium for the tests of one module.

    It does not live for the session: Playwright's sync API keeps an event loop
    running in the main thread, and ``asyncio.run`` in other tests would fail.
    """
    from browser.lab import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture
def open_notebook(
    browser: Browser, server_of: ServerFactory, request: pytest.FixtureRequest
) -> Iterator[OpenNotebook]:
    """Open notebooks made of code cells (or a file) in a fresh browser context each.

    ``open_notebook(cells, kind="lab", theme="light", kernel="python3", width=1280)``
    returns a :class:`browser.lab.NotebookPage` whose kernel is idle. At the end
    of the test its kernels are shut down.
    """
    from browser.lab import HEIGHT, WIDTH, NotebookPage, write_notebook

    opened: list[NotebookPage] = []

    def open_notebook(
        cells: list[str] | Path,
        kind: Kind = "lab",
        theme: Theme = "light",
        kernel: str = "python3",
        width: int = WIDTH,
        height: int = HEIGHT,
    ) -> NotebookPage:
        server = server_of(kind, theme)
        name = f"{request.node.name.translate(_UNSAFE)}-{len(opened)}.ipynb"
        if isinstance(cells, Path):
            (server.root / name).write_bytes(cells.read_bytes())
        else:
            write_notebook(server.root / name, cells, kernel)
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)
        page = NotebookPage(context.new_page(), server)
        opened.append(page)
        page.open(name)
        return page

    yield open_notebook
    for page in opened:
        page.close()


@pytest.fixture
def open_voila(browser: Browser, server_of: ServerFactory, request: pytest.FixtureRequest) -> Iterator[OpenVoila]:
    """Open a notebook of these code cells as a Voila page, in a fresh browser context, once its cells have run."""
    from browser.lab import SECONDS, VoilaPage, write_notebook

    opened: list[VoilaPage] = []

    def open_voila(cells: list[str], theme: Theme = "light") -> VoilaPage:
        server = server_of("voila", theme)
        name = f"{request.node.name.translate(_UNSAFE)}-{len(opened)}.ipynb"
        write_notebook(server.root / name, cells)
        page = VoilaPage(browser.new_context(color_scheme=theme).new_page(), server)
        opened.append(page)
        page.open(name, SECONDS)
        return page

    yield open_voila
    for page in opened:
        page.page.context.close()


_UNSAFE = str.maketrans({character: "-" for character in "[]/\\ :.,'\"<>&?#%"})
