"""File tools while others use, or change, the same folders."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from builtin.file_tools import call, done, run_all, runner_of

from agtools_nb import (
    Tool,
    ToolCall,
    ToolRunner,
    Workspace,
    allow_all,
    ask_user,
    deny,
    workspace_only,
)
from agtools_nb.builtin import create_file_tool, edit_file_tool, view_file_tool
from agtools_nb.builtin.workspace import walking, workspace


def test_calls_that_list_one_folder_at_once_each_see_all_of_it(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"{number:02}.txt").write_text("needle\n")
    runner = runner_of(tmp_path)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("list_directory", {}),
        ("find_file", {"pattern": "*.txt"}),
        ("search_directory", {"pattern": "needle"}),
    ]
    for _ in range(40):
        for result in run_all(runner, calls * 4):
            assert result.ok, result.error
            found = next(
                v for k, v in result.result.items() if k in ("entries", "paths", "matches")
            )
            assert len(found) == 40, result.result


def test_two_listings_of_one_folder_by_turns(tmp_path: Path) -> None:
    """Each goes on where it was itself."""
    names = {f"{number:04}" for number in range(3_000)}
    for name in names:
        (tmp_path / name).touch()
    space = Workspace(tmp_path)
    with space.at(".") as one, space.at(".") as other:
        first, second = one.folder.names(), other.folder.names()
        seen = [(next(first), next(second)) for _ in range(3_000)]
    assert {a for a, _ in seen} == {b for _, b in seen} == names


def test_a_crowded_folder_is_searched_as_far_as_it_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "MAX_NAMES", 20)
    monkeypatch.setattr(workspace, "MAX_NAMES", 20)
    (tmp_path / "crowd").mkdir()
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "a.txt").write_text("needle\n")
    for number in range(30):
        (tmp_path / "crowd" / f"{number}.txt").write_text("needle\n")
    runner = runner_of(tmp_path)
    found = done(runner, "find_file", pattern="*.txt")
    assert len(found["paths"]) == 21, "what was read of the crowd, and what comes after it"
    assert "more than" in found["note"]
    searched = done(runner, "search_directory", pattern="needle")
    assert len(searched["matches"]) == 21
    listed = done(runner, "list_directory", path="crowd")
    assert len(listed["entries"]) == 20


def test_a_listing_says_that_it_does_not_know_how_many_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, "MAX_NAMES", 600)
    for number in range(700):
        (tmp_path / f"{number}").touch()
    listed = done(runner_of(tmp_path), "list_directory")
    assert "500 of more than 600 names" in listed["note"]


# -- a link that is put in after the rules have judged --------------------------------------------


def _swapped_before(
    monkeypatch: pytest.MonkeyPatch, link: Path, method: str, target: str
) -> threading.Event:
    """Have a link lead elsewhere right before a tool uses its path, which was judged before."""
    real, swapped = getattr(Workspace, method), threading.Event()

    def late(self: Workspace, path: str, *args: Any, **options: Any) -> Any:
        if not swapped.is_set():
            swapped.set()
            link.unlink()
            link.symlink_to(target)
        return real(self, path, *args, **options)

    monkeypatch.setattr(Workspace, method, late)
    return swapped


def test_what_rules_refuse_is_not_read_by_a_late_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "open.txt").write_text("fine\n")
    (tmp_path / "keys.env").write_text("SECRET\n")
    link = tmp_path / "link"
    link.symlink_to("open.txt")
    secret = deny("view_file", when=_about_keys)
    runner = ToolRunner([view_file_tool(tmp_path)], policies=[secret, allow_all()])
    assert "fine" in str(done(runner, "view_file", path="link"))
    swapped = _swapped_before(monkeypatch, link, "open", "keys.env")
    result = call(runner, "view_file", path="link")
    assert swapped.is_set()
    assert not result.ok
    assert "SECRET" not in f"{result.result} {result.error}"
    assert "changed" in str(result.error)
    # Judged anew, it is refused.
    assert call(runner, "view_file", path="link").status == "denied"


@pytest.mark.parametrize("method", ["read", "write"])
def test_what_workspace_only_refuses_is_not_written_by_a_late_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    for folder in ("pub", "priv"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "f.txt").write_text("old\n")
    link = tmp_path / "link"
    link.symlink_to("pub")
    tools = [create_file_tool(tmp_path), edit_file_tool(tmp_path)]
    policies = [workspace_only(tmp_path / "pub"), ask_user("*", lambda _: True)]
    runner = ToolRunner(tools, policies=policies)
    swapped = _swapped_before(monkeypatch, link, method, "priv")
    if method == "read":
        result = call(runner, "edit_file", path="link/f.txt", old_text="old", new_text="new")
    else:
        result = call(runner, "create_file", path="link/f.txt", content="new\n", overwrite=True)
    assert swapped.is_set()
    assert not result.ok
    assert (tmp_path / "priv" / "f.txt").read_text() == "old\n"


def test_a_tool_that_calls_others_is_not_taken_for_them(tmp_path: Path) -> None:
    """Each call has its own path, also one that a tool makes with a runner without rules."""
    (tmp_path / "a.txt").write_text("a\n")
    (tmp_path / "b.txt").write_text("b\n")
    space = Workspace(tmp_path)
    inner = ToolRunner([view_file_tool(space)])
    outer = view_file_tool(space)

    async def both(path: str) -> str:
        return str(await inner.execute("view_file", path="b.txt"))

    made = Tool(both, path_of=outer.path_of)
    runner = ToolRunner([made], policies=[allow_all()])
    assert "b" in str(done(runner, "both", path="a.txt"))


def _about_keys(call: ToolCall) -> bool:
    return str(call.canonical_path).endswith(".env")
