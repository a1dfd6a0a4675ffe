"""Types that can be written as JSON Schema for certain: nothing need be built to know it."""

from __future__ import annotations

import enum
import inspect
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

_PLAIN = frozenset((str, int, float, bool, type(None), dict, list))


def plainly_fits(annotation: Any) -> bool:
    """Whether a type can be written as JSON Schema for certain, without building it."""
    if annotation is Any or (type(annotation) is type and annotation in _PLAIN):
        return True
    origin = get_origin(annotation)
    if origin is Annotated:
        return False
    if origin is Literal:
        return all(
            isinstance(value, (str, int, bool, type(None))) for value in get_args(annotation)
        )
    if origin in (list, Union, types.UnionType):
        return all(plainly_fits(part) for part in get_args(annotation))
    if origin is dict and len(get_args(annotation)) == 2:
        key, value = get_args(annotation)
        return key is str and plainly_fits(value)
    return (
        inspect.isclass(annotation)
        and issubclass(annotation, enum.Enum)
        and issubclass(annotation, (str, int))
    )
