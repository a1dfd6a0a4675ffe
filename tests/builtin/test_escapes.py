"""No path leads out of a workspace: nothing outside is read, listed, written or made."""

from __future__ import annotations

import os
import shutil
import stat
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from builtin.file_tools import call, run_all, runner_of
from builtin.trap import CANARY, OLD, Trap, ways_out

from agtools_nb import ToolRunner, Workspace
from agtools_nb.builtin.workspace import folders, workspace

LOOKING = f"{CANARY}|root:x?:0:0"
PATH_TOOLS = (
    "list_directory",
    "find_file",
    "search_directory",
    "view_file",
    "create_file",
    "edit_file",
)


@pytest.fixture
def trap(tmp_path: Path) -> Iterator[Trap]:
    trap = Trap(tmp_path)
    yield trap
    trap.close()


def attempts_at(path: str, trap: Trap) -> list[tuple[str, dict[str, Any]]]:
    """Every way to use a path. Nothing of the machine's own is ever asked to be replaced."""
    attempts: list[tuple[str, dict[str, Any]]] = [
        ("list_directory", {"path": path}),
        ("find_file", {"path": path, "pattern": "*", "include_ignored": True}),
        ("search_directory", {"path": path, "pattern": LOOKING, "include_ignored": True}),
        ("view_file", {"path": path}),
        ("edit_file", {"path": path, "old_text": OLD, "new_text": "changed"}),
        ("create_file", {"path": path, "content": "made by a tool"}),
    ]
    if _leads_into(trap.outer, trap.root, path):
        replacing = {"path": path, "content": "replaced by a tool", "overwrite": True}
        attempts.append(("create_file", replacing))
    return attempts


def _leads_into(outer: Path, root: Path, path: str) -> bool:
    try:
        return Path(os.path.realpath(root / path)).is_relative_to(outer)
    except (ValueError, OSError):
        return True


def battery(trap: Trap, runner: ToolRunner) -> tuple[int, Counter[str], list[str]]:
    """Try every way out with every tool: how many ways, what became of calls, what got out."""
    outcomes: Counter[str] = Counter()
    got_out: list[str] = []
    paths = list(dict.fromkeys(ways_out(trap)))
    for path in paths:
        for name, arguments in attempts_at(path, trap):
            result = call(runner, name, **arguments)
            outcomes[result.status] += 1
            how = trap.escaped(result)
            if how is not None:
                got_out.append(f"{name} {path[:80]!r}: {how}")
        _check_canonical(trap, runner, path, got_out)
        trap.rebuild()
    return len(paths), outcomes, got_out


def _check_canonical(trap: Trap, runner: ToolRunner, path: str, got_out: list[str]) -> None:
    """What policies are told about a path is inside as well, or nothing."""
    for tool in runner.tools:
        try:
            found = tool.canonical_path({"path": path})
        except Exception:
            continue
        if found is None or not Path(found).is_relative_to(trap.root):
            got_out.append(f"{tool.name} {path[:80]!r}: its canonical path is {found!r}")


def test_no_way_out(trap: Trap, figure: Callable[[str, float], None]) -> None:
    """Hundreds of ways out, each with every tool that takes a path."""
    runner = runner_of(trap.root)
    assert set(runner.tool_names) == set(PATH_TOOLS)
    ways, outcomes, got_out = battery(trap, runner)
    figure("escapes from the workspace: ways tried", ways)
    figure("escapes from the workspace: calls made", outcomes.total())
    figure("escapes from the workspace: got out", len(got_out))
    assert got_out == []
    assert ways >= 200
    assert outcomes["error"] > outcomes["ok"] > 0


def test_no_way_out_where_folders_have_no_descriptors(
    trap: Trap, figure: Callable[[str, float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Windows gets does as well, as long as nobody swaps anything."""
    monkeypatch.setattr(workspace, "open_root", folders.PathFolder.at)
    ways, _, got_out = battery(trap, runner_of(trap.root))
    figure("escapes from the workspace by paths alone: ways tried", ways)
    assert got_out == []


def test_the_trap_catches_what_joins_paths(trap: Trap) -> None:
    """Were these paths harmless, the tests above would show nothing."""
    caught = [path for path in dict.fromkeys(ways_out(trap)) if _naive(trap, path)]
    assert len(caught) >= 100


def _naive(trap: Trap, path: str) -> bool:
    try:
        real = Path(os.path.realpath(trap.root / path))
        if not real.is_relative_to(trap.outer):  # somewhere in this machine: out, and not looked at
            return real.exists()
        if real.is_dir():
            return not real.is_relative_to(trap.root)
        return stat.S_ISREG(real.stat().st_mode) and CANARY in real.read_text()
    except (OSError, ValueError):
        return False


def test_links_on_the_way_are_not_followed_by_what_looks_below(trap: Trap) -> None:
    """The workspace is full of links that lead out; a walk through all of it stays in."""
    runner = runner_of(trap.root)
    for name, arguments in attempts_at(".", trap)[:3]:
        result = call(runner, name, **arguments)
        assert result.ok
        assert trap.escaped(result) is None


def test_an_ignore_file_can_be_anything(trap: Trap) -> None:
    """It is read as any file is: a pipe does not block, a link does not lead out."""
    runner = runner_of(trap.root)
    os.mkfifo(trap.root / "a" / ".gitignore")
    (trap.root / ".gitignore").symlink_to("../secret.txt")
    assert call(runner, "find_file", pattern="*.txt").ok
    assert call(runner, "search_directory", pattern="inside").ok


# A name that is now one thing, now another: what a check saw is not what is used then.


@contextmanager
def swapping(path: Path, target: Path) -> Iterator[None]:
    """A thing and a link to ``target`` take turns at a path, as fast as a thread can."""
    away = path.with_name("away")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            path.rename(away)
            with suppress(FileExistsError):  # a tool that makes files was faster
                path.symlink_to(target)
            _put(away, path)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _put(thing: Path, path: Path) -> None:
    while thing.exists():
        if path.is_symlink() or not path.is_dir():
            path.unlink(missing_ok=True)
        else:
            shutil.rmtree(path, ignore_errors=True)
        with suppress(OSError):
            thing.rename(path)


# What is swapped, and the path that is asked for meanwhile.
RACES = {
    "a folder": ("a", "a/secret.txt"),
    "a folder deeper down": ("a/b", "a/b/secret.txt"),
    "a file": ("a/secret.txt", "a/secret.txt"),
}


def _race(trap: Trap, race: str) -> tuple[Path, Path, str]:
    swapped, path = RACES[race]
    for folder in ("a", "a/b"):
        (trap.root / folder / "secret.txt").write_text(f"inside\n{OLD}\n")
    place = trap.root / swapped
    return place, trap.outer / ("secrets" if place.is_dir() else "secret.txt"), path


@pytest.mark.parametrize("race", RACES)
def test_a_link_that_is_put_in_at_the_last_moment(
    trap: Trap, figure: Callable[[str, float], None], race: str
) -> None:
    place, target, path = _race(trap, race)
    runner = runner_of(trap.root)
    outcomes: Counter[str] = Counter()
    attempts = [*attempts_at(path, trap), *attempts_at(RACES[race][0], trap)[:3]]
    with swapping(place, target):
        for name, arguments in attempts * 8:
            for result in run_all(runner, [(name, arguments)] * 10):
                outcomes[result.status] += 1
                assert trap.escaped(result) is None, (name, arguments)
    figure(f"calls while {race} was swapped for a link to one outside", outcomes.total())
    assert outcomes["ok"] > 0
    assert outcomes["error"] > 0


NEVER = -1


class _Interrupted:
    """``os``, where something happens right before some of its calls.

    Args:
        events: What happens before which call, counted from 0.
    """

    _WATCHED = (
        "open",
        "stat",
        "fstat",
        "readlink",
        "scandir",
        "replace",
        "link",
        "mkdir",
        "unlink",
    )

    def __init__(self, events: dict[int, Callable[[], None]]) -> None:
        self._events = events
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(os, name)
        if name not in self._WATCHED:
            return found

        def interrupted(*args: Any, **kwargs: Any) -> Any:
            self._events.get(self.calls, lambda: None)()
            self.calls += 1
            return found(*args, **kwargs)

        return interrupted


@pytest.mark.parametrize("race", RACES)
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_every_moment_between_two_steps(
    trap: Trap,
    figure: Callable[[str, float], None],
    monkeypatch: pytest.MonkeyPatch,
    race: str,
    kind: str,
) -> None:
    """A link or a pipe is put in before each call of the system, and taken out soon after."""
    place, target, path = _race(trap, race)
    away = place.with_name("away")
    runner = runner_of(trap.root)
    moments = 0

    def put_in() -> None:
        if place.exists() and not place.is_symlink() and not place.is_fifo():
            place.rename(away)
            place.symlink_to(target) if kind == "link" else os.mkfifo(place)

    def take_out() -> None:
        _put(away, place)

    for name, arguments in [*attempts_at(path, trap), *attempts_at(RACES[race][0], trap)[:3]]:
        system, first = _Interrupted({}), 0
        while first <= system.calls:
            for last in (first + 1, first + 2, NEVER):
                system = _Interrupted({first: put_in, last: take_out})
                monkeypatch.setattr(folders, "os", system)
                result = call(runner, name, **arguments)
                monkeypatch.undo()
                take_out()
                moments += 1
                assert trap.escaped(result) is None, (name, arguments, first, last)
                if name == "view_file" and result.ok:
                    assert "inside" in result.result["text"], "a pipe was read like a file"
            first += 1
    figure(f"moments at which {race} was swapped for a {kind}", moments)


@pytest.mark.parametrize("race", RACES)
def test_the_race_is_lost_by_what_checks_paths_first(trap: Trap, race: str) -> None:
    """Resolving, comparing and then opening reads the file outside sooner or later."""
    place, target, path = _race(trap, race)
    started = time.monotonic()
    read = ""
    with swapping(place, target):
        while CANARY not in read:
            assert time.monotonic() - started < 120, "the swaps are too slow to show anything"
            with suppress(OSError):
                if (trap.root / path).resolve().is_relative_to(trap.root):
                    read = (trap.root / path).read_text()


def test_a_walk_while_folders_are_swapped(trap: Trap) -> None:
    """A folder that becomes a link while it is being walked through."""
    for number in range(50):
        (trap.root / "a" / f"f{number}").mkdir()
        (trap.root / "a" / f"f{number}" / "x.txt").write_text("inside")
    runner = runner_of(trap.root)
    with swapping(trap.root / "a" / "b", trap.outer / "secrets"):
        for _ in range(40):
            for name, arguments in attempts_at(".", trap)[1:3]:
                assert trap.escaped(call(runner, name, **arguments)) is None


def test_a_workspace_whose_folder_was_replaced(trap: Trap) -> None:
    """By a link to elsewhere, by another folder, by nothing: no tool does anything."""
    runner = runner_of(trap.root)
    moved = trap.outer.with_name(f"{trap.outer.name}-moved")
    trap.root.rename(moved)
    replacements: list[Callable[[], None]] = [
        lambda: trap.root.symlink_to(trap.outer / "secrets"),
        lambda: trap.root.symlink_to("/"),
        trap.root.mkdir,
        lambda: None,
    ]
    for replace in replacements:
        replace()
        for name, arguments in attempts_at("secret.txt", trap):
            result = call(runner, name, **arguments)
            assert not result.ok
            assert "moved, removed or replaced" in (result.error or "")
            assert trap.escaped(result) is None
        if trap.root.is_symlink():
            trap.root.unlink()
        elif trap.root.exists():
            trap.root.rmdir()
    moved.rename(trap.root)
    assert call(runner, "view_file", path="file.txt").ok, "it is the same folder again"


def test_what_a_hard_link_shares_is_not_changed(trap: Trap) -> None:
    """Writing gives the workspace a file of its own."""
    os.link(trap.secret, trap.root / "shared.txt")
    trap.escaped(call(runner_of(trap.root), "view_file", path="."))
    runner = runner_of(trap.root)
    before = trap.secret.read_text()
    asked = {"path": "shared.txt", "old_text": OLD, "new_text": "changed"}
    assert call(runner, "edit_file", **asked).ok
    assert "changed" in (trap.root / "shared.txt").read_text()
    assert trap.secret.read_text() == before


@pytest.mark.parametrize("name", PATH_TOOLS)
def test_a_pipe_blocks_no_tool(trap: Trap, name: str) -> None:
    """Opening a pipe waits for its other end, which nobody opens."""
    runner = runner_of(trap.root)
    asked = {attempt[0]: attempt[1] for attempt in attempts_at("pipe", trap)}[name]
    started = time.monotonic()
    result = call(runner, name, **asked)
    assert time.monotonic() - started < 5
    assert not result.ok or name == "search_directory"


def test_absolute_paths_that_stay_inside_are_fine(trap: Trap) -> None:
    """Models like to write them, and tools tell them."""
    runner = runner_of(trap.root)
    for path in (f"{trap.root}/a/file.txt", f"{trap.root}//a/./b/../file.txt"):
        assert call(runner, "view_file", path=path).ok
    through_link = trap.outer.with_name(f"{trap.outer.name}-link")
    through_link.symlink_to(trap.root)
    runner = runner_of(Workspace(through_link))
    assert call(runner, "view_file", path=f"{through_link}/a/file.txt").ok
    assert call(runner, "view_file", path=f"{trap.root}/a/file.txt").ok
