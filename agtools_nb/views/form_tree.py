"""A form's arguments as a tree that can also hold what is not (yet) a value.

A tree keeps apart what JSON cannot: a field that is unset, a number as it was typed, JSON
text that does not parse. :func:`node_of` and :func:`value_of` are each other's inverse for
every JSON value: integers of any size, ``1`` and ``1.0``, the order of keys.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from agtools_nb.jsonable import MAX_INT_BITS, jsonable, pointer_step
from agtools_nb.views.form_words import json_of

Kind = Literal["unset", "text", "number", "bool", "null", "object", "array", "json"]

MAX_DEPTH = 48
"""Levels of a value that get fields of their own; what is deeper is edited as JSON."""

ABSENT: Final = object()
"""What :func:`value_of` returns for a field that sends nothing."""

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_ids = itertools.count(1)


@dataclass(slots=True)
class Node:
    """One place of the arguments.

    Attributes:
        kind: What is there.
        text: A text's value, a number as typed, JSON text as typed.
        flag: A boolean's value; for ``"unset"``: whether the user chose that.
        entries: An object's keys, in order.
        items: An array's items. Those that are unset are not sent.
        value: For ``"json"``: the last value that its text stood for, or :data:`ABSENT`.
        fault: For ``"json"``: why its text is not JSON, else ``""``.
        branch: Which branch of a union was chosen; ``None`` to infer it.
        stash: What other branches of a union held before they were left.
        id: Stays with an item when it moves.
    """

    kind: Kind = "unset"
    text: str = ""
    flag: bool = False
    entries: dict[str, Node] = field(default_factory=dict)
    items: list[Node] = field(default_factory=list)
    value: Any = ABSENT
    fault: str = ""
    branch: int | None = None
    stash: dict[int, Node] = field(default_factory=dict)
    id: int = field(default_factory=lambda: next(_ids))

    def become(self, other: Node) -> None:
        """Take another node's content; keep the identity and the branch."""
        self.kind, self.text, self.flag = other.kind, other.text, other.flag
        self.entries, self.items = other.entries, other.items
        self.value, self.fault = other.value, other.fault


def node_of(value: Any, old: Node | None = None, depth: int = 0) -> Node:
    """Return the tree of a value. What is not JSON takes its stated JSON form.

    Args:
        value: The value.
        old: What the new tree replaces; places that stay keep their identity, and
            a number or JSON text that already stands for the value stays as typed.
        depth: Levels above it.
    """
    new = _fresh(value, old, depth)
    if old is None:
        return new
    same = not old.fault and same_value(value_of(old), value)
    if same and old.kind in ("number", "json"):
        return old
    new.id = old.id
    if new.kind == old.kind and (same or new.kind in ("text", "number", "bool")):
        new.branch = old.branch  # what else an object holds tells its branch better
    return new


def _fresh(value: Any, old: Node | None, depth: int) -> Node:
    match value:
        case None:
            return Node("null")
        case bool():
            return Node("bool", flag=value)
        case int() if type(value) is int and value.bit_length() <= MAX_INT_BITS:
            return Node("number", text=str(value))
        case float() if type(value) is float and math.isfinite(value):
            return Node("number", text=repr(value))
        case str() if type(value) is str:
            return Node("text", text=value)
        case dict() | list() if depth >= MAX_DEPTH:
            return json_node(json_of(jsonable(value)))
        case dict():
            entries = old.entries if old is not None else {}
            pairs = ((k if isinstance(k, str) else str(jsonable(k)), v) for k, v in value.items())
            children = {key: node_of(v, entries.get(key), depth + 1) for key, v in pairs}
            return Node("object", entries=children)
        case list() | tuple():
            items = [item for item in old.items if sends(item)] if old is not None else []
            olds: list[Node | None] = [*items, *[None] * len(value)]
            return Node(
                "array", items=[node_of(v, olds[at], depth + 1) for at, v in enumerate(value)]
            )
    plain = jsonable(value)
    return _fresh(plain, old, depth) if not isinstance(plain, type(value)) else Node("null")


def value_of(node: Node) -> Any:
    """Return the JSON value of a tree, or :data:`ABSENT`."""
    match node.kind:
        case "unset":
            return ABSENT
        case "null":
            return None
        case "bool":
            return node.flag
        case "text":
            return node.text
        case "number":
            return number_of(node.text)
        case "object":
            found = ((key, value_of(child)) for key, child in node.entries.items())
            return {key: value for key, value in found if value is not ABSENT}
        case "array":
            return [value for value in map(value_of, node.items) if value is not ABSENT]
        case "json":
            return node.value


def sends(node: Node) -> bool:
    """Whether a node has a value that is sent."""
    return node.kind != "unset" and not (node.kind == "json" and node.value is ABSENT)


def number_of(text: str) -> int | float | str:
    """Read a typed number: exact if it is a JSON integer, finite if it is a JSON number.

    Anything else stays the text that was typed, for the validator to object to.
    """
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        return text
    try:
        number = float(found[0]) if found[1] or found[2] else int(found[0])
    except ValueError:  # over 4,300 digits
        return text
    return number if math.isfinite(number) else text


def typed_number(text: str) -> Node:
    """Return what was typed into a number field. Text in double quotes is that text."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return Node("text", text=json.loads(text))
        except ValueError:
            pass
    return Node("number" if not isinstance(number_of(text), str) else "text", text=text)


def number_text(node: Node) -> str:
    """Return what a number field shows for a number or a text: the inverse of typing it."""
    if node.kind == "number":
        return node.text
    again = typed_number(node.text)
    return node.text if again.kind == "text" and again.text == node.text else json_of(node.text)


def json_node(text: str, last: Any = ABSENT) -> Node:
    """Return a node for typed JSON text. ``last`` is kept as its value if it does not parse."""
    node = Node("json", text=text)
    if not text.strip():
        return node
    try:
        node.value = parse_json(text)
    except ValueError as error:
        node.value, node.fault = last, str(error)
    return node


def parse_json(text: str) -> Any:
    """Parse JSON text strictly: no NaN, no number beyond a float, no key twice.

    Raises:
        ValueError: It is not that; the message says where and why.
    """
    try:
        return json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=_object_of,
        )
    except json.JSONDecodeError as error:
        reason = error.msg[0].lower() + error.msg[1:]
        where = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"not JSON: {reason} ({where})") from None
    except RecursionError:
        raise ValueError("not readable: nested too deeply") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"not JSON: {name} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"not readable: {text} is beyond the largest number")
    return number


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in names if names.count(key) > 1)
        raise ValueError(f"the key {json_of(twice)} stands there twice")
    return found


def same_value(first: Any, second: Any) -> bool:
    """Whether two values are the same JSON to the digit and in the order of keys."""
    if first is ABSENT or second is ABSENT:
        return first is second
    try:
        return json.dumps(first) == json.dumps(second)
    except (TypeError, ValueError, RecursionError):
        return False


def text_faults(node: Node, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Yield the place (JSON pointer) and the fault of each JSON text that does not parse."""
    if node.fault:
        yield pointer, node.fault
    for key, child in node.entries.items():
        yield from text_faults(child, f"{pointer}/{pointer_step(key)}")
    at = 0
    for child in node.items:
        yield from text_faults(child, f"{pointer}/{at}")
        at += sends(child)
