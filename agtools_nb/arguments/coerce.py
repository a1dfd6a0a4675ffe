"""Model arguments converted to what a JSON Schema asks for, where only one reading exists.

Laws, each held by a property test: a value that conforms is unchanged; coercing
twice is coercing once; each change is recorded with what stood there before;
nothing raises.

``3.0`` counts as no integer here although JSON Schema lets it pass, because a
function that asks for ``int`` wants one: it becomes 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agtools_nb.arguments.conform import Document
from agtools_nb.arguments.conversions import (
    FROM_TEXT,
    PYTHON_TYPES,
    choice_text,
    converted,
    is_of,
    json_form,
    same,
)
from agtools_nb.arguments.parse import MAX_NESTING, is_nested_beyond
from agtools_nb.arguments.patterns import found_in
from agtools_nb.calls import Change
from agtools_nb.define.branching import check_looks
from agtools_nb.define.subschemas import JsonSchema
from agtools_nb.jsonable import pointer_step


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

    Raises:
        DefinitionError: The schema would look at one value more than 100,000 times.
    """
    with suppress(RecursionError):  # deep ones are read as far as they can be
        check_looks(schema, "the schema")
    if is_nested_beyond(MAX_NESTING, arguments):
        return Coerced(arguments, ())
    return Coercion(Document(schema)).apply(arguments)


# Where a value stands: the place of what holds it, its key or index there, and how deep
# that is. Its text is made only for what changes.
_At = tuple[Any, Any, int]
_Node = Callable[[Any, _At, "_Run"], Any]
# A change that was made: place, before, after, rule.
_Made = tuple[_At, Any, Any, str]
_Tried = dict[tuple[str, int, int], tuple[Any, list[_Made], tuple[Any, Any]]]
# Keywords that apply further schemas to the same value.
_WIDE = frozenset(("$ref", "allOf", "anyOf", "oneOf", "if"))
_ROOT: _At = (None, "", 0)


class Coercion:
    """A document's conversions, compiled to plain functions once.

    Args:
        document: The schema.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self._made: dict[int, tuple[Any, _Node | None]] = {}

    def apply(self, value: Any) -> Coerced:
        """Return the value after coercion; see :func:`coerce`. Never raises."""
        if self.document.surely_conforms(value):
            return Coerced(value, ())
        return self.changed(value)

    def changed(self, value: Any) -> Coerced:
        """The same for a value that is known not to conform."""
        run = _Run({}, set())
        try:
            new = self._root(value, _ROOT, run)
        except RecursionError:
            return Coerced(value, ())
        return Coerced(new, tuple([Change(_pointer(at), *change) for at, *change in run.changes]))

    def converted(self, value: Any) -> Any:
        """The same without a record: the value itself if nothing was changed."""
        try:
            return self._root(value, _ROOT, _Run({}, set()))
        except RecursionError:
            return value

    @cached_property
    def _root(self) -> _Node:
        try:
            return self.node(self.document.schema) or _unchanged
        except RecursionError:
            return _unchanged

    def node(self, schema: Any) -> _Node | None:
        """Return the conversion that a part of the document asks for; ``None`` for none."""
        if not isinstance(schema, dict):
            return None
        made = self._made.get(id(schema))
        if made is not None:
            return made[1]
        # A schema that leads back to itself finds this in its place.
        late = _Late()
        self._made[id(schema)] = (schema, late)
        steps = [step for step in self._steps(schema) if step is not None]
        if not steps:
            self._made[id(schema)] = (schema, None)
            late.node = _unchanged
            return None
        # What one schema asks of a value's type and of its members never disagrees.
        is_sure = not _WIDE & schema.keys()
        is_object = schema.get("type") == "object" and not {"enum", "const"} & schema.keys()
        one = len(steps) == 1 and "if" not in schema
        late.node = steps[0] if one else _in_turn(steps, is_sure, is_object)
        self._made[id(schema)] = (schema, late.node)
        return late.node

    def _steps(self, schema: JsonSchema) -> Iterator[_Node | None]:
        if "$ref" in schema:
            yield self._reference(schema["$ref"])
        for part in _listed(schema, "allOf"):
            yield self.node(part)
        yield self._to_type(schema)
        for keyword in ("anyOf", "oneOf"):
            if branches := _listed(schema, keyword):
                yield self._to_branch(branches)
        if "if" in schema:
            yield self._conditional(schema)
        yield self._object(schema)
        yield self._array(schema)

    def _reference(self, ref: Any) -> _Node | None:
        target = self.document.resolve(ref)
        node = self.node(target)
        if not isinstance(node, _Late):
            return node
        key = id(target)

        def follow(value: Any, at: _At, run: _Run) -> Any:
            # A reference that comes back to itself at one place says nothing new there.
            here = (id(at), key)
            if here in run.active:
                return value
            run.active.add(here)
            try:
                return node(value, at, run)
            finally:
                run.active.discard(here)

        return follow

    def _to_type(self, schema: JsonSchema) -> _Node | None:
        choices = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(choices, list):
            return _to_choice(choices)
        kinds = schema.get("type")
        if isinstance(kinds, list):
            return self._to_branch([{**schema, "type": kind} for kind in kinds])
        if not isinstance(kinds, str) or kinds not in PYTHON_TYPES:
            return None
        return _to_kind(kinds)

    def _to_branch(self, branches: list[Any]) -> _Node:
        conforms = self.document.conforms

        def convert(value: Any, at: _At, run: _Run) -> Any:
            if any(conforms(value, branch) for branch in branches):
                return value
            if isinstance(value, float):
                whole, rule = converted(value, "integer")
                if rule and any(conforms(whole, branch) for branch in branches):
                    return run.changed(at, value, whole, rule)
            outcomes: list[tuple[Any, list[_Made]]] = []
            for branch in branches:
                outcome, changes = self._trial(value, branch, at, run)
                if changes and not any(same(outcome, other) for other, _ in outcomes):
                    outcomes.append((outcome, changes))
            if len(outcomes) != 1:
                return value
            run.changes += outcomes[0][1]
            return outcomes[0][0]

        return convert

    def _trial(self, value: Any, branch: Any, at: _At, run: _Run) -> tuple[Any, list[_Made]]:
        """The value as a branch would have it, and the changes; none if it does not conform."""
        node = self.node(branch)
        if node is None:
            return value, []
        key = (_pointer(at), id(value), id(branch))
        if key not in run.tried:
            trial = _Run(run.tried, run.active)
            outcome = node(value, at, trial)
            fits = bool(trial.changes) and self.document.conforms(outcome, branch)
            # The branch and the value are kept, so that their ids stay theirs.
            run.tried[key] = (outcome, trial.changes if fits else [], (value, branch))
        outcome, changes, _ = run.tried[key]
        return outcome, changes

    def _conditional(self, schema: JsonSchema) -> _Node | None:
        conforms, condition = self.document.conforms, schema["if"]
        then, otherwise = self.node(schema.get("then")), self.node(schema.get("else"))
        if then is None and otherwise is None:
            return None

        def convert(value: Any, at: _At, run: _Run) -> Any:
            node = then if conforms(value, condition) else otherwise
            return value if node is None else node(value, at, run)

        return convert

    def _object(self, schema: JsonSchema) -> _Node | None:
        properties = {name: self.node(sub) for name, sub in _mapping(schema, "properties").items()}
        patterns = [
            (pattern, node)
            for pattern, sub in _mapping(schema, "patternProperties").items()
            if (node := self.node(sub)) is not None
        ]
        rest = self.node(schema.get("additionalProperties"))
        if rest is None and not patterns and not any(properties.values()):
            return None
        if patterns:
            return _pattern_members(properties, patterns, rest, list(schema["patternProperties"]))
        return _members(properties, rest)

    def _array(self, schema: JsonSchema) -> _Node | None:
        # Drafts up to 2019-09 wrote prefixItems as a list under "items".
        items = schema.get("items")
        first = [
            self.node(sub) for sub in _listed(schema, "prefixItems") or _listed(schema, "items")
        ]
        rest = self.node(schema.get("additionalItems") if isinstance(items, list) else items)
        if rest is None and not any(first):
            return None
        return _items(first, rest)


class _Run:
    """One pass over one value. Collects changes; branches are tried on a run of their own."""

    __slots__ = ("active", "changes", "owned", "tried")

    def __init__(self, tried: _Tried, active: set[tuple[int, int]]) -> None:
        self.changes: list[_Made] = []
        # What a branch made of a value, so that unions within unions are tried once each.
        self.tried = tried
        # References under way, each at its place.
        self.active = active
        # Containers made here, by id: many schemas at one place need not copy them each.
        self.owned: dict[int, Any] = {}

    def own(self, value: Any) -> Any:
        """A container that may be changed: itself if it was made here, else a copy."""
        if id(value) in self.owned:
            return value
        copy = value.copy()
        self.owned[id(copy)] = copy
        return copy

    def changed(self, at: _At, before: Any, after: Any, rule: str) -> Any:
        """Note a change and return the new value."""
        self.changes.append((at, before, after, rule))
        return after


class _Late:
    """A conversion that is still being made: schemas may lead back to themselves."""

    __slots__ = ("node",)
    node: _Node

    def __call__(self, value: Any, at: _At, run: _Run) -> Any:
        return self.node(value, at, run)


def _unchanged(value: Any, at: _At, run: _Run) -> Any:
    return value


def _in_turn(steps: list[_Node], is_sure: bool, is_object: bool = False) -> _Node:
    """What several schemas at one place ask for; if they disagree, nothing is converted."""
    last = steps[-1]

    def once(value: Any, at: _At, run: _Run) -> Any:
        for step in steps:
            value = step(value, at, run)
        return value

    def of_object(value: Any, at: _At, run: _Run) -> Any:
        # What an object's schema asks of an object is all in its members.
        return last(value, at, run) if type(value) is dict else once(value, at, run)

    def convert(value: Any, at: _At, run: _Run) -> Any:
        before = len(run.changes)
        # What may have to be given back as it is must not be changed in place.
        run.owned.pop(id(value), None)
        new = once(value, at, run)
        if len(run.changes) > before:
            again = _Run(run.tried, run.active)
            once(new, at, again)
            if again.changes:
                del run.changes[before:]
                return value
        return new

    if is_sure:
        return of_object if len(steps) == 2 and is_object else once
    return convert


def _to_kind(kind: str) -> _Node:
    exact = PYTHON_TYPES[kind]
    read = FROM_TEXT.get(kind)

    def convert(value: Any, at: _At, run: _Run) -> Any:
        if type(value) is exact or is_of(value, kind):
            return value
        if read is not None and type(value) is str:
            new, rule = read(value)
        else:
            new, rule = converted(value, kind)
        if rule is None:
            return value
        run.changes.append((at, value, new, rule))
        return new

    return convert


def _to_choice(choices: list[Any]) -> _Node:
    by_text: dict[str, list[Any]] = {}
    for choice in choices:
        text = choice_text(choice)
        if text is not None:
            by_text.setdefault(text, []).append(choice)
    texts = frozenset(choice for choice in choices if isinstance(choice, str))

    def convert(value: Any, at: _At, run: _Run) -> Any:
        is_text = isinstance(value, str)
        if value in texts if is_text else any(same(value, choice) for choice in choices):
            return value
        found = by_text.get(value if is_text else json_form(value) or "", ())
        if len(found) != 1:
            return value
        return run.changed(at, value, found[0], "text form to choice")

    return convert


def _members(properties: dict[str, _Node | None], rest: _Node | None) -> _Node:
    get = properties.get
    named = [name for name, node in properties.items() if node is not None] if rest is None else []
    few = len(named)

    def convert(value: Any, at: _At, run: _Run) -> Any:
        depth = at[2] + 1
        if not isinstance(value, dict) or depth > MAX_NESTING:
            return value
        changed = None
        # Whichever are fewer: many schemas with one property each must not each read all keys.
        keys = [key for key in named if key in value] if few and few < len(value) else value
        for key in keys:
            node = get(key, rest)
            if node is None:
                continue
            item = value[key]
            new = node(item, (at, key, depth), run)
            if new is not item:
                changed = changed or run.own(value)
                changed[key] = new
        return changed or value

    return convert


def _pattern_members(
    properties: dict[str, _Node | None],
    patterns: list[tuple[str, _Node]],
    rest: _Node | None,
    all_patterns: list[str],
) -> _Node:
    def applied(key: str) -> list[_Node]:
        nodes = [node for pattern, node in patterns if found_in(pattern, key, unreadable=False)]
        own = properties.get(key)
        if own is not None:
            nodes.insert(0, own)
        if nodes or rest is None or key in properties:
            return nodes
        return [] if any(found_in(pattern, key) for pattern in all_patterns) else [rest]

    def convert(value: Any, at: _At, run: _Run) -> Any:
        depth = at[2] + 1
        if not isinstance(value, dict) or depth > MAX_NESTING:
            return value
        changed = dict(value)
        for key in value:
            if nodes := applied(key):
                changed[key] = _in_turn(nodes, is_sure=False)(changed[key], (at, key, depth), run)
        return changed if any(changed[key] is not item for key, item in value.items()) else value

    return convert


def _items(first: list[_Node | None], rest: _Node | None) -> _Node:
    length = len(first)

    def convert(value: Any, at: _At, run: _Run) -> Any:
        depth = at[2] + 1
        if not isinstance(value, list) or depth > MAX_NESTING:
            return value
        changed = None
        for index, item in enumerate(value):
            node = first[index] if index < length else rest
            if node is None:
                continue
            new = node(item, (at, index, depth), run)
            if new is not item:
                changed = changed or run.own(value)
                changed[index] = new
        return changed or value

    return convert


def _pointer(at: _At) -> str:
    steps: list[str] = []
    while at[0] is not None:
        steps.append(pointer_step(str(at[1])))
        at = at[0]
    return "".join(f"/{step}" for step in reversed(steps))


def _listed(schema: JsonSchema, keyword: str) -> list[Any]:
    found = schema.get(keyword)
    return found if isinstance(found, list) else []


def _mapping(schema: JsonSchema, keyword: str) -> dict[str, Any]:
    found = schema.get(keyword)
    return found if isinstance(found, dict) else {}
