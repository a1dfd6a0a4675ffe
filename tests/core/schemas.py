"""Generated JSON Schemas and values that conform to them, for property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(
        ["1", "true", "FALSE", "null", "[1]", '{"a": 1}', "0.5", "-0", "1e3", "007", " 3 ", "NaN"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)

LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "minLength": 2},
        {"type": "integer"},
        {"type": "integer", "minimum": 2},
        {"type": "number"},
        {"type": "boolean"},
        {"type": "null"},
        {"type": ["integer", "null"]},
        {"type": ["string", "boolean"]},
        {"enum": [1, 2, "x", "3", True, None]},
        {"enum": ["1", "2"]},
        {"const": 7},
        {"const": "7"},
        {"$ref": "#/$defs/shared"},
        {},
        True,
        {"format": "date", "type": "string"},
    ]
)


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    properties = st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    return st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(
            lambda first, rest: {"type": "array", "prefixItems": [first], "items": rest},
            inner,
            inner,
        ),
        st.builds(
            lambda props, more, needed: {
                "type": "object",
                "properties": props,
                "additionalProperties": more,
                "required": [name for name in props if needed],
            },
            properties,
            inner,
            st.booleans(),
        ),
        st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"oneOf": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"allOf": parts}, st.lists(inner, min_size=1, max_size=2)),
    )


SUBSCHEMAS = st.recursive(LEAVES, _nested, max_leaves=6)


def _document(schema: Any, shared: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    return {**schema, "$defs": {"shared": shared}}


# The shared definition may refer to itself, which must not loop.
SCHEMAS = st.builds(_document, SUBSCHEMAS, SUBSCHEMAS)
