"""Nothing is found, or what is found cannot be used: the tools say why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from builtin.file_tools import call, done, refused, runner_of

UNUSABLE = [b"bad\xff.txt", b"back\\slash.txt", "a\u202eb.txt".encode(), b"C:x.txt"]


def test_what_cannot_be_opened_is_marked(tmp_path: Path) -> None:
    """Each path that is shown without a word about it can be given back."""
    runner = runner_of(tmp_path)
    (tmp_path / "grüße → x.txt").write_text("needle")
    assert "note" not in done(runner, "find_file", pattern="*")
    assert "note" not in done(runner, "search_directory", pattern="needle")
    assert "note" not in done(runner, "list_directory")
    assert call(runner, "view_file", path="grüße → x.txt").ok
    for name in UNUSABLE:
        path = os.fsencode(tmp_path) + b"/" + name
        Path(os.fsdecode(path)).write_text("needle")
        for asked in (
            ("find_file", {"pattern": "*"}),
            ("search_directory", {"pattern": "needle"}),
            ("list_directory", {}),
        ):
            found = done(runner, asked[0], **asked[1])
            assert "cannot open such a name" in found["note"]
        (shown,) = (
            one for one in done(runner, "find_file", pattern="*.txt")["paths"] if "→" not in one
        )
        assert repr(shown) in found["note"]
        assert not call(runner, "view_file", path=shown).ok
        Path(os.fsdecode(path)).unlink()
    for number in range(3):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/%d\xff" % number)).write_text("")
    assert "'0\\\\xff' and 2 more: " in done(runner, "find_file", pattern="*")["note"]


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("../*", "'..' in it leads nowhere"),
        ("src/../*.py", "'..' in it leads nowhere"),
        ("/*", "it begins with '/'"),
        ("{root}/*", "it begins with '/'"),
        ("a\nb", "it has more than one line"),
        ("a\0b", "it holds a NUL character"),
        ("./", "it names nothing"),
        (".", "it names nothing"),
    ],
)
def test_globs_that_can_find_nothing(tmp_path: Path, pattern: str, why: str) -> None:
    runner = runner_of(tmp_path)
    (tmp_path / "x.py").write_text("x")
    pattern = pattern.replace("{root}", str(tmp_path))
    told = refused(runner, "find_file", pattern=pattern)
    assert f"finds nothing: {why}" in told
    assert "Give the folder to look in as path" in told
    assert why in refused(runner, "search_directory", pattern="x", include=pattern)


def test_a_slash_at_the_end_is_for_folders(tmp_path: Path) -> None:
    (tmp_path / "in" / "src").mkdir(parents=True)
    (tmp_path / "src").write_text("")
    runner = runner_of(tmp_path)
    assert done(runner, "find_file", pattern="src/")["paths"] == ["in/src/"]
    assert done(runner, "find_file", pattern="in/src/")["paths"] == ["in/src/"]
    assert done(runner, "find_file", pattern="./src")["paths"] == ["src"]


def test_patterns_of_several_lines(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n")
    runner = runner_of(tmp_path)
    several = "def f():\n    return"
    told = refused(runner, "search_directory", pattern=several, literal=True)
    assert "lines are searched one by one" in told
    for pattern in (r"def f\(\):\n    return", r"def f\(\):" + "\n"):
        found = done(runner, "search_directory", pattern=pattern)
        assert found["matches"] == []
        assert "no line holds a line end" in found["note"]
    assert "note" not in done(runner, "search_directory", pattern=r"[^\n]*return")
    assert "line end" not in done(runner, "search_directory", pattern="nothing")["note"]


def test_folders_that_are_too_deep_are_counted(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(102):
        folder /= "d"
        folder.mkdir()
    (folder / "deep.txt").write_text("needle")
    runner = runner_of(tmp_path)
    words = "Folders more than 100 deep, not looked into: 1"
    assert words in done(runner, "find_file", pattern="deep.txt")["note"]
    assert words in done(runner, "search_directory", pattern="needle")["note"]
