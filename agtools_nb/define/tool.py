"""``Tool``: a function that a model can call, and the ``@tool`` decorator that makes one."""

from __future__ import annotations

import enum
import functools
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, Union, get_args, get_origin, overload

from pydantic import TypeAdapter

from agtools_nb.define import schema as schemas
from agtools_nb.define.describe import bounds_text, type_text
from agtools_nb.define.docstrings import Described, describe
from agtools_nb.define.signature import Signature, invoked, read_signature, unwrapped
from agtools_nb.errors import DefinitionError
from agtools_nb.jsonable import json_text

# What OpenAI, Anthropic and Gemini all take as a function name.
NAME_PATTERN = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool, as the model sees it.

    Attributes:
        name: The key in the arguments.
        required: Whether a call without it is an error.
        schema: Its JSON Schema; a ``$ref`` points into the tool's ``input_schema``.
        type_text: The type in words: ``"integer"``, ``"array of string"``.
        bounds_text: The bounds in words: ``"from 1 to 10"``; ``""`` without any.
        default_text: The default as JSON text; ``None`` without one.
        description: What it means; ``""`` if the author did not say.
    """

    name: str
    required: bool
    schema: Mapping[str, Any]
    type_text: str
    bounds_text: str
    default_text: str | None
    description: str


class Tool:
    """A callable with a name, a description and a JSON Schema for its arguments.

    Calling a tool calls the function, unchecked, as if it had never been wrapped.
    A :class:`ToolRunner` is what coerces, validates and injects.

    Make one with :func:`tool` or :meth:`from_function`.

    Attributes:
        name: What the model calls it.
        description: What it does, for the model.
        fn: The callable.
        read_only: It changes nothing outside itself.
        concurrency_safe: It may run beside itself and others.
        long_running: It starts work that outlives the call.
        scopes: What the context must grant.
        origin: Where it was defined, for messages: ``"module x, line 3"``.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        read_only: bool = False,
        concurrency_safe: bool = True,
        long_running: bool = False,
        scopes: Iterable[str] = (),
        scope: Mapping[str, Any] | None = None,
    ) -> None:
        self.fn = fn
        self.name = checked_name(name, fn)
        self.read_only = read_only
        self.concurrency_safe = concurrency_safe
        self.long_running = long_running
        self.scopes = tuple(scopes)
        self.origin = origin_of(fn)
        self._scope = scope
        self._given_description = description
        target = unwrapped(fn)
        runs = invoked(fn)
        if inspect.isasyncgenfunction(runs):
            raise DefinitionError(
                f"{self.name} cannot be a tool yet: it is an async generator, and subscriptions "
                "are not built. Return the values as a list."
            )
        self.is_async = inspect.iscoroutinefunction(runs)
        self._signature = read_signature(fn, tool_name=self.name, scope=scope)
        functools.update_wrapper(self, target, updated=())
        self.__wrapped__ = fn
        if not self._signature.unresolved and not all(
            _plainly_fits(argument.annotation) for argument in self._signature.arguments
        ):
            # A type that JSON cannot hold must fail here, where its author looks.
            self._built  # noqa: B018
        if not self._signature.unresolved:
            self._scope = None  # it would keep all of the caller's local values alive

    @classmethod
    def from_function(cls, fn: Callable[..., Any], **options: Any) -> Tool:
        """Make a tool of ``fn``; the options are those of :func:`tool`.

        Raises:
            DefinitionError: ``fn`` cannot be a tool.
        """
        return cls(fn, **{"scope": caller_scope(2), **options})

    @property
    def description(self) -> str:
        """What the tool does: as given, else the prose of the docstring."""
        if self._given_description is not None:
            return self._given_description
        return self._described.summary

    @property
    def signature(self) -> Signature:
        """What the callable takes. A name not defined yet is looked up anew each time."""
        if self._signature.unresolved:
            self._signature = read_signature(self.fn, tool_name=self.name, scope=self._scope)
        return self._signature

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema (2020-12) of the arguments, an object schema. Do not change it."""
        return self._built[1]

    @property
    def adapter(self) -> TypeAdapter[dict[str, Any]]:
        """Pydantic's validator of the arguments, from JSON to Python values."""
        return self._built[0]

    @cached_property
    def response_schema(self) -> dict[str, Any] | None:
        """JSON Schema of the result, from the return annotation; ``None`` without one."""
        return schemas.response_schema(self.signature.returns)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that a model fills, in the order of the signature."""
        schema = self.input_schema
        required = set(schema.get("required", ()))
        return tuple(
            _parameter(name, sub, name in required, schema)
            for name, sub in schema.get("properties", {}).items()
        )

    @property
    def injected(self) -> tuple[str, ...]:
        """Names of the ``ToolContext`` parameters, which no model sees."""
        return tuple(parameter.name for parameter in self.signature.injected)

    @property
    def usage(self) -> str:
        """One line on how to call it: ``convert(value: number, to?: string = "m")``."""
        shown = ", ".join(
            f"{p.name}{'' if p.required else '?'}: {p.type_text}"
            + (f" = {p.default_text}" if p.default_text is not None else "")
            for p in self.parameters
        )
        return f"{self.name}({shown})"

    def renamed(self, name: str) -> Tool:
        """Return a copy under another name.

        Raises:
            DefinitionError: The name is not one that providers take.
        """
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.name = checked_name(name, self.fn)
        return twin

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself: nothing is coerced, checked or injected."""
        return self.fn(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind like a function, so that a decorated method can be called on its object."""
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<Tool {self.usage}>"

    @cached_property
    def _described(self) -> Described:
        target = unwrapped(self.fn)
        names = [argument.name for argument in self.signature.arguments]
        # Not inspect.getdoc: it would find the words of `type.__call__`.
        own = describe(target.__doc__, names)
        if target is self.fn or inspect.isroutine(self.fn):
            return own
        # A callable object may be documented on its class rather than on __call__.
        outer = describe(
            None if isinstance(self.fn, functools.partial) else inspect.getdoc(self.fn), names
        )
        return Described(own.summary or outer.summary, {**outer.parameters, **own.parameters})

    @cached_property
    def _built(self) -> tuple[TypeAdapter[dict[str, Any]], dict[str, Any]]:
        signature = self.signature
        if signature.unresolved:
            _refuse_unresolved(signature, self.name)
        return schemas.build(signature, self._described.parameters, self.name)


@overload
def tool(fn: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    fn: None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    read_only: bool = False,
    concurrency_safe: bool = True,
    long_running: bool = False,
    scopes: Iterable[str] = (),
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(fn: Callable[..., Any] | None = None, /, **options: Any) -> Any:  # noqa: D417
    """Make a tool of a function: ``@tool``, or ``@tool(read_only=True)``.

    The JSON Schema comes from the signature: each parameter's annotation, its
    default, and its description in the docstring (Google, NumPy, reST) or in
    ``Annotated[..., Field(description=...)]``, which wins. A parameter annotated
    with :class:`ToolContext` is injected and stays out of the schema.

    Args:
        fn: A function, bound method, partial or callable object, sync or async.
        name: What the model calls it: 1 to 64 ASCII letters, digits, ``_``, ``-``.
            Default: the function's name.
        description: What it does. Default: the prose of the docstring.
        read_only: It changes nothing. Default ``False``.
        concurrency_safe: It may run beside itself and others. Default ``True``.
        long_running: It starts work that outlives the call. Default ``False``.
        scopes: What the context must grant. Default: nothing.

    Raises:
        DefinitionError: The function cannot be a tool; the message names the
            parameter and the fix.
    """
    scope = caller_scope(2)
    if fn is not None:
        return Tool(fn, scope=scope, **options)
    return lambda given: Tool(given, scope=scope, **options)


def caller_scope(depth: int) -> Mapping[str, Any] | None:
    """Local names of the calling function, to resolve text annotations with.

    Args:
        depth: Frames above this one; 1 is who called ``caller_scope``.
    """
    frame = sys._getframe(depth)
    return None if frame.f_locals is frame.f_globals else dict(frame.f_locals)


def checked_name(name: str | None, fn: Callable[..., Any]) -> str:
    """The tool's name: as given, else the function's.

    Raises:
        DefinitionError: It is not a name that every provider takes.
    """
    if name is None:
        target = fn
        while isinstance(target, functools.partial):
            target = target.func
        name = getattr(target, "__name__", None) or type(target).__name__
    if name == "<lambda>":
        raise DefinitionError('a lambda has no name to be called by; give one: name="..."')
    if not isinstance(name, str) or not NAME_PATTERN.fullmatch(name):
        raise DefinitionError(
            f"{name!r} cannot be a tool's name: providers take 1 to 64 ASCII letters, digits, "
            '"_" and "-". Give another: name="..."'
        )
    return name


def origin_of(fn: Callable[..., Any]) -> str:
    """Where a callable was defined, for messages."""
    target = unwrapped(fn)
    line = getattr(getattr(target, "__code__", None), "co_firstlineno", None)
    module = getattr(target, "__module__", None) or "unknown module"
    return f"module {module}" + (f", line {line}" if line else "")


def _parameter(name: str, schema: Any, required: bool, root: Mapping[str, Any]) -> Parameter:
    schema = schema if isinstance(schema, dict) else {}
    default = json_text(schema["default"]) if "default" in schema else None
    return Parameter(
        name,
        required,
        schema,
        type_text(schema, root),
        bounds_text(schema),
        default,
        str(schema.get("description", "")),
    )


_PLAIN = (str, int, float, bool, type(None), dict, list, Any)


def _plainly_fits(annotation: Any) -> bool:
    """Whether a type can be written as JSON Schema for certain, without building it."""
    if any(annotation is plain for plain in _PLAIN):
        return True
    origin = get_origin(annotation)
    if origin is Annotated:
        return False
    if origin is Literal:
        return all(
            isinstance(value, (str, int, bool, type(None))) for value in get_args(annotation)
        )
    if origin in (list, Union, types.UnionType):
        return all(_plainly_fits(part) for part in get_args(annotation))
    if origin is dict and len(get_args(annotation)) == 2:
        key, value = get_args(annotation)
        return key is str and _plainly_fits(value)
    return (
        inspect.isclass(annotation)
        and issubclass(annotation, enum.Enum)
        and issubclass(annotation, (str, int))
    )


def _refuse_unresolved(signature: Signature, tool_name: str) -> None:
    for argument in signature.arguments:
        if isinstance(argument.annotation, str):
            raise DefinitionError(
                f"{tool_name} cannot be a tool: the annotation {argument.annotation!r} of "
                f"parameter {argument.name!r} names something that is not defined. Import or "
                "define it in the same module or cell (not only under TYPE_CHECKING)."
            )
