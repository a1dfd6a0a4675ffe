"""``run_command``: real programs, what they print, and that all of them are ended."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from builtin.trusting import trusting
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb import Progress, SimpleToolContext, ToolError, ToolResult, UsageError, Workspace
from agtools_nb.builtin.command import run_command_tool
from agtools_nb.builtin.command.output import KeptOutput, readable
from agtools_nb.builtin.command.words import words_of

PYTHON = sys.executable


def ran(tmp_path: Path, arguments: dict[str, Any], **options: Any) -> ToolResult:
    async def main() -> ToolResult:
        runner = trusting(run_command_tool(tmp_path, **options))
        (result,) = await runner.process_tool_calls([("run_command", arguments)])
        return result

    return asyncio.run(main())


def python(tmp_path: Path, code: str, **arguments: Any) -> Any:
    """What is told of a Python program."""
    result = ran(tmp_path, {"command": [PYTHON, "-c", code], **arguments})
    assert result.ok, result.error
    return result.result


def test_a_program_tells_its_exit_code_and_both_outputs(tmp_path: Path) -> None:
    code = "import sys; print('out'); print('é', file=sys.stderr); sys.exit(3)"
    found = python(tmp_path, code)
    assert found.pop("seconds") < 20
    assert found == {"exit_code": 3, "stdout": "out\n", "stderr": "é\n"}


def test_it_runs_in_the_workspace_and_has_nothing_to_read(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    code = "import os, sys; print(os.getcwd()); print(os.environ['PWD']); print(repr(sys.stdin.read()), sys.stdin.isatty())"
    real = str(tmp_path.resolve())
    assert python(tmp_path, code)["stdout"] == f"{real}\n{real}\n'' False\n"
    assert python(tmp_path, code, cwd="in")["stdout"].startswith(f"{real}/in\n{real}/in\n")


@pytest.mark.parametrize("cwd", ["..", "/", "link", "in/../..", "nothing", "file", "in\0", "~"])
def test_it_does_not_start_outside_of_the_workspace(tmp_path: Path, cwd: str) -> None:
    root = tmp_path / "root"
    (root / "in").mkdir(parents=True)
    (root / "file").write_text("")
    (root / "link").symlink_to(tmp_path)
    result = ran(root, {"command": ["touch", "was here"], "cwd": cwd})
    assert result.status == "error"
    assert not list(tmp_path.rglob("was here"))


@pytest.mark.parametrize(
    ("command", "stdout"),
    [
        (["echo", "a b", "$HOME", "*", ";", "|"], "a b $HOME * ; |\n"),
        ("echo 'a  b' \"c d\" e\\ f", "a  b c d e f\n"),
        ("echo $HOME * ~ `id`", "$HOME * ~ `id`\n"),
        ("echo '|' \"a;b\" 'x > y' a#b", "| a;b x > y a#b\n"),
        ('["echo", "a", "b"]', "a b\n"),
        ("echo [1]", "[1]\n"),
    ],
)
def test_there_is_no_shell(tmp_path: Path, command: Any, stdout: str) -> None:
    assert ran(tmp_path, {"command": command}).result["stdout"] == stdout


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("ls | wc", "'|' needs a shell"),
        ("ls && rm -r x", "'&&' needs a shell"),
        ("sleep 9 &", "'&' needs a shell"),
        ("echo a > file", "'>' needs a shell"),
        ("cat<file", "'<' needs a shell"),
        ("(ls)", "needs a shell"),
        ("a;b", "';' needs a shell"),
        ("echo 'a", "its quotes do not match"),
        ("", "it names no program"),
        ("  ", "it names no program"),
        ([], "it names no program"),
        ([""], "it names no program"),
        (["echo", "\0"], "NUL"),
        (["no-such-program"], "There is no program 'no-such-program' here"),
        (["gti", "status"], "Did you mean 'git'"),
        (["cd", ".."], "use cwd for the folder"),
        (["NAME=1", "ls"], "env NAME=value program"),
        (["ls -l"], r"each argument is an item of its own"),
        (["./nothing"], "There is no program './nothing' here"),
        (["./plain.txt"], "did not start"),
        (["echo", "x" * 3_000_000], "did not start"),
    ],
)
def test_what_cannot_be_run_says_how_it_could(tmp_path: Path, command: Any, words: str) -> None:
    (tmp_path / "plain.txt").write_text("no program")
    result = ran(tmp_path, {"command": command})
    assert result.status == "error"
    assert words in (result.error or "")


def test_a_shell_that_was_asked_for_reads_text_and_leaves_lists_alone(tmp_path: Path) -> None:
    text = ran(tmp_path, {"command": "echo a b | wc -w && echo $((1+1))"}, shell=True).result
    assert text["stdout"].split() == ["2", "2"]
    assert ran(tmp_path, {"command": ["echo", "|"]}, shell=True).result["stdout"] == "|\n"
    bash = ran(tmp_path, {"command": "echo ${BASH_VERSION:0:1}x"}, shell="/bin/bash").result
    assert len(bash["stdout"]) == 3
    with pytest.raises(UsageError, match="there is no 'no-such-shell' here"):
        run_command_tool(tmp_path, shell="no-such-shell")
    assert "no shell" in run_command_tool(tmp_path).description
    assert "is read by" in run_command_tool(tmp_path, shell=True).description


# -- what it prints ----------------------------------------------------------------------------


def test_much_output_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    code = "print('begin'); [print('é' * 50) for _ in range(20_000)]; print('end')"
    result = ran(tmp_path, {"command": [PYTHON, "-c", code]}, max_output=1_000).result
    text = result["stdout"]
    assert text.startswith("begin\n")
    assert text.endswith("\nend\n")
    assert len(text.encode()) < 1_100
    assert "[... 2,019,010 bytes left out ...]" in text
    assert "\ufffd" not in text
    assert result["note"] == "stdout had 2,020,010 bytes; its middle is left out."


@given(st.lists(st.binary(max_size=60) | st.text(max_size=40).map(str.encode)), st.integers(1, 40))
def test_what_is_kept_is_the_beginning_and_the_end(chunks: list[bytes], most: int) -> None:
    kept = KeptOutput(most)
    for chunk in chunks:
        kept.add(chunk)
    whole = b"".join(chunks)
    assert kept.size == len(whole)
    assert kept.left_out == max(0, len(whole) - most)
    if not kept.left_out:
        assert kept.text() == readable(whole)
    else:
        assert f"[... {kept.left_out:,} bytes left out ...]" in kept.text()


@given(st.text(st.characters(exclude_characters="\r\x1b", exclude_categories=["Cs", "Cc"])))
def test_a_cut_never_halves_a_character(text: str) -> None:
    for most in range(2, 24):
        kept = KeptOutput(most)
        kept.add(text.encode())
        assert "\ufffd" not in kept.text() or "\ufffd" in text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x1b[31mred\x1b[0m \x1b]0;title\x07x", "red x"),
        (b" 10%\r 50%\r100%\nnext", "100%\nnext"),
        (b"a\r\nb\r", "a\nb"),
        (b"a\x00\x08\tb\xff", "a\tb\ufffd"),
    ],
)
def test_output_is_what_a_person_would_have_seen(data: bytes, text: str) -> None:
    assert readable(data) == text


def test_output_is_shown_while_it_comes(tmp_path: Path) -> None:
    code = (
        "import sys, time\nprint('first', flush=True)\n"
        "while not __import__('os').path.exists('go'): time.sleep(0.01)\n"
        "print('é' * 5_000); print('last', file=sys.stderr)"
    )

    async def main() -> None:
        runner = trusting(run_command_tool(tmp_path), context=SimpleToolContext("me"))
        calls = [("run_command", {"command": [PYTHON, "-c", code]})]
        seen: dict[str, str] = {"stdout": "", "stderr": ""}
        async for item in runner.stream(calls, progress=True):
            if not isinstance(item, Progress):
                break
            seen[item.stream] += item.chunk
            if seen["stdout"] == "first\n":
                (tmp_path / "go").touch()
        assert seen == {"stdout": "first\n" + "é" * 5_000 + "\n", "stderr": "last\n"}
        assert item.result["stdout"] == seen["stdout"]

    asyncio.run(main())


# -- how it ends -------------------------------------------------------------------------------

# A program that starts another, which starts another; each says its number and stays.
FAMILY = """
import os, signal, subprocess, sys, time
depth = int(sys.argv[1])
if sys.argv[2] == 'deaf': signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(f'pid{depth}', 'w') as file: file.write(str(os.getpid()))
os.rename(f'pid{depth}', f'{depth}.pid')
if depth: subprocess.Popen([sys.executable, __file__, str(depth - 1), sys.argv[2]])
if sys.argv[3:] != ['leave'] or not depth: time.sleep(600)
"""


def family(tmp_path: Path, *words: str) -> list[str]:
    (tmp_path / "family.py").write_text(FAMILY)
    return [PYTHON, "family.py", "2", *words]


async def pids(tmp_path: Path) -> list[int]:
    """The numbers of all three, once they run."""
    paths = [tmp_path / f"{depth}.pid" for depth in range(3)]
    until = time.monotonic() + 30
    while not all(path.exists() for path in paths):
        assert time.monotonic() < until, "they did not start"
        await asyncio.sleep(0.01)
    return [int(path.read_text()) for path in paths]


def runs(pid: int) -> bool:
    """Whether a process is there and is no zombie that nobody has collected."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def all_gone(found: list[int]) -> None:
    until = time.monotonic() + 10
    while any(map(runs, found)):
        assert time.monotonic() < until, "it still runs"
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("word", ["obedient", "deaf"])
def test_a_stopped_call_ends_all_that_was_started(tmp_path: Path, word: str) -> None:
    async def main() -> None:
        runner = trusting(run_command_tool(tmp_path))
        call = asyncio.create_task(runner.execute("run_command", command=family(tmp_path, word)))
        found = await pids(tmp_path)
        assert all(map(runs, found))
        began = time.monotonic()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await all_gone(found)
        if word == "obedient":
            assert time.monotonic() - began < 1.9, "it was not waited for in vain"
        assert not Workspace(tmp_path).turn.is_held

    asyncio.run(main())


def test_when_a_stopped_batch_is_over_nothing_runs_any_more(tmp_path: Path) -> None:
    async def main() -> None:
        runner = trusting(run_command_tool(tmp_path))
        calls = [("run_command", {"command": family(tmp_path, "deaf")})]
        batch = asyncio.create_task(runner.process_tool_calls(calls))
        found = await pids(tmp_path)
        batch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await batch
        assert not any(map(runs, found))
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_who_stops_a_call_twice_ends_it_at_once(tmp_path: Path) -> None:
    async def main() -> None:
        runner = trusting(run_command_tool(tmp_path))
        call = asyncio.create_task(runner.execute("run_command", command=family(tmp_path, "deaf")))
        found = await pids(tmp_path)
        began = time.monotonic()
        call.cancel()
        await asyncio.sleep(0.1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await all_gone(found)
        assert time.monotonic() - began < 0.6

    asyncio.run(main())


@pytest.mark.parametrize("word", ["obedient", "deaf"])
def test_a_command_that_takes_too_long_is_ended_and_tells_what_it_said(
    tmp_path: Path, word: str
) -> None:
    async def main() -> None:
        runner = trusting(run_command_tool(tmp_path))
        began = time.monotonic()
        found = await runner.execute("run_command", command=family(tmp_path, word), timeout=4)
        assert found["exit_code"] is None
        assert "did not end within 4 s, and was ended with all" in found["note"]
        assert time.monotonic() - began < 10
        await all_gone(await pids(tmp_path))

    asyncio.run(main())


def test_a_timeout_of_the_runner_ends_it_as_well(tmp_path: Path) -> None:
    async def main() -> None:
        runner = trusting(run_command_tool(tmp_path), timeout=4)
        calls = [("run_command", {"command": family(tmp_path, "deaf")})]
        (result,) = await runner.process_tool_calls(calls)
        assert "did not finish within 4 s" in (result.error or "")
        await all_gone(await pids(tmp_path))

    asyncio.run(main())


def test_what_a_command_leaves_behind_is_ended_and_said(tmp_path: Path) -> None:
    async def main() -> None:
        runner = trusting(run_command_tool(tmp_path))
        began = time.monotonic()
        command = family(tmp_path, "obedient", "leave")
        command[2] = "1"
        (tmp_path / "2.pid").write_text("0")
        found = await runner.execute("run_command", command=command, timeout=60)
        assert found["exit_code"] == 0
        assert "left programs running, which were ended" in found["note"]
        assert time.monotonic() - began < 20, "the pipe that it holds was not waited for"
        await all_gone([pid for pid in await pids(tmp_path) if pid])

    asyncio.run(main())


def test_jobs_of_a_shell_are_ended_though_each_is_a_group(tmp_path: Path) -> None:
    async def main() -> None:
        runner = trusting(run_command_tool(tmp_path, shell="/bin/bash"))
        line = "set -m; (trap '' TERM; sleep 600) & echo $! > job; sleep 600 & echo $! >> job"
        found = await runner.execute("run_command", command=line)
        assert "left programs running, which were ended" in found["note"]
        await all_gone([int(pid) for pid in (tmp_path / "job").read_text().split()])

    asyncio.run(main())


def test_one_that_cannot_be_known_holds_nobody_up(tmp_path: Path) -> None:
    """In a session of its own, without the environment: it is not ended, as is said, but its hold of the pipe does not matter."""
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'],"
        " start_new_session=True, env={})\nprint(child.pid)"
    )
    began = time.monotonic()
    found = python(tmp_path, code, timeout=60)
    pid = int(found["stdout"])
    try:
        assert time.monotonic() - began < 20
        assert runs(pid)
    finally:
        os.kill(pid, 9)


def test_a_program_that_prints_without_end_is_bounded_and_ended(tmp_path: Path) -> None:
    async def main() -> None:
        runner = trusting(run_command_tool(tmp_path), context=SimpleToolContext("me"))
        calls = [("run_command", {"command": ["yes"], "timeout": 0.5})]
        *_, last = [item async for item in runner.stream(calls, progress=True)]
        assert isinstance(last, ToolResult)
        assert last.ok, last.error
        assert len(last.result["stdout"]) < 17_000
        assert last.duration < 10

    asyncio.run(main())


def test_a_signal_is_named(tmp_path: Path) -> None:
    found = python(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert (found["exit_code"], found["note"]) == (-9, "It was ended by SIGKILL.")


def test_commands_of_a_batch_follow_each_other(tmp_path: Path) -> None:
    async def main() -> None:
        runner = trusting(run_command_tool(tmp_path, shell=True))
        calls = [("run_command", {"command": f"sleep 0.05; echo {n} >> log"}) for n in range(4)]
        await runner.process_tool_calls(calls)
        assert (tmp_path / "log").read_text().split() == list("0123")

    asyncio.run(main())


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_many_commands_leave_nothing_open(tmp_path: Path) -> None:
    async def main() -> None:
        tools = [run_command_tool(tmp_path)]
        runner = trusting(*tools)
        await runner.execute("run_command", command="true")
        before = open_files()
        for _ in range(30):
            await runner.execute("run_command", command="true")
        assert open_files() <= before

    asyncio.run(main())


def test_bounds_are_for_the_model_and_for_the_author(tmp_path: Path) -> None:
    for timeout in (0, -1, 601):
        result = ran(tmp_path, {"command": "true", "timeout": timeout})
        assert result.status == "invalid"
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"seconds": 0}, "seconds=0 must be a number above 0"),
        ({"max_output": True}, "max_output=True"),
        ({"seconds": 10, "most_seconds": 5}, "must be at most most_seconds=5"),
    ]
    for options, words in wrong:
        with pytest.raises(UsageError, match=words):
            run_command_tool(tmp_path, **options)
    with pytest.raises(UsageError, match="a folder that is there"):
        run_command_tool(tmp_path / "nothing")
    assert run_command_tool(tmp_path).guarded


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))))
def test_words_in_a_list_are_never_changed(words: list[str]) -> None:
    if words and words[0].strip():
        assert words_of(words, None) == words
    else:
        with pytest.raises(ToolError, match="names no program"):
            words_of(words, None)
