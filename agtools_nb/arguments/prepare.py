"""The one way from what a model sent to what the function gets: parse, coerce, validate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agtools_nb.arguments.conversions import escaped
from agtools_nb.arguments.parse import parse_arguments
from agtools_nb.arguments.plan import Plan, is_plain, plan_of
from agtools_nb.arguments.validate import (
    faults_in,
    first_of_each_place,
    got_text,
    make_fault,
    secret_parameters,
    top_of,
    without_value,
)
from agtools_nb.calls import Change, Fault
from agtools_nb.context import copied
from agtools_nb.define import Tool
from agtools_nb.define.wire import without_unset
from agtools_nb.errors import ArgumentsError
from agtools_nb.jsonable import clean_text, jsonable, shorten

if TYPE_CHECKING:
    from pydantic import ValidationError


# Not frozen: that makes it four times as dear, and one is made for each call.
@dataclass(slots=True)
class Prepared:
    """Arguments on their way into a tool. Not meant to be changed.

    Attributes:
        arguments: As the tool will get them, as JSON: coerced, and the
            function's defaults filled in. ``None`` if they could not be read as
            an object. With faults, they are as far as coercion came.
        values: The same as Python values, without the defaults (the function
            has those itself). ``None`` if there is a fault.
        changes: What coercion changed.
        faults: What does not fit.
        error: What the model is told; ``None`` if all fits.
        defaulted: Names filled in from defaults.
    """

    arguments: dict[str, Any] | None
    values: dict[str, Any] | None
    changes: tuple[Change, ...] = ()
    faults: tuple[Fault, ...] = ()
    error: str | None = None
    defaulted: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the tool can be run with them."""
        return self.values is not None


def prepare(tool: Tool, raw: Any, *, omit_nulls: bool = False) -> Prepared:
    """Parse, coerce and validate arguments for ``tool``. Never raises for bad arguments.

    Args:
        tool: The tool they are for.
        raw: A mapping, JSON text, or ``None``; see :func:`parse_arguments`.
        omit_nulls: Read ``null`` for an optional parameter that takes none as absent. That
            is what OpenAI's strict mode makes models write. Default ``False``: it is a fault.

    Raises:
        DefinitionError: The tool itself turns out not to be one: an annotation
            names something that is not defined.
    """
    try:
        given = dict(raw) if is_plain(raw) else parse_arguments(raw)
    except ArgumentsError as error:
        return Prepared(None, None, error=f"{error} {_how_to_call(tool)}")
    return prepare_parsed(tool, plan_of(tool), given, omit_nulls=omit_nulls)


def prepare_parsed(
    tool: Tool, plan: Plan, given: dict[str, Any], *, omit_nulls: bool = False
) -> Prepared:
    """The same for arguments that have been read into JSON values nobody else holds."""
    if plan.shares:
        given = jsonable(given)
    values = plan.values(given)
    if isinstance(values, dict):
        return _ready(plan, given, values, ())
    # Text may hold half a surrogate pair, which neither a message nor a tool could carry on.
    given = jsonable(given)
    given, unset = _without_unset(plan, given) if omit_nulls else (given, ())
    coerced = plan.coerced(given)
    changes = (*unset, *coerced.changes)
    if changes:
        values = plan.values(coerced.value)
        if isinstance(values, dict):
            return _ready(plan, coerced.value, values, changes)
    values = plan.judged(coerced.value)
    if isinstance(values, dict):
        return _ready(plan, coerced.value, values, changes)
    faults = first_of_each_place(_all_faults(plan, coerced.value, values))
    return Prepared(coerced.value, None, changes, faults, _error_text(tool, faults))


def _without_unset(plan: Plan, given: dict[str, Any]) -> tuple[dict[str, Any], tuple[Change, ...]]:
    left, pointers = without_unset(given, plan.schema)
    return left, tuple(
        Change(pointer, None, plan.defaults.get(pointer.removeprefix("/")), "null left out")
        for pointer in pointers
    )


def unchecked(raw: Any) -> Prepared:
    """Arguments as they came, only read into a dict: what ``validate=False`` asks for."""
    try:
        given = copied(raw) if isinstance(raw, dict) else parse_arguments(raw)
    except ArgumentsError as error:
        return Prepared(None, None, error=str(error))
    return Prepared(jsonable(given), given)


def _ready(
    plan: Plan, arguments: dict[str, Any], values: dict[str, Any], changes: tuple[Change, ...]
) -> Prepared:
    missing = [name for name in plan.defaults if name not in arguments] if plan.defaults else ()
    if missing:
        arguments = {**arguments, **{name: plan.defaults[name] for name in missing}}
        if plan.is_explicit:
            # The function does not know the schema's defaults.
            values |= {name: copied(plan.defaults[name]) for name in missing}
    return Prepared(arguments, values, changes, defaulted=tuple(missing))


def _all_faults(
    plan: Plan, arguments: dict[str, Any], error: ValidationError | None
) -> Iterator[Fault]:
    """What the schema finds, then what only the Python types know (a validator, a date).

    Pydantic tells of every branch of a union that did not fit, so it is heard
    only about parameters that the schema finds nothing wrong with.
    """
    found = faults_in(arguments, plan.document)
    yield from found
    secret = secret_parameters(plan.document.schema)
    judged = {top_of(fault.pointer) for fault in found}
    details = error.errors(include_url=False, include_context=False) if error else ()
    for detail in details:
        pointer, value = _place(detail["loc"], arguments)
        if top_of(pointer) in judged or (found and not pointer):
            continue
        message = detail["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
        fault = make_fault(pointer, shorten(clean_text(message), 500), got_text(value))
        yield without_value(fault) if top_of(pointer) in secret else fault


def _place(loc: tuple[int | str, ...], arguments: Any) -> tuple[str, Any]:
    """Pydantic's location as a JSON Pointer, and the value there.

    Its locations also name branches of unions, which are no place in the
    arguments: a step that leads nowhere is passed over.
    """
    pointer, value = "", arguments
    for step in loc:
        if isinstance(value, dict) and step in value:
            pointer, value = f"{pointer}/{escaped(str(step))}", value[step]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            pointer, value = f"{pointer}/{step}", value[step]
    return pointer, value


def _error_text(tool: Tool, faults: tuple[Fault, ...]) -> str:
    count = f"{len(faults)} fault{'' if len(faults) == 1 else 's'}"
    lines = [f"The arguments do not fit {tool.name} ({count}); it was not run."]
    lines += [f"- {fault.message}" for fault in faults]
    return "\n".join([*lines, _how_to_call(tool)])


def _how_to_call(tool: Tool) -> str:
    return f"Call it as {tool.usage}"
