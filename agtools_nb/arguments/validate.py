"""What does not fit a schema, place by place, written for a model to act on."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from agtools_nb.arguments.conform import Document, unknown_keys
from agtools_nb.arguments.conversions import escaped
from agtools_nb.arguments.parse import MAX_NESTING, is_nested_beyond
from agtools_nb.calls import Fault
from agtools_nb.define.describe import bounds_text, expected_text, type_text
from agtools_nb.jsonable import clean_text, jsonable, shorten

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

MAX_FAULTS = 20
_SHOWN = 60
_PLACE_SHOWN = 200
_BOUNDS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
)  # fmt: skip


def validate(arguments: Any, schema: Mapping[str, Any] | bool) -> tuple[Fault, ...]:
    """Return what in ``arguments`` does not fit ``schema``; empty if all fits.

    Args:
        arguments: Any JSON value.
        schema: A JSON Schema, draft 7 or 2020-12. ``format`` is an annotation.

    Returns:
        At most 20 faults, one a place, in the order of the schema.
    """
    if is_nested_beyond(MAX_NESTING, arguments):
        return (too_deep_fault(),)
    return faults_in(arguments, Document(schema))


def faults_in(arguments: Any, document: Document) -> tuple[Fault, ...]:
    """The same for a schema that has been made ready."""
    if document.conforms(arguments):
        return ()
    secret = secret_parameters(document.schema)
    faults = first_of_each_place(_faults(document.errors(arguments), document)) or (
        make_fault("", "what the schema asks for", got_text(arguments)),
    )
    return tuple(without_value(f) if top_of(f.pointer) in secret else f for f in faults)


def first_of_each_place(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Keep the first fault of each place, and at most 20."""
    found: dict[str, Fault] = {}
    for fault in faults:
        found.setdefault(fault.pointer, fault)
        if len(found) == MAX_FAULTS:
            break
    return tuple(found.values())


def top_of(pointer: str) -> str:
    """The parameter that a place belongs to."""
    return pointer.split("/", 2)[1] if pointer else ""


def secret_parameters(schema: Any) -> frozenset[str]:
    """Parameters that hold a secret anywhere: their values are never shown, at any place."""
    if not isinstance(schema, dict):
        return frozenset()
    shared = _holds_secret(schema.get("$defs")) or _holds_secret(schema.get("definitions"))
    properties = schema.get("properties")
    return frozenset(
        escaped(name)
        for name, sub in (properties.items() if isinstance(properties, dict) else ())
        if _holds_secret(sub) or (shared and '"$ref"' in json.dumps(jsonable(sub)))
    )


def _holds_secret(schema: Any) -> bool:
    text = json.dumps(jsonable(schema))
    return '"writeOnly": true' in text or '"format": "password"' in text


def without_value(fault: Fault) -> Fault:
    """The same fault with what came left out."""
    if fault.got == "nothing":
        return fault
    return make_fault(fault.pointer, fault.expected, "something else (not shown)")


def too_deep_fault() -> Fault:
    """The fault of values that are not followed to their end."""
    return make_fault("", f"at most {MAX_NESTING} levels of nesting", "more")


def make_fault(pointer: str, expected: str, got: str, remark: str = "") -> Fault:
    """A fault whose sentence names the place, what was expected and what came."""
    pointer = clean_text(pointer)
    where = shorten(pointer, _PLACE_SHOWN) or "the arguments"
    return Fault(pointer, expected, got, f"{where}: expected {expected}, got {got}{remark}")


def got_text(value: Any) -> str:
    """A value in short, with its JSON type: ``'"ten" (a string)'``."""
    text = json.dumps(jsonable(value), ensure_ascii=False)
    return f"{shorten(text, _SHOWN)} ({_kind(value)})" if value is not None else "null"


def _faults(errors: Iterable[ValidationError], document: Document) -> Iterator[Fault]:
    for error in errors:
        yield from _from_error(error, document)


def _from_error(error: ValidationError, document: Document) -> Iterator[Fault]:
    pointer = "".join(f"/{escaped(str(step))}" for step in error.absolute_path)
    keyword, schema = error.validator, cast("Any", error.schema)
    if not isinstance(schema, dict):
        yield make_fault(pointer, "nothing here", got_text(error.instance))
    elif keyword == "required":
        yield from _missing(error, pointer, schema, document)
    elif keyword in ("additionalProperties", "unevaluatedProperties"):
        yield from _unknown(error, pointer, schema)
    elif keyword in ("anyOf", "oneOf") and error.context:
        yield from _from_branches(error, pointer, document)
    elif keyword in _BOUNDS:
        yield make_fault(pointer, bounds_text({keyword: schema[keyword]}), got_text(error.instance))
    elif keyword == "oneOf":
        expected = f"exactly one of {len(schema['oneOf'])} alternatives to fit"
        yield make_fault(pointer, expected, f"{got_text(error.instance)}, which fits several")
    elif keyword in ("not", "if", "then", "else", "contains", "dependentRequired", "propertyNames"):
        expected = shorten(
            f"what {keyword!r} asks for: {json.dumps(jsonable(error.validator_value))}", 200
        )
        yield make_fault(pointer, expected, got_text(error.instance))
    else:
        yield make_fault(pointer, expected_text(schema, document.schema), got_text(error.instance))


def _missing(
    error: ValidationError, pointer: str, schema: Any, document: Document
) -> Iterator[Fault]:
    properties = schema.get("properties", {})
    instance = cast("Any", error.instance)
    for name in schema.get("required", ()):
        if name not in instance:
            expected = expected_text(properties.get(name, True), document.schema)
            yield make_fault(f"{pointer}/{escaped(name)}", expected, "nothing", " (it is required)")


def _unknown(error: ValidationError, pointer: str, schema: Any) -> Iterator[Fault]:
    known = list(schema.get("properties", {}))
    instance = cast("Any", error.instance)
    for name in unknown_keys(instance, schema):
        close = difflib.get_close_matches(name[:_PLACE_SHOWN], known, n=1)
        remark = f"; did you mean {close[0]!r}?" if close else ""
        allowed = shorten(", ".join(known), 1_000) if known else "none"
        place = clean_text(f"{pointer}/{escaped(name)}")
        message = f"{shorten(place, _PLACE_SHOWN)}: there is no such parameter{remark}"
        yield Fault(place, "no such key", got_text(instance[name]), f"{message} (known: {allowed})")


def _from_branches(error: ValidationError, pointer: str, document: Document) -> Iterator[Fault]:
    """The faults of the one branch that was meant, if the value's type or tag tells which."""
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context or ():
        # A branch that is just ``false`` has no path.
        branch = inner.schema_path[0] if inner.schema_path else "false"
        branches.setdefault(branch, []).append(inner)
    meant = [faults for faults in branches.values() if not any(map(_rules_out, faults))]
    if len(meant) == 1:
        yield from _faults(meant[0], document)
        return
    tags = _tags_asked_for(branches.values())
    if tags is not None:
        place, value, expected = tags
        yield make_fault(f"{pointer}/{escaped(place)}", expected, got_text(value))
        return
    kinds = " or ".join(
        dict.fromkeys(
            type_text(part, document.schema) for part in cast("Any", error.validator_value)
        )
    )
    yield make_fault(pointer, kinds, got_text(error.instance))


def _tags_asked_for(branches: Iterable[list[ValidationError]]) -> tuple[str, Any, str] | None:
    """Key, value and choices of the tag, where every branch refused the same key's value."""
    refused = [
        (str(error.relative_path[0]), error)
        for errors in branches
        for error in errors
        if error.validator in ("const", "enum") and len(error.relative_path) == 1
    ]
    keys = {key for key, _ in refused}
    if len(keys) != 1:
        return None
    choices: list[Any] = []
    for _, error in refused:
        asked = cast("Any", error.validator_value)
        choices += asked if error.validator == "enum" else [asked]
    key, first = refused[0]
    return key, first.instance, type_text({"enum": choices})


def _rules_out(error: ValidationError) -> bool:
    """Whether an error shows that its branch was not the one meant: other type, other tag."""
    at_root = len(error.relative_path) == 0
    if error.validator == "type":
        return at_root
    return error.validator in ("const", "enum") and len(error.relative_path) <= 1


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number" if isinstance(value, float) else "an integer"
    if isinstance(value, str):
        return "a string"
    return "an array" if isinstance(value, list) else "an object"
