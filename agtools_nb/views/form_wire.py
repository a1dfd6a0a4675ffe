"""A form's tree as the browser gets it: each place with its state, numbers and JSON as text.

``{"s": state}`` and by state ``x`` (text), ``o`` (option), ``e`` (``[[key, node], ...]``),
``i`` (``[[id, node], ...]``), ``f`` (why JSON text is not JSON), ``b`` (branch of a union),
``none`` (JSON text that sends nothing) and ``odd`` (a value that its field's control cannot
hold, shown as JSON). States: unset, text, number, bool, option, null, object, array, json.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from agtools_nb.jsonable import pointer_step
from agtools_nb.views.form_fit import (
    branch_of,
    can_show,
    child_field,
    item_field,
    option_of,
)
from agtools_nb.views.form_tree import (
    ABSENT,
    Node,
    number_text,
    sends,
    value_of,
)
from agtools_nb.views.form_unions import Plan
from agtools_nb.views.form_words import Field, json_of


def wire_tree(plan: Plan, node: Node, field: Field | None = None) -> dict[str, Any]:
    """Return a tree for the browser."""
    field = plan.resolve(plan.root if field is None else field)
    if field["kind"] == "union":
        at = branch_of(plan, field, node)
        if at is None:
            return _as_json(node)
        return {**wire_tree(plan, node, field["branches"][at]), "b": at}
    if not can_show(plan, field, node):
        return _as_json(node)
    match node.kind:
        case "json":
            wire = {"s": "json", "x": node.text, "f": node.fault}
            return wire if sends(node) else {**wire, "none": True}
        case "object":
            return {"s": "object", "e": _entries(plan, field, node)}
        case "array":
            return {"s": "array", "i": _items(plan, field, node)}
    return _scalar(field, node)


def _entries(plan: Plan, field: Field, node: Node) -> list[list[Any]]:
    return [
        [key, wire_tree(plan, child, child_field(field, key))]
        for key, child in node.entries.items()
    ]


def _items(plan: Plan, field: Field, node: Node) -> list[list[Any]]:
    return [
        [item.id, wire_tree(plan, item, item_field(field, at))]
        for at, item in enumerate(node.items)
    ]


def _scalar(field: Field, node: Node) -> dict[str, Any]:
    option = option_of(field, node) if field["kind"] in ("enum", "const") else None
    if option is not None:
        return {"s": "option", "o": option}
    if node.kind in ("unset", "null"):
        return {"s": node.kind}
    if field["kind"] in ("integer", "number"):
        return {"s": "number", "x": number_text(node)}
    if node.kind == "bool":
        return {"s": "bool", "x": node.flag}
    return {"s": "text", "x": node.text}


def _as_json(node: Node) -> dict[str, Any]:
    value = value_of(node)
    text = "" if value is ABSENT else json_of(value, indent=2)
    return {"s": "json", "x": text, "f": "", "odd": True}


def left_empty(
    plan: Plan, node: Node, field: Field | None = None, *, texts: bool = True
) -> Iterator[tuple[str, Any]]:
    """Yield what a required field that was left alone sends all the same: place and value.

    A text field left empty is the empty text, and a constant is its one value. Everything
    else has no value to take without asking, and a text with a default or that may be null
    has two. Without ``texts``, constants only.
    """
    field = plan.resolve(plan.root if field is None else field)
    if field["kind"] == "union":
        at = branch_of(plan, field, node)
        if at is None:
            return
        field = plan.resolve(field["branches"][at])
    if node.kind == "object" and field["kind"] == "object":
        for child in field["fields"]:
            key, inner = child["title"], node.entries.get(child["title"])
            place = f"/{pointer_step(key)}"
            if inner is not None and (inner.kind != "unset" or inner.flag):
                yield from _below(place, left_empty(plan, inner, child, texts=texts))
            elif child.get("required"):
                yield from ((place, value) for value in _empty_values(plan.resolve(child), texts))
    elif node.kind == "array" and field["kind"] == "array":
        sent = [(at, item) for at, item in enumerate(node.items) if sends(item)]
        for index, (at, item) in enumerate(sent):
            inside = left_empty(plan, item, item_field(field, at), texts=texts)
            yield from _below(f"/{index}", inside)


def _below(place: str, found: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    return ((f"{place}{inner}", value) for inner, value in found)


def _empty_values(field: Field, texts: bool) -> Iterator[Any]:
    if field["kind"] == "const":
        yield json.loads(field["options"][0]["json"])
    elif texts and _may_be_empty(field):
        yield ""


def _may_be_empty(field: Field) -> bool:
    """Whether a text field takes the empty text: not one for a date, or of a least length."""
    plain = field["kind"] == "string" and field.get("type") == "string"
    return plain and not {"default", "bounds"} & field.keys() and not field.get("nullable")


def with_values(arguments: dict[str, Any], added: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of ``arguments`` that also has the values ``added`` by JSON pointer."""
    copy: dict[str, Any] = json.loads(json.dumps(arguments))
    for pointer, value in added.items():
        *steps, last = (s.replace("~1", "/").replace("~0", "~") for s in pointer.split("/")[1:])
        holder: Any = copy
        for step in steps:
            holder = holder[int(step)] if isinstance(holder, list) else holder[step]
        holder[last] = value
    return copy
