"""A workspace: where paths lead, and writes that are whole or not at all."""

from __future__ import annotations

import errno
import gc
import os
import pickle
import stat
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agtools_nb import ToolError, UsageError, Workspace
from agtools_nb.builtin.workspace import folders, taking_turns


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    (tmp_path / "src" / "pkg").mkdir(parents=True)
    (tmp_path / "src" / "main.py").write_text("print()\n")
    return Workspace(tmp_path)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def code_of(doing: Callable[[], Any]) -> str:
    with pytest.raises(ToolError) as caught:
        doing()
    assert caught.value.category == "workspace"
    return caught.value.code


@pytest.mark.parametrize("root", ["nothing", "file.txt", "a\0b", 7])
def test_a_workspace_needs_a_folder(tmp_path: Path, root: Any) -> None:
    (tmp_path / "file.txt").write_text("")
    given = tmp_path / root if isinstance(root, str) else root
    with pytest.raises(UsageError, match="needs a folder that is there"):
        Workspace(given)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".", "."),
        ("./src//pkg/", "src/pkg"),
        ("src/pkg/../main.py", "src/main.py"),
        ("new/file.txt", "new/file.txt"),
        ("link", "src"),
        ("link/", "src"),
        ("src/pkg/.", "src/pkg"),
        ("src/.", "src"),
        ("new/folder/", "new/folder"),
        ("a//b", "a/b"),
        ("link/main.py", "src/main.py"),
        ("src/pkg/back/main.py", "src/main.py"),
        ("link/..", "."),
        ("absolute/pkg", "src/pkg"),
        ("dangling", "src/made.txt"),
        ("dangling-deep", "not/yet/there.txt"),
        ("hop-40", "src/main.py"),
    ],
)
def test_where_paths_lead(space: Workspace, path: str, found: str) -> None:
    """Links inside are followed, and what is behind them is what is told."""
    root = space.root
    (root / "link").symlink_to("src")
    (root / "src" / "pkg" / "back").symlink_to("..")
    (root / "absolute").symlink_to(root / "src")
    (root / "dangling").symlink_to("src/made.txt")
    (root / "dangling-deep").symlink_to("not/yet/there.txt")
    (root / "hop-1").symlink_to("src/main.py")
    for number in range(2, 42):
        (root / f"hop-{number}").symlink_to(f"hop-{number - 1}")
    assert space.resolve(path) == root / found
    assert space.resolve(f"{root}/{path}") == root / found
    assert os.path.realpath(root / path) == str(root / found), "as the system has it"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("..", "outside_workspace"),
        ("/etc/passwd", "outside_workspace"),
        ("src/main.py/x", "not_a_folder"),
        ("nothing/../src", "not_found"),
        ("hop-41", "too_many_links"),
        ("~/x", "bad_path"),
        ("", "bad_path"),
        ("a\0", "bad_path"),
        ("a\\b", "bad_path"),
        ("C:/x", "bad_path"),
        ("https://example.org/x", "bad_path"),
        ("é" * 128, "bad_path"),
        ("a/" * 101, "bad_path"),
        ("src/main.py/", "not_a_folder"),
        ("src/main.py//", "not_a_folder"),
        ("src/main.py/.", "not_a_folder"),
        ("src/main.py/./", "not_a_folder"),
        ("src/pkg/../main.py/", "not_a_folder"),
        ("hop-3/", "not_a_folder"),
        ("like-a-folder", "not_a_folder"),
        ("\ud800", "bad_path"),
        ("．．", "bad_path"),
        ("x" * 5_000, "bad_path"),
    ],
)
def test_what_a_path_cannot_be(space: Workspace, path: str, code: str) -> None:
    (space.root / "like-a-folder").symlink_to("src/main.py/")
    (space.root / "hop-1").symlink_to("src/main.py")
    for number in range(2, 42):
        (space.root / f"hop-{number}").symlink_to(f"hop-{number - 1}")
    assert code_of(lambda: space.resolve(path)) == code


def test_a_slip_is_told(space: Workspace) -> None:
    with pytest.raises(ToolError) as caught:
        space.read("src/mian.py", 10)
    assert caught.value.hint == "Did you mean 'src/main.py'?"


def test_a_link_says_nothing_about_what_is_outside(space: Workspace) -> None:
    """Whether something is there or not, the words are the same."""
    told = set()
    for name, target in {"there": "/etc/passwd", "not": "/etc/no-such-file"}.items():
        (space.root / "link").symlink_to(target)
        with pytest.raises(ToolError) as caught:
            space.read("link", 10)
        told.add((caught.value.code, caught.value.message, caught.value.hint))
        (space.root / "link").unlink()
        assert name
    assert len(told) == 1


def test_files_have_a_size_that_is_read(space: Workspace) -> None:
    assert space.read("src/main.py", 8).data == b"print()\n"
    assert code_of(lambda: space.read("src/main.py", 7)) == "too_large"
    assert code_of(lambda: space.read("src", 7)) == "is_a_folder"
    assert code_of(lambda: space.entries("src/main.py")) == "not_a_folder"


def test_a_written_file_is_new_or_replaced_as_asked(space: Workspace) -> None:
    assert space.write("a/b/new.txt", b"1") == "a/b/new.txt"
    assert code_of(lambda: space.write("a/b/new.txt", b"2")) == "exists"
    assert space.write("a/b/new.txt", b"2", over=True) == "a/b/new.txt"
    assert (space.root / "a/b/new.txt").read_bytes() == b"2"
    assert code_of(lambda: space.write("a/b", b"", over=True)) == "is_a_folder"
    assert names_in(space.root / "a/b") == ["new.txt"], "nothing temporary is left"


@pytest.mark.parametrize("path", ["new/", "new/.", "deep/new//", "dangling/", "src/main.py/"])
def test_a_file_is_not_written_where_a_folder_is_meant(space: Workspace, path: str) -> None:
    (space.root / "dangling").symlink_to("src/made.txt")
    before = (space.root / "src/main.py").read_bytes()
    for given in (path, f"{space.root}/{path}"):
        told = code_of(lambda given=given: space.write(given, b"x", over=True))
        assert told == ("not_a_folder" if "main" in path else "bad_path")
    assert names_in(space.root) == ["dangling", "src"]
    assert names_in(space.root / "src") == ["main.py", "pkg"]
    assert (space.root / "src/main.py").read_bytes() == before


def test_permissions_stay_but_for_rights_that_are_lent(space: Workspace) -> None:
    path = space.root / "run.sh"
    path.write_text("")
    path.chmod(0o4754)
    space.write("run.sh", b"x", over=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o754
    mask = os.umask(0o027)
    try:
        space.write("new.txt", b"x")
        space.write("folder/new.txt", b"x")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((space.root / "new.txt").stat().st_mode) == 0o640
    assert stat.S_IMODE((space.root / "folder").stat().st_mode) == 0o750


def test_what_is_read_only_stays_as_it_is(space: Workspace) -> None:
    (space.root / "src/main.py").chmod(0o444)
    assert code_of(lambda: space.write("src/main.py", b"", over=True)) == "no_permission"


@pytest.mark.parametrize("path", [".git/config", ".git/hooks/pre-commit", "src/.GIT/x", ".git"])
def test_nothing_is_written_where_git_runs_it(space: Workspace, path: str) -> None:
    assert code_of(lambda: space.write(path, b"x")) == "not_allowed"
    assert not (space.root / path).exists()
    (space.root / ".git").mkdir()
    (space.root / ".git" / "config").write_text("[core]")
    (space.root / "link").symlink_to(".git/config")
    assert code_of(lambda: space.write("link", b"x", over=True)) == "not_allowed"


@pytest.mark.parametrize(
    "name",
    [
        "CON",
        "aux.txt",
        "a.",
        "a ",
        " a",
        "a\u200b",
        "a\u202eb",
        "a\nb",
        "e\u0301",
        "~x",
        "ab:c",
        "a?",
    ],
)
def test_new_names_are_plain(space: Workspace, name: str) -> None:
    """What is there under such a name can be read; nothing is made under one."""
    assert code_of(lambda: space.write(f"{name}/x.txt", b"")) == "bad_path"
    assert code_of(lambda: space.write(f"src/{name}", b"")) == "bad_path"
    (space.root / name).write_text("there")
    assert space.read(name, 10).data == b"there"


class Breaks:
    """``os``, one function of which fails."""

    def __init__(self, name: str, error: BaseException) -> None:
        self._name = name
        self._error = error

    def __getattr__(self, name: str) -> Any:
        if name != self._name:
            return getattr(os, name)

        def fail(*args: Any, **kwargs: Any) -> Any:
            raise self._error

        return fail


@pytest.mark.parametrize("broken", ["fsync", "replace", "fdopen", "fchmod"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
def test_a_write_that_fails_changes_nothing(
    space: Workspace, monkeypatch: pytest.MonkeyPatch, broken: str, error: BaseException
) -> None:
    before = (space.root / "src/main.py").stat()
    monkeypatch.setattr(folders, "os", Breaks(broken, error))
    with pytest.raises((ToolError, KeyboardInterrupt)):
        space.write("src/main.py", b"new", over=True)
    assert (space.root / "src/main.py").read_text() == "print()\n"
    assert (space.root / "src/main.py").stat().st_ino == before.st_ino
    assert names_in(space.root / "src") == ["main.py", "pkg"]


def test_folders_of_a_write_that_fails_are_removed(
    space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "os", Breaks("fsync", OSError(errno.EIO, "no")))
    with pytest.raises(ToolError, match="cannot be used"):
        space.write("src/new/deep/file.txt", b"x")
    assert names_in(space.root / "src") == ["main.py", "pkg"]


def test_where_there_are_no_hard_links(space: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new file is whole there as well, and never takes the place of another."""
    monkeypatch.setattr(folders, "os", Breaks("link", OSError(errno.EPERM, "no")))
    assert space.write("new.txt", b"1") == "new.txt"
    assert (space.root / "new.txt").read_bytes() == b"1"
    assert code_of(lambda: space.write("new.txt", b"2")) == "exists"
    assert not [name for name in names_in(space.root) if name.endswith(".tmp")]


def test_one_of_many_makes_a_new_file(space: Workspace) -> None:
    """Whoever comes second is told so, however close they are."""
    outcomes: list[str] = []
    ready = threading.Barrier(8)

    def write(number: int) -> None:
        ready.wait()
        try:
            space.write("deep/new.txt", str(number).encode() * 1_000)
            outcomes.append("made")
        except ToolError as error:
            outcomes.append(error.code)

    for _ in range(10):
        threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == ["exists"] * 7 + ["made"]
        content = (space.root / "deep/new.txt").read_bytes()
        assert content == content[:1] * 1_000
        (space.root / "deep/new.txt").unlink()
        (space.root / "deep").rmdir()
        outcomes.clear()


def test_readers_see_the_old_content_or_the_new(space: Workspace) -> None:
    path = space.root / "big.txt"
    path.write_bytes(b"0" * 100_000)
    seen = set()
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            data = path.read_bytes()
            seen.add((len(data), len(set(data))))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(30):
        space.write("big.txt", bytes([48 + number % 10]) * 100_000, over=True)
    stop.set()
    reader.join()
    assert seen == {(100_000, 1)}


def test_a_file_that_was_changed_since_it_was_read_is_not_written_over(space: Workspace) -> None:
    read = space.read("src/main.py", 100)
    (space.root / "src/main.py").write_text("someone else")
    assert code_of(lambda: space.write("src/main.py", b"x", over=read)) == "changed_meanwhile"
    (space.root / "src/main.py").unlink()
    assert code_of(lambda: space.write("src/main.py", b"x", over=read)) == "changed_meanwhile"
    assert names_in(space.root / "src") == ["pkg"]


def test_a_file_of_the_same_times_and_size_is_another_one(space: Workspace) -> None:
    """Two changes within one tick of the clock look the same from outside."""
    path = space.root / "src/main.py"
    read = space.read("src/main.py", 100)
    path.write_text("PRINT()\n")
    os.utime(path, ns=(read.status.st_atime_ns, read.status.st_mtime_ns))
    assert code_of(lambda: space.write("src/main.py", b"x", over=read)) == "changed_meanwhile"
    assert path.read_text() == "PRINT()\n"


def test_no_change_is_lost_between_threads_and_workspaces(space: Workspace) -> None:
    """Who read an old state is told so, also where workspaces lie in each other."""
    path = space.root / "src/n.txt"
    path.write_text("")
    ready = threading.Barrier(8)
    told: set[str] = set()

    def add(workspace: Workspace, name: str, mark: str) -> None:
        ready.wait()
        for _ in range(25):
            while True:
                read = workspace.read(name, 10_000)
                try:
                    workspace.write(name, read.data + mark.encode(), over=read)
                    break
                except ToolError as error:
                    told.add(error.code)

    inner = Workspace(space.root / "src")
    threads = [
        threading.Thread(target=add, args=given)
        for mark in "abcd"
        for given in ((space, "src/n.txt", mark), (inner, "n.txt", mark))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told <= {"changed_meanwhile"}
    assert Counter(path.read_text()) == dict.fromkeys("abcd", 50)


HELD = """
import fcntl, os, sys, time
fd = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(fd, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_a_write_waits_for_another_process_but_not_for_ever(
    space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [sys.executable, "-c", HELD, str(space.root / "src")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        monkeypatch.setattr(taking_turns, "LOCK_SECONDS", 0.1)
        space.write("src/main.py", b"1", over=True)
        monkeypatch.setattr(taking_turns, "LOCK_SECONDS", 60.0)
        writer = threading.Thread(
            target=space.write, args=("src/main.py", b"2"), kwargs={"over": True}
        )
        writer.start()
        writer.join(0.2)
        assert writer.is_alive(), "it waits"
        assert (space.root / "src/main.py").read_bytes() == b"1"
        other.stdin.close()
        writer.join(30)
    assert (space.root / "src/main.py").read_bytes() == b"2"


def test_workspaces_of_one_folder_have_one_turn(space: Workspace) -> None:
    (space.root / "again").symlink_to(".")
    assert Workspace(space.root / "again").turn is space.turn
    assert Workspace(space.root / "src").turn is not space.turn


def test_descriptors_are_given_back(tmp_path: Path) -> None:
    """Whatever becomes of a call, and of the workspace."""
    (tmp_path / "a/b/c").mkdir(parents=True)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "up").symlink_to("a/../a/b/../..")
    gc.collect()
    before = _descriptors()
    space = Workspace(tmp_path)
    for path in ("a/b/c/../../b/x", "up/a/b", "loop", "..", "a/../..", "nothing/x", "a\0"):
        for use in (space.resolve, space.entries, partial(space.read, most=5)):
            with suppress(ToolError):
                use(path)
    space.write("a/new/x.txt", b"")
    assert _descriptors() == before + 1
    del space, use
    gc.collect()
    assert _descriptors() == before


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_workspace_can_be_sent_to_another_process(space: Workspace) -> None:
    twin = pickle.loads(pickle.dumps(space))
    assert twin.root == space.root
    assert repr(twin) == f"<Workspace {str(space.root)!r}>"
    assert twin.read("src/main.py", 10).data == b"print()\n"
