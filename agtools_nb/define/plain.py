"""Types that can be written as JSON Schema for certain: nothing need be built to know it."""

from __future__ import annotations

import enum
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

_PLAIN = frozenset((str, int, float, bool, type(None), dict, list))
_SCALARS = (str, int, bool, type(None))


def plainly_fits(annotation: Any) -> bool:
    """Whether a type can be written as JSON Schema for certain, without building it."""
    if type(annotation) is type and annotation in _PLAIN:
        return True
    if annotation is Any:
        return True
    if type(annotation) is types.UnionType:
        return all(map(plainly_fits, annotation.__args__))
    origin = get_origin(annotation)
    if origin is None or origin is Annotated:
        return _is_enum(annotation)
    if origin is Literal:
        return all(isinstance(value, _SCALARS) for value in get_args(annotation))
    if origin in (list, Union):
        return all(map(plainly_fits, get_args(annotation)))
    if origin is dict and len(get_args(annotation)) == 2:
        key, value = get_args(annotation)
        return key is str and plainly_fits(value)
    return False


def _is_enum(annotation: Any) -> bool:
    return (
        isinstance(annotation, type)
        and issubclass(annotation, enum.Enum)
        and issubclass(annotation, (str, int))
    )
