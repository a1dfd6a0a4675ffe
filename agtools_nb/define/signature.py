"""A function's parameters: which the model fills, which the runner injects, and their types."""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeGuard

from agtools_nb.define.annotations import MISSING

if typing.TYPE_CHECKING:
    from pydantic.fields import FieldInfo


def is_field(value: Any) -> TypeGuard[FieldInfo]:
    """Whether a default is written ``= Field(...)``.

    Nobody can hold one before pydantic is imported, so this does not import it.
    """
    fields = sys.modules.get("pydantic.fields")
    return fields is not None and isinstance(value, fields.FieldInfo)


class _Unsent:
    """Default of a ``TypedDict`` key that need not be there: nothing is passed at all."""

    def __repr__(self) -> str:
        return "UNSENT"


UNSENT: Any = _Unsent()


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter that the model fills.

    Attributes:
        name: Its name in Python.
        annotation: Its resolved type; ``Any`` where the function gives none.
        default: Its default, :data:`MISSING` if it is required, or the
            ``FieldInfo`` of ``= Field(...)``.
        positional_only: Whether Python takes it by position only.
        is_plain: Whether its type can be written as JSON Schema for certain.
    """

    name: str
    annotation: Any
    default: Any
    positional_only: bool
    is_plain: bool = False

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
