"""What a tool is called, and where it comes from."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from agtools_nb.define.signature import invoked, is_plain_function, unwrapped
from agtools_nb.errors import DefinitionError

# What OpenAI, Anthropic and Gemini all take as a function name.
MAX_NAME = 64
NAME_PATTERN = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_NAME}}}")


def checked_name(name: str | None, fn: Callable[..., Any]) -> str:
    """The tool's name: as given, else the callable's.

    Raises:
        DefinitionError: It is not a name that every provider takes.
    """
    if name is None:
        name = name_of(fn)
    if name == "<lambda>":
        raise DefinitionError('a lambda has no name to be called by; give one: name="..."')
    if not isinstance(name, str) or not NAME_PATTERN.fullmatch(name):
        raise DefinitionError(
            f"{name!r} cannot be a tool's name: providers take 1 to 64 ASCII letters, digits, "
            '"_" and "-". Give another: name="..."'
        )
    return name


def name_of(fn: Callable[..., Any]) -> Any:
    """A callable's own name; a nameless object is called after its class."""
    target = fn
    while isinstance(target, functools.partial):
        target = target.func
    return getattr(target, "__name__", None) or type(target).__name__


def docs_of(fn: Callable[..., Any]) -> list[str]:
    """The docstrings of a callable, the one nearest to the caller first.

    A wrapper's own comes before that of what it wraps, and ``__call__``'s before
    that of its class.
    """
    if is_plain_function(fn):
        return [fn.__doc__] if fn.__doc__ else []
    while isinstance(fn, functools.partial):
        fn = fn.func
    found: list[Any] = []
    if inspect.isroutine(fn):
        found.append(fn.__doc__)
    elif not inspect.isclass(fn):
        found += [getattr(fn, "__dict__", {}).get("__doc__"), getattr(invoked(fn), "__doc__", None)]
        found.append(inspect.getdoc(fn))
    # Not inspect.getdoc: it would find the words of `type.__call__`.
    found.append(getattr(unwrapped(fn), "__doc__", None))
    return list(dict.fromkeys(doc for doc in found if isinstance(doc, str) and doc.strip()))


def method_of(fn: Any) -> str:
    """The class in whose body a function with a bare ``self`` or ``cls`` stands; ``""`` if none."""
    if not inspect.isfunction(fn):
        return ""
    outer = fn.__qualname__.rpartition(".")[0]
    if not outer or outer.endswith("<locals>") or not fn.__code__.co_argcount:
        return ""
    first = fn.__code__.co_varnames[0]
    return outer if first in ("self", "cls") and first not in fn.__annotations__ else ""


def origin_of(fn: Callable[..., Any]) -> str:
    """Where a callable was defined, for messages: ``"module x, line 3"``."""
    target = unwrapped(fn)
    line = getattr(getattr(target, "__code__", None), "co_firstlineno", None)
    module = getattr(target, "__module__", None) or "unknown module"
    return f"module {module}" + (f", line {line}" if line else "")
