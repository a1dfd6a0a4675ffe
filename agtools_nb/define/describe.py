"""JSON Schema in a few words: ``an integer from 1 to 10``."""

from __future__ import annotations

from typing import Any

from agtools_nb.define.subschemas import MISSING, resolve
from agtools_nb.jsonable import clean_text, json_text, shorten

MAX_CHOICES = 12
_MAX_DEPTH = 4
_MAX_KEYS = 8
_MAX_BRANCHES = 50
_OF_TYPES = frozenset(("$ref", "const", "enum", "type"))
_PATTERN_SHOWN = 200
_EXAMPLES = {
    "date-time": '"2026-01-15T12:00:00Z"',
    "date": '"2026-01-15"',
    "time": '"12:30:00Z"',
    "duration": '"PT1H30M"',
    "uuid": '"123e4567-e89b-12d3-a456-426614174000"',
}
"""A text of each format whose form one may not know by heart."""


def type_text(schema: Any, root: Any = None) -> str:
    """Name the type of a schema: ``"integer"``, ``"array of string"``, ``"one of 'a', 'b'"``.

    Args:
        schema: A JSON Schema; a boolean one is ``"any"`` or ``"nothing"``.
        root: The document that ``$ref`` points into. Default: ``schema`` itself.
    """
    return _Words(schema if root is None else root, with_keys=False).type_of(schema, 0)


def shape_text(schema: Any, root: Any = None) -> str:
    """The same with one level of keys and items: ``"array of object {sku, n?}"``.

    What may be left out has a ``?``; a key that takes one value only is shown with it.
    """
    return _Words(schema if root is None else root, with_keys=True).type_of(schema, 0)


def bounds_text(schema: Any) -> str:
    """Name the bounds of a schema: ``"from 1 to 10"``, ``"at least 2 items"``; ``""`` if none."""
    if not isinstance(schema, dict):
        return ""
    return ", ".join(text for _, text in _bounds(schema))


def bounded_text(words: str, schema: Any) -> str:
    """``words`` for a type, and its bounds: ``"string of 2 to 5 characters"``."""
    found = _bounds(schema) if isinstance(schema, dict) else []
    return f"{words} {', '.join(link + text for link, text in found)}".strip()


def expected_text(schema: Any, root: Any = None) -> str:
    """Type and bounds together, with an article: ``"an integer from 1 to 10"``."""
    kind = shape_text(schema, root)
    if kind == "any":
        kind = "a value"
    elif not kind.startswith(("one of", "exactly", "any", "nothing")):
        kind = f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"
    example = format_example(schema)
    return bounded_text(kind, schema) + (f" such as {example}" if example else "")


def format_example(schema: Any) -> str:
    """A value of a string's ``format``, as JSON text; ``""`` where that needs none."""
    kind = schema.get("format") if isinstance(schema, dict) else None
    return _EXAMPLES.get(kind, "") if isinstance(kind, str) else ""


class _Words:
    """Types of one document in words.

    Args:
        root: The document that ``$ref`` points into.
        with_keys: Whether to name the keys of objects and the items of tuples.
    """

    def __init__(self, root: Any, *, with_keys: bool) -> None:
        self._root = root
        self._with_keys = with_keys

    def type_of(self, schema: Any, depth: int) -> str:
        if not isinstance(schema, dict):
            return "nothing" if schema is False else "any"
        if depth > 2 * _MAX_DEPTH:
            return "any"
        if "$ref" in schema:
            return self._reference(schema, depth)
        if "const" in schema:
            return f"exactly {_literal(schema['const'])}"
        if isinstance(schema.get("enum"), list):
            return _choices(schema["enum"])
        branches = schema.get("anyOf") or schema.get("oneOf")
        kind = schema.get("type")
        if kind is None and isinstance(branches, list):
            return _join([self.type_of(branch, depth + 1) for branch in _flat(branches, 0)])
        if isinstance(kind, list):
            return _join([self.type_of({**schema, "type": one}, depth + 1) for one in kind])
        return self._plain(schema, kind, depth)

    def _plain(self, schema: dict[str, Any], kind: Any, depth: int) -> str:
        items, prefix = schema.get("items"), schema.get("prefixItems")
        if kind == "array" and self._with_keys and isinstance(prefix, list) and depth < _MAX_DEPTH:
            shown = [self.type_of(item, _MAX_DEPTH) for item in prefix[:_MAX_KEYS]]
            more = ["..."] if len(prefix) > _MAX_KEYS or items else []
            return f"array [{', '.join([*shown, *more])}]"
        if kind == "array" and isinstance(items, dict) and depth < _MAX_DEPTH:
            return f"array of {self.type_of(items, depth + 1)}"
        if kind == "string" and isinstance(schema.get("format"), str):
            return f"string ({schema['format']})"
        if kind == "object" or (not isinstance(kind, str) and "properties" in schema):
            return self._object(schema, depth)
        return kind if isinstance(kind, str) else "any"

    def _object(self, schema: dict[str, Any], depth: int) -> str:
        properties, rest = schema.get("properties"), schema.get("additionalProperties")
        if not self._with_keys or depth >= _MAX_DEPTH:
            return "object"
        if isinstance(properties, dict) and properties:
            required = schema.get("required")
            required = required if isinstance(required, list) else []
            keys = [
                _key(name, sub, name in required)
                for name, sub in list(properties.items())[:_MAX_KEYS]
            ]
            keys += ["..."] if len(properties) > _MAX_KEYS else []
            return f"object {{{', '.join(keys)}}}"
        if isinstance(rest, dict) and (values := self.type_of(rest, _MAX_DEPTH)) != "any":
            return f"object of {values} by key"
        return "object"

    def _reference(self, schema: dict[str, Any], depth: int) -> str:
        name = str(schema["$ref"]).rsplit("/", 1)[-1]
        target = resolve(schema["$ref"], self._root)
        if target is MISSING or depth >= _MAX_DEPTH:
            return name
        text = self.type_of(target, depth + 1)
        is_object = isinstance(target, dict) and target.get("type") == "object"
        if is_object and (text == "object" or text.startswith("object {")):
            return f"object {name}{text.removeprefix('object')}"
        return text


def _key(name: str, schema: Any, is_required: bool) -> str:
    words = shorten(clean_text(str(name)), 60) + ("" if is_required else "?")
    if isinstance(schema, dict):
        choices = schema.get("enum")
        if "const" in schema or (isinstance(choices, list) and len(choices) == 1):
            only = schema["const"] if "const" in schema else schema["enum"][0]
            return f"{words}: {_literal(only)}"
    return words


def _choices(values: list[Any]) -> str:
    shown = ", ".join(_literal(value) for value in values[:MAX_CHOICES])
    more = len(values) - MAX_CHOICES
    return f"one of {shown}" + (f" and {more} more" if more > 0 else "")


def _literal(value: Any) -> str:
    return shorten(json_text(value), 60)


def _flat(branches: list[Any], depth: int) -> list[Any]:
    """The branches of a union, those of unions right within it in their place."""
    flat: list[Any] = []
    for branch in branches:
        inner = None
        if isinstance(branch, dict) and not _OF_TYPES & branch.keys() and depth < _MAX_DEPTH:
            inner = branch.get("anyOf") or branch.get("oneOf")
        flat += _flat(inner, depth + 1) if isinstance(inner, list) else [branch]
    return flat[:_MAX_BRANCHES]


def _join(parts: list[str]) -> str:
    return " or ".join(dict.fromkeys(parts)) or "any"


def _bounds(schema: dict[str, Any]) -> list[tuple[str, str]]:
    """Each bound in words, and the word that ties it to the type before it."""
    pattern = shorten(clean_text(str(schema.get("pattern"))), _PATTERN_SHOWN)
    found = [
        ("", _range(schema)),
        ("of ", _span(schema, "minLength", "maxLength", "character")),
        ("with ", _span(schema, "minItems", "maxItems", "item")),
        ("with ", _span(schema, "minProperties", "maxProperties", "key")),
        ("that is ", f"a multiple of {_number(schema, 'multipleOf')}"
         if "multipleOf" in schema else ""),
        ("", f"matching {pattern}" if "pattern" in schema else ""),
        ("", "without repeats" if schema.get("uniqueItems") is True else ""),
    ]  # fmt: skip
    return [(link, text) for link, text in found if text]


def _number(schema: dict[str, Any], key: str) -> str | None:
    value = schema.get(key)
    return None if value is None else _literal(value)


def _range(schema: dict[str, Any]) -> str:
    low, high = _number(schema, "minimum"), _number(schema, "maximum")
    # Draft 4 wrote these two as booleans beside minimum and maximum.
    above, below = (
        None if isinstance(schema.get(key), bool) else _number(schema, key)
        for key in ("exclusiveMinimum", "exclusiveMaximum")
    )
    if low is not None and high is not None:
        return f"from {low} to {high}"
    parts = [
        f"at least {low}" if low is not None else "",
        f"at most {high}" if high is not None else "",
        f"above {above}" if above is not None else "",
        f"below {below}" if below is not None else "",
    ]
    return " and ".join(part for part in parts if part)


def _span(schema: dict[str, Any], low_key: str, high_key: str, unit: str) -> str:
    low, high = _number(schema, low_key), _number(schema, high_key)
    if low is None and high is None:
        return ""
    if low == high:
        return f"exactly {_count(low, unit)}"
    if low is None:
        return f"at most {_count(high, unit)}"
    if high is None:
        return f"at least {_count(low, unit)}"
    return f"{low} to {_count(high, unit)}"


def _count(number: str | None, unit: str) -> str:
    return f"{number} {unit}" + ("" if number == "1" else "s")
