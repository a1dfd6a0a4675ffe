"""Which field shows which value: whether a field's control can hold it, and a union's branch."""

from __future__ import annotations

import re

from agtools_nb.views.form_tree import ABSENT, Node, number_of, sends, value_of
from agtools_nb.views.form_unions import ANY, Plan
from agtools_nb.views.form_words import Field, json_of

NO = -1_000
"""A score that says: this field is not for this value."""

_DEPTH = 5
# A textarea turns \r into \n, and other control characters cannot be seen in one.
_UNSAFE_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def safe_text(text: str) -> bool:
    """Whether a text field shows and returns this text exactly."""
    return _UNSAFE_TEXT.search(text) is None


def safe_key(key: str) -> bool:
    """Whether a key can be shown and edited in one line."""
    return safe_text(key) and "\n" not in key


def child_field(field: Field, key: str) -> Field:
    """The field of one key of an object field."""
    for child in field.get("fields", ()):
        if child["title"] == key:
            return dict(child)
    return dict(field.get("extra") or {"kind": "ref", "ref": ANY, "type": "any", "unknown": True})


def item_field(field: Field, at: int) -> Field:
    """The field of one item of an array field."""
    prefix = field.get("prefix", ())
    if at < len(prefix):
        return dict(prefix[at])
    return dict(field.get("items") or {"kind": "ref", "ref": ANY, "type": "any", "unknown": True})


def option_of(field: Field, node: Node) -> int | None:
    """Which option of an enum or constant a value is, to the digit."""
    value = value_of(node)
    if value is ABSENT:
        return None
    text = json_of(value)
    return next((at for at, o in enumerate(field["options"]) if o["json"] == text), None)


def can_show(plan: Plan, field: Field, node: Node) -> bool:
    """Whether a field's own control can hold what is there; else it is shown as JSON."""
    field = plan.resolve(field)
    if node.kind in ("unset", "null", "json"):
        return True
    match field["kind"]:
        case "string":
            return node.kind == "text" and safe_text(node.text)
        case "integer" | "number":
            return node.kind == "number" or (node.kind == "text" and safe_text(node.text))
        case "boolean":
            return node.kind == "bool"
        case "enum" | "const":
            return option_of(field, node) is not None
        case "object":
            return node.kind == "object" and all(map(safe_key, node.entries))
        case "array":
            return node.kind == "array"
        case "union":
            return branch_of(plan, field, node) is not None
    return False


def branch_of(plan: Plan, field: Field, node: Node) -> int | None:
    """Which branch of a union is shown: the one chosen, else the one that fits best.

    Returns:
        ``None`` if no branch can show what is there.
    """
    branches = field["branches"]
    chosen = node.branch
    if chosen is not None and chosen < len(branches) and can_show(plan, branches[chosen], node):
        return chosen
    if node.kind in ("unset", "null", "json"):
        return 0
    scores = [fit(plan, branch, node, _DEPTH) for branch in branches]
    for at in sorted(range(len(branches)), key=lambda at: (-scores[at], at)):
        if can_show(plan, branches[at], node):
            return at
    return None


def fit(plan: Plan, field: Field, node: Node, depth: int = _DEPTH) -> int:
    """How well a field fits what is there; below zero: something does not."""
    field = plan.resolve(field)
    match field["kind"], node.kind:
        case (_, "unset" | "json"):
            return 0
        case (_, "null"):
            return 1 if field.get("nullable") else NO
        case ("string", "text") | ("boolean", "bool"):
            return 3
        case ("integer", "number"):
            return 3 if isinstance(number_of(node.text), int) else NO
        case ("number", "number"):
            return 2
        case ("enum" | "const", _):
            return 5 if option_of(field, node) is not None else NO
        case ("object", "object"):
            return _fit_object(plan, field, node, depth)
        case ("array", "array"):
            return _fit_array(plan, field, node, depth)
        case ("union", _) if depth > 0:
            return max(fit(plan, branch, node, depth - 1) for branch in field["branches"])
    return NO


def _fit_object(plan: Plan, field: Field, node: Node, depth: int) -> int:
    if depth <= 0:
        return 0
    score = 1
    declared = {child["title"]: child for child in field["fields"]}
    for key, child in node.entries.items():
        if key in declared:
            score += max(fit(plan, declared[key], child, depth - 1), NO) + 1
        elif field["extra"] is None:
            score += NO // 10
        elif not field["quiet"]:
            score += max(fit(plan, field["extra"], child, depth - 1), NO)
    for name, child in declared.items():
        if child.get("required") and not (name in node.entries and sends(node.entries[name])):
            score += NO // 20
    return score


def _fit_array(plan: Plan, field: Field, node: Node, depth: int) -> int:
    if depth <= 0:
        return 0
    scores = [
        fit(plan, item_field(field, at), item, depth - 1) for at, item in enumerate(node.items[:20])
    ]
    return 1 + min(scores, default=0)
