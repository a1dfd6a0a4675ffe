"""A function's parameters: which the model fills, which the runner injects, and their types.

Nothing here needs the function's source text, so functions made by ``exec`` work too.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from agtools_nb.context import ToolContext
from agtools_nb.errors import DefinitionError

MISSING: Any = inspect.Parameter.empty


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
        if isinstance(self.default, FieldInfo):
            return self.default.is_required()
        return self.default is MISSING

    @property
    def default_is_field(self) -> bool:
        """Whether the default is written ``= Field(...)``, which the function must never see."""
        return isinstance(self.default, FieldInfo) and not self.required

    def default_value(self) -> Any:
        """The value that the function gets when the model sends none."""
        if isinstance(self.default, FieldInfo):
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
        unresolved: Whether an annotation names something not defined yet.
    """

    arguments: tuple[Argument, ...]
    injected: tuple[Injected, ...]
    positional: tuple[str, ...]
    extra: Any
    returns: Any
    unresolved: bool


def unwrapped(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The plain function inside partials, bound methods, wrappers and callable objects."""
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
    fn: Callable[..., Any], *, tool_name: str, scope: Mapping[str, Any] | None = None
) -> Signature:
    """Read what ``fn`` takes.

    Args:
        fn: Any callable with a signature.
        tool_name: For messages.
        scope: Local names to resolve text annotations with, for a function
            defined inside another.

    Raises:
        DefinitionError: A parameter that no model can fill.
    """
    try:
        parameters = inspect.signature(fn).parameters
    except Exception as error:
        raise DefinitionError(
            f"{tool_name} cannot be a tool: Python knows no signature for it ({error}). "
            "Wrap it in a function with annotated parameters."
        ) from error
    reader = _Annotations(fn, tool_name, scope)
    fixed = _fixed_keywords(fn)
    arguments: list[Argument] = []
    injected: list[Injected] = []
    positional: list[str] = []
    extra: Any = MISSING
    for parameter in parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            raise DefinitionError(
                f"{tool_name} cannot be a tool: parameter *{parameter.name} takes arguments by "
                "position, and a model sends them by name. Take a list instead: "
                f"`{parameter.name}: list[...]`."
            )
        if parameter.name in fixed:
            continue
        annotation = reader.resolve(parameter.name, parameter.annotation)
        if parameter.kind is parameter.VAR_KEYWORD:
            unpacked = _unpacked_fields(annotation)
            arguments += unpacked or []
            extra = MISSING if unpacked is not None else annotation
            continue
        by_position = parameter.kind is parameter.POSITIONAL_ONLY
        if by_position:
            positional.append(parameter.name)
        if is_context(annotation):
            injected.append(Injected(parameter.name, parameter.default is MISSING, by_position))
        else:
            arguments.append(Argument(parameter.name, annotation, parameter.default, by_position))
    returns = reader.resolve_return()
    return Signature(
        tuple(arguments), tuple(injected), tuple(positional), extra, returns, reader.unresolved
    )


def is_context(annotation: Any) -> bool:
    """Whether an annotation asks for the context: bare, optional or ``Annotated``."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return is_context(get_args(annotation)[0])
    if origin is Union or origin is types.UnionType:
        return any(is_context(part) for part in get_args(annotation))
    return inspect.isclass(annotation) and issubclass(annotation, ToolContext)


class _Annotations:
    """Resolves annotations one by one, so that one bad name does not spoil the others."""

    def __init__(
        self, fn: Callable[..., Any], tool_name: str, scope: Mapping[str, Any] | None
    ) -> None:
        self.target = unwrapped(fn)
        self.tool_name = tool_name
        self.unresolved = False
        self._globals = getattr(self.target, "__globals__", {})
        self._locals = {**self._closure(), **(scope or {})}

    def resolve(self, name: str, annotation: Any) -> Any:
        if annotation is MISSING:
            return Any
        try:
            return self._evaluate(annotation)
        except NameError:
            self.unresolved = True
            return annotation
        except Exception as error:
            raise DefinitionError(
                f"{self.tool_name} cannot be a tool: the annotation of parameter {name!r}, "
                f"{annotation!r}, cannot be read ({type(error).__name__}: {error}). "
                "Give it a type that pydantic knows."
            ) from error

    def resolve_return(self) -> Any:
        annotation = getattr(self.target, "__annotations__", {}).get("return", MISSING)
        if annotation is MISSING:
            return MISSING
        try:
            return self._evaluate(annotation)
        except Exception:
            # Often a name imported under TYPE_CHECKING only. The tool works without it.
            return MISSING

    def _evaluate(self, annotation: Any) -> Any:
        holder = types.SimpleNamespace(__annotations__={"it": annotation})
        hints = typing.get_type_hints(
            holder, self._globals, self._locals or None, include_extras=True
        )
        return hints["it"]

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
