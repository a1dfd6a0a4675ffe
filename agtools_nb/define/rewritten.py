"""Types whose JSON pydantic would not read as a function means them, as ones that it does."""

from __future__ import annotations

import enum
import types
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, Self, Union, cast, get_args, get_origin


def rewritten(annotation: Any) -> Any:
    """A type that takes the same JSON, and takes it right.

    - An iterable as a list: pydantic would look at its items only when the function does.
    - ``Literal[Colour.RED]`` also by the member's value, which is all that JSON can hold.

    Looked for in generics, unions and ``Annotated``, not inside of models.

    Raises:
        TypeError: It is ``Self``, which pydantic would take for the arguments as a whole.
    """
    if annotation is Self:
        raise TypeError("write the name of the class instead of Self")
    origin = get_origin(annotation)
    if origin is None:
        return annotation
    if origin is Literal:
        return _literal(annotation)
    parts = get_args(annotation)
    if origin is Annotated:
        inner = rewritten(parts[0])
        return annotation if inner is parts[0] else Annotated[(inner, *parts[1:])]
    new = tuple(part if isinstance(part, list) else rewritten(part) for part in parts)
    if origin in (Iterable, Iterator) and new:
        return list[new[0]]  # type: ignore[valid-type]
    if all(one is part for one, part in zip(new, parts, strict=True)):
        return annotation
    if origin in (Union, types.UnionType):
        return Union[new]  # noqa: UP007 -- made at run time
    return origin[new]


def _literal(annotation: Any) -> Any:
    # A member that is text or a number itself is known by its value already.
    members = [
        one for one in get_args(annotation)
        if isinstance(one, enum.Enum) and not isinstance(one, (str, int))
    ]  # fmt: skip
    if not members:
        return annotation
    from pydantic import BeforeValidator

    def member_of(value: Any) -> Any:
        known = (one for one in members if type(one.value) is type(value) and one.value == value)
        return next(known, value)

    return cast("Any", Annotated[annotation, BeforeValidator(member_of)])
