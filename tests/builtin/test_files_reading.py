"""``list_directory``, ``find_file`` and ``view_file``."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from builtin.file_tools import call, done, refused, runner_of
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import SchemaError

from agtools_nb import (
    BuiltinTools,
    Media,
    ToolCall,
    ToolRunner,
    UsageError,
    Workspace,
    allow,
    deny,
    safe_defaults,
)
from agtools_nb.builtin import create_file_tool, view_file_tool
from agtools_nb.builtin.files import finding, listing, viewing
from agtools_nb.builtin.files.patterns import glob_matcher


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("src/main.py", "src/pkg/a.py", "src/pkg/b.txt", "README.md", "docs/a.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{name}\n")
    return tmp_path


def test_the_tools_are_what_their_names_say(root: Path) -> None:
    """Names, flags and presets agree; only what writes is guarded."""
    runner = runner_of(root)
    assert set(runner.tool_names) == set(BuiltinTools.path_scoped_tools())
    for tool in runner.tools:
        writes = tool.name in ("create_file", "edit_file")
        assert (tool.read_only, tool.guarded) == (not writes, writes)
        assert tool.read_only == (tool.name in BuiltinTools.read_only())
        assert tool.description
        assert all(one.description for one in tool.parameters if one.name != "max_results")
        assert tool.path_of is not None


def test_calls_know_the_path_they_are_about(root: Path) -> None:
    """Rules see it absolute, its links followed, whatever the model wrote."""
    (root / "link").symlink_to("src/pkg")
    seen: list[str | None] = []
    policies = [deny("view_file", when=_seeing(seen)), allow("*")]
    runner = ToolRunner([view_file_tool(root)], policies=policies)
    assert call(runner, "view_file", path="link/../pkg/a.py").ok
    assert seen == [str(root / "src/pkg/a.py")]
    assert "outside of the workspace" in refused(runner, "view_file", path="../x")


def _seeing(seen: list[str | None]) -> Any:
    def see(call: ToolCall) -> bool:
        seen.append(call.canonical_path)
        return False

    return see


def test_what_is_in_a_folder(root: Path) -> None:
    (root / "link").symlink_to("src/pkg")
    (root / "out").symlink_to("/etc")
    (root / "gone").symlink_to("nothing")
    os.mkfifo(root / "pipe")
    found = done(runner_of(root), "list_directory")
    assert found["path"] == "."
    assert found["entries"] == [
        {"name": "docs", "kind": "folder"},
        {"name": "src", "kind": "folder"},
        {"name": "README.md", "kind": "file", "size": 10},
        {"name": "gone", "kind": "link", "leads_to": "nothing"},
        {"name": "link", "kind": "link", "leads_to": "src/pkg"},
        {"name": "out", "kind": "link", "leads_to": "a place that cannot be used"},
        {"name": "pipe", "kind": "pipe"},
    ]
    assert done(runner_of(root), "list_directory", path="link")["path"] == "src/pkg"


def test_a_large_folder_is_cut_and_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MAX_ENTRIES", 2)
    found = done(runner_of(root), "list_directory")
    assert len(found["entries"]) == 2
    assert found["note"] == "2 of 3 names are listed; find_file finds others."


def test_names_that_cannot_be_shown_are_escaped(root: Path) -> None:
    os.close(os.open(os.fsencode(root) + b"/docs/\xff\n.txt", os.O_CREAT))
    (root / "docs" / "a\u202eb").write_text("")
    found = done(runner_of(root), "list_directory", path="docs")
    assert [one["name"] for one in found["entries"]] == ["a.md", "a\\u202eb", "\\xff\\n.txt"]
    assert "docs/\\xff\\n.txt" in done(runner_of(root), "find_file", pattern="*")["paths"]


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("*.py", ["src/main.py", "src/pkg/a.py"]),
        ("a.*", ["docs/a.md", "src/pkg/a.py"]),
        ("src/*.py", ["src/main.py"]),
        ("./src/*.py", ["src/main.py"]),
        ("src/**/*.py", ["src/main.py", "src/pkg/a.py"]),
        ("**/a.{py,md}", ["docs/a.md", "src/pkg/a.py"]),
        ("[ab].[!p]*", ["docs/a.md", "src/pkg/b.txt"]),
        ("[[:alpha:]].[!x[:upper:]]*", ["docs/a.md", "src/pkg/a.py", "src/pkg/b.txt"]),
        ("pkg", ["src/pkg/"]),
        ("?????????", ["README.md"]),
    ],
)
def test_files_are_found_by_globs(root: Path, pattern: str, paths: list[str]) -> None:
    assert done(runner_of(root), "find_file", pattern=pattern)["paths"] == paths


def test_finding_within_a_folder_and_of_a_kind(root: Path) -> None:
    runner = runner_of(root)
    assert done(runner, "find_file", pattern="*", path="src/pkg")["paths"] == [
        "src/pkg/a.py",
        "src/pkg/b.txt",
    ]
    assert done(runner, "find_file", pattern="pkg/*.py", path="src")["paths"] == ["src/pkg/a.py"]
    assert done(runner, "find_file", pattern="*", kind="folder")["paths"] == [
        "docs/",
        "src/",
        "src/pkg/",
    ]
    assert len(done(runner, "find_file", pattern="*", kind="file")["paths"]) == 5
    assert "is a file" in refused(runner, "find_file", pattern="*", path="README.md")


def test_what_is_not_found_is_helped_with(root: Path) -> None:
    assert (
        done(runner_of(root), "find_file", pattern="readme.md")["note"] == "There is 'README.md'."
    )
    assert "no glob" in refused(runner_of(root), "find_file", pattern="[z-a]")


def test_finding_is_bounded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = runner_of(root)
    found = done(runner, "find_file", pattern="*", max_results=2)
    assert len(found["paths"]) == 2
    assert found["note"].startswith("There are more than 2;")
    monkeypatch.setattr(finding, "WALK_NAMES", 3)
    assert "ended after 3 names" in done(runner, "find_file", pattern="*")["note"]
    monkeypatch.setattr(finding, "WALK_NAMES", 100)
    monkeypatch.setattr(finding, "WALK_SECONDS", -1)
    assert "ended after -1 seconds" in done(runner, "find_file", pattern="*")["note"]


@given(
    pattern=st.text(st.sampled_from("ab*?[]!-{},/\\.é"), max_size=12),
    path=st.text(st.sampled_from("ab/.é"), max_size=12),
)
def test_globs_never_fail_in_another_way(pattern: str, path: str) -> None:
    try:
        matches = glob_matcher(pattern, braces=True)
    except SchemaError:
        return
    assert matches(path) in (True, False)
    if not set(pattern) & set("*?[]{},\\"):
        assert matches(path) == (pattern == path)


@given(name=st.text(st.sampled_from("ab.-_é"), max_size=8), data=st.data())
def test_globs_agree_with_pythons_own_on_names(name: str, data: st.DataObject) -> None:
    pattern = data.draw(st.text(st.sampled_from("ab.-_é*?"), max_size=8))
    assert glob_matcher(pattern)(name) == fnmatchcase(name, pattern)


def test_a_file_is_shown_with_line_numbers(root: Path) -> None:
    (root / "a.txt").write_bytes(b"one\r\ntwo\n\n  four")
    runner = runner_of(root)
    assert done(runner, "view_file", path="a.txt") == {
        "path": "a.txt",
        "lines": "1-4 of 4",
        "text": "1\tone\n2\ttwo\n3\t\n4\t  four",
    }
    found = done(runner, "view_file", path="a.txt", start_line=2, end_line=3)
    assert (found["lines"], found["text"]) == ("2-3 of 4", "2\ttwo\n3\t")
    assert done(runner, "view_file", path="a.txt", start_line=4, end_line=99)["text"] == "4\t  four"
    told = refused(runner, "view_file", path="a.txt", start_line=5)
    assert "'a.txt' has 4 lines; there is no line 5." in told
    assert "end_line=2 is before start_line=3." in refused(
        runner, "view_file", path="a.txt", start_line=3, end_line=2
    )


def test_an_empty_file(root: Path) -> None:
    (root / "a.txt").write_text("")
    assert done(runner_of(root), "view_file", path="a.txt")["note"] == "The file is empty."
    assert "0 lines" in refused(runner_of(root), "view_file", path="a.txt", start_line=2)


def test_long_files_and_lines_are_cut_and_say_so(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewing, "MAX_SHOWN", 50)
    monkeypatch.setattr(viewing, "MAX_LINE", 20)
    (root / "a.txt").write_text("".join(f"line {number}\n" for number in range(1, 100)))
    found = done(runner_of(root), "view_file", path="a.txt")
    assert found["lines"] == "1-7 of 99"
    assert found["note"] == "Cut after line 7; go on with start_line=8."
    assert done(runner_of(root), "view_file", path="a.txt", start_line=8)["text"].startswith("8\t")
    (root / "b.txt").write_text("x" * 100)
    found = done(runner_of(root), "view_file", path="b.txt")
    assert found["text"] == f"1\t{'x' * 20}… [cut: 100 characters]"
    assert "are cut" in found["note"]


def test_images_are_media(root: Path) -> None:
    pixel = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
    (root / "pic.dat").write_bytes(pixel)
    result = call(runner_of(root), "view_file", path="pic.dat")
    assert result.media == (Media("image/png", pixel, name="pic.dat"),)
    assert result.result["path"] == "pic.dat"


def test_other_bytes_are_not_shown(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a.bin").write_bytes(b"PK\x03\x04" + bytes(range(256)))
    told = refused(runner_of(root), "view_file", path="a.bin")
    assert "260 bytes of application/zip" in told
    monkeypatch.setattr(viewing, "MAX_FILE", 8)
    told = refused(runner_of(root), "view_file", path="a.bin")
    assert "260 bytes of application/zip" in told
    assert "is a folder" in refused(runner_of(root), "view_file", path="src")


@pytest.mark.parametrize(
    ("data", "text", "has_note"),
    [
        ("grüße\n".encode(), "1\tgrüße", False),
        (b"\xef\xbb\xbfx\n", "1\tx", False),
        ("\ufeffgrüße\n".encode("utf-16-le"), "1\tgrüße", False),
        ("\ufeffgrüße\n".encode("utf-16-be"), "1\tgrüße", False),
        (b"gr\xfc\xdfe\n", "1\tgrüße", True),
    ],
)
def test_encodings(root: Path, data: bytes, text: str, has_note: bool) -> None:
    (root / "a.txt").write_bytes(data)
    found = done(runner_of(root), "view_file", path="a.txt")
    assert found["text"] == text
    assert ("note" in found) == has_note


def test_writing_tools_need_rules(root: Path) -> None:
    with pytest.raises(UsageError, match=r"create_file.*safe_defaults"):
        ToolRunner([create_file_tool(root)])
    assert ToolRunner(
        [create_file_tool(root)], policies=safe_defaults(), approve=lambda asked: True
    ).tool_names == ("create_file",)


def test_tools_of_one_workspace_may_share_it(root: Path) -> None:
    space = Workspace(root)
    assert view_file_tool(space).canonical_path({"path": "src"}) == str(root / "src")
    assert view_file_tool(str(root)).canonical_path({"path": "src"}) == str(root / "src")
