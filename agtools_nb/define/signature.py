"""A function's parameters: which the model fills, which the runner injects, and their types."""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeGuard, Union, get_args, get_origin

from agtools_nb.context import ToolContext
from agtools_nb.define.annotations import MISSING, Annotations
from agtools_nb.errors import DefinitionError

if typing.TYPE_CHECKING:
    from pydantic.fields import FieldInfo


def is_field(value: Any) -> TypeGuard[FieldInfo]:
    """Whether a default is written ``= Field(...)``.

    Nobody can hold one before pydantic is imported, so this does not import it.
    """
    fields = sys.modules.get("pydantic.fields")
    return fields is not None and isinstance(value, fields.FieldInfo)


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter that the model fills.

    Attributes:
        name: Its name in Python.
        annotation: Its resolved type; ``Any`` where the function gives none.
        default: Its default, :data:`MISSING` if it is required, or the
            ``FieldInfo`` of ``= Field(...)``.
        positional_only: Whether Python takes it by position only.
    """

    name: str
    annotation: Any
    default: Any
    positional_only: bool

    @property
    def required(self) -> bool:
        """Whether a call without it is an error."""
        if is_field(self.default):
            return self.default.is_required()
        return self.default is MISSING

    @property
    def default_is_field(self) -> bool:
        """Whether the default is written ``= Field(...)``, which the function must never see."""
        return is_field(self.default) and not self.required

    def default_value(self) -> Any:
        """The value that the function gets when the model sends none."""
        if is_field(self.default):
            return self.default.get_default(call_default_factory=True, validated_data={})
        return self.default


@dataclass(frozen=True, slots=True)
class Injected:
    """A ``ToolContext`` parameter; the model never sees it."""

    name: str
    required: bool
    positional_only: bool


@dataclass(frozen=True, slots=True)
class Signature:
    """What a callable takes.

    Attributes:
        arguments: Parameters that the model fills, in order.
        injected: ``ToolContext`` parameters.
        positional: Names passed by position, in order, injected ones included.
        extra: Type of what ``**kwargs`` takes; :data:`MISSING` without ``**kwargs``.
        returns: The return annotation; :data:`MISSING` if none, or unreadable.
        unresolved: Whether a parameter's annotation names something not defined yet.
        unread_return: The return annotation where it could not be read, else ``""``.
    """

    arguments: tuple[Argument, ...]
    injected: tuple[Injected, ...]
    positional: tuple[str, ...]
    extra: Any
    returns: Any
    unresolved: bool
    unread_return: str = ""


def is_plain_function(fn: Any) -> bool:
    """Whether nothing was put around or on a function: what most tools are made of."""
    return type(fn) is types.FunctionType and not fn.__dict__


def unwrapped(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The plain function inside partials, bound methods, wrappers and callable objects."""
    if is_plain_function(fn):
        return fn
    target = invoked(fn)
    for _ in range(_MOST_WRAPPERS):
        inner = _wrapped_by(target)
        if inner is None:
            return target
        target = invoked(inner)
    return target


def invoked(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function that a call runs first: inside partials, methods and callable objects.

    A wrapper made with ``functools.wraps`` is such a function itself; whether it is
    async is its own affair.
    """
    target: Any = fn
    if is_plain_function(fn):
        return fn
    for _ in range(_MOST_WRAPPERS):
        if isinstance(target, functools.partial):
            target = target.func
        elif inspect.ismethod(target):
            target = target.__func__
        elif inspect.isroutine(target) or inspect.isclass(target):
            break
        else:
            call = getattr(type(target), "__call__", None)  # noqa: B004 -- the method itself
            if not inspect.isfunction(call) or _wrapped_by(target) is not None:
                break
            target = call
    return typing.cast("Callable[..., Any]", target)


_MOST_WRAPPERS = 100


def _wrapped_by(target: Any) -> Any:
    """What ``functools.wraps`` left; not asked of the object, which may answer to any name."""
    try:
        return vars(target).get("__wrapped__")
    except TypeError:
        return None


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
        if is_context(annotation):
            self.injected.append(Injected(name, default is MISSING, by_position))
        else:
            self.arguments.append(Argument(name, annotation, default, by_position))

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


class _Unsent:
    """Default of a ``TypedDict`` key that need not be there: nothing is passed at all."""

    def __repr__(self) -> str:
        return "UNSENT"


UNSENT: Any = _Unsent()
