"""What a model is told when its arguments do not fit: each fault, and how to call the tool."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from agtools_nb.arguments.faults import UnknownKey, place_text
from agtools_nb.arguments.secrets import Secrets
from agtools_nb.calls import Fault
from agtools_nb.define import Tool
from agtools_nb.define.describe import bounded_text, shape_text
from agtools_nb.define.parameters import Parameter
from agtools_nb.jsonable import clean_text, shorten

MAX_MESSAGE = 8_000
"""Characters of a whole message, about 2,000 tokens."""
_LINE = 800
_FAULTS = 6_000
_CALL = 1_500
_SHORT_CALL = 600
"""Characters up to which a call is shown with every parameter's type."""
_NAME = 60


def error_text(tool: Tool, faults: Sequence[Fault], has_more: bool) -> str:
    """The whole message; at most 8,000 characters.

    Args:
        tool: The tool that was called.
        faults: What does not fit.
        has_more: Whether there are more faults than these.
    """
    count = f"{len(faults)} fault{'' if len(faults) == 1 else 's'}"
    if has_more:
        count = f"more than {len(faults)} faults; the first {len(faults)} follow"
    lines = [f"The arguments do not fit {shorten(tool.name, _NAME)} ({count}); it was not run."]
    room = _FAULTS
    told = list(_lines(faults))
    for number, line in enumerate(told):
        line = f"- {shorten(line, _LINE)}"
        room -= len(line)
        if room < 0:
            lines.append(f"- and {len(told) - number} more, left out for length")
            break
        lines.append(line)
    return "\n".join([*lines, how_to_call(tool, faults)])


def how_to_call(tool: Tool, faults: Iterable[Fault] = ()) -> str:
    """One line that shows a right call.

    Of a tool with many parameters, those at fault and those that are required
    are shown with their types, the others only named.
    """
    secrets = Secrets(tool.input_schema)
    root = tool.input_schema
    whole = _call(tool, root, secrets, {p.name for p in tool.parameters})
    if len(whole) > _SHORT_CALL:
        whole = _call(tool, root, secrets, _concerned(tool, faults))
    return f"Call it as {shorten(whole, _CALL)}"


def _lines(faults: Sequence[Fault]) -> Iterable[str]:
    """A line for each fault; one for all unknown keys of an object, which share what is known."""
    groups: dict[str, list[UnknownKey]] = {}
    for fault in faults:
        if isinstance(fault, UnknownKey):
            groups.setdefault(_above(fault.pointer), []).append(fault)
    for fault in faults:
        if not isinstance(fault, UnknownKey):
            yield fault.message
        elif group := groups.pop(_above(fault.pointer), None):
            yield group[0].message if len(group) == 1 else _of_unknown(group)


def _of_unknown(group: list[UnknownKey]) -> str:
    places = ", ".join(place_text(fault.pointer) for fault in group)
    noun = "keys" if _above(group[0].pointer) else "parameters"
    meant = ", ".join(
        f"{fault.close!r} for {place_text(fault.pointer)}" for fault in group if fault.close
    )
    remark = f"; did you mean {meant}?" if meant else ""
    ending = f": there are no such {noun}{remark} (known: {group[0].known})"
    # What is known matters more than the whole list of what is not.
    return shorten(places, max(_LINE - len(ending), 2 * _NAME)) + ending


def _above(pointer: str) -> str:
    return pointer.rpartition("/")[0]


def _concerned(tool: Tool, faults: Iterable[Fault]) -> set[str]:
    names = {p.name for p in tool.parameters if p.required}
    for fault in faults:
        step = fault.pointer.split("/", 2)[1] if fault.pointer else ""
        names.add(step.replace("~1", "/").replace("~0", "~"))
        if isinstance(fault, UnknownKey) and fault.close and not _above(fault.pointer):
            names.add(fault.close)
    return names


def _call(tool: Tool, root: object, secrets: Secrets, in_full: Collection[str]) -> str:
    shown = ", ".join(
        _parameter(one, root, secrets) if one.name in in_full else _name(one)
        for one in tool.parameters
    )
    return f"{shorten(tool.name, _NAME)}({shown})"


def _name(parameter: Parameter) -> str:
    return shorten(clean_text(parameter.name), _NAME) + ("" if parameter.required else "?")


def _parameter(parameter: Parameter, root: object, secrets: Secrets) -> str:
    kind = bounded_text(shape_text(parameter.schema, root), parameter.schema)
    default = parameter.default_text
    if default is None or secrets.hide(f"/{parameter.name}"):
        return f"{_name(parameter)}: {kind}"
    return f"{_name(parameter)}: {kind} = {shorten(default, _NAME)}"
