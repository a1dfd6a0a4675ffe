"""One JSON Schema document, ready to be asked: does this value conform, where does this reference lead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema.validators import extend, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

_NO_SCHEMAS: Registry[Any] = Registry()


def _is_integer(checker: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _without_floats_as_integers(base: type[Validator]) -> type[Validator]:
    checker = base.TYPE_CHECKER.redefine("integer", _is_integer)
    return extend(base, type_checker=checker)


_STRICT = {
    base: _without_floats_as_integers(base)
    for base in (
        jsonschema.Draft4Validator,
        jsonschema.Draft6Validator,
        jsonschema.Draft7Validator,
        jsonschema.Draft201909Validator,
        Draft202012Validator,
    )
}


class Document:
    """A schema and its draft: by its ``$schema``, else 2020-12.

    References are followed inside the document only; nothing is ever fetched.

    Args:
        schema: The root schema.
    """

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        base = validator_for(schema, default=Draft202012Validator)
        kind = _STRICT.get(base, _STRICT[Draft202012Validator])
        self._validator = kind(schema if isinstance(schema, (dict, bool)) else {}, registry=_NO_SCHEMAS)

    def conforms(self, value: Any, schema: Any = None) -> bool:
        """Whether ``value`` fits ``schema``, a part of this document (default: the root).

        A schema that cannot be judged (a broken reference, a bad pattern) is
        taken as fitting: what it meant is for the tool to say.
        """
        return next(self.errors(value, schema), None) is None

    def errors(self, value: Any, schema: Any = None) -> Iterator[ValidationError]:
        """Yield what does not fit, in the order of the schema."""
        validator = self._validator
        if schema is not None:
            if not isinstance(schema, (dict, bool)):
                return
            validator = validator.evolve(schema=schema)
        try:
            yield from validator.iter_errors(value)
        except Exception:
            # Only the validator runs here, so this is the schema's fault: a reference to
            # nowhere or round in a circle, a bad pattern, a keyword of the wrong type.
            return

    def resolve(self, ref: Any) -> Any:
        """The schema that a reference leads to; ``None`` if it leads nowhere."""
        if not isinstance(ref, str) or not isinstance(self.schema, dict):
            return None
        try:
            resource = DRAFT202012.create_resource(self.schema)
            return _NO_SCHEMAS.resolver_with_root(resource).lookup(ref).contents
        except (Unresolvable, ValueError, TypeError, AttributeError, KeyError):
            return None

