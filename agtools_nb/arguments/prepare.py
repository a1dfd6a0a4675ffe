"""The one way from what a model sent to what the function gets: parse, coerce, validate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agtools_nb.arguments.faults import told
from agtools_nb.arguments.findings import Findings
from agtools_nb.arguments.message import error_text, how_to_call
from agtools_nb.arguments.parse import parse_arguments
from agtools_nb.arguments.plan import Plan, is_plain, plan_of
from agtools_nb.arguments.python_faults import all_faults
from agtools_nb.arguments.secrets import Secrets
from agtools_nb.calls import Change, Fault
from agtools_nb.context import copied
from agtools_nb.define import Tool
from agtools_nb.define.wire import without_unset
from agtools_nb.errors import ArgumentsError
from agtools_nb.jsonable import jsonable


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


def prepare(tool: Tool, raw: Any, *, omit_nulls: bool = False, explain: bool = True) -> Prepared:
    """Parse, coerce and validate arguments for ``tool``. Never raises for bad arguments.

    Args:
        tool: The tool they are for.
        raw: A mapping, JSON text, or ``None``; see :func:`parse_arguments`.
        omit_nulls: Read ``null`` for an optional parameter that takes none as absent. That
            is what OpenAI's strict mode makes models write. Default ``False``: it is a fault.
        explain: Say what does not fit. Default ``True``; with ``False`` there are neither
            faults nor an error, so that a caller may call :func:`can_explain` first.

    Raises:
        DefinitionError: The tool itself turns out not to be one: an annotation
            names something that is not defined.
    """
    try:
        given = dict(raw) if is_plain(raw) else parse_arguments(raw)
    except ArgumentsError as error:
        return Prepared(None, None, error=f"{_reason(tool, raw, error)} {how_to_call(tool)}")
    return prepare_parsed(tool, plan_of(tool), given, omit_nulls=omit_nulls, explain=explain)


def prepare_parsed(
    tool: Tool,
    plan: Plan,
    given: dict[str, Any],
    *,
    omit_nulls: bool = False,
    explain: bool = True,
) -> Prepared:
    """The same for arguments that have been read into JSON values nobody else holds."""
    is_clean = plan.shares or plan.is_explicit
    if is_clean:
        given = jsonable(given)
    values = plan.values(given)
    if isinstance(values, dict):
        return _ready(plan, given, values, ())
    if not is_clean:
        # Text may hold half a surrogate pair, which neither a message nor a tool could carry on.
        given = jsonable(given)
    given, unset = _without_unset(plan, given) if omit_nulls else (given, ())
    coerced = plan.coercion.changed(given)
    changes = (*unset, *coerced.changes)
    if changes:
        values = plan.values(coerced.value)
        if isinstance(values, dict):
            return _ready(plan, coerced.value, values, changes)
    values = plan.judged(coerced.value)
    if isinstance(values, dict):
        return _ready(plan, coerced.value, values, changes)
    if not explain:
        return Prepared(coerced.value, None, changes)
    faults, has_more = told(all_faults(coerced.value, Findings(plan.document), values))
    return Prepared(coerced.value, None, changes, faults, error_text(tool, faults, has_more))


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


def _reason(tool: Tool, raw: Any, error: ArgumentsError) -> str:
    """Why the arguments could not be read; without a part of them if they may hold a secret."""
    if Secrets(tool.input_schema).any:
        try:
            parse_arguments(raw, quote=False)
        except ArgumentsError as quiet:
            return str(quiet)
    return str(error)
