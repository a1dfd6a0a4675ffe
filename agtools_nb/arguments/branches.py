"""What to say where none of a union's branches fits: of the branch that was meant, if one was."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from agtools_nb.arguments.faults import make_fault
from agtools_nb.calls import Fault
from agtools_nb.define.describe import expected_text, type_text
from agtools_nb.jsonable import pointer_step

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

    from agtools_nb.arguments.findings import Findings

_MAX_TOLD = 3
_MAX_NESTED = 4
"""Unions within a union that are followed when looking for its tag."""


def branch_faults(error: ValidationError, pointer: str, findings: Findings) -> Iterator[Fault]:
    """The faults of a value that fits no branch.

    If its type or tag tells which branch was meant, those of that branch; else that
    the tag is missing or wrong; else what each branch that it might be lacks.
    """
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        # A branch that is just ``false`` has no path.
        branch = inner.schema_path[0] if inner.schema_path else "false"
        branches.setdefault(branch, []).append(inner)
    meant = [errors for errors in branches.values() if not any(map(_rules_out, errors))]
    if len(meant) == 1:
        yield from findings.faults(meant[0])
        return
    tag = _tag_fault(error, pointer, findings)
    if tag is not None:
        yield tag
    elif meant:
        yield _alternatives_fault(error, pointer, meant, findings)
    else:
        yield _types_fault(error, pointer, findings)


def _rules_out(error: ValidationError) -> bool:
    """Whether an error shows that its branch was not the one meant: other type, other tag."""
    at_root = len(error.relative_path) == 0
    if error.validator == "type":
        return at_root
    return error.validator in ("const", "enum") and len(error.relative_path) <= 1


def _types_fault(error: ValidationError, pointer: str, findings: Findings) -> Fault:
    expected = expected_text({"anyOf": error.validator_value}, findings.document.schema)
    hint = findings.hint(pointer, error.instance, cast("Any", error.schema))
    return make_fault(pointer, expected, findings.got(pointer, error.instance), hint)


def _alternatives_fault(
    error: ValidationError, pointer: str, meant: list[list[ValidationError]], findings: Findings
) -> Fault:
    """What the branches lack, the nearest first."""
    # Few faults mean that little is wrong: likely the form that was meant.
    nearest = sorted(meant, key=len)[:_MAX_TOLD]
    told = "; ".join(
        f"({number}) {findings.brief(errors[0])}" for number, errors in enumerate(nearest, 1)
    )
    more = f"; and {len(meant) - _MAX_TOLD} more" if len(meant) > _MAX_TOLD else ""
    expected = f"fits none of {len(meant)} alternatives: {told}{more}"
    return make_fault(pointer, expected, findings.got(pointer, error.instance), is_sentence=True)


def _tag_fault(error: ValidationError, pointer: str, findings: Findings) -> Fault | None:
    """The fault of a tag that is missing, or is that of no branch; ``None`` if that is not it."""
    value = cast("Any", error.instance)
    if not isinstance(value, dict):
        return None
    found = _tag_of(list(_objects(error.validator_value, findings, 0)))
    if found is None:
        return None
    key, choices, is_required = found
    place, expected = f"{pointer}/{pointer_step(key)}", type_text({"enum": choices})
    if key not in value:
        if not is_required:
            return None
        return make_fault(place, expected, "nothing", " (it is required)")
    if findings.document.conforms(value[key], {"enum": choices}):
        return None
    hint = findings.hint(place, value[key], {"enum": choices})
    return make_fault(place, expected, findings.got(place, value[key]), hint)


def _objects(branches: Any, findings: Findings, depth: int) -> Iterator[dict[str, Any]]:
    """The branches that take an object, those of unions within the union included."""
    for branch in branches if isinstance(branches, list) else ():
        branch = findings.resolved(branch)
        if not isinstance(branch, dict) or branch.get("type", "object") != "object":
            continue
        inner = branch.get("anyOf") or branch.get("oneOf")
        if inner and "properties" not in branch and depth < _MAX_NESTED:
            yield from _objects(inner, findings, depth + 1)
        else:
            yield branch


def _tag_of(objects: list[dict[str, Any]]) -> tuple[str, list[Any], bool] | None:
    """The key of which each object asks its own value, those values, and whether all require it."""
    if len(objects) < 2:
        return None
    properties = objects[0].get("properties")
    for key in properties if isinstance(properties, dict) else ():
        asked = [_values_of(one, key) for one in objects]
        if all(asked):
            values = [value for values in asked for value in values]
            return key, values, all(_is_required(one, key) for one in objects)
    return None


def _values_of(schema: dict[str, Any], key: str) -> list[Any]:
    properties = schema.get("properties")
    sub = properties.get(key) if isinstance(properties, dict) else None
    if not isinstance(sub, dict):
        return []
    if "const" in sub:
        return [sub["const"]]
    return sub["enum"] if isinstance(sub.get("enum"), list) else []


def _is_required(schema: dict[str, Any], key: str) -> bool:
    required = schema.get("required")
    return isinstance(required, list) and key in required
