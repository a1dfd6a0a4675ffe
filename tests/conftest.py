"""What tests of several rooms share: real Jupyter servers and a real browser.

Playwright and the servers are imported where they are used, so that unit tests
neither need nor pay for them.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

# A property is a law, not a stopwatch: a busy machine must not fail it. AGTOOLS_EXAMPLES says
# how many examples a law is tried on: fewer where the same laws run on several interpreters,
# more in search of what a hundred do not find.
settings.register_profile(
    "laws", deadline=None, max_examples=int(os.environ.get("AGTOOLS_EXAMPLES", "100"))
)
settings.load_profile("laws")

if TYPE_CHECKING:
    from browser.lab import NotebookPage, VoilaPage
    from browser.servers import Kind, Server, Theme
    from playwright.sync_api import Browser, Page

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
    returns a :class:`browser.lab.NotebookPage` whose kernel is idle. A file is
    opened beside a copy of what lies beside it. At the end of the test the
    kernels are shut down, and a failed test leaves a picture in the artifacts.
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
            folder = name.removesuffix(".ipynb")
            shutil.copytree(cells.parent, server.root / folder)
            name = f"{folder}/{cells.name}"
        else:
            write_notebook(server.root / name, cells, kernel)
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme
        )
        page = NotebookPage(context.new_page(), server)
        opened.append(page)
        page.open(name)
        return page

    yield open_notebook
    _photograph_failure(request, [page.page for page in opened])
    for page in opened:
        page.close()


@pytest.fixture
def open_voila(
    browser: Browser, server_of: ServerFactory, request: pytest.FixtureRequest
) -> Iterator[OpenVoila]:
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
    _photograph_failure(request, [page.page for page in opened])
    for page in opened:
        page.page.context.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember whether the test failed, for fixtures that are torn down after it."""
    report = yield
    item.stash.setdefault(_FAILED, []).append(report.failed)
    return report


def pytest_sessionstart() -> None:
    """Let what is finalised at the bottom of a deep recursion fail there, unheard.

    Some tests nest values until the stack is full. Whatever the garbage collector happens to
    finalise just then has no room to run, and tells nothing of the code under test.
    """
    told = sys.unraisablehook

    def hook(unraisable: Any) -> None:
        if not issubclass(unraisable.exc_type, RecursionError):
            told(unraisable)

    sys.unraisablehook = hook


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Of two processes, let one drive the browser, which waits much, and the other do the rest.

    By the names of files: xdist 3.8 cannot group tests by a mark where pytest is 9.2 or newer.
    """
    from xdist.scheduler import LoadScopeScheduling

    class BrowserApart(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return "browser" if "browser" in file else file

    return BrowserApart(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What drives a browser comes first, so that the rest runs beside it."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Callable[[str, float], None]:
    """Keep a measured figure: ``figure("seconds to a painted form", 0.2)``.

    Figures are listed at the end of the run and in the artifacts' ``figures.json``.
    """

    def keep(name: str, value: float) -> None:
        # With the test's report it reaches the process that lists them.
        request.node.user_properties.append((_FIGURE, (name, value)))

    return keep


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the figures that tests measured."""
    reports = [one for found in terminalreporter.stats.values() for one in found]
    figures = {
        value[0]: value[1]
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, value in report.user_properties
        if name == _FIGURE
    }
    if not figures:
        return
    terminalreporter.section("figures")
    for name, value in figures.items():
        terminalreporter.line(f"{name}: {value:.4g}")
    artifacts = Path(os.environ.get("AGTOOLS_ARTIFACTS", "artifacts"))
    artifacts.mkdir(parents=True, exist_ok=True)
    (artifacts / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")


_FIGURE = "figure"
_FAILED = pytest.StashKey[list[bool]]()


def _photograph_failure(request: pytest.FixtureRequest, pages: list[Page]) -> None:
    """Keep a picture of each page of a test that failed."""
    from browser.lab import screenshot

    if any(request.node.stash.get(_FAILED, [])):
        for number, page in enumerate(pages):
            screenshot(page, f"failed-{request.node.name.translate(_UNSAFE)}-{number}")


_UNSAFE = str.maketrans(dict.fromkeys("[]/\\ :.,'\"<>&?#%", "-"))
