"""The laws over 995 real schemas and 2,485 arguments that are known to be right for them."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

from form.schema_tool import corpus

from agtools_nb import coerce, validate
from laws.oracle import conforms, same, undone


def instances() -> Iterator[tuple[str, Any, Any]]:
    """Id, schema and value."""
    for row in corpus():
        for instance in row["instances"]:
            yield row["id"], row["schema"], instance["value"]


def as_text(value: Any, rate: float, chance: random.Random) -> Any:
    """The value with some of its parts written as text, as models do."""
    if isinstance(value, dict):
        value = {key: as_text(item, rate, chance) for key, item in value.items()}
    elif isinstance(value, list):
        value = [as_text(item, rate, chance) for item in value]
    if isinstance(value, str) or chance.random() > rate:
        return value
    return json.dumps(value)


def test_right_arguments_are_never_changed_and_have_no_fault() -> None:
    """But for a float that an integer was asked for: that one place, and it is said."""
    count, whole = 0, 0
    for name, schema, value in instances():
        found = coerce(value, schema)
        if conforms(value, schema):
            assert found.value is value, name
            assert found.changes == (), name
            assert validate(value, schema) == (), name
            count += 1
            continue
        assert {change.rule for change in found.changes} <= {"number to integer"}, name
        whole += bool(found.changes)
    assert count + whole > 2_400, (count, whole)
    print(f"{count} right arguments unchanged, {whole} with a whole float for an integer")


def test_arguments_written_as_text_come_back() -> None:
    """Each conversion is listed, can be undone, and done twice is done once."""
    chance, back, changed = random.Random(7), 0, 0
    for name, schema, value in instances():
        sent = as_text(value, 0.5, chance)
        before = copy.deepcopy(sent)
        found = coerce(sent, schema)
        assert same(sent, before), name
        assert same(undone(found.value, found.changes), sent), name
        again = coerce(found.value, schema)
        assert again.changes == (), name
        assert again.value is found.value, name
        changed += bool(found.changes)
        back += same(found.value, value)
    assert changed > 1_000, changed
    # What is allowed to be text stays text, so not all of them can come back.
    assert back > 1_800, back
    print(f"{changed} of 2,485 arguments were changed; {back} came back exactly as they were")


def test_validation_agrees_with_jsonschema() -> None:
    """On the right arguments, and on those with a key too many, one too few, and as text."""
    chance, judged, wrong = random.Random(8), 0, 0
    for name, schema, value in instances():
        variants = [value, {**value, "no_such_key": 1}, as_text(value, 0.3, chance)]
        variants += [
            {key: item for key, item in value.items() if key != missing}
            for missing in list(value)[:1]
        ]
        for variant in variants:
            right = conforms(variant, schema)
            assert right is not None, name
            assert (validate(variant, schema) == ()) is right, (name, variant)
            judged += 1
            wrong += not right
    assert judged > 9_000, judged
    assert wrong > 2_000, wrong


def test_each_fault_names_its_place_and_the_words_are_short() -> None:
    """A message is for a model to read: its place stands first, and it is one line."""
    chance = random.Random(9)
    for name, schema, value in instances():
        wrong = {key: chance.choice([None, [None], {"x": {}}, "?"]) for key in value}
        for fault in validate(wrong, schema):
            assert fault.message.startswith(fault.pointer or "the arguments"), name
            assert "\n" not in fault.message, name
            assert len(fault.message) < 1_600, (name, fault.message)
