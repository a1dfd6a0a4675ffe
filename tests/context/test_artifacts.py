"""Artifacts: versions of bytes under labels."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from agtools_nb import Media
from agtools_nb.context import Artifact, Artifacts, Store
from agtools_nb.context import artifacts as artifacts_module
from agtools_nb.errors import StoreError, UsageError

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


@pytest.fixture
def artifacts() -> Artifacts:
    return Store.open(None).artifacts


def test_each_save_is_a_version(artifacts: Artifacts) -> None:
    made = [artifacts.save("plan", data) for data in ("one", b"two", Media("a/b", b"three"))]
    assert [(a.name, a.version, a.mime_type, a.size) for a in made] == [
        ("plan", 1, "text/plain; charset=utf-8", 3),
        ("plan", 2, "application/octet-stream", 3),
        ("plan", 3, "a/b", 5),
    ]
    assert artifacts.versions("plan") == tuple(made)
    assert artifacts.load("plan") == Media("a/b", b"three", name="plan")
    assert [artifacts.load("plan", n).data for n in (1, 2, 3)] == [b"one", b"two", b"three"]


def test_the_list_has_the_newest_of_each_in_the_order_of_names(artifacts: Artifacts) -> None:
    for name in ("b", "a", "b"):
        artifacts.save(name, "x")
    assert [(a.name, a.version) for a in artifacts.list()] == [("b", 2), ("a", 1)]
    assert "a" in artifacts
    assert "c" not in artifacts
    assert 3 not in artifacts
    assert repr(artifacts) == "<Artifacts: b, a>"


@pytest.mark.parametrize(
    ("name", "data", "given", "mime_type"),
    [
        ("x", PNG, None, "image/png"),
        ("x.jpg", PNG, None, "image/png"),
        ("table.csv", b"a,b", None, "text/csv"),
        ("x", b"a,b", None, "application/octet-stream"),
        ("x", b"a,b", "text/csv", "text/csv"),
        ("x", "# a", "text/markdown", "text/markdown"),
        ("x", Media.image(PNG), None, "image/png"),
        ("x", Media.image(PNG), "image/x-mine", "image/x-mine"),
        ("x", bytearray(PNG), None, "image/png"),
        ("x", b"", None, "application/octet-stream"),
        ("x", "", None, "text/plain; charset=utf-8"),
        ("x", Media.file("gs://bucket/report.pdf"), None, "application/pdf"),
    ],
)
def test_types(artifacts: Artifacts, name: str, data: Any, given: Any, mime_type: str) -> None:
    assert artifacts.save(name, data, given).mime_type == mime_type
    assert artifacts.load(name).mime_type == mime_type


def test_a_file_elsewhere_is_kept_as_its_address(artifacts: Artifacts) -> None:
    made = artifacts.save("r", Media.file("gs://bucket/report.pdf"))
    assert made.size == 0
    assert artifacts.load("r") == Media("application/pdf", uri="gs://bucket/report.pdf", name="r")


def test_a_name_is_a_label_and_no_path(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open("work.db") as store:
        names = [
            "../up",
            "/etc/passwd",
            "a\x00b",
            "%s {x} <b>",
            "'; DROP TABLE artifacts; --",
            "名前",
        ]
        for name in names:
            store.artifacts.save(name, name)
    with Store.open("work.db") as store:
        assert [a.name for a in store.artifacts.list()] == names
        assert all(store.artifacts.load(name).data == name.encode() for name in names)
    assert [path.name for path in tmp_path.iterdir()] == ["work.db"]


@pytest.mark.parametrize("name", ["", "x" * 501, 3, None, b"x", "\ud800"])
def test_what_is_no_name(artifacts: Artifacts, name: Any) -> None:
    for use in (lambda: artifacts.save(name, "x"), lambda: artifacts.load(name)):
        with pytest.raises(UsageError, match="an artifact's name is text of 1 to 500 characters"):
            use()


@pytest.mark.parametrize(
    ("data", "mime_type", "words"),
    [
        ({"a": 1}, None, "an artifact is bytes, text or a Media, not {'a': 1}"),
        (None, None, "an artifact is bytes, text or a Media"),
        ("\ud800", None, "holds half a character"),
        (b"x", "png", "'png' is no MIME type"),
        (b"x", 3, "3 is no MIME type"),
    ],
)
def test_what_is_no_artifact(artifacts: Artifacts, data: Any, mime_type: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        artifacts.save("x", data, mime_type)
    assert artifacts.list() == ()


def test_one_that_is_too_large(artifacts: Artifacts, monkeypatch: Any) -> None:
    monkeypatch.setattr(artifacts_module, "LARGEST_BYTES", 1_000_000)
    artifacts.save("x", bytes(1_000_000))
    with pytest.raises(UsageError, match=r"'x' has 1 MB, and an artifact may have 1 MB; keep it"):
        artifacts.save("x", bytes(1_000_001))
    assert len(artifacts.versions("x")) == 1


def test_what_is_not_there(artifacts: Artifacts) -> None:
    with pytest.raises(UsageError, match="there is no artifact 'a'; there are: none"):
        artifacts.load("a")
    artifacts.save("b", "x")
    with pytest.raises(UsageError, match="there is no artifact 'a'; there are: 'b'"):
        artifacts.load("a", 1)
    with pytest.raises(UsageError, match="'b' has no version 2; it has 1 to 1"):
        artifacts.load("b", 2)
    for version in (0, -1, "1", True, 2**63, 1.0):
        with pytest.raises(UsageError, match="version is a number from 1"):
            artifacts.load("b", version)  # type: ignore[arg-type]
    assert artifacts.versions("a") == ()


def test_versions_counted_by_many_threads(artifacts: Artifacts) -> None:
    def save(n: int) -> None:
        for k in range(20):
            artifacts.save("x", f"{n} {k}")

    threads = [threading.Thread(target=save, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [a.version for a in artifacts.versions("x")] == list(range(1, 121))


def test_a_clock_that_jumps_back_does_not_change_the_order(
    artifacts: Artifacts, monkeypatch: Any
) -> None:
    for at in (2e9, 1.0, 3e9):
        monkeypatch.setattr(time, "time", lambda at=at: at)
        artifacts.save("x", str(at))
    assert [(a.version, a.at) for a in artifacts.versions("x")] == [(1, 2e9), (2, 1.0), (3, 3e9)]
    assert artifacts.load("x").data == b"3000000000.0"
    assert artifacts.list() == (Artifact("x", 3, "text/plain; charset=utf-8", 12, 3e9),)


def test_one_that_was_changed_behind_its_back_is_damage() -> None:
    store = Store.open(None)
    store.artifacts.save("x", "abc")
    store.database.execute("UPDATE artifacts SET data = ?", (b"abd",))
    with pytest.raises(StoreError, match="the artifact 'x' is not what was saved") as e:
        store.artifacts.load("x")
    assert e.value.reason == "damaged"
