"""One edit of a form's tree, as a browser asks for it. What it sends is checked, never trusted.

An edit is ``{"op": ..., "path": [...], ...}``. A path's steps are property names and the ids
of array items; objects on the way that are unset come to be. Every edit leaves a tree that
:func:`agtools_nb.views.form_tree.value_of` can read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from agtools_nb.views.form_fit import branch_of, can_show, child_field, item_field, option_of
from agtools_nb.views.form_place import (
    Place,
    drop_unset,
    fill_constants,
    find,
    new_node,
    put,
    settle,
)
from agtools_nb.views.form_tree import (
    ABSENT,
    Node,
    json_node,
    node_of,
    number_of,
    typed_number,
    value_of,
)
from agtools_nb.views.form_unions import Plan
from agtools_nb.views.form_words import Field, json_of

MAX_ITEMS = 10_000
_NEVER_MAKE = ("unset", "settle", "remove", "move", "rename")


class EditRefusedError(Exception):
    """An edit that cannot be done; its message says why, for people."""


def apply(plan: Plan, root: Node, edit: Mapping[str, Any]) -> None:
    """Do one edit on the tree ``root``.

    Raises:
        EditRefusedError: It cannot be done; the tree is as it was.
    """
    op = edit.get("op")
    handler = _OPS.get(op) if isinstance(op, str) else None
    path = edit.get("path")
    if handler is None or not isinstance(path, list) or len(path) > 200:
        return
    blank = op in ("text", "json") and not str(edit.get("text", "")).strip()
    place = find(plan, root, path, make=op not in _NEVER_MAKE and not blank)
    if place is None or (blank and place.node.kind == "unset"):
        return  # a field that was left alone stays as it is
    try:
        handler(plan, place, edit)
    finally:
        if place.is_extra and place.node.kind == "unset":
            place.node.flag = True  # the row of a key that was typed stays
        drop_unset(root, path)


# -- the operations ----------------------------------------------------------------------------


def _text(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    text = edit.get("text")
    if not isinstance(text, str):
        return
    settle(plan, place)
    node, kind = place.node, place.field["kind"]
    if kind in ("integer", "number"):
        node.become(typed_number(text) if text.strip() else Node())
    elif kind == "string":
        already = node.kind == "text" and node.text == text
        if text or place.field.get("required"):
            node.become(Node("text", text=text))
        elif not already:  # an empty text that was set on purpose stays
            node.become(Node())


def _json(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    text = edit.get("text")
    if isinstance(text, str) and place.parent is not None:
        odd = place.node.kind != "json" or place.node.flag
        place.node.become(json_node(text, value_of(place.node)))
        place.node.flag = odd


def _settle_json(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    """Bring a value back to its field, if JSON was only typed since the field could not hold it."""
    node = place.node
    if node.kind == "json" and node.flag and not node.fault and node.value is not ABSENT:
        found = node_of(node.value)
        field = place.union or place.field
        if field["kind"] != "json" and can_show(plan, field, found):
            node.become(found)


def _bool(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    value = edit.get("value")
    if place.field["kind"] == "boolean" and isinstance(value, bool):
        settle(plan, place)
        place.node.become(Node("bool", flag=value))


def _choose(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    at = edit.get("option")
    options = place.field.get("options", [])
    if type(at) is not int or not 0 <= at < len(options):
        return
    if option_of(place.field, place.node) == at:
        return
    settle(plan, place)
    place.node.become(node_of(json.loads(options[at]["json"])))


def _null(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    if place.parent is not None:
        place.node.become(Node("null"))


def _unset(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    node = place.node
    if place.parent is None:
        node.become(Node("object"))
        node.branch = None
    elif node.kind != "unset":
        node.become(Node("unset"))
    elif edit.get("left") is not True:
        # said of a field that was merely left alone: from now on it stays unset
        node.flag = True
        if place.key is not None and place.parent.node.kind == "object":
            put(place.parent.field, place.parent.node, place.key, node)


def _value(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    """Make it a value: back from JSON, or an empty object or array."""
    node, kind = place.node, place.field["kind"]
    if node.kind == "json":
        node.become(node_of(node.value) if node.value is not ABSENT else Node())
        return
    settle(plan, place)
    if kind == "object" and node.kind != "object":
        node.become(new_node(plan, place.field))
        if place.union is not None:
            fill_constants(plan, place.field, node, place.union["tags"])
    elif kind == "array" and node.kind != "array":
        node.become(Node("array"))


def _empty(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    """Make a text field the empty text, on purpose."""
    if place.field["kind"] == "string":
        settle(plan, place)
        place.node.become(Node("text"))


def _default(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    if "default" in place.field:
        place.node.become(node_of(json.loads(place.field["default"])))


def _as_json(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    if place.node.kind != "json" and place.parent is not None:
        value = value_of(place.node)
        text = "" if value is ABSENT else json_of(value, indent=2)
        place.node.become(Node("json", text=text, value=value))


def _branch(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    """Switch a union to another branch; what the old one held comes back with it."""
    at = edit.get("branch")
    if place.union is None or type(at) is not int or not 0 <= at < len(place.union["branches"]):
        return
    node = place.node
    shown = branch_of(plan, place.union, node)
    if shown == at:
        return
    if shown is not None and node.kind != "unset":
        kept = Node()
        kept.become(node)
        node.stash[shown] = kept
    target = plan.resolve(place.union["branches"][at])
    before = Node()
    before.become(node)
    node.branch = at
    node.become(node.stash.pop(at) if at in node.stash else _converted(target, before, plan))
    if target["kind"] == "object":
        if node.kind != "object":
            node.become(new_node(plan, target))
        fill_constants(plan, target, node, place.union["tags"])


def _converted(target: Field, node: Node, plan: Plan) -> Node:
    """What another branch can make of a value without guessing; else unset."""
    kind = target["kind"]
    if kind == "string" and node.kind in ("number", "bool"):
        return Node("text", text=node.text if node.kind == "number" else json_of(node.flag))
    if kind in ("integer", "number") and node.kind == "text":
        number = number_of(node.text)
        return Node("number", text=node.text) if not isinstance(number, str) else Node()
    if kind == "object" and node.kind == "object":
        names = {child["title"]: plan.resolve(child) for child in target["fields"]}
        return Node(
            "object",
            entries={
                key: child
                for key, child in node.entries.items()
                if key in names and _could_be(names[key], child)
            },
        )
    if kind == "array" and node.kind == "array":
        return node
    return Node()


def _could_be(field: Field, node: Node) -> bool:
    return field["kind"] != "const" or option_of(field, node) is not None


def _add(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    """Add an item to an array, or a further key to an object."""
    node, field = place.node, place.field
    if field["kind"] == "array":
        if node.kind != "array":
            settle(plan, place)
            node.become(Node("array"))
        if len(node.items) >= MAX_ITEMS:
            raise EditRefusedError(f"a form holds at most {MAX_ITEMS:,} items; use JSON for more")
        node.items.append(new_node(plan, item_field(field, len(node.items))))
    elif field["kind"] == "object":
        key = _new_key(place, edit.get("key"))
        if node.kind != "object":
            settle(plan, place)
            node.become(new_node(plan, field))
        child = new_node(plan, child_field(field, key))
        child.flag = child.kind == "unset"  # its row stays: the key was typed
        node.entries[key] = child


def _new_key(place: Place, key: Any) -> str:
    if not isinstance(key, str):
        raise EditRefusedError("a key is text")
    if key in place.node.entries or any(c["title"] == key for c in place.field.get("fields", ())):
        raise EditRefusedError(f"the key {json_of(key)} is there already")
    return key


def _rename(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    if place.parent is None or place.key is None or edit.get("key") == place.key:
        return
    key = _new_key(place.parent, edit.get("key"))
    entries = place.parent.node.entries
    place.parent.node.entries = {key if k == place.key else k: v for k, v in entries.items()}


def _remove(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    if place.parent is None:
        return
    holder = place.parent.node
    if place.key is not None:
        holder.entries.pop(place.key, None)
    else:
        holder.items = [item for item in holder.items if item is not place.node]


def _move(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    by = edit.get("by")
    if place.parent is None or place.key is not None or type(by) is not int:
        return
    items = place.parent.node.items
    at = next(at for at, item in enumerate(items) if item is place.node)
    items.insert(min(max(at + by, 0), len(items) - 1), items.pop(at))


_OPS: dict[str, Callable[[Plan, Place, Mapping[str, Any]], None]] = {
    "text": _text,
    "json": _json,
    "settle": _settle_json,
    "bool": _bool,
    "choose": _choose,
    "null": _null,
    "unset": _unset,
    "value": _value,
    "empty": _empty,
    "default": _default,
    "as_json": _as_json,
    "branch": _branch,
    "add": _add,
    "rename": _rename,
    "remove": _remove,
    "move": _move,
}
