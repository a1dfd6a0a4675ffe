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
from agtools_nb.views.form_plan import Plan
from agtools_nb.views.form_tree import (
    ABSENT,
    Node,
    json_node,
    node_of,
    number_of,
    typed_number,
    value_of,
)
from agtools_nb.views.form_words import Field, json_of

MAX_ITEMS = 10_000
_KEPT_BY_UNIONS = ("required", "default", "nullable")
_NEVER_MAKE = ("unset", "settle", "remove", "move", "rename")


class EditRefusedError(Exception):
    """An edit that cannot be done; its message says why, for people."""


class Place:
    """One place of the tree that an edit is about.

    Attributes:
        node: What is there; an unset node that hangs in the tree if nothing was.
        field: The field that shows it, with references and branches followed.
        union: The union that the field is a branch of, if it is one.
        parent: What holds it; ``None`` for the root.
        key: Its key in the parent, if that is an object.
    """

    __slots__ = ("field", "key", "node", "parent", "union")

    def __init__(
        self,
        plan: Plan,
        node: Node,
        field: Field,
        parent: Place | None = None,
        key: str | None = None,
    ) -> None:
        self.node, self.parent, self.key = node, parent, key
        self.field = plan.resolve(field)
        self.union = self.field if self.field["kind"] == "union" else None
        if self.union is not None:
            at = branch_of(plan, self.union, node)
            if at is not None:
                own = {k: v for k, v in self.union.items() if k in _KEPT_BY_UNIONS}
                self.field = {**plan.resolve(self.union["branches"][at]), **own}

    @property
    def is_extra(self) -> bool:
        """Whether it is a key that the schema does not name."""
        if self.parent is None or self.key is None:
            return False
        return all(one["title"] != self.key for one in self.parent.field.get("fields", ()))


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
    place = _find(plan, root, path, make=op not in _NEVER_MAKE and not blank)
    if place is None or (blank and place.node.kind == "unset"):
        return  # a field that was left alone stays as it is
    try:
        handler(plan, place, edit)
    finally:
        if place.is_extra and place.node.kind == "unset":
            place.node.flag = True  # the row of a key that was typed stays
        _drop_unset(root, path)


def new_node(plan: Plan, field: Field) -> Node:
    """What a field starts with when the user adds it: an object or array opens, else unset.

    An object gets its required constants: nothing else could stand there.
    """
    field = plan.resolve(field)
    if field["kind"] == "object":
        node = Node("object")
        fill_constants(plan, field, node)
        return node
    if field["kind"] == "array":
        return Node("array")
    if field["kind"] == "const":
        return node_of(json.loads(field["options"][0]["json"]))
    return Node()


def fill_constants(plan: Plan, field: Field, node: Node, tags: list[str] | None = None) -> None:
    """Give an object the constants that it must have, or that tell its branch (``tags``)."""
    for child in field["fields"]:
        name, full = child["title"], plan.resolve(child)
        wanted = child.get("required") or name in (tags or ())
        if full["kind"] == "const" and wanted and name not in node.entries:
            put(field, node, name, node_of(json.loads(full["options"][0]["json"])))


def put(field: Field, node: Node, key: str, child: Node) -> None:
    """Set a key of an object; a new one goes where the schema's order has it."""
    if key in node.entries:
        node.entries[key] = child
        return
    order = [one["title"] for one in field["fields"]]
    later = set(order[order.index(key) + 1 :]) if key in order else set()
    before = next((name for name in node.entries if name in later), None)
    entries = list(node.entries.items())
    at = len(entries) if before is None else [name for name, _ in entries].index(before)
    entries.insert(at, (key, child))
    node.entries = dict(entries)


def _find(plan: Plan, root: Node, path: list[Any], *, make: bool) -> Place | None:
    place = Place(plan, root, plan.root)
    for at, step in enumerate(path):
        last = at == len(path) - 1
        if isinstance(step, str):
            found = _step_into_object(plan, place, step, make=make, last=last)
        elif isinstance(step, int) and not isinstance(step, bool):
            found = _step_into_array(plan, place, step)
        else:
            return None
        if found is None:
            return None
        place = found
    return place


def _step_into_object(
    plan: Plan, place: Place, key: str, *, make: bool, last: bool
) -> Place | None:
    if place.field["kind"] != "object":
        return None
    node = place.node
    if node.kind != "object":
        if not make or node.kind == "json":
            return None
        _settle(plan, place)
        node.become(new_node(plan, place.field))
    if place.union is not None and make:
        _settle(plan, place)
        if not node.entries:
            fill_constants(plan, place.field, node, place.union["tags"])
    child = node.entries.get(key)
    if child is None:
        if not make and not last:
            return None
        child = Node()
        if make:
            put(place.field, node, key, child)
    return Place(plan, child, child_field(place.field, key), place, key)


def _step_into_array(plan: Plan, place: Place, item_id: int) -> Place | None:
    if place.node.kind != "array":
        return None
    _settle(plan, place)
    for at, item in enumerate(place.node.items):
        if item.id == item_id:
            return Place(plan, item, item_field(place.field, at), place)
    return None  # it was removed meanwhile


def _settle(plan: Plan, place: Place) -> None:
    """Keep the branch that is shown: editing inside it must not change it."""
    if place.union is not None and place.node.branch is None:
        place.node.branch = branch_of(plan, place.union, place.node)


def _drop_unset(root: Node, path: list[Any]) -> None:
    """Take the unset nodes out of the objects on a path, unless they remember something."""
    node: Node | None = root
    for step in path:
        if node is None:
            return
        if isinstance(step, str):
            child = node.entries.get(step)
            if child is not None and child.kind == "unset" and not _remembers(child):
                del node.entries[step]
            node = child
        else:
            node = next((item for item in node.items if item.id == step), None)


def _remembers(node: Node) -> bool:
    return node.flag or node.branch is not None or bool(node.stash)


# -- the operations ----------------------------------------------------------------------------


def _text(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    text = edit.get("text")
    if not isinstance(text, str):
        return
    _settle(plan, place)
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
        _settle(plan, place)
        place.node.become(Node("bool", flag=value))


def _choose(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    at = edit.get("option")
    options = place.field.get("options", [])
    if type(at) is not int or not 0 <= at < len(options) or option_of(place.field, place.node) == at:
        return
    _settle(plan, place)
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
    _settle(plan, place)
    if kind == "object" and node.kind != "object":
        node.become(new_node(plan, place.field))
        if place.union is not None:
            fill_constants(plan, place.field, node, place.union["tags"])
    elif kind == "array" and node.kind != "array":
        node.become(Node("array"))


def _empty(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    """Make a text field the empty text, on purpose."""
    if place.field["kind"] == "string":
        _settle(plan, place)
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
        shared = {
            key: child
            for key, child in node.entries.items()
            if key in names and not (names[key]["kind"] == "const" and option_of(names[key], child) is None)
        }
        return Node("object", entries=shared)
    if kind == "array" and node.kind == "array":
        return node
    return Node()


def _add(plan: Plan, place: Place, edit: Mapping[str, Any]) -> None:
    """Add an item to an array, or a further key to an object."""
    node, field = place.node, place.field
    if field["kind"] == "array":
        if node.kind != "array":
            _settle(plan, place)
            node.become(Node("array"))
        if len(node.items) >= MAX_ITEMS:
            raise EditRefusedError(f"a form holds at most {MAX_ITEMS:,} items; use JSON for more")
        node.items.append(new_node(plan, item_field(field, len(node.items))))
    elif field["kind"] == "object":
        key = _new_key(place, edit.get("key"))
        if node.kind != "object":
            _settle(plan, place)
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
