"""A program that is not there, or that lacks what runs it: the model is told which."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from builtin.trusting import trusting

from agtools_nb.builtin.command import missing, run_command_tool


def error_of(folder: Path, command: Any, **arguments: Any) -> str:
    async def main() -> str:
        options = {"environment": arguments.pop("environment", None)}
        runner = trusting(run_command_tool(folder, **options))
        calls = [("run_command", {"command": command, **arguments})]
        (result,) = await runner.process_tool_calls(calls)
        assert result.status == "error"
        return result.error or ""

    return asyncio.run(asyncio.wait_for(main(), 60))


def script(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("command", ["./crlf.sh", ["./crlf.sh", "a"], "in/../crlf.sh"])
def test_a_script_with_windows_line_ends_is_told_apart(tmp_path: Path, command: Any) -> None:
    (tmp_path / "in").mkdir()
    script(tmp_path / "crlf.sh", b"#!/bin/bash\r\necho a\r\n")
    told = error_of(tmp_path, command)
    assert r"its first line '#!/bin/bash\r' names a program that is not there" in told
    assert r"write the file with \n alone at the ends of its lines" in told
    assert "There is no program" not in told


def test_it_is_looked_for_where_the_program_runs(tmp_path: Path) -> None:
    script(tmp_path / "in" / "a.sh", b"#!/bin/bash\r\n")
    assert r"'#!/bin/bash\r'" in error_of(tmp_path, "./a.sh", cwd="in")
    assert "There is no program './a.sh'" in error_of(tmp_path, "./a.sh")
    assert r"'#!/bin/bash\r'" in error_of(tmp_path, [str(tmp_path / "in" / "a.sh")])
    path = {"PATH": f"{tmp_path / 'in'}{os.pathsep}{os.environ['PATH']}"}
    assert r"'#!/bin/bash\r'" in error_of(tmp_path, "a.sh", environment=path)


def test_the_remedy_is_one_that_is_there(tmp_path: Path) -> None:
    script(tmp_path / "pip", b"#!/gone/venv/bin/python3 -s\nprint()\n")
    told = error_of(tmp_path, "./pip")
    assert "its first line '#!/gone/venv/bin/python3 -s' names" in told
    assert "run it with that: ['python3', './pip']" in told
    script(tmp_path / "none", b"#!/gone/no-such-program-here")
    assert "Write the path of a program there that is installed" in error_of(tmp_path, "./none")


def test_no_more_than_the_beginning_is_shown_and_that_escaped(tmp_path: Path) -> None:
    script(tmp_path / "a", b"#!/gone/\xff\x1b\xe2\x80\xae " + b"x" * 200 + b"\n")
    told = error_of(tmp_path, "./a")
    assert told.isprintable()
    assert "x" * 100 in told
    assert "x" * 128 not in told


def test_what_no_line_names_is_said_as_well(tmp_path: Path) -> None:
    """A program for another system: its loader is not there."""
    data = bytearray(Path(shutil.which("true") or "").read_bytes())
    at = data.find(b"/ld-linux")
    if at < 0:
        pytest.skip("true is linked statically")
    data[at : at + 4] = b"/xx-"
    script(tmp_path / "a", bytes(data))
    assert "it is there, but not what the system would run it with" in error_of(tmp_path, "./a")


def test_a_file_outside_is_not_looked_into(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    outside = script(tmp_path / "secret.sh", b"#!/gone/secret-word\n")
    (root / "link.sh").symlink_to(outside)
    for command in ("./link.sh", "../secret.sh", str(outside)):
        told = error_of(root, [command])
        assert "There is no program" in told
        assert "secret-word" not in told


def test_what_is_no_file_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Something that took the file's place: a pipe would be waited for, a device do things."""

    async def start(*_: Any) -> Any:
        raise FileNotFoundError

    monkeypatch.setattr("agtools_nb.builtin.command.tool.start", start)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "device").symlink_to("/dev/tty")
    (tmp_path / "circle").symlink_to("circle")
    script(tmp_path / "closed", b"#!/gone/a\n").chmod(0)
    names = ["pipe", "folder", "device", "circle", *([] if os.geteuid() == 0 else ["closed"])]
    for name in names:
        assert f"There is no program './{name}'" in error_of(tmp_path, [f"./{name}"])


def test_of_a_large_file_only_the_beginning_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    class Os:
        @staticmethod
        def read(fd: int, size: int) -> bytes:
            asked.append(size)
            return os.read(fd, size)

    script(tmp_path / "a", b"#!/gone/a\n" + b"x" * 1_000_000)
    monkeypatch.setattr(missing, "os", Os)
    error_of(tmp_path, "./a")
    assert asked == [128]
