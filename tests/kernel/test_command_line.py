"""The command line: what it hands to JupyterLab, and what it says when it cannot."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest

from agtools_nb import __main__ as command_line


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that would have replaced this process."""
    commands: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda program, command: commands.append(command))
    return commands


def test_the_address_leads_to_the_tour(started: list[list[str]]) -> None:
    command_line.main(["quickstart", "--no-browser", "--port", "8889"])
    [command] = started
    assert Path(command[3]).name == "00_quickstart.ipynb"
    assert Path(command[3]).is_file()
    assert "--LabApp.default_url=/lab/tree/00_quickstart.ipynb" in command
    assert command[-3:] == ["--no-browser", "--port", "8889"]
    assert ("--allow-root" in command) == (os.geteuid() == 0)


def test_a_copy_is_made_of_what_a_wheel_holds_and_never_over_ones_own(
    started: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shipped = tmp_path / "agtools_nb" / "_notebooks"
    shipped.mkdir(parents=True)
    (shipped / "00_quickstart.ipynb").write_text("shipped")
    monkeypatch.setattr(command_line, "_shipped", lambda: shipped)
    monkeypatch.chdir(tmp_path)
    command_line.main(["quickstart"])
    own = tmp_path / "agtools_nb_quickstart" / "00_quickstart.ipynb"
    own.write_text("mine")
    command_line.main(["quickstart"])
    assert own.read_text() == "mine"
    assert [command[3] for command in started] == [str(own)] * 2


def test_without_jupyterlab_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec

    def find(name: str, *more: Any) -> Any:
        return None if name == "jupyterlab" else real(name, *more)

    monkeypatch.setattr(importlib.util, "find_spec", find)
    with pytest.raises(SystemExit, match=r"pip install 'agtools_nb\[lab\]'"):
        command_line.main(["quickstart"])
