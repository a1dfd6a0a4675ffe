"""The JSON Schema Test Suite, as jsonschema ships it: the same verdicts, and no valid value changed.

What is compared is a plain validator of jsonschema of the draft in question, run on the same
schema and value. Where this package differs on purpose, it is listed below, case by case.
"""

from __future__ import annotations

import json
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, Draft202012Validator
from referencing import Registry
from registries import sdist

from agtools_nb import coerce, validate
from laws.oracle import same, undone

VERSION = "4.26.0"
SHA256 = "0c26707e2efad8aa1bfc5b7ce170f3fccc2e4918ff85989ba9ffa9facb2be326"
VALIDATORS = {"draft7": Draft7Validator, "draft2020-12": Draft202012Validator}


@dataclass(frozen=True)
class Example:
    """One test of the suite."""

    draft: str
    file: str
    group: str
    words: str
    schema: Any
    value: Any

    @property
    def is_optional(self) -> bool:
        """Whether an implementation may differ."""
        return "optional/" in self.file


@pytest.fixture(scope="module")
def suite() -> list[Example]:
    """Every test of both drafts. The archive is kept between runs, and its digest checked."""
    folder = Path(tempfile.gettempdir()) / "agtools-sdists"
    found = list(_read(sdist("jsonschema", VERSION, SHA256, folder)))
    assert len([example for example in found if not example.is_optional]) > 2_000
    return found


def _read(archive: Any) -> Iterator[Example]:
    with tarfile.open(archive) as tar:
        for member in tar:
            for draft in VALIDATORS:
                _, place, file = member.name.partition(f"/json/tests/{draft}/")
                content = tar.extractfile(member) if place and file.endswith(".json") else None
                if content is None:
                    continue
                for group in json.load(content):
                    schema = group["schema"]
                    if isinstance(schema, dict) and draft == "draft7":
                        # The suite leaves it to the reader to know the draft.
                        schema = {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
                    for test in group["tests"]:
                        yield Example(
                            draft,
                            file,
                            group["description"],
                            test["description"],
                            schema,
                            test["data"],
                        )


def plain(example: Example) -> bool | None:
    """The verdict of jsonschema, which fetches nothing here; ``None`` if it has none."""
    try:
        return VALIDATORS[example.draft](example.schema, registry=Registry()).is_valid(
            example.value
        )
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return None


# Where this package differs on purpose: to a tool that asks for an integer, 3.0 is none (coercion
# makes it 3). File, and words of the test.
ON_PURPOSE = {
    ("type.json", "a float with zero fractional part is an integer"),
    ("optional/float-overflow.json", "valid if optional overflow handling is implemented"),
}
DEVIATIONS = 4


def is_on_purpose(example: Example) -> bool:
    """Whether the verdict is known to differ."""
    return (example.file, example.words) in ON_PURPOSE


def test_the_verdicts_are_those_of_jsonschema(suite: list[Example]) -> None:
    """On each test for which jsonschema has a verdict."""
    count: Counter[str] = Counter()
    differ: list[str] = []
    for example in suite:
        right, ours = plain(example), validate(example.value, example.schema) == ()
        part = "optional" if example.is_optional else "required"
        if right is None:
            # Only a schema that would have to be fetched, and then nothing is refused unseen.
            count[f"{part}, no verdict"] += 1
        elif ours is right:
            count[f"{part}, same"] += 1
        elif is_on_purpose(example):
            count["on purpose"] += 1
        else:
            differ.append(
                f"{example.draft}/{example.file}: {example.group}: {example.words}: {right=} {ours=}"
            )
    print(dict(count))
    assert not differ, "\n".join(differ)
    assert count["required, same"] > 2_000
    assert count["required, no verdict"] < 100
    assert count["on purpose"] == DEVIATIONS


def test_no_valid_value_is_changed(suite: list[Example]) -> None:
    """But a float that is whole, where an integer is asked for."""
    kept, whole = 0, 0
    for example in suite:
        if plain(example) is not True:
            continue
        found = coerce(example.value, example.schema)
        if found.changes and is_on_purpose(example):
            assert {change.rule for change in found.changes} == {"number to integer"}
            whole += 1
            continue
        assert found.changes == (), f"{example}: {found.changes}"
        assert found.value is example.value
        kept += 1
    print(f"{kept} valid values unchanged, {whole} whole floats made integers")
    assert kept > 1_500
    assert whole <= DEVIATIONS


def test_every_change_can_be_undone(suite: list[Example]) -> None:
    """On the invalid values too; and twice is once."""
    changed = 0
    for example in suite:
        found = coerce(example.value, example.schema)
        assert same(undone(found.value, found.changes), example.value), example
        assert coerce(found.value, example.schema).changes == (), example
        changed += bool(found.changes)
    print(f"{changed} of {len(suite)} values were changed")
    assert changed > 50
