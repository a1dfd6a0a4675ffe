"""A small driver for notebooks in a real browser: open, run, interrupt, read, photograph."""

from __future__ import annotations

import ast
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from browser.scripts import BEGIN, GO_ON, KEEP_AWAKE, NOTEBOOK, NUDGE
from browser.servers import Server
from browser.wire import Wire
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    Locator,
    Page,
    Request,
    WebSocket,
    expect,
    sync_playwright,
)

CHROMIUM = "/usr/bin/chromium"
CHROMIUM_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
]
WIDTH, HEIGHT = 1280, 900
SECONDS = 30.0
JS_SECONDS = 120.0
OVERLOOKED_SECONDS = 5.0
EXPECT_SECONDS = 15.0  # Playwright's own 5 s are short on two busy cores
ARTIFACTS = Path(os.environ.get("AGTOOLS_ARTIFACTS", "artifacts")).resolve()

# Noise of the applications themselves on a server without extras, none of it about a widget.
IGNORED_CONSOLE = re.compile(
    r"Failed to load resource: .*(404|403)"  # favicons, source maps, optional endpoints
    r"|LSP|lsp"  # no language server is installed
    r"|Could not determine the jupyterlab build status"
    r"|schema for plugin"  # settings of plugins that Notebook 7 leaves out
    r"|reading 'schema'(.|\n)*notebook_core"  # Notebook 7 trips over a setting of its own
    r"|Canceled future for create_subshell_request"  # JupyterLab, when a kernel is restarted early
    r"|labextensions/@jupyter-notebook/"  # Notebook 7's own extension, in a Voila that lacks what it shares
)


class BrowserMissingError(RuntimeError):
    """There is no Chromium to drive; tests fail on it, they are not skipped."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a headless Chromium until the block ends.

    Playwright's sync API keeps an event loop marked as running in this thread
    meanwhile, so nothing inside the block can use ``asyncio.run``.

    Raises:
        BrowserMissingError: Chromium is not installed where Debian puts it.
    """
    executable = os.environ.get("AGTOOLS_CHROMIUM", CHROMIUM)
    if not Path(executable).exists():
        raise BrowserMissingError(
            f"no browser at {executable}: apt-get install chromium, or set AGTOOLS_CHROMIUM to one that playwright drives"
        )
    expect.set_options(timeout=EXPECT_SECONDS * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=CHROMIUM_OPTIONS)
        try:
            yield browser
        finally:
            browser.close()


def write_notebook(path: Path, cells: Sequence[str], kernel: str = "python3") -> Path:
    """Write a notebook with these code cells and no outputs."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in cells],
        metadata={"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}},
    )
    nbformat.write(notebook, path)
    return path


class Watch:
    """What a page says to its kernel, to its console and to the outside.

    Attributes:
        wire: Every message exchanged with kernels.
        errors: Console errors and uncaught exceptions, without known noise.
        external: Addresses beyond the server that the page asked for.
    """

    def __init__(self, page: Page, server: Server) -> None:
        self.wire = Wire()
        self.errors: list[str] = []
        self.external: list[str] = []
        self._home = server.url
        page.on("websocket", self._on_socket)
        page.on("console", self._on_console)
        page.on("pageerror", self._on_error)
        page.on("request", self._on_request)

    def _on_error(self, error: Error) -> None:
        text = f"uncaught: {error}\n{error.stack or ''}"
        if not IGNORED_CONSOLE.search(text):
            self.errors.append(text)

    def _on_socket(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: self.wire.record("to page", frame))
        socket.on("framesent", lambda frame: self.wire.record("to kernel", frame))

    def _on_console(self, message: ConsoleMessage) -> None:
        source = str(message.location.get("url", ""))
        # What is asked for outside is in `external`; that it did not come is this machine's affair.
        outside = source.startswith("http") and not source.startswith(self._home)
        if (
            message.type == "error"
            and not outside
            and not IGNORED_CONSOLE.search(f"{message.text} {source}")
        ):
            self.errors.append(f"{message.text} ({source})")

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith((self._home, "data:", "blob:")):
            self.external.append(request.url)


class NotebookPage:
    """One notebook, open in JupyterLab or Notebook 7.

    Cells are numbered from 0 in the order they stand in, Markdown cells included.

    Attributes:
        page: The Playwright page, for everything that this class does not offer.
        server: The server behind it.
        watch: What it says to its kernel, its console and the outside.
    """

    def __init__(self, page: Page, server: Server) -> None:
        self.page = page
        self.server = server
        self.watch = Watch(page, server)
        self._runs = 0

    def open(self, notebook: str, seconds: float = 90.0) -> None:
        """Open a notebook of the server's root and wait until its kernel is idle.

        A page that does not come up within a third of the time is loaded once more, as a
        person would: an older kernel may have overlooked what the page asked it first.
        """
        self.page.goto(self.server.page_url(notebook), wait_until="domcontentloaded")
        for _ in range(2):
            try:
                self._wait_open(notebook, seconds / 3)
                break
            except AssertionError as error:
                print(f"the page is loaded again: {error}", file=sys.__stderr__)
                self.page.reload(wait_until="domcontentloaded")
        else:
            self._wait_open(notebook, seconds / 3)
        self.page.evaluate(KEEP_AWAKE)
        expect(self.page.locator(".jp-Notebook .jp-Cell").first).to_be_visible()

    def _wait_open(self, notebook: str, seconds: float) -> None:
        self.wait_for(
            "window.jupyterapp && window.jupyterapp.shell.currentWidget"
            " && window.jupyterapp.shell.currentWidget.content?.widgets?.length > 0"
            " && window.jupyterapp.shell.currentWidget.sessionContext?.session?.kernel?.status === 'idle'",
            f"{notebook} open with an idle kernel",
            seconds,
        )

    # -- the page as a program ------------------------------------------------

    def js(self, body: str, argument: Any = None) -> Any:
        """Run a function body in the page; ``panel``, ``notebook`` and ``argument`` are in scope.

        Raises:
            AssertionError: What it awaits did not come within two minutes.
        """
        self._runs += 1
        begin = f"async (argument) => {{ {NOTEBOOK} {body} }}"
        outcome = self.page.evaluate(BEGIN.replace("BODY", begin), [self._runs, argument])
        deadline = time.monotonic() + JS_SECONDS
        while outcome is None:
            if time.monotonic() > deadline:
                raise AssertionError(
                    f"after {JS_SECONDS:.0f} s no answer: {body}; "
                    f"last messages: {self.watch.wire.last()}"
                )
            if self._is_overlooked():
                self._nudge()
            outcome = self.page.evaluate(GO_ON, self._runs)
        return outcome.get("value")

    def wait_for(self, expression: str, what: str, seconds: float = SECONDS) -> None:
        """Wait until a JavaScript expression of the page is true.

        Raises:
            AssertionError: It was not within ``seconds``; tells ``what`` was waited for.
        """
        deadline = time.monotonic() + seconds
        overlooked_at: float | None = None
        while not self.page.evaluate(f"() => Boolean({expression})"):
            overlooked_at = time.monotonic() if overlooked_at is None else overlooked_at
            if not self._is_overlooked():
                overlooked_at = None
            elif time.monotonic() - overlooked_at > OVERLOOKED_SECONDS:
                self._nudge()
                overlooked_at = None
            if time.monotonic() > deadline:
                raise AssertionError(
                    f"after {seconds:.0f} s still not: {what}; page errors: {self.watch.errors}; "
                    f"last messages: {self.watch.wire.last()}; log: {self.server.log[-1500:]}"
                )
            self.page.wait_for_timeout(50)

    def command(self, name: str) -> None:
        """Start a command of the application without waiting for its end."""
        self.page.evaluate("(name) => { void window.jupyterapp.commands.execute(name); }", name)

    # -- cells ----------------------------------------------------------------

    def __len__(self) -> int:
        return int(self.js("return notebook.widgets.length"))

    def cell(self, index: int) -> Locator:
        """Locate a cell."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def output(self, index: int) -> Locator:
        """Locate the output area of a code cell."""
        return self.cell(index).locator(".jp-Cell-outputWrapper")

    def source(self, index: int) -> str:
        """Return the text of a cell."""
        return str(
            self.js("return notebook.widgets[argument].model.sharedModel.getSource()", index)
        )

    def set_source(self, index: int, source: str) -> None:
        """Replace the text of a cell, as editing it would."""
        self.js(
            "notebook.widgets[argument[0]].model.sharedModel.setSource(argument[1])",
            [index, source],
        )

    def execution_count(self, index: int) -> int | None:
        """Return the number in a cell's prompt, ``None`` if it has none."""
        count = self.js("return notebook.widgets[argument].model.executionCount ?? null", index)
        return None if count is None else int(count)

    def is_busy(self, index: int) -> bool:
        """Tell whether a cell runs or is queued (``[*]``)."""
        return "*" in str(
            self.js("return notebook.widgets[argument].promptNode?.textContent ?? ''", index)
        )

    def _is_overlooked(self) -> bool:
        """Whether an older kernel sits idle on something that it was sent."""
        return self.watch.wire.has_overlooked() and bool(
            self.page.evaluate(
                "() => window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel"
                "?.name === 'older'"
            )
        )

    def _nudge(self) -> None:
        """Send the kernel any message, so that it looks for those it overlooked.

        ipykernel 7.0 to 7.3 may not notice a request that comes while a reply leaves, until
        the next message (ipython/ipykernel issue 1554).
        """
        print(f"nudged a kernel: {self.watch.wire.last()}", file=sys.__stderr__)
        self.page.evaluate(NUDGE)

    def run_cell(self, index: int, wait: bool = True, seconds: float = SECONDS) -> None:
        """Run one cell, and wait until it has ended unless told otherwise."""
        self.run_selected(index, index, wait=wait, seconds=seconds)

    def run_selected(
        self, first: int, last: int, wait: bool = True, seconds: float = SECONDS
    ) -> None:
        """Select the cells from ``first`` to ``last`` and run the selection."""
        self.js(
            "notebook.deselectAll(); notebook.activeCellIndex = argument[0];"
            "if (argument[1] !== argument[0]) notebook.extendContiguousSelectionTo(argument[1]);"
            "notebook.mode = 'command';",
            [first, last],
        )
        self.command("notebook:run-cell")
        if wait:
            for index in range(first, last + 1):
                self.wait_cell(index, seconds)

    def run_all(self, seconds: float = 120.0, check: bool = True) -> None:
        """Choose Run All and wait until every cell has ended.

        Raises:
            AssertionError: A cell failed, and ``check`` is set.
        """
        self.command("notebook:run-all-cells")
        self.wait_all(seconds)
        for index in range(len(self) if check else 0):
            assert not self.failed(index), f"cell {index} failed:\n{self.text(index)}"

    def wait_all(self, seconds: float = 120.0) -> None:
        """Wait until no cell runs or is queued and the kernel is idle."""
        self.page.wait_for_timeout(200)  # Run All marks its cells a moment after the command
        try:
            self.wait_for(
                "window.jupyterapp.shell.currentWidget.content.widgets.every("
                "cell => !(cell.promptNode?.textContent ?? '').includes('*'))"
                " && window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status"
                " === 'idle'",
                "every cell ended",
                seconds,
            )
        except AssertionError as error:
            # JupyterLab was seen to leave [*] at a cell whose end the kernel had told.
            if not self.watch.wire.all_taken_up():
                raise
            print(f"the kernel ran every cell, the page shows one as running: {error}")

    def wait_cell(self, index: int, seconds: float = SECONDS) -> None:
        """Wait until a cell that was told to run has ended."""
        self.page.wait_for_timeout(100)  # the prompt turns to [*] a moment after the command
        self.wait_for(
            f"!(window.jupyterapp.shell.currentWidget.content.widgets[{index}].promptNode?.textContent ?? '')"
            ".includes('*')",
            f"cell {index} ended",
            seconds,
        )

    def wait_busy(self, index: int, seconds: float = SECONDS) -> None:
        """Wait until a cell runs or is queued."""
        self.wait_for(
            f"(window.jupyterapp.shell.currentWidget.content.widgets[{index}].promptNode?.textContent ?? '')"
            ".includes('*')",
            f"cell {index} started",
            seconds,
        )

    def outputs(self, index: int) -> list[dict[str, Any]]:
        """Return the outputs of a cell as the notebook file would hold them."""
        outputs: list[dict[str, Any]] = self.js(
            "return notebook.widgets[argument].model.outputs?.toJSON() ?? []", index
        )
        return outputs

    def failed(self, index: int) -> bool:
        """Tell whether a cell has an error among its outputs."""
        return any(output["output_type"] == "error" for output in self.outputs(index))

    def text(self, index: int) -> str:
        """Return everything a code cell printed, raised or showed, as plain text."""
        return "".join(_output_text(output) for output in self.outputs(index))

    # -- the kernel -----------------------------------------------------------

    def interrupt(self) -> None:
        """Press the toolbar's interrupt button."""
        self.page.locator('[data-command="notebook:interrupt-kernel"]').first.click()

    def restart(self) -> None:
        """Restart the kernel without asking and wait until it is idle."""
        self.js("await panel.sessionContext.session.kernel.restart()")
        self.wait_for(
            "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'",
            "kernel idle after restart",
            60,
        )

    def kernel(self, expression: str) -> Any:
        """Evaluate a Python expression in the kernel, out of sight of the notebook, and return it through JSON.

        The kernel answers once it is free: after the cells that are queued now.
        """
        code = f"__import__('json').dumps({expression})"
        reply = self.js(
            "const future = panel.sessionContext.session.kernel.requestExecute("
            "{code: '', silent: true, store_history: false, user_expressions: {value: argument}});"
            "return (await future.done).content.user_expressions.value",
            code,
        )
        if reply["status"] != "ok":
            raise AssertionError(f"{expression}: {reply.get('ename')}: {reply.get('evalue')}")
        return json.loads(ast.literal_eval(reply["data"]["text/plain"]))

    def wait_kernel(self, expression: str, what: str, seconds: float = SECONDS) -> None:
        """Wait until a Python expression is true in the (idle) kernel."""
        deadline = time.monotonic() + seconds
        while not self.kernel(f"bool({expression})"):
            if time.monotonic() > deadline:
                raise AssertionError(f"after {seconds:.0f} s still not: {what}")
            self.page.wait_for_timeout(50)

    def comm_count(self) -> int:
        """Return how many comms are open in the kernel."""
        return int(self.kernel("len(__import__('comm').get_comm_manager().comms)"))

    def save(self) -> dict[str, Any]:
        """Save the notebook and return the file's content."""
        path = str(self.js("await panel.context.save(); return panel.context.path"))
        content: dict[str, Any] = json.loads((self.server.root / path).read_text())
        return content

    def close(self) -> None:
        """Shut the kernel down and close the page."""
        try:
            self.js("await panel.sessionContext.shutdown()")
        finally:
            self.page.context.close()

    # -- pictures -------------------------------------------------------------

    def screenshot(self, name: str, target: Locator | None = None) -> Path:
        """Photograph the page, or one element of it, into the artifacts."""
        return screenshot(self.page, name, target)


class VoilaPage:
    """One notebook as a Voila page: its outputs only, run by the server.

    Attributes:
        page: The Playwright page.
        server: The server behind it.
        watch: What it says to its kernel, its console and the outside, once it is there.
    """

    def __init__(self, page: Page, server: Server) -> None:
        self.page = page
        self.server = server
        self.watch = Watch(page, server)

    def open(self, notebook: str, seconds: float = SECONDS) -> None:
        """Open a notebook of the server's root and wait until its outputs are shown."""
        self.page.goto(
            self.server.page_url(notebook), wait_until="domcontentloaded", timeout=seconds * 1000
        )
        expect(self.page.locator("#rendered_cells")).to_be_attached(timeout=seconds * 1000)
        expect(self.page.locator("#loading")).to_be_hidden(timeout=seconds * 1000)


def screenshot(page: Page, name: str, target: Locator | None = None) -> Path:
    """Photograph a page, or one element of it, into the artifacts.

    Args:
        page: What to photograph.
        name: File name without suffix; names starting alike sort together.
        target: One element instead of the window.

    Returns:
        The PNG file.
    """
    ARTIFACTS.mkdir(parents=True, exist_ok=True)
    path = ARTIFACTS / f"{name}.png"
    if target is None:
        page.screenshot(path=path)
    else:
        target.scroll_into_view_if_needed()
        target.screenshot(path=path)
    return path


def _output_text(output: dict[str, Any]) -> str:
    """Return an output's plain text; text may be a list of lines, as in notebook files."""
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}\n" + "\n".join(output["traceback"])
    text = (
        output["text"]
        if output["output_type"] == "stream"
        else output["data"].get("text/plain", "")
    )
    return text if isinstance(text, str) else "".join(text)
