"""What the laws are held against: jsonschema itself, and JSON Pointer by hand."""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry

from agtools_nb import Change


def same(one: Any, other: Any) -> bool:
    """Equality of JSON values that keeps ``1``, ``1.0`` and ``true`` apart, to any depth."""
    todo = [(one, other)]
    while todo:
        left, right = todo.pop()
        if left is right:
            continue
        if type(left) is not type(right):
            return False
        if isinstance(left, dict):
            if list(left) != list(right):
                return False
            todo += [(left[key], right[key]) for key in left]
        elif isinstance(left, list):
            if len(left) != len(right):
                return False
            todo += zip(left, right, strict=True)
        elif left != right and not (left != left and right != right):
            return False
    return True


def conforms(value: Any, schema: Any) -> bool | None:
    """Whether plain jsonschema takes it; ``None`` where it cannot judge the schema.

    Two things are as the package documents them and not as jsonschema does by
    default: ``3.0`` is no integer, and nothing is fetched.
    """
    validator = _strict(validator_for(schema, default=Draft202012Validator))(
        schema, registry=Registry()
    )
    try:
        return validator.is_valid(value)
    except BaseException as error:
        # A reference to nowhere or round in a circle, of which one version panics.
        if isinstance(error, KeyboardInterrupt):
            raise
        return None


@functools.cache
def _strict(base: Any) -> Any:
    checker = base.TYPE_CHECKER.redefine(
        "integer", lambda _, item: isinstance(item, int) and not isinstance(item, bool)
    )
    return extend(base, type_checker=checker)


def undone(value: Any, changes: Sequence[Change]) -> Any:
    """What was there before the changes: each is taken back, the last one first."""
    holder = {"": copy.deepcopy(value)}
    for change in reversed(changes):
        place: Any = holder
        *steps, last = [_unescaped(step) for step in change.pointer.split("/")]
        for step in steps:
            place = place[int(step)] if isinstance(place, list) else place[step]
        key: Any = int(last) if isinstance(place, list) else last
        assert same(place[key], change.after), f"{change} is not what stands there"
        place[key] = copy.deepcopy(change.before)
    return holder[""]


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")
