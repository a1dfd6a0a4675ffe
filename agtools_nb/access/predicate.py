"""``when=``: the condition of a rule, given what it asks for."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from agtools_nb.calls import ToolCall
from agtools_nb.context import copied
from agtools_nb.define.annotations import MISSING, Annotations
from agtools_nb.define.signature import invoked, unwrapped
from agtools_nb.errors import DefinitionError, UsageError
from agtools_nb.jsonable import brief_repr

Ask = Callable[[ToolCall], Any]
"""Asks a condition about a call, whose ``args`` are the arguments as the tool will get them."""

_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def checked_predicate(when: Any, word: str) -> None:
    """Refuse what cannot be asked about a call.

    Args:
        when: The condition; ``None`` is none.
        word: The function that makes the rule, for the message.

    Raises:
        UsageError: It cannot be called with one value, yields instead of answering, or its
            annotation cannot be read.
    """
    if when is not None:
        _reader(when, word)


def asker(when: Callable[..., bool | Awaitable[bool]]) -> Ask:
    """What asks a condition: with the dict of arguments, a model of them, or the call.

    Each call of it makes new copies, so that a condition can change nothing.

    Raises:
        UsageError: See :func:`checked_predicate`.
    """
    read = _reader(when, "a rule")
    return lambda call: when(*read(call))


def _reader(when: Any, word: str) -> Callable[[ToolCall], tuple[Any, ...]]:
    where = f"{word}: when={brief_repr(when)}"
    if not callable(when):
        raise UsageError(
            f"{where} cannot be called; give a function that is given the arguments, such as "
            "when=lambda args: args['amount'] > 100"
        )
    if _yields(when):
        raise UsageError(f"{where} yields, and so says nothing; let it return True or False")
    parameter = _first_parameter(when, where)
    if parameter is None:
        return lambda call: ()
    kind = without_none(_annotation(when, parameter, where))
    if isinstance(kind, type) and issubclass(kind, ToolCall):
        return lambda call: (call_copy(call),)
    model = _as_model(kind)
    if model is not None:
        return lambda call: (model.model_validate(copied(call.args)),)
    return lambda call: (copied(call.args),)


def call_copy(call: ToolCall) -> ToolCall:
    """A call whose arguments nobody else holds."""
    return ToolCall(
        call.name, copied(call.args), call.id, call.step_id, call.canonical_path,
        call.server_name, call.timeout,
    )  # fmt: skip


def _yields(when: Any) -> bool:
    runs = invoked(when)
    return inspect.isgeneratorfunction(runs) or inspect.isasyncgenfunction(runs)


def _first_parameter(when: Any, where: str) -> inspect.Parameter | None:
    """The parameter that is given the arguments; ``None`` if it takes nothing.

    Raises:
        UsageError: It takes another number of values.
    """
    try:
        parameters = list(inspect.signature(when).parameters.values())
    except (TypeError, ValueError):  # a function of C that says nothing of itself
        return inspect.Parameter("arguments", inspect.Parameter.POSITIONAL_ONLY)
    for parameter in parameters[1:]:
        if parameter.default is MISSING and parameter.kind in (
            *_BY_PLACE,
            inspect.Parameter.KEYWORD_ONLY,
        ):
            raise UsageError(
                f"{where} asks for {parameter.name!r}; it is given one thing: the arguments"
            )
    first = parameters[0] if parameters else None
    if first is not None and first.kind is inspect.Parameter.KEYWORD_ONLY:
        raise UsageError(f"{where} takes nothing by position; let it take the arguments")
    return None if first is None or first.kind is inspect.Parameter.VAR_KEYWORD else first


def _annotation(when: Any, parameter: inspect.Parameter, where: str) -> Any:
    annotations = Annotations(unwrapped(when), where, None, lenient=False)
    try:
        found = annotations.resolve(parameter.name, parameter.annotation)
    except DefinitionError as error:
        raise UsageError(f"{where}: {error}") from error
    if annotations.unresolved:
        raise UsageError(
            f"{where}: its annotation {parameter.annotation!r} names something that is not "
            "defined; define or import it in the same module or cell (not only under "
            "TYPE_CHECKING), or leave the annotation out to be given a dict"
        )
    return found


def without_none(kind: Any) -> Any:
    """``X`` of ``X | None`` and ``Optional[X]``: a condition is always given something."""
    if get_origin(kind) not in (Union, UnionType):
        return kind
    others = [one for one in get_args(kind) if one is not NoneType]
    return others[0] if len(others) == 1 else kind


def _as_model(kind: Any) -> Any:
    """A pydantic model, if it is one."""
    from pydantic import BaseModel

    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
