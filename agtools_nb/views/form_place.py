"""Finding a place of a form's tree by its path, and making what is missing on the way."""

from __future__ import annotations

import json
from typing import Any

from agtools_nb.views.form_fit import branch_of, child_field, item_field
from agtools_nb.views.form_tree import Node, node_of
from agtools_nb.views.form_unions import Plan
from agtools_nb.views.form_words import Field

_KEPT_BY_UNIONS = ("required", "default", "nullable")


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


def find(plan: Plan, root: Node, path: list[Any], *, make: bool) -> Place | None:
    """Return the place a path leads to; ``None`` if there is none (any more).

    Args:
        plan: The form's fields.
        root: Its tree.
        path: Property names and ids of array items.
        make: Whether objects on the way, and the place itself, come to be.
    """
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
        settle(plan, place)
        node.become(new_node(plan, place.field))
    if place.union is not None and make:
        settle(plan, place)
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
    settle(plan, place)
    for at, item in enumerate(place.node.items):
        if item.id == item_id:
            return Place(plan, item, item_field(place.field, at), place)
    return None  # it was removed meanwhile


def settle(plan: Plan, place: Place) -> None:
    """Keep the branch that is shown: editing inside it must not change it."""
    if place.union is not None and place.node.branch is None:
        place.node.branch = branch_of(plan, place.union, place.node)


def drop_unset(root: Node, path: list[Any]) -> None:
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
