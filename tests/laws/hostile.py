"""JSON that breaks readers: deep, long, huge, doubled, not quite text."""

from __future__ import annotations

from typing import Any

DEPTH = 10_000
MEGABYTE = 1_000_000


def nested(kind: str, depth: int = DEPTH, leaf: Any = "1") -> Any:
    """A value of so many levels, made without recursion."""
    value = leaf
    for _ in range(depth):
        value = {"list": [value], "dict": {"kids": value}, "both": {"kids": [value]}}[kind]
    return value


VALUES: dict[str, Any] = {
    "deep lists": nested("list"),
    "deep objects": nested("dict"),
    "deep both": nested("both"),
    "deep in a key": {"v": nested("dict"), "n": "1"},
    "deep list text": "[" * DEPTH + "]" * DEPTH,
    "deep object text": '{"kids":' * DEPTH + "1" + "}" * DEPTH,
    "unfinished text": "[" * MEGABYTE,
    "a megabyte": "x" * MEGABYTE,
    "a megabyte of digits": "9" * MEGABYTE,
    "a megabyte of escapes": '"' + "\\u0041" * (MEGABYTE // 6) + '"',
    "a megabyte of zeros": "0." + "0" * MEGABYTE + "1",
    "a megabyte of blanks": " " * MEGABYTE + "[]",
    "a megabyte of characters outside ASCII": "\U0001f600" * (MEGABYTE // 4),
    "a huge integer": 10**5_000,
    "a huger integer": -(1 << 400_000),
    "huge integers inside": {"v": 10**5_000, "n": [10**5_000, -(10**5_000)]},
    "a huge exponent": "1e999999999",
    "a huge negative exponent": "1e-999999999",
    "a lone surrogate": "\ud800",
    "surrogates inside": {"v": "\udfff", "\ud800": ["\ud800"]},
    "a surrogate in text": '{"v": "\\ud800"}',
    "doubled keys": '{"v": 1, "v": "2", "v": [3]}',
    "doubled keys inside": {"v": '{"a": 1, "a": 2}', "kids": '[{"n": "1", "n": 2}]'},
    "NaN": float("nan"),
    "infinities": [float("inf"), -float("inf")],
    "not numbers inside": {"v": float("nan"), "n": float("inf"), "kids": [float("-inf")]},
    "NaN in text": "[NaN, Infinity, -Infinity]",
    "hostile keys": dict.fromkeys(
        (
            *("", "/", "~", "~0", "~1", "a/b", "__proto__", "constructor", "__class__", "__init__"),
            *("\x00", "\n", "{0}", "%s", "<script>", "$ref", "#", "k" * MEGABYTE, "�", "0"),
        ),
        "1",
    ),
    "keywords as values": {"$ref": "#", "type": "object", "properties": {"$ref": "x"}},
    "many keys": {f"k{number}": "1" for number in range(20_000)},
    "a long list": ["1"] * 50_000,
    "negative zero": [-0.0, "-0", "-0.0"],
    "control characters": "\x00\x1b[2J\u202e",
    "an empty key in text": '{"": {"": 1}}',
}

_TREE = {
    "type": "object",
    "properties": {"v": {"type": "integer"}, "n": {"type": "integer"}},
    "additionalProperties": {"$ref": "#/$defs/node"},
}
_NODE = {
    "anyOf": [
        {"$ref": "#/$defs/tree"},
        {"type": "array", "items": {"$ref": "#/$defs/node"}},
        {"type": "integer"},
        {"type": "boolean"},
    ]
}

SCHEMAS: dict[str, Any] = {
    "anything": {},
    "nothing": False,
    **{
        kind: {"type": kind}
        for kind in ("string", "integer", "number", "boolean", "null", "array", "object")
    },
    "list of integers": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
    "recursive objects": {
        "type": "object",
        "properties": {"kids": {"$ref": "#"}, "v": {"type": "integer"}},
        "additionalProperties": False,
    },
    "recursive lists": {"type": "array", "items": {"$ref": "#"}},
    "recursive both": {
        "type": "object",
        "properties": {"kids": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["kids"],
    },
    "a tree of unions": {"$ref": "#/$defs/node", "$defs": {"tree": _TREE, "node": _NODE}},
    "a union of all types": {"type": ["integer", "array", "object", "boolean", "null"]},
    "choices": {"enum": [1, "2", None, [1], {"a": 1}, 1e300, "x" * 1000]},
    "a constant": {"const": {"v": [1, {"n": 2}]}},
    "patterns": {
        "patternProperties": {"^[a-z]+$": {"type": "integer"}, "(a+)+$": {"type": "boolean"}},
        "additionalProperties": {"type": "string", "pattern": "^(x+)+$"},
        "propertyNames": {"maxLength": 100},
    },
    "text with bounds": {
        "type": "string",
        "maxLength": 5,
        "pattern": "^(a|aa)+$",
        "format": "date",
    },
    "numbers with bounds": {"type": "number", "minimum": 0.5, "maximum": 1e308, "multipleOf": 0.1},
    "conditions": {
        "if": {"type": "object"},
        "then": {"additionalProperties": {"type": "integer"}, "minProperties": 3},
        "else": {"type": "array", "contains": {"type": "integer"}, "minItems": 2},
    },
    "none of": {"not": {"anyOf": [{"type": "string"}, {"required": ["v"]}]}},
}

BROKEN: dict[str, Any] = {
    "a reference to itself": {"$ref": "#"},
    "references in a circle": {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
    },
    "all of itself": {"allOf": [{"$ref": "#"}, {"type": "integer"}]},
    "not itself": {"not": {"$ref": "#"}},
    "a reference to nowhere": {"properties": {"v": {"$ref": "#/$defs/none"}}},
    "a reference outside": {"$ref": "http://127.0.0.1:9/never.json"},
    "a reference to a file": {"$ref": "file:///etc/hostname"},
    "wrong types": {
        "type": 5,
        "properties": 5,
        "items": "x",
        "required": "v",
        "enum": 5,
        "anyOf": 5,
    },
    "wrong bounds": {"minimum": "a", "maxLength": [], "pattern": 5, "multipleOf": 0},
    "bad patterns": {"pattern": "(", "patternProperties": {"[": {}}},
    "patterns that only re reads": {
        "pattern": r"^(?=(a+))\1$",
        "patternProperties": {r"(?<!x)y": {}},
    },
    "an unknown draft": {"$schema": "urn:no:draft", "type": "integer"},
    "a draft that is none": {"$schema": 5, "$id": [], "type": "integer"},
    "a deep schema": nested("dict", 3_000, {"type": "integer"}),
    "deep nesting of all": None,
    "a list": [],
    "text": "integer",
    "null": None,
    "a number": 1,
}
_deep: Any = {"type": "integer"}
for _ in range(3_000):
    _deep = {"allOf": [_deep]}
BROKEN["deep nesting of all"] = _deep
_deep = {"type": "integer"}
for _ in range(3_000):
    _deep = {"anyOf": [{"type": "null"}, _deep]}
BROKEN["deep nesting of any"] = _deep
