"""``view_file`` on files that are too large to be read whole."""

from __future__ import annotations

import tempfile
import tracemalloc
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from builtin.file_tools import call, done, refused, runner_of
from hypothesis import example, given
from hypothesis import strategies as st

from agtools_nb import ToolRunner
from agtools_nb.builtin.files import streaming, viewing


def test_lines_far_behind_in_a_large_file(tmp_path: Path) -> None:
    """What search_directory passes over can be looked at, as it says."""
    with (tmp_path / "big.txt").open("wb") as file:
        for number in range(22):
            file.write(f"{number:09}\n".encode() * 100_000)
        file.write(b"NEEDLE")
    runner = runner_of(tmp_path)
    note = done(runner, "search_directory", pattern="NEEDLE")["note"]
    assert "1 larger than 20 MB (view_file shows lines of them)" in note
    found = done(runner, "view_file", path="big.txt", start_line=2_200_000)
    assert found == {
        "path": "big.txt",
        "lines": "2200000-2200001 of 2200001",
        "text": "2200000\t000000021\n2200001\tNEEDLE",
    }
    found = done(runner, "view_file", path="big.txt", start_line=5, end_line=6)
    assert found["lines"] == "5-6 of more"
    assert "note" not in found
    first = done(runner, "view_file", path="big.txt")
    assert first["note"] == "Cut after line 6000; go on with start_line=6001."
    told = refused(runner, "view_file", path="big.txt", start_line=2_200_002)
    assert "'big.txt' has 2,200,001 lines; there is no line 2200002." in told
    told = refused(runner, "edit_file", path="big.txt", old_text="NEEDLE", new_text="x")
    assert "view_file shows lines of large files" in told


@given(
    content=st.text(st.sampled_from("ab\n\ré→"), max_size=30),
    start=st.integers(1, 8),
    end=st.none() | st.integers(1, 8),
    mark=st.sampled_from(["", "\ufeff"]),
    chunk=st.integers(1, 5),
)
@example(content="a\nb", start=3, end=None, mark="", chunk=2)
def test_a_large_file_is_shown_like_a_small_one(
    content: str, start: int, end: int | None, mark: str, chunk: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "x.txt").write_bytes(f"{mark}-{content}".encode())
        runner = runner_of(folder)
        asked = {"path": "x.txt", "start_line": start, "end_line": end}
        small = shown(runner, asked)
        with patch.object(viewing, "MAX_FILE", 0), patch.object(streaming, "_CHUNK", chunk):
            assert shown(runner, asked) == small


def shown(runner: ToolRunner, asked: dict[str, Any]) -> tuple[str, str]:
    """The lines, or what is said instead."""
    result = call(runner, "view_file", **asked)
    return (result.result["text"] if result.ok else "", result.error or "")


def test_one_endless_line_takes_no_memory(tmp_path: Path) -> None:
    with (tmp_path / "long.txt").open("wb") as file:
        for _ in range(30):
            file.write(b"\xc3\xa9" * 500_000)
        file.write(b"\nend\n")
    runner = runner_of(tmp_path)
    with patch.object(viewing, "MAX_FILE", 1_000_000):
        tracemalloc.start()
        found = done(runner, "view_file", path="long.txt")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert found["text"] == "1\t" + "é" * 2_000 + "… [cut: 30,000,001 bytes]\n2\tend"
    assert found["lines"] == "1-2 of 2"
    assert peak < 10_000_000


def test_what_of_a_large_file_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewing, "MAX_FILE", 10)
    runner = runner_of(tmp_path)
    for name, data, told in [
        ("wide", ("x\n" * 9).encode("utf-16"), "of UTF-16 or UTF-32"),
        ("wide32", ("x\n" * 9).encode("utf-32"), "of UTF-16 or UTF-32"),
        ("bin", b"\0" * 50, "is no text"),
        ("pic", b"\x89PNG\r\n\x1a\n" + b"\0" * 20, "is an image"),
    ]:
        (tmp_path / name).write_bytes(data)
        assert told in refused(runner, "view_file", path=name)
    (tmp_path / "latin").write_bytes(b"gr\xfc\xdfe\n" * 5)
    found = done(runner, "view_file", path="latin", end_line=1)
    assert found["text"] == "1\tgrüße"
    assert "read as Latin-1" in found["note"]
    monkeypatch.setattr(streaming, "READ_SECONDS", -1.0)
    told = refused(runner, "view_file", path="latin", start_line=4)
    assert "Line 4 of 'latin' was not reached" in told


@pytest.mark.parametrize("most", [10, 20_000_000])
def test_lines_that_are_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(viewing, "MAX_FILE", most)
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    runner = runner_of(tmp_path)
    for start, end, words in [
        (2, 1, "end_line=1 is before start_line=2."),
        (9, 1, "end_line=1 is before start_line=9."),
        (4, None, "'a.txt' has 3 lines; there is no line 4."),
        (4, 4, "'a.txt' has 3 lines; there is no line 4."),
        (4, 9, "'a.txt' has 3 lines; there are no lines 4 to 9."),
    ]:
        assert words in refused(runner, "view_file", path="a.txt", start_line=start, end_line=end)
