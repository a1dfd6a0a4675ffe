"""Generated JSON Schemas of both drafts, and values for them: conforming, mutated, arbitrary.

A document has two shared definitions, ``tree`` and ``shared``; references to them,
to the root and to nowhere occur anywhere, so that recursion of every kind comes up.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import strategies as st

Draw = st.DrawFn
KEYS = ("a", "b", "c", "n_1", "x/y", "~t", "")
PATTERNS = {"^n_": ("n_1", "n_2"), "^[a-c]$": ("a", "b"), "[0-9]+": ("1", "n_10")}
TEXTS = (
    "",
    "a",
    "ab",
    "1",
    "007",
    "true",
    "FALSE",
    "null",
    "[1]",
    '{"a": 1}',
    "0.5",
    "1e3",
    "é\u0301",
    "\U0001f600",
    " 3 ",
    "NaN",
    "-0",
    "2026-01-15",
    "9" * 25,
)
NUMBERS = (0, 1, -1, 2, 3.0, 0.5, -0.0, 1e300, 2**53, 2**53 + 1, 2**64, 10**30)

TEXT = st.sampled_from(TEXTS) | st.text(max_size=4)
SCALARS = st.none() | st.booleans() | st.sampled_from(NUMBERS) | st.integers(-5, 20) | TEXT
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=6,
)

_BOUNDS = st.fixed_dictionaries(
    {},
    optional={
        "minimum": st.integers(-3, 3),
        "exclusiveMaximum": st.integers(3, 30),
        "multipleOf": st.sampled_from([1, 2, 0.5]),
    },
)
_LENGTHS = st.fixed_dictionaries(
    {},
    optional={
        "minLength": st.integers(0, 2),
        "maxLength": st.integers(2, 6),
        "pattern": st.sampled_from(list(PATTERNS)),
        "format": st.sampled_from(["date", "email", "uri", "nonsense"]),
    },
)
_LEAVES = st.one_of(
    st.sampled_from(
        [
            *({"type": kind} for kind in ("string", "integer", "number", "boolean", "null")),
            *({"type": kind} for kind in ("array", "object")),
            {"type": ["integer", "null"]},
            {"type": ["boolean", "null"]},
            {"type": ["string", "integer"]},
            {"type": ["array", "boolean", "null"]},
            {"const": 7},
            {"const": "7"},
            {"const": [1, {"a": None}]},
            {"enum": [1, "2", True, None, 0.5]},
            {"enum": ["1", "true", "x"]},
            {"enum": [[1], {"a": 1}]},
            {"$ref": "#/$defs/shared"},
            {"$ref": "#/$defs/tree"},
            {"$ref": "#/definitions/shared"},
            {"$ref": "#"},
            {"$ref": "#/nowhere"},
            {},
            True,
            False,
        ]
    ),
    st.sampled_from(
        [{"type": kind} for kind in ("integer", "number", "boolean", "string", "null")]
    ),
    st.builds(lambda bounds: {"type": "integer", **bounds}, _BOUNDS),
    st.builds(lambda bounds: {"type": "number", **bounds}, _BOUNDS),
    st.builds(lambda lengths: {"type": "string", **lengths}, _LENGTHS),
)


def _arrays(inner: st.SearchStrategy[Any], draft: str) -> st.SearchStrategy[Any]:
    tuples = (
        {"items": st.lists(inner, min_size=1, max_size=2), "additionalItems": inner}
        if draft == "draft7"
        else {"prefixItems": st.lists(inner, min_size=1, max_size=2), "items": inner}
    )
    bounds = {
        "minItems": st.integers(0, 2),
        "maxItems": st.integers(2, 4),
        "uniqueItems": st.booleans(),
        "contains": inner,
    }
    kind = st.just("array")
    return st.one_of(
        st.fixed_dictionaries({"type": kind, "items": inner}, optional=bounds),
        st.fixed_dictionaries({"type": kind}, optional={**tuples, **bounds}),
        st.fixed_dictionaries({"items": inner}),
    )


def _objects(inner: st.SearchStrategy[Any], draft: str) -> st.SearchStrategy[Any]:
    keys = st.sampled_from(KEYS)
    named = st.dictionaries(keys, inner, min_size=1, max_size=3)
    dependent = st.dictionaries(keys, st.lists(keys, max_size=2, unique=True), max_size=2)
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": named},
        optional={
            "required": st.lists(keys, max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "patternProperties": st.dictionaries(
                st.sampled_from(list(PATTERNS)), inner, max_size=2
            ),
            "propertyNames": st.sampled_from(
                [{"maxLength": 4}, {"pattern": "^[a-z_~/0-9]*$"}, True]
            ),
            "minProperties": st.integers(0, 2),
            "maxProperties": st.integers(1, 4),
            "dependencies" if draft == "draft7" else "dependentRequired": dependent,
        },
    )


def _combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    few = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        st.fixed_dictionaries({"anyOf": few}, optional={"description": st.just("x")}),
        st.fixed_dictionaries({"oneOf": few}),
        st.fixed_dictionaries({"allOf": few}),
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"if": inner}, optional={"then": inner, "else": inner}),
        st.builds(lambda one, other: {**as_dict(one), **as_dict(other)}, inner, inner),
    )


def as_dict(schema: Any) -> dict[str, Any]:
    """A schema as an object: ``False`` is what nothing fits."""
    return schema if isinstance(schema, dict) else ({} if schema else {"not": {}})


def _subschemas(draft: str) -> st.SearchStrategy[Any]:
    return st.recursive(
        _LEAVES,
        lambda inner: st.one_of(_arrays(inner, draft), _objects(inner, draft), _combined(inner)),
        max_leaves=6,
    )


_DRAFTS = {
    "draft7": "http://json-schema.org/draft-07/schema#",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
_SUBSCHEMAS = {draft: _subschemas(draft) for draft in _DRAFTS}


@st.composite
def schemas(draw: Draw) -> dict[str, Any]:
    """A whole document: draft 7, 2020-12, or 2020-12 unnamed."""
    draft = draw(st.sampled_from(["draft7", "2020-12", "2020-12"]))
    inner = _SUBSCHEMAS[draft]
    # Arguments are an object most of the time, and it is inside that there is most to convert.
    root = dict(as_dict(draw(inner | _objects(inner, draft) | _objects(inner, draft))))
    tree = {
        "type": "object",
        "properties": {
            "v": draw(inner),
            "kids": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
        },
    }
    root["$defs"] = {"shared": draw(inner), "tree": tree}
    root["definitions"] = {"shared": draw(inner)}
    if draft == "draft7" or draw(st.booleans()):
        root["$schema"] = _DRAFTS[draft]
    return root


@dataclass(frozen=True)
class Case:
    """A schema and a value to hold against it."""

    schema: Any
    value: Any


@st.composite
def cases(draw: Draw) -> Case:
    """A document with a value that was made for it, mutated or not, or with any value.

    Values for a schema are made by plain chance out of one drawn seed: drawing each of
    their parts would use up what Hypothesis has for the schema.
    """
    schema = draw(schemas())
    how = draw(st.sampled_from(["mutated", "mutated", "mutated", "made", "any"]))
    if how == "any":
        return Case(schema, draw(JSON))
    chance = Random(draw(st.integers(0, 2**32)))
    value = sample(chance, schema, schema, 0)
    return Case(schema, mutated(chance, value) if how == "mutated" else value)


def mutated(chance: Random, value: Any) -> Any:
    """The value as a sloppy model would write it: text for numbers, JSON text for containers."""
    if isinstance(value, dict):
        value = {key: mutated(chance, item) for key, item in value.items()}
    elif isinstance(value, list):
        value = [mutated(chance, item) for item in value]
    # Containers stay what they are more often, or little would be left to see inside.
    if chance.random() < (0.8 if isinstance(value, (dict, list)) else 0.3):
        return value
    if isinstance(value, str):
        return {"1": 1, "true": True, "0.5": 0.5, "null": None}.get(value, value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        return chance.choice([json.dumps(value), float(value)])
    return json.dumps(value)


def _any(chance: Random, depth: int = 0) -> Any:
    kind = chance.choice(["number", "text", "text", "bool", "null", "list", "dict"])
    if kind in ("list", "dict") and depth < 2:
        items = [_any(chance, depth + 1) for _ in range(chance.randrange(3))]
        return items if kind == "list" else dict(zip(chance.sample(KEYS, 3), items, strict=False))
    if kind == "number":
        return chance.choice(NUMBERS)
    return {"bool": chance.random() < 0.5, "null": None}.get(kind, chance.choice(TEXTS))


def sample(chance: Random, schema: Any, root: Any, depth: int) -> Any:
    """A value that probably conforms; whoever needs to know must ask a validator."""
    if not isinstance(schema, dict) or depth > 8:
        return _any(chance, depth)
    if "$ref" in schema:
        return sample(chance, _target(schema["$ref"], root), root, depth + 1)
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            branch = chance.choice(schema[keyword])
            rest = {key: value for key, value in schema.items() if key != keyword}
            return sample(chance, {**rest, **as_dict(branch)}, root, depth + 1)
    if "allOf" in schema or "if" in schema:
        return sample(chance, _merged(chance, schema), root, depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return chance.choice(schema["enum"])
    return _of_type(chance, schema, root, depth)


def _merged(chance: Random, schema: dict[str, Any]) -> dict[str, Any]:
    parts = [as_dict(part) for part in schema.get("allOf", ())]
    if "if" in schema:
        holds = chance.random() < 0.5
        parts += [as_dict(schema["if"])] if holds else []
        parts += [as_dict(schema.get("then" if holds else "else", True))]
    whole = {k: v for k, v in schema.items() if k not in ("allOf", "if", "then", "else")}
    for part in parts:
        properties = {**whole.get("properties", {}), **part.get("properties", {})}
        whole = {**whole, **part, **({"properties": properties} if properties else {})}
    return whole


def _of_type(chance: Random, schema: dict[str, Any], root: Any, depth: int) -> Any:
    kinds = schema.get("type", "array" if "items" in schema else None)
    kind = chance.choice(kinds) if isinstance(kinds, list) else kinds
    if kind == "object":
        return _an_object(chance, schema, root, depth)
    if kind == "array":
        return _an_array(chance, schema, root, depth)
    if kind == "string":
        return chance.choice(PATTERNS[schema["pattern"]] if "pattern" in schema else TEXTS)
    if kind == "integer":
        return chance.randrange(9)
    if kind == "number":
        return chance.choice([0, 0.5, 1, 2, 2.0, 4.5])
    return {"boolean": chance.random() < 0.5, "null": None}.get(kind, _any(chance))


def _an_object(chance: Random, schema: dict[str, Any], root: Any, depth: int) -> dict[str, Any]:
    properties, required = schema.get("properties", {}), schema.get("required", ())
    built = {
        name: sample(chance, properties.get(name, True), root, depth + 1)
        for name in dict.fromkeys([*required, *properties])
        if name in required or chance.random() < 0.8 / (1 + depth // 3)
    }
    for pattern, sub in schema.get("patternProperties", {}).items():
        if chance.random() < 0.5:
            built.setdefault(PATTERNS[pattern][0], sample(chance, sub, root, depth + 1))
    more = schema.get("additionalProperties", True)
    if more is not False and chance.random() < 0.4:
        built.setdefault("extra", sample(chance, more, root, depth + 1))
    return built


def _an_array(chance: Random, schema: dict[str, Any], root: Any, depth: int) -> list[Any]:
    items = schema.get("items", True)
    prefix = schema.get("prefixItems", items if isinstance(items, list) else [])
    rest = schema.get("additionalItems", True) if isinstance(items, list) else items
    length = schema.get("minItems", 0) + (chance.randrange(3) if depth < 4 else 0)
    return [
        sample(chance, prefix[index] if index < len(prefix) else rest, root, depth + 1)
        for index in range(length)
    ]


def _target(reference: str, root: Any) -> Any:
    found = root
    for step in reference.split("/")[1:]:
        found = found.get(step, {}) if isinstance(found, dict) else {}
    return found
