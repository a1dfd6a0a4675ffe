"""What only the Python types find wrong (an impossible date, a validator), as faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from agtools_nb.arguments.faults import HIDDEN, brief_json, make_fault, top_of
from agtools_nb.arguments.findings import Findings
from agtools_nb.arguments.secrets import quotes
from agtools_nb.arguments.validate import faults_in
from agtools_nb.calls import Fault
from agtools_nb.define.describe import format_example
from agtools_nb.jsonable import clean_text, pointer_step, shorten

if TYPE_CHECKING:
    from pydantic import ValidationError

_SHOWN = 400
_ASKED = "Input should be "
# Pydantic's kinds of error, by how their names begin, and what is asked for there.
_FORMS = (
    ("datetime_", "date-time", "a valid date-time"),
    ("date_", "date", "a valid date"),
    ("time_delta_", "duration", "a duration"),
    ("time_", "time", "a valid time of day"),
    ("uuid_", "uuid", "a valid UUID"),
    ("timezone_aware", "date-time", "a date-time with a time zone"),
)
_NOT_FORMS = ("date_past", "date_future", "datetime_past", "datetime_future")


def all_faults(
    arguments: dict[str, Any], findings: Findings, error: ValidationError | None
) -> Iterator[Fault]:
    """Yield what the schema finds, then what only the Python types know.

    Pydantic tells of every branch of a union that did not fit, so it is heard
    only about parameters that the schema finds nothing wrong with.
    """
    judged: set[str] = set()
    for fault in faults_in(arguments, findings):
        judged.add(top_of(fault.pointer))
        yield fault
    details = error.errors(include_url=False) if error else ()
    for detail in details:
        pointer, value = _place(detail["loc"], arguments)
        if top_of(pointer) in judged or (judged and not pointer):
            continue
        yield _fault(detail, pointer, value, findings)


def _fault(detail: Any, pointer: str, value: Any, findings: Findings) -> Fault:
    is_secret = findings.secrets.hide(pointer)
    got = findings.got(pointer, value)
    if detail["loc"] and detail["loc"][-1] == "[key]":
        got = f"a key {HIDDEN}" if is_secret else f"the key {brief_json(detail['input'], 60)}"
    kind, message = detail["type"], " ".join(clean_text(str(detail["msg"])).split())
    for start, form, words in _FORMS:
        if kind.startswith(start) and not kind.startswith(_NOT_FORMS):
            expected = f"{words} such as {format_example({'format': form})}"
            return make_fault(pointer, expected, got, _reason(detail, is_secret))
    for word in ("Value error, ", "Assertion failed, "):
        message = message.removeprefix(word)
    if is_secret and quotes(message, value):
        message = "it does not pass the tool's own check"
    if message.startswith(_ASKED):
        return make_fault(pointer, shorten(message.removeprefix(_ASKED), _SHOWN), got)
    return make_fault(pointer, shorten(message, _SHOWN).rstrip("."), got, is_sentence=True)


def _reason(detail: Any, is_secret: bool) -> str:
    """What is wrong about a text of the right kind."""
    reason = str(detail.get("ctx", {}).get("error", ""))
    # Of a text that is no date at all, only that it is too short is found out.
    return "" if is_secret or not reason or "too short" in reason else f"; {clean_text(reason)}"


def _place(loc: tuple[int | str, ...], arguments: Any) -> tuple[str, Any]:
    """Pydantic's location as a JSON Pointer, and the value there.

    Its locations also name branches of unions, which are no place in the
    arguments: a step that leads nowhere is passed over.
    """
    pointer, value = "", arguments
    for step in loc:
        if isinstance(value, dict) and step in value:
            pointer, value = f"{pointer}/{pointer_step(str(step))}", value[step]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            pointer, value = f"{pointer}/{step}", value[step]
    return pointer, value
