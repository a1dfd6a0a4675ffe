"""A command that is text: what it means to a shell is what runs, or nothing does."""

from __future__ import annotations

import asyncio
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from builtin.trusting import trusting
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb import ToolError, ToolResult
from agtools_nb.builtin.command import run_command_tool
from agtools_nb.builtin.command.words import shown, words_of


def ran(tmp_path: Path, command: Any, **options: Any) -> ToolResult:
    async def main() -> ToolResult:
        runner = trusting(run_command_tool(tmp_path, **options))
        (result,) = await runner.process_tool_calls([("run_command", {"command": command})])
        return result

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("rm -f a.txt\ncp b.txt c.txt", "a line end"),
        ("rm -f a.txt\r\ncp b.txt c.txt\r\n", "a line end"),
        ("rm -f a.txt\rcp b.txt c.txt", "a line end"),
        ("\n rm -f a.txt \n\n b.txt", "a line end"),
        ("rm -f a.txt 'x'\n\"b.txt\"", "a line end"),
        ("rm -f a.txt \\\r\n b.txt", "a line end"),
        ("rm -f a.txt \\\\\n b.txt", "a line end"),
        ("rm -f a.txt # keep b.txt", "'#'"),
        ("rm -f a.txt #b.txt", "'#b.txt'"),
        ("rm -f a.txt \\\n#b.txt", "'#b.txt'"),
        ("# first\nrm -f a.txt", "'#'"),
        ("#!/bin/sh\nrm -f a.txt", "'#!/bin/sh'"),
        ('rm -f a.txt "x\\"" ; rm "b.txt\\""', "';'"),
        ("rm -f a.txt 2>&1", "'>&'"),
    ],
)
def test_what_only_a_shell_could_carry_out_does_not_run(
    tmp_path: Path, command: str, what: str
) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / name).write_text(name)
    result = ran(tmp_path, command)
    assert result.status == "error"
    assert f"not run: {what} needs a shell, and there is none here" in (result.error or "")
    assert "Run one program a call" in (result.error or "")
    for name in ("a.txt", "b.txt", "c.txt"):
        assert (tmp_path / name).read_text() == name


@pytest.mark.parametrize(
    ("command", "stdout"),
    [
        ('echo "a\nb"', "a\nb\n"),
        ("echo 'a\r\nb #c' d", "a\r\nb #c d\n"),
        ("\n\r\n echo a b \r\n\n", "a b\n"),
        ("echo a \\\n  b\\\nc", "a bc\n"),
        ('echo "a\\\nb"', "ab\n"),
        ("echo 'a\\\nb'", "a\\\nb\n"),
        ("echo a#b '#c' \"#d\" \\#e ''#f", "a#b #c #d #e #f\n"),
        ('echo "\\$a \\`b\\` \\"c\\" \\\\ \\d"', '$a `b` "c" \\ \\d\n'),
        ("echo a\\;b \\( 'x'\\''y' a'|'b", "a;b ( x'y a|b\n"),
        (["echo", "a\nb", "#c", "\r\n", "d"], "a\nb #c \r\n d\n"),
        ('["echo",\n "a\\nb", "#c"]\n', "a\nb #c\n"),
    ],
)
def test_what_is_quoted_stays_as_it_is(tmp_path: Path, command: Any, stdout: str) -> None:
    assert " ".join(words_of(command, None)[1:]) + "\n" == stdout
    # Of what a program prints, line ends are made plain.
    assert ran(tmp_path, command).result["stdout"] == stdout.replace("\r\n", "\n")


@pytest.mark.parametrize("command", ["echo 'a", 'echo "a\\"', "echo a\\", "echo '\n", "\\"])
def test_quotes_that_do_not_end_are_said(command: str) -> None:
    with pytest.raises(ToolError, match="its quotes do not match"):
        words_of(command, None)


def test_a_shell_reads_lines_and_comments_itself(tmp_path: Path) -> None:
    found = ran(tmp_path, "echo a # b\necho c", shell=True).result
    assert found["stdout"] == "a\nc\n"


TEXTS = st.lists(
    st.sampled_from(
        [*"ab#'\"\\ \t\n;|", "'a b'", '"a\nb"', "\\\n", "\\\\", '\\"', "''", "é", "\v"]
    ),
    max_size=14,
).map("".join)


@given(TEXTS)
def test_words_are_those_of_a_shell(text: str) -> None:
    """Or the command is refused: there is no third."""
    try:
        words = words_of(f"x {text}", None)
    except ToolError:
        return
    script = f"printf '%s\\0' x {text}\n"
    done = subprocess.run(["sh", "-c", script], capture_output=True, check=True, timeout=60)
    assert done.stdout.decode().split("\0")[:-1] == words


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))))
def test_what_is_quoted_for_a_shell_is_read_again(words: list[str]) -> None:
    assert words_of(shlex.join(["x", *words]), None) == ["x", *words]


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("ls -l\n", "ls -l"),
        ("echo a # b\nrm c", "echo a # b⏎rm c"),
        ("echo a\r\nrm c", "echo a⏎rm c"),
        ("echo a\rrm c", "echo a\\rrm c"),
        ("pytest \\\n  -q", "pytest \\⏎  -q"),
        (["echo", "a\nb", "c d"], "echo 'a⏎b' 'c d'"),
        ("rm a\u2028b \u202etxt\x1b[8m", "rm a\\u2028b \\u202etxt\\x1b[8m"),
    ],
)
def test_what_people_are_shown_keeps_its_lines_apart(
    tmp_path: Path, command: Any, text: str
) -> None:
    assert shown(command) == text
    tool = run_command_tool(tmp_path, shell=True)
    assert tool.display_text({"command": command}) == f"Run {' '.join(text.split())}"


def test_what_people_are_shown_is_not_too_long() -> None:
    for command in ("\u202e" * 1_000, "\n" * 1_000 + "a\n" * 1_000, ["x" * 1_000]):
        assert len(shown(command)) == 200
        assert shown(command).endswith("…")
