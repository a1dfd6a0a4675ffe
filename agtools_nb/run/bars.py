"""Bars of ``tqdm`` in a tool, shown as progress of its call instead of as text or a widget.

``tqdm`` is never imported here. While calls run, a bar that is made inside a call gets a
file of ours, and where it would draw itself, its numbers are read. A notebook's bar is made
as a plain one. Bars that write to a file of the tool's own, and bars made outside of any
call, are left as they are.
"""

from __future__ import annotations

import functools
import logging
import sys
import weakref
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from agtools_nb.context import CallProgress
from agtools_nb.context.pieces import Piece, amount
from agtools_nb.jsonable import shorten

MAX_TEXT = 200
"""Characters of what stands beside a bar."""

_log = logging.getLogger("agtools_nb")
_STD = "tqdm.std"
_FILE_POSITION = 4  # of ``file`` among the positional arguments of a bar


class BarFile:
    """The file of one bar, and its display. It never raises or waits.

    Args:
        progress: Where the bar is shown; ``None`` if nobody follows.
        outside: The stream in whose place it stands.
    """

    encoding = "utf-8"

    def __init__(self, progress: CallProgress | None, outside: Any) -> None:
        self._progress = progress
        self._outside = outside
        self._bar: Callable[[], Any] = lambda: None
        self._stream = ""
        self._shown: tuple[Any, ...] = ()
        self.is_open = True

    def watch(self, bar: Any) -> None:
        """Read from this bar; it is not kept alive."""
        self._bar = weakref.ref(bar)

    def display(self, *_: Any, **__: Any) -> bool:
        """Show where the bar stands."""
        bar = self._bar()
        if bar is not None and self._progress is not None and self.is_open:
            try:
                self._show(bar, self._progress)
                self.is_open = not bar.disable
            except Exception:
                # tqdm holds its lock now, and would not give it back.
                self.is_open = False
                _log.exception("a bar of tqdm cannot be shown")
        return True

    def write(self, text: object) -> int:
        """Show where the bar stands: what is written is for terminals."""
        self.display()
        return len(text) if isinstance(text, str) else 0

    def flush(self) -> None:
        """Do nothing: what was written is shown."""

    def isatty(self) -> bool:
        """True: a bar that is for people only has people here."""
        return True

    def fileno(self) -> int:
        """The descriptor of the stream in whose place this stands."""
        return self._outside.fileno()  # type: ignore[no-any-return]

    def _show(self, bar: Any, progress: CallProgress) -> None:
        done, total = amount(getattr(bar, "n", None)), amount(getattr(bar, "total", None))
        text = _text(bar)
        if done is None or (done, total, text) == self._shown:
            return
        self._shown = (done, total, text)
        self._stream = self._stream or progress.bar_stream(self)
        progress.show(Piece(self._stream, text, done, total))


def _text(bar: Any) -> str:
    desc, postfix = getattr(bar, "desc", ""), getattr(bar, "postfix", "")
    words = (word.strip(" :") for word in (desc, postfix) if isinstance(word, str))
    return shorten(", ".join(word for word in words if word), MAX_TEXT)


class BarAdapter:
    """Puts itself into ``tqdm``, once that is imported, and takes itself out again.

    Args:
        progress_here: Tells whether the running code belongs to a call that is not over,
            and where the progress of that goes.
    """

    def __init__(self, progress_here: Callable[[], tuple[bool, CallProgress | None]]) -> None:
        self._here = progress_here
        self._finder = _Finder(self._imported)
        self._adapted: list[tuple[Any, str, Any, Any]] = []

    def enter(self) -> None:
        """Adapt ``tqdm``, or wait for it to be imported."""
        module = sys.modules.get(_STD)
        if module is not None:
            self._imported(module)
        else:
            sys.meta_path.insert(0, self._finder)

    def leave(self) -> None:
        """Leave ``tqdm`` as it was, but for what somebody else has changed meanwhile."""
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        while self._adapted:
            kind, name, ours, before = self._adapted.pop()
            if kind.__dict__.get(name) is ours:
                setattr(kind, name, before)

    def _imported(self, module: ModuleType) -> None:
        try:
            self._adapt(module)
        except Exception:  # a tqdm of another kind must cost neither its import nor a call
            _log.exception("bars of this tqdm cannot be shown as progress")

    def _adapt(self, module: ModuleType) -> None:
        kind = getattr(module, "tqdm", None)
        is_known = (
            isinstance(kind, type) and {"__init__", "__new__", "display"} <= vars(kind).keys()
        )
        if is_known and not self._adapted:
            self._replace(kind, "__init__", self._init(kind))
            self._replace(kind, "__new__", staticmethod(self._new(kind)))

    def _replace(self, kind: Any, name: str, ours: Any) -> None:
        self._adapted.append((kind, name, ours, kind.__dict__[name]))
        setattr(kind, name, ours)

    def _init(self, kind: Any) -> Callable[..., None]:
        before, display = kind.__init__, kind.display

        @functools.wraps(before)
        def init(bar: Any, *args: Any, **kwargs: Any) -> None:
            is_inside, progress = self._here()
            given = args[_FILE_POSITION] if len(args) > _FILE_POSITION else kwargs.get("file")
            if not is_inside or kwargs.get("gui") or not _is_standard(given):
                before(bar, *args, **kwargs)
                return
            file = BarFile(progress, sys.stderr)
            file.watch(bar)
            if len(args) > _FILE_POSITION:
                args = (*args[:_FILE_POSITION], file, *args[_FILE_POSITION + 1 :])
            else:
                kwargs["file"] = file
            if type(bar).display is display:
                bar.display = file.display
            # Where there is no screen there are no lines: the twentieth bar would not be shown.
            kwargs["position"] = 0
            before(bar, *args, **kwargs)

        return init

    def _new(self, kind: Any) -> Callable[..., Any]:
        before = kind.__new__

        @functools.wraps(before)
        def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
            plain = _without_widgets(cls, kind)
            if plain is cls or not self._here()[0]:
                return before(cls, *args, **kwargs)
            # It is not of the class that was asked for, so Python does not initialise it again.
            kwargs.pop("display", None)
            return plain(*args, **kwargs)

        return new


def _is_standard(file: Any) -> bool:
    standard = (None, sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
    return any(file is one for one in standard)


def _without_widgets(cls: Any, kind: Any) -> Any:
    """The class to make a bar of instead of a notebook's."""
    notebook = getattr(sys.modules.get("tqdm.notebook"), "tqdm_notebook", None)
    if notebook is None or not issubclass(cls, notebook):
        return cls
    plain: Sequence[Any] = [base for base in cls.__mro__ if not issubclass(base, notebook)]
    return plain[0] if issubclass(plain[0], kind) else kind


class _Finder(MetaPathFinder):
    """Waits for an import of ``tqdm``."""

    def __init__(self, imported: Callable[[ModuleType], None]) -> None:
        self._imported = imported

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """What the other finders say, with a loader that tells of the module."""
        if fullname != _STD:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Telling(spec.loader, self._imported)
                return spec
        return None


class _Telling(Loader):
    """A loader that tells when its module has been loaded."""

    def __init__(self, inner: Loader, loaded: Callable[[ModuleType], None]) -> None:
        self._inner = inner
        self._loaded = loaded

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._inner.exec_module(module)
        module.__loader__ = self._inner
        if module.__spec__ is not None:
            module.__spec__.loader = self._inner
        self._loaded(module)
