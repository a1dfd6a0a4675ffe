"""Real Jupyter front ends as subprocesses: JupyterLab, Notebook 7 and Voila, each in a directory of its own."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Kind = Literal["lab", "notebook", "voila"]
Theme = Literal["light", "dark"]

PORTS = range(8910, 8940)
START_SECONDS = 90.0
STOP_SECONDS = 10.0

# JupyterLab would otherwise ask whether to fetch news, check for updates, save
# while a test edits the file, and unload cells that are scrolled out of sight.
SETTINGS: dict[str, dict[str, object]] = {
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension/plugin": {"autosave": False},
    "@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"},
    "@jupyterlab/completer-extension/manager": {"autoCompletion": False},
}
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}


class ServerFailedError(RuntimeError):
    """A Jupyter server did not come up; the message ends with what it logged."""


@dataclass
class Server:
    """A running Jupyter front end.

    Attributes:
        kind: Which application it is.
        theme: The theme its pages are drawn in.
        root: The directory it serves; put notebooks here.
        home: Its private config, data and runtime directories, and its log.
        url: Where it answers, without a trailing slash.
    """

    kind: Kind
    theme: Theme
    root: Path
    home: Path
    url: str = ""
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def log(self) -> str:
        """What the server and its kernels have written so far."""
        return (self.home / "server.log").read_text(errors="replace")

    def page_url(self, notebook: str) -> str:
        """Return the address at which the application opens a notebook of :attr:`root`."""
        path = {"lab": "lab/tree", "notebook": "notebooks", "voila": "voila/render"}[self.kind]
        # JupyterLab would open again what an earlier page had open.
        return f"{self.url}/{path}/{notebook}" + ("?reset" if self.kind == "lab" else "")

    def add_kernel(self, name: str, python: Path) -> None:
        """Offer the ipykernel of another interpreter under ``name``."""
        folder = self.home / "data" / "kernels" / name
        folder.mkdir(parents=True, exist_ok=True)
        spec = {
            "argv": [
                str(python),
                "-Xfrozen_modules=off",
                "-m",
                "ipykernel_launcher",
                "-f",
                "{connection_file}",
            ],
            "display_name": name,
            "language": "python",
        }
        (folder / "kernel.json").write_text(json.dumps(spec))


def _command(kind: Kind, theme: Theme, root: Path, port: int) -> list[str]:
    if kind == "voila":
        options = [
            f"--theme={theme}",
            "--Voila.ip=127.0.0.1",
            f"--port={port}",
            "--Voila.port_retries=0",
        ]
        return [
            sys.executable,
            "-m",
            "voila",
            str(root),
            "--no-browser",
            *options,
            "--show_tracebacks=True",
        ]
    module = {"lab": "jupyterlab", "notebook": "notebook"}[kind]
    options = [
        "--no-browser",
        "--allow-root",
        "--expose-app-in-browser",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={root}",
        "--IdentityProvider.token=",
        "--ServerApp.disable_check_xsrf=True",
        "--LabApp.collaborative=False",
    ]
    return [sys.executable, "-m", module, *options]


def _environment(home: Path) -> dict[str, str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("JUPYTER")}
    for variable, folder in (
        ("JUPYTER_CONFIG_DIR", "config"),
        ("JUPYTER_DATA_DIR", "data"),
        ("JUPYTER_RUNTIME_DIR", "runtime"),
        ("JUPYTERLAB_SETTINGS_DIR", "settings"),
        ("JUPYTERLAB_WORKSPACES_DIR", "workspaces"),
        ("IPYTHONDIR", "ipython"),
    ):
        (home / folder).mkdir(parents=True, exist_ok=True)
        environment[variable] = str(home / folder)
    environment["JUPYTER_PLATFORM_DIRS"] = "1"
    # A debugger attached to every kernel slows its start and prints a warning.
    environment["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    return environment


def _write_settings(home: Path, theme: Theme) -> None:
    themes: dict[str, object] = {"theme": THEMES[theme], "adaptive-theme": False}
    for plugin, values in {**SETTINGS, "@jupyterlab/apputils-extension/themes": themes}.items():
        path = home / "settings" / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))


def free_ports() -> Iterator[int]:
    """Yield ports of :data:`PORTS` on which nothing listens, in random order."""
    for port in random.sample(list(PORTS), len(PORTS)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        yield port


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _wait_until_up(server: Server, process: subprocess.Popen[bytes]) -> bool:
    probe = server.url + ("/" if server.kind == "voila" else "/api/status")
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if _answers(probe):
            return True
        time.sleep(0.1)
    return False


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a server and wait for it, so that its kernels are gone too."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def serve(
    kind: Kind, theme: Theme, folder: Path, notebooks: Sequence[Path] = ()
) -> Iterator[Server]:
    """Run an application on a free port until the block ends.

    Args:
        kind: Which application.
        theme: Which theme its pages have.
        folder: An empty directory for what it serves and keeps.
        notebooks: Files to copy into what it serves.

    Raises:
        ServerFailedError: It did not answer within :data:`START_SECONDS` on any port.
    """
    root, home = folder / "root", folder / "home"
    root.mkdir(parents=True)
    environment = _environment(home)
    _write_settings(home, theme)
    for path in notebooks:
        (root / path.name).write_bytes(path.read_bytes())
    server = Server(kind, theme, root, home)
    for port in free_ports():
        server.url = f"http://127.0.0.1:{port}"
        with (home / "server.log").open("ab") as log:
            process = subprocess.Popen(
                _command(kind, theme, root, port),
                cwd=root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            if _wait_until_up(server, process):
                server.process = process
                yield server
                return
        finally:
            stop(process)
        # Another test run may have taken the port in between: only then is there a point in going on.
        if "already in use" not in server.log:
            break
    log_tail = server.log[-4000:] if (home / "server.log").exists() else f"no free port in {PORTS}"
    raise ServerFailedError(
        f"{kind} did not come up at {server.url} within {START_SECONDS:.0f} s:\n{log_tail}"
    )
