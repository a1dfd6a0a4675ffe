"""Defaults that stand in an annotation: ``Annotated[int, Field(default=3)]``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from agtools_nb.define.annotations import MISSING
from agtools_nb.define.signature import is_field

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo


def constraints_only(info: FieldInfo) -> FieldInfo:
    """A ``Field(...)`` without its default, which a ``TypedDict`` key cannot have."""
    known = {
        name: value
        for name, value in info._attributes_set.items()
        if name not in ("default", "default_factory", "annotation")
    }
    bare = type(info)(**known)
    bare.metadata = list(info.metadata)
    return bare


def without_default(annotation: Any, default: Any) -> tuple[Any, Any]:
    """A parameter's type without a default in it, and the default that counts.

    Args:
        annotation: Its type.
        default: What Python has as its default, which comes first.
    """
    if get_origin(annotation) is not Annotated:
        return annotation, default
    inner, *items = get_args(annotation)
    fields = [item for item in items if is_field(item) and not item.is_required()]
    if not fields:
        return annotation, default
    for item in items:
        is_given = any(item is one for one in fields)
        inner = Annotated[inner, constraints_only(item) if is_given else item]
    if default is MISSING or (is_field(default) and default.is_required()):
        if is_field(default):
            inner = Annotated[inner, default]
        default = fields[-1]
    return inner, default
