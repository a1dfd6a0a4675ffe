"""Reading what a callable takes, parameter by parameter."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Union, get_args, get_origin

from agtools_nb.context import ToolContext
from agtools_nb.define.annotations import MISSING, Annotations
from agtools_nb.define.defaults import without_default
from agtools_nb.define.plain import plainly_fits
from agtools_nb.define.signature import (
    UNSENT,
    Argument,
    Injected,
    Signature,
    is_plain_function,
    unwrapped,
)
from agtools_nb.errors import DefinitionError


def read_signature(
    fn: Callable[..., Any],
    *,
    tool_name: str,
    scope: Mapping[str, Any] | None = None,
    lenient: bool = False,
) -> Signature:
    """Read what ``fn`` takes.

    Args:
        fn: Any callable with a signature.
        tool_name: For messages.
        scope: Local names to resolve text annotations with, for a function
            defined inside another.
        lenient: The schema comes from elsewhere, so that only names matter: an
            annotation need not resolve, ``*args`` stays empty, and a callable
            without a signature takes anything by name.

    Raises:
        DefinitionError: A parameter that no model can fill.
    """
    try:
        parameters = list(_parameters(fn))
    except Exception as error:
        if lenient:
            return Signature((), (), (), Any, MISSING, unresolved=False)
        raise DefinitionError(
            f"{tool_name} cannot be a tool: Python knows no signature for it ({error}). "
            "Wrap it in a function with annotated parameters."
        ) from error
    annotations = Annotations(unwrapped(fn), tool_name, scope, lenient=lenient)
    reading = _Reading(tool_name, annotations, lenient, _takes_first_by_position(fn))
    fixed = _fixed_keywords(fn)
    for parameter in parameters:
        if parameter[0] not in fixed:
            reading.add(*parameter)
    if fixed and reading.extra is not MISSING and not lenient:
        name = min(fixed)
        raise DefinitionError(
            f"{tool_name} cannot be a tool: the partial fixes {name!r}, and its ** takes any name, "
            f"so that a model could send a {name!r} of its own. Wrap it in a function that takes "
            "the parameters a model may send."
        )
    returns = annotations.resolve_return()
    return Signature(
        tuple(reading.arguments),
        tuple(reading.injected),
        tuple(reading.positional),
        reading.extra,
        returns,
        annotations.unresolved and not lenient,
        annotations.unread_return,
    )


def _parameters(fn: Callable[..., Any]) -> Iterator[tuple[str, Any, Any, Any]]:
    """Name, kind, annotation and default of each parameter, as ``inspect.signature`` finds them.

    A function with nothing around it is read off its code object, in a fifth of the time.
    """
    if not isinstance(fn, types.FunctionType) or not is_plain_function(fn):
        for one in inspect.signature(fn).parameters.values():
            yield one.name, one.kind, one.annotation, one.default
        return
    code, annotations = fn.__code__, fn.__annotations__
    names, count, last = code.co_varnames, code.co_argcount, code.co_argcount
    defaults = fn.__defaults__ or ()
    required = count - len(defaults)
    for index, name in enumerate(names[:count]):
        kind = _POSITIONAL_ONLY if index < code.co_posonlyargcount else _POSITIONAL_OR_KEYWORD
        default = defaults[index - required] if index >= required else MISSING
        yield name, kind, annotations.get(name, MISSING), default
    last += code.co_kwonlyargcount
    if code.co_flags & inspect.CO_VARARGS:
        yield names[last], _VAR_POSITIONAL, annotations.get(names[last], MISSING), MISSING
    keywords = fn.__kwdefaults__ or {}
    for name in names[count:last]:
        yield name, _KEYWORD_ONLY, annotations.get(name, MISSING), keywords.get(name, MISSING)
    if code.co_flags & inspect.CO_VARKEYWORDS:
        name = names[last + bool(code.co_flags & inspect.CO_VARARGS)]
        yield name, _VAR_KEYWORD, annotations.get(name, MISSING), MISSING


_POSITIONAL_ONLY = inspect.Parameter.POSITIONAL_ONLY
_POSITIONAL_OR_KEYWORD = inspect.Parameter.POSITIONAL_OR_KEYWORD
_KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY
_VAR_POSITIONAL = inspect.Parameter.VAR_POSITIONAL
_VAR_KEYWORD = inspect.Parameter.VAR_KEYWORD


class _Reading:
    """The parameters read so far."""

    def __init__(
        self, tool_name: str, annotations: Annotations, lenient: bool, first_by_position: bool
    ) -> None:
        self.tool_name = tool_name
        self.annotations = annotations
        self.lenient = lenient
        self.first_by_position = first_by_position
        self.arguments: list[Argument] = []
        self.injected: list[Injected] = []
        self.positional: list[str] = []
        self.extra: Any = MISSING

    def add(self, name: str, kind: Any, declared: Any, default: Any) -> None:
        if kind is _VAR_POSITIONAL:
            if not self.lenient:
                raise _by_position_only(self.tool_name, name)
            return
        annotation = self.annotations.resolve(name, declared)
        if kind is _VAR_KEYWORD:
            self._add_keywords(annotation)
            return
        by_position = kind is _POSITIONAL_ONLY or self.first_by_position
        self.first_by_position = False
        if by_position:
            self.positional.append(name)
        plain = plainly_fits(annotation)
        if not plain and is_context(annotation):
            self.injected.append(Injected(name, default is MISSING, by_position))
        else:
            if not plain:
                annotation, default = without_default(annotation, default)
            self.arguments.append(Argument(name, annotation, default, by_position, plain))

    def _add_keywords(self, annotation: Any) -> None:
        unpacked = _unpacked_fields(annotation)
        if unpacked is None:
            self.extra = annotation
            return
        taken = {*(one.name for one in self.arguments), *(one.name for one in self.injected)}
        for argument in unpacked:
            if argument.name in taken:
                kind = getattr(get_args(annotation)[0], "__name__", "the TypedDict")
                raise DefinitionError(
                    f"{self.tool_name} cannot be a tool: {argument.name!r} is both a parameter "
                    f"and a key of {kind}, which its ** takes. Rename one of them."
                )
        self.arguments += unpacked


def _by_position_only(tool_name: str, name: str) -> DefinitionError:
    return DefinitionError(
        f"{tool_name} cannot be a tool: parameter *{name} takes arguments by position, and a "
        f"model sends them by name. Take a list instead: `{name}: list[...]`."
    )


def is_context(annotation: Any) -> bool:
    """Whether an annotation asks for the context: bare, optional or ``Annotated``."""
    if isinstance(annotation, type):
        return issubclass(annotation, ToolContext)
    origin = get_origin(annotation)
    if origin is Annotated:
        return is_context(get_args(annotation)[0])
    if origin is Union or origin is types.UnionType:
        return any(is_context(part) for part in get_args(annotation))
    return False


def _takes_first_by_position(fn: Any) -> bool:
    """Whether ``fn`` is a ``functools.singledispatch``, which looks at what comes first."""
    while isinstance(fn, functools.partial) and not fn.args:
        fn = fn.func
    own = getattr(fn, "__dict__", None)
    return isinstance(own, dict) and "dispatch" in own and "registry" in own


def _fixed_keywords(fn: Any) -> frozenset[str]:
    """Keywords that a ``functools.partial`` fixed: the author's values, not the model's to see."""
    fixed: set[str] = set()
    while isinstance(fn, functools.partial):
        fixed |= set(fn.keywords)
        fn = fn.func
    return frozenset(fixed)


def _unpacked_fields(annotation: Any) -> list[Argument] | None:
    """The parameters of ``**kwargs: Unpack[SomeTypedDict]``; ``None`` for any other."""
    if get_origin(annotation) is not typing.Unpack:
        return None
    fields = get_args(annotation)[0]
    hints = typing.get_type_hints(fields, include_extras=True)
    return [_unpacked_field(name, hint, fields.__total__) for name, hint in hints.items()]


def _unpacked_field(name: str, hint: Any, total: bool) -> Argument:
    # Not __required_keys__: that is wrong where the annotations are text.
    required = total
    while get_origin(hint) in (typing.Required, typing.NotRequired):
        required = get_origin(hint) is typing.Required
        hint = get_args(hint)[0]
    return Argument(name, hint, MISSING if required else UNSENT, positional_only=False)
