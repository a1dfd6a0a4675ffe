"""``PathScope``: folders that the path of a call has to be in."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr


@dataclass(frozen=True, slots=True)
class PathScope:
    """Folders, absolute, their links followed when the rule was made.

    A folder that is replaced by a link later holds nothing any more: the paths of calls are
    followed to where they really lead.
    """

    folders: tuple[Path, ...]

    @classmethod
    def of(cls, folders: Iterable[str | os.PathLike[str]]) -> PathScope:
        """Read folders as a person gives them.

        Raises:
            UsageError: There is none, or one of them is no path of a folder.
        """
        found = []
        for folder in folders:
            try:
                path = Path(folder).resolve(strict=True)
            except (OSError, TypeError, ValueError, RuntimeError) as error:
                raise UsageError(
                    f"workspace_only: {brief_repr(folder)} is no folder ({error}); give one that "
                    "is there"
                ) from error
            if not path.is_dir():
                raise UsageError(f"workspace_only: {brief_repr(folder)} is no folder")
            found.append(path)
        if not found:
            raise UsageError("workspace_only: give at least one folder, such as ['.']")
        return cls(tuple(found))

    def holds(self, path: str) -> bool:
        """Whether an absolute path leads into one of the folders.

        Raises:
            OSError: That cannot be told.
            ValueError: It is no path.
        """
        if not Path(path).is_absolute():
            raise ValueError(f"{brief_repr(path)} is not absolute")
        real = Path(path).resolve(strict=False)
        return any(real.is_relative_to(folder) for folder in self.folders)
