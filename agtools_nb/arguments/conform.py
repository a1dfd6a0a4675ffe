"""One JSON Schema document, ready to be asked: does this conform, and if not, why.

Whether a value conforms is answered by compiled checks where there are any; why not,
by ``jsonschema``. That is imported on first use: beside JupyterLab it takes over a
second, because it then finds a checker of internationalized addresses that builds its
grammar on import.
"""

from __future__ import annotations

import contextvars
import functools
import importlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from agtools_nb.arguments.checker import (
    Check,
    Compiler,
    UncompiledError,
    is_integer,
    is_without_repeats,
)
from agtools_nb.arguments.loops import closing_references
from agtools_nb.arguments.patterns import found_in
from agtools_nb.define.subschemas import MISSING, resolve, walk
from agtools_nb.jsonable import MAX_INT_BITS

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

_DRAFTS = {
    "https://json-schema.org/draft/2020-12/schema": False,
    "http://json-schema.org/draft-07/schema": True,
}
"""Drafts whose schemas are compiled, and whether they are draft 7."""


# Not None, which a broken schema may hold where a schema belongs.
_ROOT: Any = object()


def can_explain() -> bool:
    """Whether ``jsonschema`` is there, so that errors are found without delay."""
    return _imported.is_set()


def learn_to_explain() -> None:
    """Import ``jsonschema``: for a thread other than an event loop's, which would stand still."""
    importlib.import_module("jsonschema.validators")
    _imported.set()


_imported = threading.Event()


class Document:
    """A schema and its draft: by its ``$schema``, else 2020-12.

    References are followed inside the document only; nothing is ever fetched.

    Args:
        schema: The root schema. It must not change while this document is in use.

    Attributes:
        schema: The root schema; ``{}`` for what is none.
    """

    def __init__(self, schema: Any) -> None:
        root = schema if isinstance(schema, (dict, bool)) else {}
        if isinstance(root, dict):
            # Of another type these two name nothing, and break whoever reads them.
            for name in ("$schema", "$id"):
                if not isinstance(root.get(name, ""), str):
                    root = {key: value for key, value in root.items() if key != name}
        self.schema = root
        self._checks: dict[int, tuple[Any, Check | None]] = {}

    def conforms(self, value: Any, schema: Any = _ROOT) -> bool:
        """Whether ``value`` fits ``schema``, a part of this document (default: the root).

        A schema that cannot be judged (a broken reference, a bad pattern) is
        taken as fitting: what it meant is for the tool to say.
        """
        if schema is _ROOT:
            schema = self.schema
        check = self._check(schema)
        if check is not None:
            try:
                return self._asks(check, value)
            except RecursionError:
                # The value, or a schema that leads to itself without end.
                return True
        return next(self.errors(value, schema), None) is None

    def surely_conforms(self, value: Any) -> bool:
        """Whether ``value`` fits the root, asked of the compiled checks only."""
        check = self._check(self.schema)
        try:
            return check is not None and self._asks(check, value)
        except RecursionError:
            return False

    def errors(self, value: Any, schema: Any = _ROOT) -> Iterator[ValidationError]:
        """Yield what does not fit, in the order of the schema."""
        # Not by a token: whoever stops to listen may end this in another context.
        before = _asked.get()
        _asked.set(self)
        try:
            validator = self._validator
            if schema is not _ROOT:
                if not isinstance(schema, (dict, bool)):
                    return
                validator = validator.evolve(schema=self._ending.get(id(schema), schema))
            yield from validator.iter_errors(_printable(value))
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException:
            # Only the validator runs here, so this is the schema's fault: a reference to
            # nowhere or round in a circle (a Rust panic, no Exception), a bad pattern, a
            # keyword of the wrong type.
            return
        finally:
            _asked.set(before)

    def resolve(self, ref: Any) -> Any:
        """The schema that a reference leads to; ``None`` if it leads nowhere."""
        found = resolve(ref, self.schema)
        return self._found_by_name(ref) if found is MISSING else found

    def _found_by_name(self, ref: Any) -> Any:
        """What an anchor or an embedded ``$id`` names."""
        from referencing.exceptions import Unresolvable
        from referencing.jsonschema import DRAFT202012

        if not isinstance(ref, str) or not isinstance(self.schema, dict):
            return None
        try:
            resource = DRAFT202012.create_resource(self.schema)
            return _no_schemas().resolver_with_root(resource).lookup(ref).contents
        except (Unresolvable, ValueError, TypeError, AttributeError, KeyError):
            return None

    def owns(self, schema: Any) -> bool:
        """Whether a schema is a part of this document, whatever else is known to references."""
        return not isinstance(schema, dict) or id(schema) in self._own

    @functools.cached_property
    def _own(self) -> frozenset[int]:
        twins = (id(twin) for twin in self._ending.values())
        return frozenset((*map(id, walk(self.schema)), *twins))

    def _asks(self, check: Check, value: Any) -> bool:
        compiler = self._compiler
        return check(value) if compiler is None else compiler.ask(check, value)

    def _check(self, schema: Any) -> Check | None:
        found = self._checks.get(id(schema))
        if found is None:
            # The schema is kept beside its check, so that its id stays its own.
            found = self._checks[id(schema)] = (schema, self._compiled(schema))
        return found[1]

    def _compiled(self, schema: Any) -> Check | None:
        compiler = self._compiler
        try:
            return None if compiler is None else compiler.compile(schema)
        except (UncompiledError, RecursionError, TypeError):
            return None

    @functools.cached_property
    def _ending(self) -> dict[int, Any]:
        """Parts of the document without references that lead a value back to itself at once.

        By the id of the original; empty if there is no such reference. ``jsonschema`` would
        follow them until the stack is full.
        """
        try:
            closing = closing_references(self.schema)
            twins: dict[int, Any] = {}
            if closing:
                _copied_without(self.schema, closing, twins)
        except RecursionError:
            return {}
        return twins

    @functools.cached_property
    def _compiler(self) -> Compiler | None:
        draft7 = False
        if isinstance(self.schema, dict) and "$schema" in self.schema:
            draft = self.schema["$schema"].removesuffix("#")
            if draft not in _DRAFTS:
                return None
            draft7 = _DRAFTS[draft]
        try:
            return Compiler(self.schema, draft7=draft7)
        except (UncompiledError, RecursionError):
            return None

    @functools.cached_property
    def _validator(self) -> Validator:
        from jsonschema import Draft202012Validator
        from jsonschema.validators import validator_for

        root = self._ending.get(id(self.schema), self.schema)
        kind = _strict(validator_for(root, default=Draft202012Validator))
        return kind(root, registry=_no_schemas())


def _copied_without(schema: Any, closing: set[int], twins: dict[int, Any]) -> Any:
    """A copy of JSON in which some schemas have no ``$ref``; notes the copy of each object."""
    if isinstance(schema, list):
        return [_copied_without(item, closing, twins) for item in schema]
    if not isinstance(schema, dict):
        return schema
    twin = twins[id(schema)] = {
        key: _copied_without(item, closing, twins)
        for key, item in schema.items()
        if key != "$ref" or id(schema) not in closing
    }
    return twin


@functools.cache
def _no_schemas() -> Any:
    """A registry that knows and fetches nothing; jsonschema's own default would fetch."""
    from referencing import Registry

    return Registry()


@functools.cache
def _strict(base: type[Validator]) -> type[Validator]:
    """A draft's validator to which ``3.0`` is no integer, and which no input can hang."""
    from jsonschema.validators import extend

    checker = base.TYPE_CHECKER.redefine("integer", lambda _, value: is_integer(value))
    own = {
        "pattern": _pattern,
        "uniqueItems": _unique_items,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "anyOf": functools.partial(_alternatives, most=None),
        "oneOf": functools.partial(_alternatives, most=1),
    }
    kind: Any = extend(base, own, type_checker=checker)  # type: ignore[no-untyped-call]
    kind.evolve = _evolved
    return kind  # type: ignore[no-any-return]


def _evolved(self: Any, **changes: Any) -> Any:
    """A validator of the same class; where a schema names its draft, jsonschema changes class."""
    import attrs

    for field in attrs.fields(type(self)):
        if field.init and field.alias not in changes:
            changes[field.alias] = getattr(self, field.name)
    return type(self)(**changes)


class _Huge(int):
    """An integer that Python refuses to print, and jsonschema prints what it complains of."""

    def __repr__(self) -> str:
        return f"<an integer of {self.bit_length()} bits>"

    __str__ = __repr__


def _printable(value: Any) -> Any:
    if type(value) is int:
        return _Huge(value) if value.bit_length() > MAX_INT_BITS else value
    if type(value) is list:
        return [_printable(item) for item in value]
    if type(value) is dict:
        return {key: _printable(item) for key, item in value.items()}
    return value


def _pattern(validator: Any, pattern: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if isinstance(value, str) and not found_in(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _unique_items(validator: Any, asked: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    """In linear time; jsonschema compares each item with each other."""
    from jsonschema.exceptions import ValidationError

    if asked is True and isinstance(value, list) and not is_without_repeats(value):
        yield ValidationError("items repeat")


def _pattern_properties(
    validator: Any, patterns: Any, value: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(value, dict):
        return
    for pattern, sub in patterns.items():
        for key, item in value.items():
            if found_in(pattern, key):
                yield from validator.descend(item, sub, path=key, schema_path=pattern)


def _additional_properties(
    validator: Any, rest: Any, value: Any, schema: Any
) -> Iterator[ValidationError]:
    """One error for all unknown keys if none is allowed."""
    from jsonschema.exceptions import ValidationError

    if not isinstance(value, dict):
        return
    unknown = list(unknown_keys(value, schema))
    if rest is False and unknown:
        yield ValidationError("unknown keys")
    elif isinstance(rest, dict):
        for key in unknown:
            yield from validator.descend(value[key], rest, path=key)


# The document whose errors are asked for, and how many unions deep its validator is.
_asked: contextvars.ContextVar[Any] = contextvars.ContextVar("agtools_nb_document", default=None)
_MAX_UNIONS = 3


def _alternatives(
    validator: Any, branches: Any, value: Any, schema: Any, *, most: int | None
) -> Iterator[ValidationError]:
    """``anyOf``, or ``oneOf`` with ``most=1``; says why each branch does not fit.

    Whether one fits is asked of the document, which remembers: in a schema that leads back
    to itself by two ways, ``jsonschema`` would take both at each level. For the same reason
    nothing is said of unions within unions within unions.
    """
    from jsonschema.exceptions import ValidationError

    document, depth = _asked.get(), _unions.get()
    fit = [branch for branch in branches if _fits(document, validator, value, branch)]
    if fit and (most is None or len(fit) <= most):
        return
    context: list[ValidationError] = []
    if not fit and depth < _MAX_UNIONS:
        _unions.set(depth + 1)
        try:
            for index, branch in enumerate(branches):
                context += validator.descend(value, branch, schema_path=index)
        finally:
            _unions.set(depth)
    yield ValidationError("fits no alternative, or too many", context=context)


def _fits(document: Document, validator: Any, value: Any, branch: Any) -> bool:
    if document.owns(branch):
        return document.conforms(value, branch)
    # Of a metaschema, which jsonschema knows and a reference led to.
    return bool(validator.evolve(schema=branch).is_valid(value))


_unions: contextvars.ContextVar[int] = contextvars.ContextVar("agtools_nb_unions", default=0)


def unknown_keys(value: dict[str, Any], schema: Any) -> Iterator[str]:
    """The keys of an object that neither ``properties`` nor ``patternProperties`` name."""
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    for key in value:
        if key not in known and not any(found_in(pattern, key) for pattern in patterns):
            yield key
