"""A form's plan as a whole, and its unions: which branches there are, and what tells them apart."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from agtools_nb.jsonable import shorten
from agtools_nb.views.form_words import Field, plain, type_text

ANY = "any"
"""Name of the definition that draws any value at all."""

_OWN_KEYS = ("title", "required", "about", "notes", "default", "label", "name")


@dataclass(frozen=True, slots=True)
class Plan:
    """The fields of one tool's arguments.

    Attributes:
        root: The field of the whole arguments object.
        defs: Fields that others refer to by name, so that recursion stays finite.
    """

    root: Field
    defs: dict[str, Field] = dataclasses.field(default_factory=dict)

    def resolve(self, field: Field) -> Field:
        """Return a field with its reference followed; what its place says wins."""
        for _ in range(len(self.defs) + 1):
            if field["kind"] != "ref":
                return field
            target = self.defs[field["ref"]]
            own = {key: field[key] for key in _OWN_KEYS if key in field}
            nullable = {"nullable": True} if field.get("nullable") else {}
            field = {**target, **own, **nullable}
        return {**field, "kind": "json", "notes": ["this reference leads back to itself"]}

    def wire(self) -> dict[str, Any]:
        """Return the plan as the browser gets it."""
        return {"root": self.root, "defs": self.defs}


def flatten_unions(plan: Plan) -> None:
    """Put the branches of unions within unions side by side: one place, one type switch."""
    todo = [plan.root, *plan.defs.values()]
    while todo:
        field = todo.pop()
        todo += [*field.get("fields", ()), *field.get("prefix", ())]
        todo += [child for child in (field.get("items"), field.get("extra")) if child]
        if field["kind"] != "union":
            continue
        flat, seen = [], {id(field["branches"])}
        inner = list(field["branches"])
        while inner:
            branch = inner.pop(0)
            full = plan.resolve(branch)
            if full["kind"] != "union":
                flat.append(branch)
            elif id(full["branches"]) not in seen:
                seen.add(id(full["branches"]))
                inner[:0] = [dict(one) for one in full["branches"]]
                field |= {"nullable": True} if full.get("nullable") else {}
        if len(seen) > 1:
            flat = different_branches(flat)
            field["branches"] = flat
            field["tags"] = label_branches(flat, [plan.resolve(one) for one in flat])
            field["type"] = type_text(field)
        todo += field["branches"]


def _joined_options(planned: list[Field]) -> list[Field]:
    """Put the branches that are constants or enums into one, at the place of the first."""
    chosen = [branch for branch in planned if branch["kind"] in ("const", "enum")]
    if len(chosen) < 2:
        return planned
    options: list[Field] = []
    for branch in chosen:
        about = branch.get("name") if branch["kind"] == "const" else None
        for option in branch["options"]:
            if all(option["json"] != other["json"] for other in options):
                label = option["label"] if not about else f"{option['label']}: {plain(about)}"
                options.append({**option, "label": label})
    texts = [option["label"] for option in options]
    for option in options:  # "1" and 1
        if texts.count(option["label"]) > 1:
            option["label"] = option["json"]
    notes = [note for branch in chosen for note in branch.get("notes", ())]
    joined: Field = {"kind": "enum", "options": options, **({"notes": notes} if notes else {})}
    joined["type"] = type_text(joined)
    return [joined if b is chosen[0] else b for b in planned if b is chosen[0] or b not in chosen]


def different_branches(branches: list[Field]) -> list[Field]:
    """Join a union's branches: constants into one list of options, doubles into one."""
    different: list[Field] = []
    for branch in _joined_options(branches):
        if not any(_draws_alike(branch, other) for other in different):
            different.append(branch)
    return different


def _draws_alike(first: Field, second: Field) -> bool:
    ignored = {"about", "name", "label", "default", "notes"}
    return {k: v for k, v in first.items() if k not in ignored} == {
        k: v for k, v in second.items() if k not in ignored
    }


def label_branches(branches: list[Field], resolved: list[Field]) -> list[str]:
    """Give each branch of a union a label that tells it from the others.

    Returns:
        The names of the properties that tell the branches apart, if any.
    """
    tags = _tags(resolved)
    for branch, full in zip(branches, resolved, strict=True):
        branch["label"] = shorten(_label(branch, full, tags), 60)
    labels = [branch["label"] for branch in branches]
    for number, branch in enumerate(branches, 1):
        if labels.count(branch["label"]) > 1:
            branch["label"] = f"{branch['label']} ({number})"
    return tags


def _label(branch: Field, full: Field, tags: list[str]) -> str:
    if full["kind"] == "object":
        for child in full["fields"]:
            if child["title"] in tags:
                return str(child["options"][0]["label"])
    if branch.get("name"):
        return str(branch["name"])
    if full["kind"] == "object" and full["fields"]:
        needed = [f["title"] for f in full["fields"] if f.get("required")]
        names = needed or [f["title"] for f in full["fields"]]
        return "object: " + ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    if full.get("bounds") and full["kind"] == "string":
        return f"string, {full['bounds']}"
    return str(full.get("type") or full["kind"])


def _tags(resolved: list[Field]) -> list[str]:
    """Properties that are a constant in every object branch, with different values."""
    objects = [field for field in resolved if field["kind"] == "object"]
    if len(objects) < 2:
        return []
    values: dict[str, list[str]] = {}
    for field in objects:
        for child in field["fields"]:
            if child["kind"] == "const":
                values.setdefault(child["title"], []).append(child["options"][0]["json"])
    return [
        name
        for name, found in values.items()
        if len(found) == len(objects) and len(set(found)) == len(found)
    ]
