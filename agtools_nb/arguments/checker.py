"""JSON Schemas compiled to plain functions, for the one question "does this conform?".

``jsonschema`` walks a schema anew for each value, which takes tens of microseconds
for three parameters. The functions made here answer exactly as it does (a test
compares them over its own test suite) and take a few hundred nanoseconds. A schema
that uses a keyword which is not compiled here is left to ``jsonschema``, whole.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from agtools_nb.arguments.loops import closing_references
from agtools_nb.arguments.patterns import found_in
from agtools_nb.define.subschemas import MISSING, JsonSchema, resolve, walk

Check = Callable[[Any], bool]

# What needs to know which parts of a value other keywords have looked at, or another
# document, or is spelled otherwise in some draft.
_LEFT_TO_JSONSCHEMA = frozenset(
    ("unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef", "dependencies",
     "$recursiveAnchor")
)  # fmt: skip


class UncompiledError(Exception):
    """This schema is left to ``jsonschema``."""


class Compiler:
    """Compiles the parts of one document.

    Args:
        root: The document, which references point into.
        draft7: Whether it is of draft 7; else it is taken as 2020-12.

    Raises:
        UncompiledError: Parts of the document have an address of their own.
    """

    def __init__(self, root: Any, *, draft7: bool) -> None:
        self.root = root
        self.draft7 = draft7
        self._made: dict[int, tuple[Any, Check]] = {}
        self._answers = _Answers()
        self._is_recursive = False
        for node in walk(root):
            if node is not root and {"$id", "id"} & node.keys() and "$ref" not in node:
                raise UncompiledError("$id")
        self._closing = closing_references(root)

    def compile(self, schema: Any) -> Check:
        """Return the check of a schema of this document.

        Raises:
            UncompiledError: It holds something that is left to ``jsonschema``.
        """
        try:
            return self.check(schema)
        except BaseException:
            # What was made on the way leans on what failed.
            self._made.clear()
            raise

    def check(self, schema: Any) -> Check:
        """The same for a schema within the one that is being compiled."""
        if schema is True:
            return _anything
        if schema is False:
            return _nothing
        if not isinstance(schema, dict):
            raise UncompiledError("no schema")
        made = self._made.get(id(schema))
        if made is not None:
            if isinstance(made[1], _Late):
                made[1].is_used = True
            return made[1]
        # A schema that leads back to itself finds this in its place.
        late = _Late(self._answers)
        self._made[id(schema)] = (schema, late)
        late.check = self._combined(schema)
        if not late.is_used:
            self._made[id(schema)] = (schema, late.check)
            return late.check
        self._is_recursive = True
        return late

    def ask(self, check: Check, value: Any) -> bool:
        """Return what a check says of a value.

        A schema that leads back to itself by two ways would take both at each level; so
        it answers once for each value, and its answers are kept as long as this takes.
        """
        if not self._is_recursive:
            return check(value)
        self._answers.known = {}
        try:
            return check(value)
        finally:
            self._answers.known = {}

    def _combined(self, schema: JsonSchema) -> Check:
        if self.draft7 and "$ref" in schema:
            # There, whatever stands beside a reference says nothing.
            return self._reference(schema)
        if _LEFT_TO_JSONSCHEMA & schema.keys():
            raise UncompiledError("keyword")
        checks = [check for check in self._checks(schema) if check is not _anything]
        if not checks:
            return _anything
        if len(checks) == 1:
            return checks[0]
        if len(checks) == 2:
            first, second = checks
            return lambda value: first(value) and second(value)
        every = tuple(checks)
        return lambda value: all([check(value) for check in every])

    def _checks(self, schema: JsonSchema) -> list[Check]:
        found = [
            make(schema)
            for keywords, make in (
                (_TYPES, _type_check),
                (_CHOICES, _choice_check),
                (_NUMBERS, _number_check),
                (_TEXTS, _text_check),
                (_OBJECTS, self._object_check),
                (_ARRAYS, self._array_check),
                (_BRANCHES, self._branch_check),
            )
            if keywords & schema.keys()
        ]
        if "$ref" in schema:
            found.append(self._reference(schema))
        return found

    def _reference(self, schema: JsonSchema) -> Check:
        if id(schema) in self._closing:
            return _anything
        target = resolve(schema["$ref"], self.root)
        if target is MISSING:
            raise UncompiledError("$ref")
        return self.check(target)

    def _named(self, schema: JsonSchema, keyword: str) -> dict[str, Check]:
        subs = _typed(schema, keyword, dict, {})
        return {name: self.check(sub) for name, sub in subs.items()}

    def _list(self, schema: JsonSchema, keyword: str) -> tuple[Check, ...]:
        return tuple(self.check(sub) for sub in _typed(schema, keyword, list, []))

    def _object_check(self, schema: JsonSchema) -> Check:
        properties = self._named(schema, "properties")
        patterns = tuple(self._named(schema, "patternProperties").items())
        rest = self.check(schema.get("additionalProperties", True))
        checks: list[Check] = []
        if required := _texts(schema, "required"):
            checks.append(lambda value: all([name in value for name in required]))
        if properties or patterns or rest is not _anything:
            checks.append(_members_check(properties, patterns, rest))
        if (few := _count(schema, "minProperties")) is not None:
            checks.append(lambda value: len(value) >= few)
        if (many := _count(schema, "maxProperties")) is not None:
            checks.append(lambda value: len(value) <= many)
        if "propertyNames" in schema:
            names = self.check(schema["propertyNames"])
            checks.append(lambda value: all([names(key) for key in value]))
        if not self.draft7:
            checks += self._dependents(schema)
        return _only_for(dict, checks)

    def _dependents(self, schema: JsonSchema) -> list[Check]:
        needs = _typed(schema, "dependentRequired", dict, {})
        for names in needs.values():
            _texts({"": names}, "")
        subs = self._named(schema, "dependentSchemas")
        checks: list[Check] = []
        if needs:
            checks.append(
                lambda value: all(
                    name in value for key, names in needs.items() if key in value for name in names
                )
            )
        if subs:
            checks.append(
                lambda value: all(sub(value) for key, sub in subs.items() if key in value)
            )
        return checks

    def _array_check(self, schema: JsonSchema) -> Check:
        prefix, rest = self._items(schema)
        checks: list[Check] = []
        if prefix or rest is not _anything:
            checks.append(_items_check(prefix, rest))
        if (few := _count(schema, "minItems")) is not None:
            checks.append(lambda value: len(value) >= few)
        if (many := _count(schema, "maxItems")) is not None:
            checks.append(lambda value: len(value) <= many)
        if _typed(schema, "uniqueItems", bool, False):
            checks.append(is_without_repeats)
        if "contains" in schema:
            checks.append(self._contains(schema))
        return _only_for(list, checks)

    def _items(self, schema: JsonSchema) -> tuple[tuple[Check, ...], Check]:
        if not self.draft7:
            if isinstance(schema.get("items"), list):
                raise UncompiledError("items")
            return self._list(schema, "prefixItems"), self.check(schema.get("items", True))
        if not isinstance(schema.get("items"), list):
            return (), self.check(schema.get("items", True))
        return self._list(schema, "items"), self.check(schema.get("additionalItems", True))

    def _contains(self, schema: JsonSchema) -> Check:
        item = self.check(schema["contains"])
        if self.draft7:
            return lambda value: any(item(one) for one in value)
        few = _count(schema, "minContains")
        many = _count(schema, "maxContains")
        least = 1 if few is None else few

        def check(value: Any) -> bool:
            found = sum(1 for one in value if item(one))
            return found >= least and (many is None or found <= many)

        return check

    def _branch_check(self, schema: JsonSchema) -> Check:
        checks: list[Check] = []
        if "allOf" in schema:
            every = self._list(schema, "allOf")
            checks.append(lambda value: all([check(value) for check in every]))
        if "anyOf" in schema:
            some = self._list(schema, "anyOf")
            checks.append(lambda value: any(check(value) for check in some))
        if "oneOf" in schema:
            one = self._list(schema, "oneOf")
            checks.append(lambda value: sum(1 for check in one if check(value)) == 1)
        if "not" in schema:
            wrong = self.check(schema["not"])
            checks.append(lambda value: not wrong(value))
        if "if" in schema:
            when = self.check(schema["if"])
            then = self.check(schema.get("then", True))
            otherwise = self.check(schema.get("else", True))
            checks.append(lambda value: then(value) if when(value) else otherwise(value))
        every_check = tuple(checks)
        return lambda value: all(check(value) for check in every_check)


_TYPES = frozenset(("type",))
_CHOICES = frozenset(("enum", "const"))
_NUMBERS = frozenset(
    ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
)  # fmt: skip
_TEXTS = frozenset(("minLength", "maxLength", "pattern"))
_OBJECTS = frozenset(
    ("properties", "patternProperties", "additionalProperties", "required", "minProperties",
     "maxProperties", "propertyNames", "dependentRequired", "dependentSchemas")
)  # fmt: skip
_ARRAYS = frozenset(
    ("items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains")
)  # fmt: skip
_BRANCHES = frozenset(("allOf", "anyOf", "oneOf", "not", "if"))


class _Answers(threading.local):
    """What recursive schemas said of values, each thread its own."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int], bool] = {}


class _Late:
    """A check that is still being made: schemas may lead back to themselves."""

    __slots__ = ("_answers", "check", "is_used")
    check: Check

    def __init__(self, answers: _Answers) -> None:
        self._answers = answers
        self.is_used = False

    def __call__(self, value: Any) -> bool:
        if not isinstance(value, (dict, list)):
            return self.check(value)
        # The value is held by who asks, so its id stays its own meanwhile.
        known, key = self._answers.known, (id(self), id(value))
        answer = known.get(key)
        if answer is None:
            answer = known[key] = self.check(value)
        return answer


def _anything(value: Any) -> bool:
    return True


def _nothing(value: Any) -> bool:
    return False


def _typed(schema: JsonSchema, keyword: str, kind: type, default: Any) -> Any:
    """A keyword's value; of a wrong type it is for ``jsonschema`` to make sense of."""
    value = schema.get(keyword, default)
    if not isinstance(value, kind):
        raise UncompiledError(keyword)
    return value


def _texts(schema: JsonSchema, keyword: str) -> tuple[str, ...]:
    texts = _typed(schema, keyword, list, [])
    if not all(isinstance(text, str) for text in texts):
        raise UncompiledError(keyword)
    return tuple(texts)


def _count(schema: JsonSchema, keyword: str) -> Any:
    if keyword not in schema:
        return None
    return _typed(schema, keyword, (int, float), None)  # type: ignore[arg-type]


def _only_for(kind: type, checks: list[Check]) -> Check:
    """A check that passes every value of another type, as JSON Schema's keywords do."""
    if not checks:
        return _anything
    if len(checks) == 1:
        check = checks[0]
        return lambda value: check(value) if isinstance(value, kind) else True
    every = tuple(checks)
    return lambda value: all([check(value) for check in every]) if isinstance(value, kind) else True


def _members_check(
    properties: dict[str, Check], patterns: tuple[tuple[str, Check], ...], rest: Check
) -> Check:
    if patterns:
        return _pattern_members_check(properties, patterns, rest)
    get = properties.get
    asked = [(name, sub) for name, sub in properties.items() if sub is not _anything]

    def check(value: Any) -> bool:
        for key, item in value.items():
            if not get(key, rest)(item):
                return False
        return True

    def check_asked(value: Any) -> bool:
        # Whichever are fewer: many schemas with one property each must not each read all keys.
        if len(asked) > len(value):
            return check(value)
        return all([sub(value[name]) for name, sub in asked if name in value])

    return check_asked if rest is _anything else check


def _pattern_members_check(
    properties: dict[str, Check], patterns: tuple[tuple[str, Check], ...], rest: Check
) -> Check:
    def check(value: Any) -> bool:
        for key, item in value.items():
            applied = [sub for pattern, sub in patterns if found_in(pattern, key)]
            if key in properties:
                applied.append(properties[key])
            if not all(sub(item) for sub in applied or (rest,)):
                return False
        return True

    return check


def _items_check(prefix: tuple[Check, ...], rest: Check) -> Check:
    if not prefix:
        return lambda value: all([rest(item) for item in value])
    length = len(prefix)

    def check(value: Any) -> bool:
        fits = all(first(item) for first, item in zip(prefix, value, strict=False))
        return fits and all(rest(item) for item in value[length:])

    return check


def _type_check(schema: JsonSchema) -> Check:
    kinds = schema["type"]
    if isinstance(kinds, str):
        kinds = [kinds]
    if not isinstance(kinds, list) or not all(
        isinstance(kind, str) and kind in _OF_TYPE for kind in kinds
    ):
        raise UncompiledError("type")
    if len(kinds) == 1:
        return _OF_TYPE[kinds[0]]
    checks = tuple(_OF_TYPE[kind] for kind in kinds)
    return lambda value: any(check(value) for check in checks)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_integer(value: Any) -> bool:
    """Whether a value is an integer to a function that asks for one: ``3.0`` is none."""
    return type(value) is int or (isinstance(value, int) and not isinstance(value, bool))


_OF_TYPE: dict[str, Check] = {
    "string": lambda value: isinstance(value, str),
    "integer": is_integer,
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "null": lambda value: value is None,
}  # fmt: skip


def _choice_check(schema: JsonSchema) -> Check:
    checks: list[Check] = []
    if "const" in schema:
        only = frozen(schema["const"])
        checks.append(lambda value: frozen(value) == only)
    if "enum" in schema:
        choices = frozenset(frozen(choice) for choice in _typed(schema, "enum", list, []))
        checks.append(lambda value: frozen(value) in choices)
    every = tuple(checks)
    return every[0] if len(every) == 1 else lambda value: all(check(value) for check in every)


def _number_check(schema: JsonSchema) -> Check:
    for keyword in _NUMBERS & schema.keys():
        if not _is_number(schema[keyword]) or keyword == "multipleOf":
            # How doubles divide is jsonschema's to decide, but for whole numbers.
            if keyword == "multipleOf" and type(schema[keyword]) is int and schema[keyword]:
                continue
            raise UncompiledError(keyword)
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    step = schema.get("multipleOf")

    def check(value: Any) -> bool:
        if not _is_number(value):
            return True
        # Negated as jsonschema has them, so that NaN passes here too.
        return not (
            (low is not None and value < low)
            or (high is not None and value > high)
            or (above is not None and value <= above)
            or (below is not None and value >= below)
            or (step is not None and value % step)
        )

    return check


def _text_check(schema: JsonSchema) -> Check:
    few, many = _count(schema, "minLength"), _count(schema, "maxLength")
    pattern = schema.get("pattern")
    if pattern is not None and not isinstance(pattern, str):
        raise UncompiledError("pattern")

    def check(value: Any) -> bool:
        return not isinstance(value, str) or not (
            (few is not None and len(value) < few)
            or (many is not None and len(value) > many)
            or (pattern is not None and not found_in(pattern, value))
        )

    return check


def frozen(value: Any) -> Any:
    """A JSON value as something hashable, equal where JSON Schema has the values equal.

    ``1`` and ``1.0`` are equal, ``1`` and ``true`` are not.
    """
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, list):
        return ("list", tuple([frozen(item) for item in value]))
    if isinstance(value, dict):
        return ("dict", frozenset((key, frozen(item)) for key, item in value.items()))
    return value


def is_without_repeats(value: list[Any]) -> bool:
    """Whether no item equals another; in linear time, unlike comparing each with each."""
    return len({frozen(item) for item in value}) == len(value)
