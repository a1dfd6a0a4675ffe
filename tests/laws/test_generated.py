"""Laws of coercion and validation over generated schemas and values of both drafts."""

from __future__ import annotations

import copy
import json
from collections import Counter

from hypothesis import given, settings

from agtools_nb import coerce, validate
from laws.generators import Case, cases
from laws.oracle import conforms, same, undone

EXAMPLES = settings().max_examples * 3


@settings(max_examples=EXAMPLES)
@given(cases())
def test_a_conforming_value_is_never_changed(case: Case) -> None:
    """The value itself comes back, and no change is listed."""
    if conforms(case.value, case.schema):
        found = coerce(case.value, case.schema)
        assert found.value is case.value
        assert found.changes == ()


@settings(max_examples=EXAMPLES)
@given(cases())
def test_coercing_twice_is_coercing_once(case: Case) -> None:
    """What came out is a fixed point."""
    once = coerce(case.value, case.schema)
    twice = coerce(once.value, case.schema)
    assert same(twice.value, once.value)
    assert twice.changes == ()


@settings(max_examples=EXAMPLES)
@given(cases())
def test_every_change_is_listed_and_can_be_undone(case: Case) -> None:
    """By pointer, in reverse order; the caller's value is not touched."""
    before = copy.deepcopy(case.value)
    found = coerce(case.value, case.schema)
    assert same(case.value, before)
    assert same(undone(found.value, found.changes), case.value)
    assert bool(found.changes) is not same(found.value, case.value)


@settings(max_examples=EXAMPLES)
@given(cases())
def test_validation_agrees_with_jsonschema(case: Case) -> None:
    """No fault where it finds none, and at least one where it finds one."""
    right = conforms(case.value, case.schema)
    faults = validate(case.value, case.schema)
    if right is not None:
        assert (faults == ()) is right, faults
    assert len({fault.pointer for fault in faults}) == len(faults) <= 20
    for fault in faults:
        assert fault.message
        json.dumps([fault.pointer, fault.expected, fault.got, fault.message]).encode()


@settings(max_examples=EXAMPLES)
@given(cases())
def test_coercion_makes_no_valid_value_invalid_and_no_json_something_else(case: Case) -> None:
    """And what one pass made still is JSON."""
    found = coerce(case.value, case.schema)
    json.dumps(found.value, allow_nan=False)
    if not validate(case.value, case.schema):
        assert not validate(found.value, case.schema)


def test_the_generators_reach_what_they_are_for() -> None:
    """A law over values that never conform, or schemas that never convert, would say nothing."""
    seen: Counter[str] = Counter()

    @settings(max_examples=400, database=None, derandomize=True)
    @given(cases())
    def look(case: Case) -> None:
        right = conforms(case.value, case.schema)
        seen["judged"] += right is not None
        seen["conforms"] += right is True
        changes = coerce(case.value, case.schema).changes
        seen["changed"] += bool(changes)
        seen["changed inside"] += any(change.pointer for change in changes)
        seen["several changes"] += len(changes) > 1
        for keyword in (
            "$ref",
            "anyOf",
            "oneOf",
            "allOf",
            "if",
            "prefixItems",
            "additionalItems",
            "patternProperties",
            "contains",
            "not",
            "dependencies",
            "dependentRequired",
            "propertyNames",
            "uniqueItems",
        ):
            seen[keyword] += f'"{keyword}":' in json.dumps(case.schema)

    look()
    rare = {name: count for name, count in seen.items() if count < 10}
    assert not rare, seen
    assert seen["conforms"] > 80, seen
