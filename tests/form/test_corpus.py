"""995 real schemas: each has a form, and each valid instance comes back as it was."""

from __future__ import annotations

import json
from typing import Any

from form.schema_tool import corpus, leaves

from agtools_nb.views.form_plan import plan_form
from agtools_nb.views.form_tree import node_of, value_of
from agtools_nb.views.form_unions import Plan
from agtools_nb.views.form_wire import wire_tree

TOOLS, INSTANCES = 995, 2485


def shown(wire: dict[str, Any]) -> int:
    """How many leaves of a value the page shows, each in a control of its own or as JSON."""
    if wire["s"] == "object" and wire["e"]:
        return sum(shown(child) for _, child in wire["e"])
    if wire["s"] == "array" and wire["i"]:
        return sum(shown(child) for _, child in wire["i"])
    return len(leaves(json.loads(wire["x"]))) if wire["s"] == "json" else 1


def plans() -> list[tuple[dict[str, Any], Plan]]:
    """Every tool with its plan."""
    return [(row, plan_form(row["schema"])) for row in corpus()]


def test_the_corpus_is_whole() -> None:
    assert len(corpus()) == TOOLS
    assert sum(len(row["instances"]) for row in corpus()) == INSTANCES


def test_each_schema_has_fields_without_a_fallback() -> None:
    for row, plan in plans():
        text = json.dumps(plan.wire())
        assert plan.resolve(plan.root)["kind"] in ("object", "union"), row["id"]
        assert '"kind": "json"' not in text, row["id"]


def test_each_valid_instance_comes_back_exactly_and_shows_every_leaf() -> None:
    count = 0
    for row, plan in plans():
        for instance in row["instances"]:
            value = instance["value"]
            root = node_of(value)
            wire = wire_tree(plan, root)
            assert json.dumps(value_of(root)) == json.dumps(value), row["id"]
            assert shown(wire) == len(leaves(value)), row["id"]
            count += 1
    assert count == INSTANCES


def test_an_untouched_form_is_empty() -> None:
    for _, plan in plans():
        root = node_of({})
        wire_tree(plan, root)
        assert value_of(root) == {}
