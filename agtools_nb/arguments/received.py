"""What a tool gets, as JSON: shown to those who decide, once its types have made it of arguments.

A type may change a value (``StringConstraints(to_lower=True)``, an ``AfterValidator``, the
defaults inside of a model). Each value is written under the keys that the tool's schema has,
whichever of its aliases it was sent under:

- a model or dataclass as an object of its fields, nested defaults filled in, whatever its own
  serializers would say
- dates, UUIDs, paths and URLs as the text that they stand for, bytes as text, a secret as it is
- a ``Decimal`` as the number that was sent, else as text
- a value that JSON cannot tell (an object of a class of its own) as it was sent

A parameter of a type whose text looks otherwise than what it becomes (``Json``, ``Base64Bytes``)
is shown as what it becomes; to change it, its text is to be written.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from dataclasses import fields as fields_of
from decimal import Decimal
from enum import Enum
from typing import Any

from agtools_nb.arguments.parse import MAX_NESTING
from agtools_nb.arguments.plan import Plan, plan_of
from agtools_nb.arguments.prepare import Prepared
from agtools_nb.context import copied
from agtools_nb.define import Tool
from agtools_nb.define.signature import is_field
from agtools_nb.jsonable import jsonable, same_json

_UNSENT: Any = object()


# Made only where somebody decides on calls: a field more in Prepared would be paid for by all.
@dataclass(slots=True)
class Received(Prepared):
    """Arguments whose JSON form is what the tool gets.

    Attributes:
        given: What they were made of, under the same keys; without what was filled in.
    """

    given: dict[str, Any] = field(default_factory=dict)


def received(tool: Tool, prepared: Prepared) -> Prepared:
    """Return arguments as the tool will get them, in place of those that it was sent.

    Args:
        tool: The tool.
        prepared: Arguments that were validated by it. Others are returned as they are.

    Raises:
        Exception: What a default factory raised.
    """
    plan = plan_of(tool)
    values, arguments = prepared.values, prepared.arguments
    if plan.is_explicit or values is None or arguments is None:
        return prepared
    sent = {name: arguments[name] for name in arguments if name not in prepared.defaulted}
    values = {**values, **_made_up(tool, values)}
    given: dict[str, Any] = {}
    shown: dict[str, Any] = {}
    for name, value in values.items():
        key, sent_as = _key(plan, name, sent)
        if sent_as in sent:
            given[key] = sent[sent_as]
        shown[key] = _shown(value, sent.get(sent_as, _UNSENT), 0)
    shown = {name: shown.pop(name) for name in arguments if name in shown} | shown
    filled = {name: arguments[name] for name in prepared.defaulted if name not in shown}
    defaulted = tuple(name for name in (*shown, *filled) if name not in given)
    return Received(
        {**shown, **filled}, values, prepared.changes, prepared.faults, prepared.error, defaulted,
        given,
    )  # fmt: skip


def edited(prepared: Prepared, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return other arguments, as they have to be made ready for the tool.

    What was left as it was shown is what was sent, so that a type that changes it does so once.

    Args:
        prepared: What was shown.
        arguments: What somebody wrote in its place.
    """
    shown, given = prepared.arguments or {}, given_of(prepared)
    made = {}
    for name, value in arguments.items():
        if name not in shown or not same_json(value, shown[name]):
            made[name] = value
        elif name in given:
            made[name] = copied(given[name])
    return made


def is_as_written(before: Prepared, arguments: Mapping[str, Any], after: Prepared) -> bool:
    """Whether arguments became what somebody wrote, and types made nothing else of them.

    Args:
        before: What they were shown.
        arguments: What they wrote in its place.
        after: What came of that.
    """
    was, given = before.arguments or {}, given_of(after)
    for name, value in (after.arguments or {}).items():
        is_left = name in arguments and name in was and same_json(arguments[name], was[name])
        meant = was[name] if is_left else given.get(name, value)
        if not same_json(value, meant):
            return False
    return True


def given_of(prepared: Prepared) -> Mapping[str, Any]:
    """What arguments were made of, without what was filled in."""
    if isinstance(prepared, Received):
        return prepared.given
    arguments = prepared.arguments or {}
    return {name: arguments[name] for name in arguments if name not in prepared.defaulted}


def _made_up(tool: Tool, values: Mapping[str, Any]) -> dict[str, Any]:
    """Defaults that are made anew for each call: made now, and shown."""
    made = {}
    for argument in tool.signature.arguments:
        default = argument.default
        if argument.name in values or not argument.default_is_field or not is_field(default):
            continue
        if default.default_factory is not None:
            made[argument.name] = argument.default_value()
    return made


def _key(plan: Plan, name: str, sent: Mapping[str, Any]) -> tuple[str, str]:
    """The key of a parameter in the schema, and the one that it was sent under."""
    keys = plan.keys.get(name, (name,))
    return keys[0], next((key for key in keys if key in sent), keys[0])


class _NoFormError(Exception):
    """A value that JSON cannot tell."""


def _shown(value: Any, sent: Any, depth: int) -> Any:
    """A value as JSON, beside what was sent for it."""
    if value is None or (
        isinstance(value, (bool, int, float, str)) and not isinstance(value, Enum)
    ):
        return jsonable(value)
    try:
        if depth > MAX_NESTING:
            raise _NoFormError
        if isinstance(value, Enum):
            return _shown(value.value, sent, depth + 1)
        if isinstance(value, Mapping):
            return _object(list(value.items()), sent, depth)
        if isinstance(value, (list, tuple, deque)):
            return _array(list(value), sent, depth)
        if isinstance(value, (set, frozenset)):
            return _set(value, sent, depth)
        fields = _fields(value)
        if fields is not None:
            return _object(fields, sent, depth)
        root = _root(value)
        return _leaf(value, sent) if root is _UNSENT else _shown(root, sent, depth + 1)
    except _NoFormError:
        if depth:
            raise
        return jsonable(value) if sent is _UNSENT else copied(sent)


def _object(items: list[tuple[Any, Any]], sent: Any, depth: int) -> dict[str, Any]:
    beside = sent if isinstance(sent, dict) else {}
    shown: dict[str, Any] = {}
    for name, value in items:
        key = name if isinstance(name, str) else _shown(name, _UNSENT, depth + 1)
        text = key if isinstance(key, str) else json.dumps(key)
        if text in shown:
            raise _NoFormError
        shown[text] = _shown(value, beside.get(text, _UNSENT), depth + 1)
    return shown


def _array(items: list[Any], sent: Any, depth: int) -> list[Any]:
    is_beside = isinstance(sent, list) and len(sent) == len(items)
    beside = sent if is_beside else [_UNSENT] * len(items)
    return [_shown(item, other, depth + 1) for item, other in zip(items, beside, strict=True)]


def _set(items: Any, sent: Any, depth: int) -> list[Any]:
    """A set in the order in which it was sent."""
    order = [json.dumps(item) for item in sent] if isinstance(sent, list) else []
    shown = [_shown(item, _UNSENT, depth + 1) for item in items]
    texts = {json.dumps(item): item for item in shown}
    known = [text for text in dict.fromkeys(order) if text in texts]
    return [texts[text] for text in (*known, *sorted(set(texts) - set(known)))]


def _fields(value: Any) -> list[tuple[Any, Any]] | None:
    """What an object of fields holds, under the keys it is read from; ``None`` if it is none."""
    from pydantic import BaseModel, RootModel

    if isinstance(value, (RootModel, type)):
        return None
    if isinstance(value, BaseModel):
        infos = type(value).model_fields
        held = [(_key_of(name, infos[name]), getattr(value, name)) for name in infos]
        return [*held, *(value.__pydantic_extra__ or {}).items()]
    if not is_dataclass(value):
        return None
    infos = getattr(value, "__pydantic_fields__", {})
    names = [one.name for one in fields_of(value) if one.init]
    return [(_key_of(name, infos.get(name)), getattr(value, name)) for name in names]


def _key_of(name: str, info: Any) -> str:
    """The key that a field is read from."""
    alias = None if info is None else info.validation_alias or info.alias
    if alias is None or isinstance(alias, str):
        return alias or name
    paths = alias.convert_to_aliases()
    paths = [paths] if paths and not isinstance(paths[0], list) else paths
    return next((str(path[0]) for path in paths if len(path) == 1), name)


def _root(value: Any) -> Any:
    """What stands inside of a wrapper: a root model, a secret."""
    from pydantic import RootModel
    from pydantic.types import Secret, SecretBytes, SecretStr

    if isinstance(value, RootModel):
        return value.root
    return (
        value.get_secret_value() if isinstance(value, (Secret, SecretStr, SecretBytes)) else _UNSENT
    )


def _leaf(value: Any, sent: Any) -> Any:
    from pydantic_core import PydanticSerializationError, to_jsonable_python

    if isinstance(value, Decimal) and type(sent) in (int, float) and Decimal(str(sent)) == value:
        return sent
    try:
        shown = to_jsonable_python(value)
    except (PydanticSerializationError, ValueError, TypeError):
        raise _NoFormError from None
    if not isinstance(shown, (str, int, float)):
        raise _NoFormError
    return jsonable(shown)
