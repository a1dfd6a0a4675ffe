"""Annotations as types: text and forward references resolved.

Nothing here needs the function's source text, so functions made by ``exec`` work too.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
import typing
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Mapping,
)
from typing import Annotated, Any, Literal, get_args, get_origin

from agtools_nb.define.plain import plainly_fits
from agtools_nb.errors import DefinitionError

MISSING: Any = inspect.Parameter.empty


class Annotations:
    """Resolves annotations one by one, so that one bad name does not spoil the others.

    Args:
        target: The plain function that has them.
        tool_name: For messages.
        scope: Local names to look names up in, before the function's own globals.
        lenient: An annotation that cannot be read is ``Any``.

    Attributes:
        unresolved: Whether a name was not defined so far.
        unread_return: The return annotation where it could not be read, else ``""``.
    """

    def __init__(
        self,
        target: Callable[..., Any],
        tool_name: str,
        scope: Mapping[str, Any] | None,
        *,
        lenient: bool,
    ) -> None:
        self.target = target
        self.tool_name = tool_name
        self.unresolved = False
        self.unread_return = ""
        self._lenient = lenient
        self._globals = getattr(self.target, "__globals__", {})
        self._locals = {**self._type_parameters(), **self._closure(), **(scope or {})}

    def resolve(self, name: str, annotation: Any) -> Any:
        """The type of a parameter; the annotation itself where it names something unknown.

        Raises:
            DefinitionError: It cannot be read.
        """
        if annotation is MISSING:
            return Any
        if type(annotation) is type:  # what most are; the rest of this is for the others
            return annotation
        try:
            return self._evaluate(annotation)
        except NameError:
            self.unresolved = True
            return annotation
        except Exception as error:
            if self._lenient:
                return Any
            raise DefinitionError(
                f"{self.tool_name} cannot be a tool: the annotation of parameter {name!r}, "
                f"{annotation!r}, cannot be read ({type(error).__name__}: {error}). "
                "Give it a type that pydantic knows."
            ) from error

    def resolve_return(self) -> Any:
        """The type of the result; ``MISSING`` without one, or where it cannot be read."""
        annotation = getattr(self.target, "__annotations__", {}).get("return", MISSING)
        if annotation is MISSING:
            return MISSING
        try:
            return self._evaluate(annotation)
        except Exception:
            # Often a name imported under TYPE_CHECKING only. The tool works without it.
            self.unread_return = annotation if isinstance(annotation, str) else repr(annotation)
            return MISSING

    def _evaluate(self, annotation: Any) -> Any:
        if isinstance(annotation, str):
            # typing reads some texts that are no expressions, such as "*Ts".
            with contextlib.suppress(SyntaxError):
                # The author's own text, as Python itself would have read it.
                code = _compiled(annotation)
                annotation = eval(code, self._globals, self._locals)  # noqa: S307
        if plainly_fits(annotation) or _is_read(annotation):
            return annotation
        holder = types.SimpleNamespace(__annotations__={"it": annotation})
        hints = typing.get_type_hints(
            holder, self._globals, self._locals or None, include_extras=True
        )
        return hints["it"]

    def _type_parameters(self) -> dict[str, Any]:
        """``T`` of ``def f[T](x: T)``, which no namespace holds (Python 3.12)."""
        return {one.__name__: one for one in getattr(self.target, "__type_params__", ())}

    def _closure(self) -> dict[str, Any]:
        """Names the function closes over; an empty cell is a name not bound yet."""
        found = {}
        code = getattr(self.target, "__code__", None)
        for name, cell in zip(
            getattr(code, "co_freevars", ()),
            getattr(self.target, "__closure__", None) or (),
            strict=False,
        ):
            try:
                found[name] = cell.cell_contents
            except ValueError:
                continue
        return found


@functools.lru_cache(maxsize=1024)
def _compiled(text: str) -> types.CodeType:
    """Compiling takes most of the time, and most annotations are among a few dozen."""
    return compile(text.strip(), "<annotation>", "eval", dont_inherit=True)


def _is_read(annotation: Any) -> bool:
    """Whether no text that names a type is left in an annotation."""
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return True
    origin = get_origin(annotation)
    if origin is Literal or annotation is Any:
        return True
    if origin is Annotated:
        return _is_read(get_args(annotation)[0])
    return origin is not None and _are_read(get_args(annotation))


def _are_read(annotations: Iterable[Any]) -> bool:
    return all(_is_read(one) or one is Ellipsis for one in annotations)


def yielded(annotation: Any) -> Any:
    """What an async generator yields, of its annotation; :data:`MISSING` if that does not say."""
    iterates = get_origin(annotation) in (AsyncGenerator, AsyncIterator, AsyncIterable)
    return get_args(annotation)[0] if iterates else MISSING
