"""One JSON Schema document, ready to be asked: does this conform, where does this ref lead.

``jsonschema`` is imported on first use: beside JupyterLab it takes over a second,
because it then finds a checker of internationalized addresses that builds its
grammar on import.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from agtools_nb.arguments.patterns import found_in

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator


class Document:
    """A schema and its draft: by its ``$schema``, else 2020-12.

    References are followed inside the document only; nothing is ever fetched.

    Args:
        schema: The root schema.
    """

    def __init__(self, schema: Any) -> None:
        from jsonschema import Draft202012Validator
        from jsonschema.validators import validator_for

        root = schema if isinstance(schema, (dict, bool)) else {}
        if isinstance(root, dict):
            # Of another type these two name nothing, and break whoever reads them.
            named = ("$schema", "$id")
            root = {k: v for k, v in root.items() if k not in named or isinstance(v, str)}
        self.schema = root
        kind = _strict(validator_for(root, default=Draft202012Validator))
        self._validator = kind(root, registry=_no_schemas())

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
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException:
            # Only the validator runs here, so this is the schema's fault: a reference to
            # nowhere or round in a circle (a Rust panic, no Exception), a bad pattern, a
            # keyword of the wrong type.
            return

    def resolve(self, ref: Any) -> Any:
        """The schema that a reference leads to; ``None`` if it leads nowhere."""
        from referencing.exceptions import Unresolvable
        from referencing.jsonschema import DRAFT202012

        if not isinstance(ref, str) or not isinstance(self.schema, dict):
            return None
        try:
            resource = DRAFT202012.create_resource(self.schema)
            return _no_schemas().resolver_with_root(resource).lookup(ref).contents
        except (Unresolvable, ValueError, TypeError, AttributeError, KeyError):
            return None


@functools.cache
def _no_schemas() -> Any:
    """A registry that knows and fetches nothing; jsonschema's own default would fetch."""
    from referencing import Registry

    return Registry()


@functools.cache
def _strict(base: type[Validator]) -> type[Validator]:
    """A draft's validator to which ``3.0`` is no integer, and which no input can hang."""
    from jsonschema.validators import extend

    checker = base.TYPE_CHECKER.redefine("integer", _is_integer)
    own = {"pattern": _pattern, "uniqueItems": _unique_items}
    kind: type[Validator] = extend(base, own, type_checker=checker)  # type: ignore[no-untyped-call]
    return kind


def _is_integer(checker: Any, value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _pattern(validator: Any, pattern: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    from jsonschema.exceptions import ValidationError

    if isinstance(value, str) and not found_in(pattern, value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _unique_items(validator: Any, asked: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    """In linear time; jsonschema compares each item with each other."""
    from jsonschema.exceptions import ValidationError

    if asked is True and isinstance(value, list):
        texts = {json.dumps(item, sort_keys=True) for item in value}
        if len(texts) < len(value):
            yield ValidationError("items repeat")
