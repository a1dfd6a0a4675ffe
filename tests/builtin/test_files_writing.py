"""``create_file`` and ``edit_file``."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
from builtin.file_tools import call, done, refused, run_all, runner_of
from hypothesis import assume, example, given
from hypothesis import strategies as st

from agtools_nb import ToolResult, Workspace
from agtools_nb.builtin.files import common, creating, editing
from agtools_nb.builtin.files.decoding import text_of
from agtools_nb.builtin.workspace import folders


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("def f():\n    return 1\n\n\ndef g():\n    return 2\n")
    return tmp_path


def test_a_file_is_made_as_it_is_given(root: Path) -> None:
    runner = runner_of(root)
    found = done(runner, "create_file", path="new/deep/b.txt", content="one\r\ntwo\nü")
    assert found == {"path": "new/deep/b.txt", "bytes": 11, "lines": 3}
    assert (root / "new/deep/b.txt").read_bytes() == "one\r\ntwo\nü".encode()


def test_a_file_that_is_there_is_replaced_only_when_asked(root: Path) -> None:
    runner = runner_of(root)
    told = refused(runner, "create_file", path="a.py", content="")
    assert "'a.py' is there already; it was not changed." in told
    assert "overwrite=true" in told
    assert (root / "a.py").read_text().startswith("def f")
    assert done(runner, "create_file", path="a.py", content="", overwrite=True)["bytes"] == 0
    assert (root / "a.py").read_bytes() == b""


def test_what_cannot_be_made(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = runner_of(root)
    assert "is a folder" in refused(runner, "create_file", path=".", content="", overwrite=True)
    assert "leads through a file" in refused(runner, "create_file", path="a.py/b", content="")
    assert "cannot be written as utf-8" in refused(
        runner, "create_file", path="b", content="\ud800"
    )
    monkeypatch.setattr(creating, "MAX_FILE", 5)
    assert "at most 5 bytes" in refused(runner, "create_file", path="b", content="123456")
    assert [path.name for path in root.iterdir()] == ["a.py"]


def test_text_that_stands_there_once_is_replaced(root: Path) -> None:
    found = done(
        runner_of(root),
        "edit_file",
        path="./a.py",
        old_text="    return 2",
        new_text="    x = 2\n    return x",
    )
    assert found == {
        "path": "a.py",
        "replaced": 1,
        "text": "3\t\n4\t\n5\tdef g():\n6\t    x = 2\n7\t    return x",
    }
    assert (root / "a.py").read_text().endswith("def g():\n    x = 2\n    return x\n")


def test_text_that_stands_there_more_than_once_is_not(root: Path) -> None:
    runner = runner_of(root)
    before = (root / "a.py").read_bytes()
    told = refused(runner, "edit_file", path="a.py", old_text="return", new_text="yield")
    assert "old_text stands there 2 times, at lines 2, 6; nothing was changed." in told
    assert "replace_all=true" in told
    assert (root / "a.py").read_bytes() == before
    (root / "b.txt").write_text("aaa")
    assert "2 times, at lines 1, 1" in refused(
        runner, "edit_file", path="b.txt", old_text="aa", new_text="b"
    ), "places that overlap"
    (root / "b.txt").write_text("a" * 5_000)
    told = refused(runner, "edit_file", path="b.txt", old_text="a", new_text="b")
    assert "more than 1,000 times" in told
    assert told.count("1, ") < 30
    found = done(
        runner, "edit_file", path="a.py", old_text="return", new_text="yield", replace_all=True
    )
    assert found["replaced"] == 2
    assert (root / "a.py").read_bytes() == before.replace(b"return", b"yield")


@pytest.mark.parametrize(
    ("old", "told"),
    [
        (
            "def g():\n  return 2",
            "From line 5, with other white space, it stands there like this:\n5\tdef g():\n6\t    return 2",
        ),
        ("\treturn 1\n\n", "From line 2, with other white space"),
        ("    retrun 1", "From line 2, this is like it:\n2\t    return 1"),
        ("1\tdef f():\n2\t    return 1", "Without the numbers before its lines it does."),
        ("completely different words", "view_file shows what stands there."),
        ("\n\n\n\n\n", "view_file shows what stands there."),
    ],
)
def test_what_is_nearly_there_is_shown(root: Path, old: str, told: str) -> None:
    error = refused(runner_of(root), "edit_file", path="a.py", old_text=old, new_text="x")
    assert "old_text does not stand in 'a.py'; nothing was changed." in error
    assert told in error


def test_looking_for_what_is_like_it_takes_no_time(root: Path) -> None:
    (root / "big.txt").write_text("".join(f"{number:08} {'ab' * 90}\n" for number in range(50_000)))
    error = refused(runner_of(root), "edit_file", path="big.txt", old_text="ba" * 90, new_text="x")
    assert len(error) < 3_000


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\r\ntwo\r\nthree\r\n", b"one\r\nTWO\r\nAND\r\nthree\r\n"),
        (b"one\ntwo\r\nthree\r\nfour\r\n", b"one\nTWO\r\nAND\r\nthree\r\nfour\r\n"),
        (b"one\r\ntwo\nthree\nfour\n", b"one\r\nTWO\nAND\nthree\nfour\n"),
        (b"\xef\xbb\xbfone\ntwo", b"\xef\xbb\xbfone\nTWO\nAND"),
        ("\ufeffone\r\ntwo".encode("utf-16-le"), "\ufeffone\r\nTWO\r\nAND".encode("utf-16-le")),
        ("\ufefftwo\n".encode("utf-16-be"), "\ufeffTWO\nAND\n".encode("utf-16-be")),
        ("\ufeffone\r\ntwo".encode("utf-32-le"), "\ufeffone\r\nTWO\r\nAND".encode("utf-32-le")),
        ("\ufefftwo→\n".encode("utf-32-be"), "\ufeffTWO\nAND→\n".encode("utf-32-be")),
        (b"gr\xfc\xdfe\ntwo\n", b"gr\xfc\xdfe\nTWO\nAND\n"),
    ],
)
def test_line_ends_and_encoding_stay(root: Path, before: bytes, after: bytes) -> None:
    (root / "b.txt").write_bytes(before)
    done(runner_of(root), "edit_file", path="b.txt", old_text="two", new_text="TWO\r\nAND")
    assert (root / "b.txt").read_bytes() == after


def test_what_cannot_be_edited(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = runner_of(root)
    (root / "a.bin").write_bytes(b"\0\1\2")
    (root / "cut.u32").write_bytes("x\n".encode("utf-32") + b"x\0")
    (root / "latin.txt").write_bytes(b"gr\xfc\xdfe")
    for path, old, new, told in [
        ("a.bin", "x", "y", "is no text"),
        ("a.py", "def f", "def f", "are the same"),
        ("cut.u32", "x", "y", "is no text"),
        ("latin.txt", "grüße", "→", "cannot be written as latin-1"),
        ("a.py", "def f", "\ud800", "cannot be written as utf-8"),
        ("nothing.py", "x", "y", "is not there"),
        (".", "x", "y", "is a folder"),
    ]:
        assert told in refused(runner, "edit_file", path=path, old_text=old, new_text=new)
    result = call(runner, "edit_file", path="a.py", old_text="", new_text="x")
    assert result.status == "invalid"
    monkeypatch.setattr(editing, "MAX_FILE", 60)
    assert "would have 141 bytes; at most 60" in refused(
        runner, "edit_file", path="a.py", old_text="def f", new_text="x" * 100
    )
    assert common.MAX_FILE > 60


def test_edits_of_one_batch_follow_each_other(root: Path) -> None:
    """The second sees what the first did, the third what the second did."""
    (root / "n.txt").write_text("n=0")
    steps = [
        ("edit_file", {"path": "n.txt", "old_text": f"n={number}", "new_text": f"n={number + 1}"})
        for number in range(20)
    ]
    results = run_all(runner_of(root), steps)
    assert [result.error for result in results] == [None] * 20
    assert (root / "n.txt").read_text() == "n=20"


def test_no_edit_is_lost_where_two_have_one_folder(root: Path) -> None:
    """A conversation and the one that it started: other runners, other workspaces."""
    (root / "n.txt").write_text("".join(f"line{number}\n" for number in range(40)))

    def edits(start: int) -> list[tuple[str, dict[str, Any]]]:
        return [
            (
                "edit_file",
                {"path": "n.txt", "old_text": f"line{n}\n", "new_text": f"LINE{n}\n"},
            )
            for n in range(start, start + 20)
        ]

    async def main() -> list[ToolResult]:
        runners = runner_of(root), runner_of(root)
        found = await asyncio.gather(
            *(one.process_tool_calls(edits(20 * i)) for i, one in enumerate(runners))
        )
        return [result for results in found for result in results]

    assert [result.error for result in asyncio.run(main())] == [None] * 40
    assert (root / "n.txt").read_text().count("LINE") == 40


def test_a_file_made_and_edited_in_one_batch(root: Path) -> None:
    results = run_all(
        runner_of(root),
        [
            ("create_file", {"path": "new.txt", "content": "a"}),
            ("edit_file", {"path": "new.txt", "old_text": "a", "new_text": "b"}),
        ],
    )
    assert all(result.ok for result in results)
    assert (root / "new.txt").read_text() == "b"


TEXTS = st.text(st.sampled_from("ab \n\ré→\t"), max_size=40)


@given(
    before=TEXTS,
    old=TEXTS,
    after=TEXTS,
    new=TEXTS,
    encoding=st.sampled_from(["utf-8", "utf-16", "utf-32"]),
)
@example(before="a\r", old="\n", after="b", new="x", encoding="utf-8")
def test_an_edit_changes_that_and_nothing_else(
    before: str, old: str, after: str, new: str, encoding: str
) -> None:
    """What is around the place stays as it is in the file, whatever ends its lines."""
    data = f"{before}{old}{after}".encode(encoding)
    text = text_of(data)
    assert text is not None
    plain, wanted = (one.replace("\r\n", "\n") for one in (old, new))
    assume(plain and text.text.count(plain) == 1)
    at = text.text.index(plain)
    changed = text.replaced([(at, at + len(plain))], wanted)
    # One unit of the file for each character of the text.
    units = re.findall("\r\n|.", data.decode(encoding), re.DOTALL)
    units[at : at + len(plain)] = [wanted.replace("\n", text.line_end)]
    assert changed.decode(encoding) == "".join(units)
    assert text.replaced([], "") == data


@given(content=TEXTS, old=st.text(st.sampled_from("ab \n"), min_size=1, max_size=3), new=TEXTS)
def test_what_was_edited_is_what_is_viewed(content: str, old: str, new: str) -> None:
    """Through the tools: create, edit everywhere, view."""
    with tempfile.TemporaryDirectory() as folder:
        runner = runner_of(folder)
        done(runner, "create_file", path="x.txt", content=content)
        result = call(
            runner, "edit_file", path="x.txt", old_text=old, new_text=new, replace_all=True
        )
        plain, wanted = content.replace("\r\n", "\n"), new.replace("\r\n", "\n")
        if not result.ok:
            assert old not in plain or old == wanted
            assert Path(folder, "x.txt").read_bytes() == content.encode()
            return
        seen = done(runner, "view_file", path="x.txt")
        shown = (
            [line.partition("\t")[2] for line in seen["text"].split("\n")] if seen["text"] else []
        )
        end = text_of(content.encode()).line_end  # type: ignore[union-attr]
        # A lone "\r" before a written line end makes one end of the two.
        written = Path(folder, "x.txt").read_bytes().decode().replace("\r\n", "\n")
        assert end in ("\n", "\r\n")
        assert "\n".join(shown) == written.removesuffix("\n")


@given(content=st.text(st.sampled_from("ab \n\r\x0b\x0c\x1c\x85\u2028\u2029"), max_size=20))
def test_lines_are_counted_as_they_are_shown(content: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        runner = runner_of(folder)
        made = done(runner, "create_file", path="x.txt", content=content)
        text = text_of(content.encode())
        if text is None:
            return
        assert made["lines"] == len(text.lines)
        seen = done(runner, "view_file", path="x.txt")
        assert seen["lines"] == f"1-{made['lines']} of {made['lines']}"


class Refusing:
    """``os`` of a process that may give no file away."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def fchown(self, fd: int, user: int, group: int) -> None:
        """Refuse."""
        raise PermissionError(errno.EPERM, "no")


class Watching(Refusing):
    """``os`` that gives files away, and remembers to whom."""

    def __init__(self) -> None:
        self.given: list[tuple[int, int]] = []

    def fchown(self, fd: int, user: int, group: int) -> None:
        """Remember."""
        self.given.append((user, group))


def of_others(status: os.stat_result) -> os.stat_result:
    """What a file is that belongs to somebody else."""
    values = list(status)
    values[4], values[5] = status.st_uid + 1, status.st_gid + 1
    return os.stat_result(values)


def test_an_edited_file_keeps_its_owner(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = Workspace(root)
    (root / "a.py").chmod(0o674)
    with space.at("a.py") as place:
        like = of_others((root / "a.py").stat())
        watching = Watching()
        monkeypatch.setattr(folders, "os", watching)
        name = place.folder.write_beside("a.py", b"new", like)
        assert watching.given == [(like.st_uid, -1), (-1, like.st_gid)]
        assert (root / name).stat().st_mode & 0o777 == 0o674
        monkeypatch.setattr(folders, "os", Refusing())
        name = place.folder.write_beside("a.py", b"new", like)
        assert (root / name).stat().st_mode & 0o777 == 0o644, "what one group may, no other may"
    monkeypatch.undo()
    (note,) = space.parted("a.py", like)
    assert f"Its owner was {like.st_uid}:{like.st_gid} and is" in note
    assert space.parted("a.py", (root / "a.py").stat()) == []


def test_other_names_of_an_edited_file_are_told(root: Path) -> None:
    runner = runner_of(root)
    (root / "b.py").hardlink_to(root / "a.py")
    found = done(runner, "edit_file", path="a.py", old_text="return 1", new_text="return 3")
    assert "1 more name(s) elsewhere (hard links)" in found["note"]
    assert "return 1" in (root / "b.py").read_text()
    assert "note" not in done(runner, "edit_file", path="a.py", old_text="3", new_text="4")
    (root / "c.py").hardlink_to(root / "a.py")
    found = done(runner, "create_file", path="c.py", content="", overwrite=True)
    assert "hard links" in found["note"]


MIXED = "café one\nnaïve two\n".encode() + b"bad \xff byte\n"


def test_a_stray_byte_does_not_make_a_file_latin_1(root: Path) -> None:
    (root / "mixed.txt").write_bytes(MIXED)
    runner = runner_of(root)
    edited = done(runner, "edit_file", path="mixed.txt", old_text="café one", new_text="thé → un")
    assert r"\xff" in edited["note"]
    done(runner, "edit_file", path="mixed.txt", old_text="bad ", new_text="très bad ")
    assert (root / "mixed.txt").read_bytes() == (
        "thé → un\nnaïve two\ntrès bad ".encode() + b"\xff byte\n"
    )
    found = done(runner, "search_directory", pattern="naïve|byte", path="mixed.txt")
    assert found["matches"][0]["lines"] == ["2: naïve two", r"3: très bad \xff byte"]
    assert "UTF-8" in found["note"]
    shown = done(runner, "view_file", path="mixed.txt")
    assert r"très bad \xff byte" in shown["text"]
    assert r"shown as \xff" in shown["note"]
    told = call(runner, "edit_file", path="mixed.txt", old_text=r"\xff byte", new_text="x").error
    assert r"shown as \xff" in str(told)


def test_what_has_one_byte_a_character_stays_latin_1(root: Path) -> None:
    (root / "old.txt").write_bytes("déjà vu, cœur né".replace("œ", "oe").encode("latin-1"))
    edited = done(runner_of(root), "edit_file", path="old.txt", old_text="vu", new_text="là")
    assert "Latin-1" in edited["note"]
    assert (root / "old.txt").read_bytes() == "déjà là, coeur né".encode("latin-1")


def test_an_empty_file_is_said_to_be_empty(root: Path) -> None:
    (root / "empty.txt").write_text("")
    told = call(runner_of(root), "edit_file", path="empty.txt", old_text="a", new_text="b").error
    assert "empty" in str(told)
    assert "overwrite=true" in str(told)
