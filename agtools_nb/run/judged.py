"""Where the path of a call led when rules judged it, for the tool that is about to use it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

PathOf = Callable[[Mapping[str, Any]], Any]

# With the tool's own `path_of`: a tool may call the function of another one within its call.
_judged: ContextVar[tuple[PathOf, str | None] | None] = ContextVar(
    "agtools_nb_judged", default=None
)


def note_judged(path_of: PathOf, path: str | None) -> None:
    """Note for the call that begins here where its path led; ``None`` if nobody judged it."""
    _judged.set((path_of, path))


def judged_path(path_of: PathOf) -> str | None:
    """Where the path of the running call led when rules judged it; ``None`` if none did.

    A tool about a path compares it with where the path leads as it is used, for it may have
    been made to lead elsewhere since. In a worker of a process pool it is not known.

    Args:
        path_of: The tool's own.
    """
    judged = _judged.get()
    return judged[1] if judged is not None and judged[0] is path_of else None
