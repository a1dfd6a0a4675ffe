"""``search_directory``: what it finds, what it passes over, and that nothing makes it hang."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from builtin.file_tools import done, refused, runner_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agtools_nb import Workspace
from agtools_nb.builtin.files import patterns, searching
from agtools_nb.builtin.files.ignoring import IgnoreRules
from agtools_nb.builtin.files.patterns import LineSearch
from agtools_nb.builtin.workspace import Walk


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").write_text("import os\n\ndef main():\n    return 1\n")
    (tmp_path / "src" / "util.py").write_bytes(b"import re\r\ndef tool():\r\n    pass\r\n")
    (tmp_path / "notes.txt").write_text("Define main. grüße\n")
    return tmp_path


def lines(found: dict[str, Any]) -> dict[str, list[str]]:
    return {one["path"]: one["lines"] for one in found["matches"]}


def test_lines_are_found_with_their_numbers(root: Path) -> None:
    found = done(runner_of(root), "search_directory", pattern=r"^def \w+\(\):$")
    assert found == {
        "matches": [
            {"path": "src/main.py", "lines": ["3: def main():"]},
            {"path": "src/util.py", "lines": ["2: def tool():"]},
        ]
    }


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"pattern": "DEF main", "ignore_case": True}, {"src/main.py": ["3: def main():"]}),
        ({"pattern": "main()", "literal": True}, {"src/main.py": ["3: def main():"]}),
        ({"pattern": "^import", "include": "u*.py"}, {"src/util.py": ["1: import re"]}),
        ({"pattern": "^import", "include": "src/m*"}, {"src/main.py": ["1: import os"]}),
        (
            {"pattern": "^import", "include": "main.*", "path": "src"},
            {"src/main.py": ["1: import os"]},
        ),
        ({"pattern": "pass", "path": "src/util.py"}, {"src/util.py": ["3:     pass"]}),
        ({"pattern": "grüße|GRÜSSE"}, {"notes.txt": ["1: Define main. grüße"]}),
        ({"pattern": "GRÜ", "ignore_case": True}, {"notes.txt": ["1: Define main. grüße"]}),
        ({"pattern": "nothing like it"}, {}),
    ],
)
def test_what_is_searched_for(root: Path, arguments: dict[str, Any], found: Any) -> None:
    assert lines(done(runner_of(root), "search_directory", **arguments)) == found


def test_lines_around_a_match(root: Path) -> None:
    (root / "many.txt").write_text("".join(f"{number}\n" for number in range(1, 21)))
    found = done(runner_of(root), "search_directory", pattern="^(5|6|15)$", context_lines=1)
    assert lines(found)["many.txt"] == [
        "4- 4",
        "5: 5",
        "6: 6",
        "7- 7",
        "--",
        "14- 14",
        "15: 15",
        "16- 16",
    ]


def test_what_was_passed_over_is_told(root: Path) -> None:
    (root / "a.bin").write_bytes(b"def main\0")
    (root / "utf16.txt").write_bytes("\ufeffdef main".encode("utf-16-le"))
    (root / ".gitignore").write_text("*.log\n")
    (root / "x.log").write_text("def main")
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("def main")
    runner = runner_of(root)
    found = done(runner, "search_directory", pattern="def main")
    assert list(lines(found)) == ["src/main.py", "utf16.txt"]
    assert found["note"] == (
        "Skipped: 1 binary, 1 left out by .gitignore (include_ignored=true searches it)."
    )
    found = done(runner, "search_directory", pattern="def main", include_ignored=True)
    assert list(lines(found)) == ["src/main.py", "utf16.txt", "x.log"]
    found = done(runner, "search_directory", pattern="def main", path="x.log")
    assert list(lines(found)) == ["x.log"], "a file that is named is searched"
    found = done(runner, "search_directory", pattern="no such words")
    assert found["note"].startswith("Text files searched: 5. Skipped: 1 binary")


def test_answers_are_bounded_and_say_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "many.txt").write_text("line\n" * 1_000)
    runner = runner_of(root)
    found = done(runner, "search_directory", pattern="line", max_results=7)
    assert len(lines(found)["many.txt"]) == 7
    assert found["note"] == "There are more than 7; narrow the search, or raise max_results."
    monkeypatch.setattr(searching, "MAX_TEXT", 100)
    found = done(runner, "search_directory", pattern="line", max_results=1_000)
    assert len(lines(found)["many.txt"]) < 20
    assert found["note"] == "Shown are the first 100 characters; narrow the search."
    monkeypatch.setattr(searching, "WALK_SECONDS", -1)
    found = done(runner, "search_directory", pattern="line")
    assert "ended after -1 seconds" in found["note"]
    monkeypatch.setattr(searching, "MAX_FILE", 10)
    found = done(runner, "search_directory", pattern="line", path="many.txt")
    assert "1 larger than 10 bytes" in found["note"]


def test_of_long_lines_the_match_is_shown(root: Path) -> None:
    (root / "long.txt").write_text(f"{'x' * 5_000}needle{'y' * 5_000}\n")
    (found,) = lines(done(runner_of(root), "search_directory", pattern="needle"))["long.txt"]
    assert "needle" in found
    assert found.endswith("… [10,006 characters]")
    assert len(found) < 350


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?=a)", "look-around"),
        (r"(a)\1", "backreferences"),
        ("(", "unclosed group"),
        ("a{3", "repetition"),
        (r"\w{900}\w{900}", "too large once its repeats are written out"),
        ("[z-a]", "range"),
    ],
)
def test_what_cannot_be_searched_for(root: Path, pattern: str, reason: str) -> None:
    told = refused(runner_of(root), "search_directory", pattern=pattern)
    assert reason in told
    assert "literal=true" in told
    assert done(runner_of(root), "search_directory", pattern=pattern, literal=True)


HANG_OTHERS = (
    "(a+)+$",
    "(a|aa)+$",
    "(a|a?)+$",
    "(.*a){20}$",
    "((a*)*)*b",
    "([a-z]+)*=",
    "(?:a?){30}a{30}$",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
)


@pytest.mark.parametrize("pattern", HANG_OTHERS)
def test_no_pattern_runs_without_end(root: Path, pattern: str) -> None:
    """Each of these takes ``re`` longer than anyone lives."""
    (root / "a.txt").write_text(f"{'a' * 5_000}!\n" * 50)
    started = time.monotonic()
    done(runner_of(root), "search_directory", pattern=pattern)
    assert time.monotonic() - started < 20


def test_a_slow_pattern_ends_with_its_time(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Linear time is long as well, where a pattern is large."""
    (root / "a.txt").write_text(f"{'x' * 15_000}\n" * 1_000)
    monkeypatch.setattr(searching, "WALK_SECONDS", 1.0)
    monkeypatch.setattr(patterns, "_SLOW_SECONDS", 0.0)
    started = time.monotonic()
    found = done(runner_of(root), "search_directory", pattern="[^a]{0,3000}b")
    assert time.monotonic() - started < 20
    assert "The search ended after 1 seconds" in found["note"]
    assert "Long lines of which only the beginning was searched" in found["note"]


@pytest.mark.parametrize("rule", ["*a" * 300, "**/" * 200 + "x", "[" * 400, "(a+)+$", "a" * 5_000])
def test_no_ignore_file_hangs_a_search(root: Path, rule: str) -> None:
    (root / ".gitignore").write_text(f"{rule}\n" * 50)
    (root / ("a" * 250)).write_text("def main")
    started = time.monotonic()
    found = done(runner_of(root), "search_directory", pattern="def main")
    assert time.monotonic() - started < 20
    assert "src/main.py" in lines(found)


@given(text=st.text(max_size=30), around=st.text(max_size=10))
def test_plain_text_is_found_where_it_stands(text: str, around: str) -> None:
    """Whatever means something in a pattern means itself in plain text."""
    line = f"{around}{text}{around}"
    assert LineSearch(text, literal=True)(line)
    found = LineSearch(text, literal=True)(around)
    assert found == (text in around)


NAMES = st.sampled_from(["a", "b", "ab", "a.b", "ba", "c d", "#x", "!y", "a]"])
RULES = st.lists(
    st.builds(
        "{}{}{}{}".format,
        st.sampled_from(["", "", "", "!", "/", "!/", "**/", "\\", "#"]),
        st.sampled_from(
            [
                "a",
                "b",
                "*",
                "a*",
                "*b",
                "?",
                "[ab]",
                "[!a]",
                "a.b",
                "é",
                "c d",
                "*.b",
                "#x",
                "a?",
                "**",
            ]
        ),
        st.sampled_from(["", "", "", "/", "/b", "/*", "/**", "/**/b", "/a/b"]),
        st.sampled_from(["", "", " ", "\\ ", "  "]),
    ),
    max_size=4,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    paths=st.lists(st.lists(NAMES, min_size=1, max_size=3).map("/".join), min_size=1, max_size=8),
    rules=RULES,
    inner=RULES,
)
def test_git_would_ignore_the_same(
    tmp_path_factory: pytest.TempPathFactory, paths: list[str], rules: list[str], inner: list[str]
) -> None:
    root = tmp_path_factory.mktemp("git")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    for path in paths:
        place = root / path
        if any(one.is_file() for one in (place, *place.parents)) or place.is_dir():
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("x")
    (root / ".gitignore").write_text("".join(f"{rule}\n" for rule in rules))
    if (root / "a").is_dir():
        (root / "a" / ".gitignore").write_text("".join(f"{rule}\n" for rule in inner))
    listed = subprocess.run(
        ["git", "ls-files", "-zco", "--exclude-per-directory=.gitignore"],
        cwd=root,
        check=True,
        capture_output=True,
    )
    space = Workspace(root)
    walk = Walk(IgnoreRules.of(space, ()), seconds=60, most=1_000)
    with space.at(".") as place:
        kept = {found.path for found in walk.below(place.folder, ()) if found.is_file}
    assert kept == set(listed.stdout.decode().split("\0")) - {""}
