"""Model arguments converted to what a JSON Schema asks for, where only one reading exists.

Laws, each held by a property test: a value that conforms is unchanged; coercing
twice is coercing once; each change is recorded with what stood there before;
nothing raises.

``3.0`` counts as no integer here although JSON Schema lets it pass, because a
function that asks for ``int`` wants one: it becomes 3.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agtools_nb.arguments.conform import Document
from agtools_nb.arguments.parse import decode_json
from agtools_nb.arguments.patterns import found_in
from agtools_nb.calls import Change
from agtools_nb.define.subschemas import JsonSchema

# RFC 8259's grammar of numbers; Python's int() and float() take far more.
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
# Integers that text is converted to: what 64 bits hold, so that whatever JSON library
# comes next keeps them exact.
_MAX_INTEGER = 2**63
# Doubles hold each integer up to here (RFC 8259, section 6).
_MAX_EXACT_DOUBLE = 2**53
_MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class Coerced:
    """Arguments after coercion.

    Attributes:
        value: The arguments; a new object wherever something changed.
        changes: What was changed, in the order of the document.
    """

    value: Any
    changes: tuple[Change, ...]


def coerce(arguments: Any, schema: Mapping[str, Any] | bool) -> Coerced:
    """Convert ``arguments`` to what ``schema`` asks for, where that is unambiguous.

    =========================================  ==========================
    what came                                  where the schema asks for
    =========================================  ==========================
    ``"3"``, ``3.0``                           integer: ``3``
    ``"0.5"``                                  number: ``0.5``
    ``"true"``, ``"FALSE"``                    boolean
    ``3``, ``0.5``, ``true``                   string: its JSON text
    ``"null"``                                 null
    ``"[1]"``, ``'{"a": 1}'``                  array, object: the JSON in it
    ``"2"`` for one of ``1, 2, 3``             the member with that text
    =========================================  ==========================

    Everything else is left for validation to judge: ``"yes"``, ``"1.5"`` for an
    integer, ``" 3 "``, ``"NaN"``, an integer beyond 64 bits, and every value that
    already conforms, to any branch of a union too, or that two branches of a
    union would convert differently.

    Args:
        arguments: Any JSON value.
        schema: A JSON Schema, draft 7 or 2020-12.
    """
    run = _Run(Document(schema), {}, set())
    value = run.value(arguments, schema, "", 0)
    return Coerced(value, tuple(run.changes))


_Tried = dict[tuple[str, int, int], tuple[Any, list[Change], tuple[Any, Any]]]


def _listed(schema: JsonSchema, keyword: str) -> list[Any]:
    found = schema.get(keyword)
    return found if isinstance(found, list) else []


class _Run:
    """One pass over one document. Collects changes; branches are tried on a run of their own."""

    def __init__(self, document: Document, tried: _Tried, active: set[tuple[str, int]]) -> None:
        self.document = document
        self.changes: list[Change] = []
        # What a branch made of a value, so that unions within unions are tried once each.
        self.tried = tried
        # Schemas under way at each place: one that comes back to itself says nothing new.
        self.active = active

    def value(self, value: Any, schema: Any, pointer: str, depth: int) -> Any:
        here = (pointer, id(schema))
        if not isinstance(schema, dict) or depth > _MAX_DEPTH or here in self.active:
            return value
        self.active.add(here)
        try:
            return self._value(value, schema, pointer, depth)
        finally:
            self.active.discard(here)

    def _value(self, value: Any, schema: JsonSchema, pointer: str, depth: int) -> Any:
        if "$ref" in schema:
            target = self.document.resolve(schema["$ref"])
            value = self.value(value, target, pointer, depth + 1)
        for part in _listed(schema, "allOf"):
            value = self.value(value, part, pointer, depth + 1)
        value = self._to_type(value, schema, pointer, depth)
        for keyword in ("anyOf", "oneOf"):
            if branches := _listed(schema, keyword):
                value = self._to_branch(value, branches, pointer, depth)
        value = self._conditional(value, schema, pointer, depth)
        if isinstance(value, dict):
            return self._object(value, schema, pointer, depth)
        if isinstance(value, list):
            return self._array(value, schema, pointer, depth)
        return value

    def _to_type(self, value: Any, schema: JsonSchema, pointer: str, depth: int) -> Any:
        choices = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(choices, list):
            return self._to_choice(value, choices, pointer)
        kinds = schema.get("type")
        if isinstance(kinds, list):
            branches = [{**schema, "type": kind} for kind in kinds]
            return self._to_branch(value, branches, pointer, depth)
        if not isinstance(kinds, str) or _is_of(value, kinds):
            return value
        converted, rule = _converted(value, kinds)
        return value if rule is None else self._changed(pointer, value, converted, rule)

    def _to_choice(self, value: Any, choices: list[Any], pointer: str) -> Any:
        if any(same(value, choice) for choice in choices):
            return value
        text = value if isinstance(value, str) else _text(value)
        found = [choice for choice in choices if text is not None and text == _choice_text(choice)]
        if len(found) != 1:
            return value
        return self._changed(pointer, value, found[0], "text form to choice")

    def _to_branch(self, value: Any, branches: list[Any], pointer: str, depth: int) -> Any:
        if any(self.document.conforms(value, branch) for branch in branches):
            return value
        whole, rule = _converted(value, "integer") if isinstance(value, float) else (value, None)
        if rule and any(self.document.conforms(whole, branch) for branch in branches):
            return self._changed(pointer, value, whole, rule)
        outcomes: list[tuple[Any, list[Change]]] = []
        for branch in branches:
            outcome, changes = self._trial(value, branch, pointer, depth)
            if changes and not any(same(outcome, other) for other, _ in outcomes):
                outcomes.append((outcome, changes))
        if len(outcomes) != 1:
            return value
        outcome, changes = outcomes[0]
        self.changes += changes
        return outcome

    def _trial(self, value: Any, branch: Any, pointer: str, depth: int) -> tuple[Any, list[Change]]:
        """The value as a branch would have it, and the changes; none if it does not conform."""
        key = (pointer, id(value), id(branch))
        if key not in self.tried:
            run = _Run(self.document, self.tried, self.active)
            outcome = run.value(value, branch, pointer, depth + 1)
            fits = bool(run.changes) and self.document.conforms(outcome, branch)
            # The branch and the value are kept, so that their ids stay theirs.
            self.tried[key] = (outcome, run.changes if fits else [], (value, branch))
        outcome, changes, _ = self.tried[key]
        return outcome, changes

    def _conditional(self, value: Any, schema: JsonSchema, pointer: str, depth: int) -> Any:
        if "if" not in schema:
            return value
        holds = self.document.conforms(value, schema["if"])
        return self.value(value, schema.get("then" if holds else "else"), pointer, depth + 1)

    def _object(self, value: Any, schema: JsonSchema, pointer: str, depth: int) -> Any:
        built = {
            key: self._through(
                item, _property_schemas(schema, key), f"{pointer}/{escaped(key)}", depth
            )
            for key, item in value.items()
        }
        return _kept_if_same(value, built, value.keys())

    def _array(self, value: Any, schema: JsonSchema, pointer: str, depth: int) -> Any:
        # Drafts up to 2019-09 wrote prefixItems as a list under "items".
        items = schema.get("items")
        prefix = _listed(schema, "prefixItems") or _listed(schema, "items")
        rest = schema.get("additionalItems") if isinstance(items, list) else items
        built = [
            self.value(
                item,
                prefix[index] if index < len(prefix) else rest,
                f"{pointer}/{index}",
                depth + 1,
            )
            for index, item in enumerate(value)
        ]
        return _kept_if_same(value, built, range(len(value)))

    def _through(self, value: Any, schemas: list[Any], pointer: str, depth: int) -> Any:
        for schema in schemas:
            value = self.value(value, schema, pointer, depth + 1)
        return value

    def _changed(self, pointer: str, before: Any, after: Any, rule: str) -> Any:
        self.changes.append(Change(pointer, before, after, rule))
        return after


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal, ``true`` and ``1``, and ``1`` and ``1.0``, kept apart."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def escaped(key: str) -> str:
    """A key as one step of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def _is_of(value: Any, kind: str) -> bool:
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    expected = {"string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}
    # An unknown type name asks for nothing that this could convert to.
    return kind not in expected or isinstance(value, expected[kind])


def _converted(value: Any, kind: str) -> tuple[Any, str | None]:
    """The value as ``kind`` and the rule's name; no rule where no reading is certain."""
    if isinstance(value, str):
        return _from_text(value, kind)
    if kind == "integer" and isinstance(value, float):
        exact = value.is_integer() and abs(value) <= _MAX_EXACT_DOUBLE
        return (int(value), "number to integer") if exact else (value, None)
    if kind == "string":
        text = _text(value)
        name = "boolean" if isinstance(value, bool) else "number"
        return (text, f"{name} to text") if text is not None else (value, None)
    return value, None


def _from_text(text: str, kind: str) -> tuple[Any, str | None]:
    if kind == "integer":
        return _integer_from(text)
    if kind == "number":
        return _number_from(text)
    if kind == "boolean":
        folded = text.lower() if text.isascii() else ""
        return (
            (folded == "true", "text to boolean") if folded in ("true", "false") else (text, None)
        )
    if kind == "null":
        return (None, "text to null") if text == "null" else (text, None)
    if kind in ("array", "object"):
        return _container_from(text, kind)
    return text, None


def _integer_from(text: str) -> tuple[Any, str | None]:
    # 20 characters hold every 64-bit integer; longer text is not worth parsing.
    if len(text) > 20 or not _INTEGER.fullmatch(text):
        return text, None
    number = int(text)
    exact = -_MAX_INTEGER <= number < _MAX_INTEGER
    return (number, "text to integer") if exact else (text, None)


def _number_from(text: str) -> tuple[Any, str | None]:
    if not _NUMBER.fullmatch(text):
        return text, None
    if _INTEGER.fullmatch(text):
        number, rule = _integer_from(text)
        return number, rule and "text to number"
    decimal = float(text)
    return (decimal, "text to number") if math.isfinite(decimal) else (text, None)


def _container_from(text: str, kind: str) -> tuple[Any, str | None]:
    opening = "[" if kind == "array" else "{"
    if not text.lstrip().startswith(opening):
        return text, None
    try:
        value = decode_json(text)
    except ValueError:
        return text, None
    return value, f"JSON text to {kind}"


def _text(value: Any) -> str | None:
    """The JSON text of a number or boolean; ``None`` for all else, and for NaN and infinities."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 64:
        return None
    return json.dumps(value) if isinstance(value, (bool, int, float)) else None


def _choice_text(choice: Any) -> str | None:
    if isinstance(choice, str):
        return choice
    return "null" if choice is None else _text(choice)


def _property_schemas(schema: JsonSchema, key: str) -> list[Any]:
    """The subschemas that apply to the value under ``key``."""
    properties = schema.get("properties")
    found = [properties[key]] if isinstance(properties, dict) and key in properties else []
    patterns = schema.get("patternProperties")
    if isinstance(patterns, dict):
        found += [
            sub for pattern, sub in patterns.items() if found_in(pattern, key, unreadable=False)
        ]
    return found or [schema.get("additionalProperties")]


def _kept_if_same(old: Any, new: Any, keys: Any) -> Any:
    """The old container if no item was replaced, so that an untouched value stays itself."""
    return old if all(old[key] is new[key] for key in keys) else new
