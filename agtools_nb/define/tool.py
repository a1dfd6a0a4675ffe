"""``Tool``: a function that a model can call, made of its signature and docstring."""

from __future__ import annotations

import inspect
import sys
import types
import warnings
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack, cast

from agtools_nb.context import copied
from agtools_nb.define.annotations import yielded
from agtools_nb.define.display import checked_display, display_text
from agtools_nb.define.naming import MAX_NAME, checked_name, docs_of, method_of, name_of, origin_of
from agtools_nb.define.options import (
    LONG_RUNNING_NOTE,
    ToolOptions,
    check_options,
    checked_capture,
    checked_description,
    checked_mode,
    checked_path_of,
    checked_scopes,
    checked_server_name,
    checked_timeout,
)
from agtools_nb.define.parameters import Parameter, parameters_of, usage_text
from agtools_nb.define.reading import read_signature
from agtools_nb.define.signature import Signature, invoked, unwrapped
from agtools_nb.errors import DefinitionError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from agtools_nb.define.docstrings import Described
    from agtools_nb.define.stateful import Turn


class Tool:
    """A callable with a name, a description and a JSON Schema for its arguments.

    Calling a tool calls the function, unchecked, as if it had never been wrapped.
    A :class:`ToolRunner` is what coerces, validates and injects.

    Make one with :func:`tool` or :meth:`from_function`. A method that is decorated
    in its class is a tool once it is taken from an object: ``greeter.greet``.

    Args:
        fn: A function, bound method, partial, callable object, or another tool,
            whose function and options are taken over.
        scope: Local names to resolve text annotations with.
        options: Those of :func:`tool`.

    Attributes:
        name: What the model calls it.
        fn: The callable.
        read_only: It changes nothing outside itself.
        concurrency_safe: It may run beside itself and others.
        long_running: A call answers with a task's id, and the function runs on.
        mode: ``"inline"``, or ``"dispatched"`` if the result arrives in the inbox.
        is_subscription: Whether it is an async generator, whose values become events.
        outlives_call: Whether the function runs on after the call has its answer: it is
            one of these three.
        passive: Whether events get through while a call of it waits.
        associative: Whether its events enter the thread that subscribed.
        scopes: What the context must grant.
        timeout: Most seconds a call may take; ``None`` without a limit.
        capture: ``"progress"`` if what it prints is shown while it runs, else ``"result"``.
        turn: What a call must hold while it runs; ``None`` if it may always run.
        guarded: Whether a runner takes it only together with policies.
        server_name: The MCP server that it comes from; ``None`` for an own tool.
        remote_name: What it was called where it was made: its server knows it by that, also
            where it is registered under another name.

    Raises:
        DefinitionError: ``fn`` cannot be a tool.
    """

    _has_own_schema = False
    remote_name: str

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        scope: Mapping[str, Any] | None = None,
        **options: Unpack[ToolOptions],
    ) -> None:
        check_options(options)
        self._scope = scope
        self.__wrapped__ = fn
        self.turn: Turn | None = None
        fn, options = self._taken_over(fn, options)
        self._options = options
        self.name = checked_name(options.get("name"), fn)
        if not hasattr(self, "remote_name"):
            self.remote_name = self.name
        self.fn = self._bound(fn)
        self._set_options(options)
        self._look_like(fn)
        runs = invoked(self.fn)
        self.is_subscription = inspect.isasyncgenfunction(runs)
        self.is_async = self.is_subscription or inspect.iscoroutinefunction(runs)
        self.mode = checked_mode(options, self.name, self.is_subscription)
        self.outlives_call = self.is_subscription or self.long_running or self.mode == "dispatched"
        self._method_of = method_of(self.fn)
        if self._method_of:
            self._check_method(scope)
            return
        self._signature = self._read_signature()
        self._prepare()
        display = options.get("display")
        if display is not None:
            checked_display(display, self._parameter_names(), self.name)
        self._display = display
        if not self._signature.unresolved:
            self._scope = None  # it would keep all of the caller's local values alive

    @classmethod
    def from_function(
        cls,
        fn: Callable[..., Any],
        *,
        scope: Mapping[str, Any] | None = None,
        **options: Unpack[ToolOptions],
    ) -> Self:
        """Make a tool of ``fn``; the options are those of :func:`tool`.

        Args:
            fn: A callable.
            scope: Local names to resolve text annotations with. Default: the caller's.
            options: Those of :func:`tool`.

        Raises:
            DefinitionError: ``fn`` cannot be a tool.
        """
        return cls(fn, scope=caller_scope(2) if scope is None else scope, **options)

    @property
    def description(self) -> str:
        """What the tool does: as given, else the prose of the docstring.

        For a ``long_running`` tool, a sentence on how to wait for it follows.
        """
        text = self._given_description
        if text is None:
            text = self._described.summary
        if not self.long_running:
            return text
        note = LONG_RUNNING_NOTE.replace("{status_tool}", self.status_tool_name)
        return f"{text}\n\n{note}".strip()

    @property
    def status_tool_name(self) -> str:
        """Name of the tool that tells how a task of this ``long_running`` one is."""
        given = self._options.get("status_tool")
        return f"check_{self.name}"[:MAX_NAME] if given is None else given

    @property
    def signature(self) -> Signature:
        """What the callable takes. A name not defined yet is looked up anew each time.

        Raises:
            DefinitionError: It is a method that was not taken from an object.
        """
        if self._method_of:
            raise _unbound(self.name, self._method_of)
        if self._signature.unresolved:
            self._signature = self._read_signature()
        return self._signature

    @cached_property
    def origin(self) -> str:
        """Where it was defined, for messages: ``"module x, line 3"``."""
        return origin_of(self.fn)

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema (2020-12) of the arguments, an object schema. Do not change it."""
        return self._built[1]

    @property
    def adapter(self) -> TypeAdapter[dict[str, Any]] | None:
        """Pydantic's validator of the arguments, from JSON to Python values.

        ``None`` for a tool with an explicit schema, whose arguments stay JSON values.
        """
        return self._built[0]

    @property
    def given_response_schema(self) -> dict[str, Any] | None:
        """The ``response_schema=`` option; ``None`` if there was none."""
        return None if self._options.get("response_schema") is None else self.response_schema

    @cached_property
    def response_schema(self) -> dict[str, Any] | None:
        """JSON Schema of the result: as given, else from the return annotation, else ``None``.

        For a subscription it is that of each value; for a tool that is ``dispatched`` or
        ``long_running``, that of what comes in the end, not of the answer to the call.
        A return annotation that names something unknown is left out with a warning.
        """
        given = self._options.get("response_schema")
        if given is not None:
            from agtools_nb.define.checked_schema import checked_schema

            return checked_schema(given, f"response_schema of {self.name}")
        from agtools_nb.define.schema import response_schema

        signature = self.signature
        if signature.unread_return:
            signature = self._read_signature()  # what it names may be defined by now
        unread = signature.unread_return
        if unread:
            warnings.warn(
                f"{self.name} has no response schema: its return annotation {unread!r} cannot be "
                "read. Import what it names in the same module or cell (not only under "
                "TYPE_CHECKING), or give response_schema={...}.",
                UserWarning,
                stacklevel=3,
            )
        return response_schema(
            yielded(signature.returns) if self.is_subscription else signature.returns
        )

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that a model fills, in the order of the signature."""
        return parameters_of(self.input_schema)

    @property
    def injected(self) -> tuple[str, ...]:
        """Names of the ``ToolContext`` parameters, which no model sees."""
        return tuple(parameter.name for parameter in self.signature.injected)

    @property
    def usage(self) -> str:
        """One line on how to call it: ``convert(value: number, to?: string = "m")``."""
        return usage_text(self.name, self.parameters)

    def display_text(self, arguments: Mapping[str, Any]) -> str | None:
        """A call in one line for people, as the ``display=`` option says. Never raises.

        Args:
            arguments: The arguments of the call, by name.

        Returns:
            One line of at most 500 characters; ``None`` without the option, or where
            the author's function failed. Values of secret parameters are not shown.
        """
        if self._display is None:
            return None
        return display_text(self._display, arguments, self.input_schema, self.name)

    def canonical_path(self, arguments: Mapping[str, Any]) -> str | None:
        """The path that a call is about, absolute; ``None`` if it is about none.

        Args:
            arguments: The arguments as the tool gets them, by name.

        Raises:
            Exception: What the author's ``path_of=`` raised; the tool is not to be run then.
        """
        if self.path_of is None:
            return None
        found = self.path_of(copied(dict(arguments)))
        if found is None:
            return None
        path = Path(found)
        return str(path if path.is_absolute() else path.resolve())

    def renamed(self, name: str) -> Self:
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

    def __get__(self, instance: Any, owner: type | None = None) -> Tool:
        """The tool itself; a method that was decorated in its class as a tool of its object."""
        if instance is None or not self._method_of:
            return self
        options = cast("ToolOptions", {**self._options, "name": self.name})
        return Tool(types.MethodType(self.fn, instance), scope=self._scope, **options)

    def __repr__(self) -> str:
        try:
            return f"<{type(self).__name__} {self.usage}>"
        except DefinitionError:  # a name that is not defined yet, a method without an object
            return f"<{type(self).__name__} {self.name}(...)>"

    def _taken_over(self, fn: Any, options: ToolOptions) -> tuple[Callable[..., Any], ToolOptions]:
        """The plain callable, and the options together with those of a tool inside."""
        if inspect.ismethod(fn) and isinstance(fn.__func__, Tool):  # a @classmethod over @tool
            fn = fn.__func__.__get__(fn.__self__)
        if isinstance(fn, staticmethod):
            fn = fn.__func__
        if not isinstance(fn, Tool):
            return fn, options
        if fn._has_own_schema and not self._has_own_schema:
            raise DefinitionError(
                f"{fn.name} has a schema of its own, which a {type(self).__name__} around it would "
                "lose. Wrap the other way round, ToolWithSchema(..., schema), or use renamed()."
            )
        merged = cast("ToolOptions", {**fn._options, "name": fn.name, **options})
        self.remote_name = fn.remote_name
        if not merged.get("concurrency_safe", True):
            self.turn = fn.turn
        return fn.fn, merged

    def _bound(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """The callable that takes nothing but arguments and contexts."""
        return fn

    def _set_options(self, options: ToolOptions) -> None:
        self._given_description = checked_description(options.get("description"), self.name)
        self.read_only = options.get("read_only", False)
        self.concurrency_safe = options.get("concurrency_safe", True)
        self.long_running = options.get("long_running", False)
        self.passive = options.get("passive", False)
        self.associative = options.get("associative", False)
        if options.get("status_tool") is not None:
            checked_name(options["status_tool"], self.fn)
        self.scopes = checked_scopes(options.get("scopes", ()), self.name)
        self.timeout = checked_timeout(options.get("timeout"), self.name)
        self.capture = checked_capture(options.get("capture", "result"), self.name)
        self.guarded = bool(options.get("guarded", False))
        self.path_of = checked_path_of(options.get("path_of"), self.name)
        self.server_name = checked_server_name(options.get("server_name"), self.name)
        if options.get("response_schema") is not None:
            self.response_schema  # noqa: B018 -- a bad one must fail here

    def _look_like(self, fn: Callable[..., Any]) -> None:
        """Set what ``functools.update_wrapper`` would, in a fraction of its time."""
        inner = self.__wrapped__
        source = inner if isinstance(inner, Tool) else unwrapped(fn)
        self.__name__: str = inner.__name__ if isinstance(inner, Tool) else str(name_of(fn))
        self.__qualname__ = getattr(source, "__qualname__", self.__name__)
        self.__module__ = getattr(source, "__module__", None) or type(self).__module__
        self.__annotations__ = getattr(source, "__annotations__", {})
        docs = [inner.__doc__] if isinstance(inner, Tool) else docs_of(fn)
        self.__doc__ = docs[0] if docs else None

    def _check_method(self, scope: Mapping[str, Any] | None) -> None:
        """A method is fine where its class is being made: it is a tool later, of an object."""
        self._display = None
        if (scope or {}).get("__qualname__") != self._method_of:
            raise _unbound(self.name, self._method_of)

    def _read_signature(self) -> Signature:
        return read_signature(self.fn, tool_name=self.name, scope=self._scope)

    def _prepare(self) -> None:
        """Fail now if a type cannot be held by JSON: here its author looks."""
        if not self._signature.unresolved and not all(
            argument.is_plain for argument in self._signature.arguments
        ):
            self._built  # noqa: B018

    def _parameter_names(self) -> tuple[str, ...]:
        return tuple(argument.name for argument in self._signature.arguments)

    @cached_property
    def _described(self) -> Described:
        from agtools_nb.define.docstrings import Described, describe

        names = [argument.name for argument in self.signature.arguments]
        readings = [describe(doc, names) for doc in docs_of(self.fn)]
        summary = next((one.summary for one in readings if one.summary), "")
        parameters: dict[str, str] = {}
        for reading in reversed(readings):
            parameters.update(reading.parameters)
        return Described(summary, parameters)

    @cached_property
    def _built(self) -> tuple[TypeAdapter[dict[str, Any]], dict[str, Any]]:
        from agtools_nb.define.schema import build

        signature = self.signature
        if signature.unresolved:
            _refuse_unresolved(signature, self.name)
        return build(signature, self._described.parameters, self.name)


def caller_scope(depth: int) -> Mapping[str, Any] | None:
    """Local names of the calling function, to resolve text annotations with.

    Args:
        depth: Frames above this one; 1 is who called ``caller_scope``.
    """
    frame = sys._getframe(depth)
    return None if frame.f_locals is frame.f_globals else dict(frame.f_locals)


def _unbound(name: str, owner: str) -> DefinitionError:
    kind = owner.rpartition(".")[2]
    return DefinitionError(
        f"{name} cannot be a tool by itself: it is a method of {kind}, and no model can send its "
        f"first parameter. Take it from an object, {kind}(...).{name}, or make it a @staticmethod."
    )


def _refuse_unresolved(signature: Signature, tool_name: str) -> None:
    for argument in signature.arguments:
        if isinstance(argument.annotation, str):
            raise DefinitionError(
                f"{tool_name} cannot be a tool: the annotation {argument.annotation!r} of "
                f"parameter {argument.name!r} names something that is not defined. Import or "
                "define it in the same module or cell (not only under TYPE_CHECKING)."
            )
