"""From what ``jsonschema`` reports to faults, keyword by keyword."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast

from agtools_nb.arguments.branches import branch_faults
from agtools_nb.arguments.conform import Document, unknown_keys
from agtools_nb.arguments.faults import UnknownKey, brief_json, make_fault, place_text
from agtools_nb.arguments.hints import hint_for, null_hint
from agtools_nb.arguments.nearest import listed, nearest
from agtools_nb.arguments.secrets import Secrets
from agtools_nb.calls import Fault
from agtools_nb.define.describe import bounds_text, expected_text
from agtools_nb.jsonable import clean_text, jsonable, pointer_step, shorten

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_KNOWN_SHOWN = 1_000
_JSON_SHOWN = 200
_MAX_FOLLOWED = 8
_BOUNDS = (
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
)  # fmt: skip
# Keywords below which the next step of a schema's path is a name.
_NAMED = ("properties", "patternProperties", "dependentSchemas", "dependencies")


class Findings:
    """Words for the faults of one document.

    Args:
        document: The schema.

    Attributes:
        document: The same.
        secrets: Which of its values must not be shown.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.secrets = Secrets(document.schema)
        self.got = self.secrets.got

    def faults(self, errors: Iterable[ValidationError]) -> Iterator[Fault]:
        """Yield the faults that ``errors`` tell of, in their order."""
        for error in errors:
            yield from self._from(error)

    def brief(self, error: ValidationError) -> str:
        """One error of a branch in a few words, without what came."""
        if error.validator in ("anyOf", "oneOf"):
            # Told without looking into its branches: unions in unions would not end.
            expected = self._expected({"anyOf": error.validator_value})
            return f"{place_text(_pointer(error))}: expected {expected}"
        fault = next(self._from(error), None)
        if fault is None:
            return "something else"
        place = place_text(fault.pointer)
        if fault.got == "nothing":
            return f"{place} is missing"
        if isinstance(fault, UnknownKey):
            return f"{place} is not known"
        return f"{place}: expected {shorten(fault.expected, _JSON_SHOWN)}"

    def hint(self, pointer: str, value: Any, schema: Any) -> str:
        """What else helps to repair ``value``; see :mod:`agtools_nb.arguments.hints`."""
        is_secret = self.secrets.hide(pointer)
        if value is None and pointer.count("/") == 1 and isinstance(self.document.schema, dict):
            # Of a parameter that is a reference, the default stands beside that.
            name = pointer[1:].replace("~1", "/").replace("~0", "~")
            return null_hint(name, self.document.schema, is_secret)
        return hint_for(pointer, value, schema, self.resolved, is_secret)

    def resolved(self, schema: Any) -> Any:
        """The schema that a reference leads to; the schema itself if it is none."""
        for _ in range(_MAX_FOLLOWED):
            if not isinstance(schema, dict) or "$ref" not in schema:
                break
            schema = self.document.resolve(schema["$ref"])
        return schema

    def _expected(self, schema: Any) -> str:
        return expected_text(schema, self.document.schema)

    def _from(self, error: ValidationError) -> Iterator[Fault]:
        pointer, schema = _pointer(error), cast("Any", error.schema)
        if _is_about_key(error):
            yield self._key_fault(error, pointer)
        elif not isinstance(schema, dict):
            got = self.got(pointer, error.instance)
            yield make_fault(pointer, "nothing here", got, " (leave it out)")
        elif error.validator in ("anyOf", "oneOf") and error.context:
            yield from branch_faults(error, pointer, self)
        else:
            several = _SEVERAL.get(str(error.validator))
            if several is None:
                yield self._one(error, pointer, schema)
            else:
                yield from several(self, error, pointer, schema)

    def _one(self, error: ValidationError, pointer: str, schema: Any) -> Fault:
        got = self.got(pointer, error.instance)
        fitting = self._fitting(error) if error.validator == "oneOf" else []
        if fitting:
            forms = "; ".join(
                f"({number}) {self._expected(form)}" for number, form in enumerate(fitting[:3], 1)
            )
            expected = f"exactly one of {len(schema['oneOf'])} alternatives to fit"
            return make_fault(pointer, expected, f"{got}, which fits {len(fitting)}: {forms}")
        if error.validator == "not":
            return make_fault(pointer, self._refused(schema["not"]), got, is_sentence=True)
        words = self._asked(str(error.validator), error.validator_value, schema)
        if words is not None:
            return make_fault(pointer, words, got)
        hint = self.hint(pointer, error.instance, schema)
        return make_fault(pointer, self._expected(schema), got, hint)

    def _asked(self, keyword: str, asked: Any, schema: dict[str, Any]) -> str | None:
        """What one keyword asks for, where that is not the type or the choices."""
        if keyword in _BOUNDS:
            return bounds_text({keyword: asked})
        if keyword == "pattern":
            return f"a string {bounds_text({keyword: asked})}"
        if keyword == "uniqueItems":
            return "items without repeats"
        if keyword in ("contains", "minContains", "maxContains"):
            least = brief_json(schema.get("minContains", 1), 20)
            many = f"at least {least}"
            if keyword == "maxContains":
                many = f"at most {brief_json(asked, 20)}"
            return f"{many} of its items to be {self._expected(schema.get('contains', True))}"
        if keyword in ("items", "additionalItems", "unevaluatedItems") and asked is False:
            first = schema.get("prefixItems", schema.get("items"))
            return f"at most {len(first)} items" if isinstance(first, list) else "no further items"
        if keyword in ("if", "then", "else"):
            return f"what {keyword!r} asks for: {_json(asked)}"
        return None

    def _refused(self, schema: Any) -> str:
        """What ``not`` says of a value that fits its schema."""
        keywords = set(schema) if isinstance(schema, dict) else set()
        if keywords == {"required"} and isinstance(schema["required"], list):
            names = ", ".join(brief_json(name, 60) for name in schema["required"])
            few = "the key" if len(schema["required"]) == 1 else "all of these keys:"
            return f"must not have {few} {names}"
        if keywords and keywords <= {"type", "enum", "const"}:
            return f"must not be {self._expected(schema)}"
        return f"must not fit {_json(schema)}"

    def _fitting(self, error: ValidationError) -> list[Any]:
        """The branches that a value fits; none where why not is not looked into."""
        branches = cast("Any", error.validator_value)
        return [
            branch
            for branch in (branches if isinstance(branches, list) else ())
            if isinstance(branch, (dict, bool)) and self.document.conforms(error.instance, branch)
        ]

    def _key_fault(self, error: ValidationError, pointer: str) -> Fault:
        key = cast("Any", error.instance)
        schema = cast("Any", error.schema)
        asked = None
        if isinstance(schema, dict):
            asked = self._asked(str(error.validator), error.validator_value, schema)
        words = f"each key to be {asked or self._expected(schema)}"
        if error.validator in ("minLength", "maxLength"):
            words = f"keys of {asked}"
        fault = make_fault(pointer, words, f"the key {brief_json(key, 60)}")
        return Fault(f"{pointer}/{pointer_step(key)}", fault.expected, fault.got, fault.message)

    def _missing(self, error: ValidationError, pointer: str, schema: Any) -> Iterator[Fault]:
        for name in _texts(error.validator_value):
            if name not in cast("Any", error.instance):
                yield self._absent(pointer, name, schema, "it is required")

    def _dependent(self, error: ValidationError, pointer: str, schema: Any) -> Iterator[Fault]:
        value, asked = cast("Any", error.instance), cast("Any", error.validator_value)
        for name, others in asked.items() if isinstance(asked, dict) else ():
            for other in _texts(others) if name in value else ():
                if other not in value:
                    yield self._absent(
                        pointer, other, schema, f"it is required beside {shorten(name, 60)}"
                    )

    def _absent(self, pointer: str, name: str, schema: Any, why: str) -> Fault:
        expected = self._expected(_property(schema, name))
        return make_fault(f"{pointer}/{pointer_step(name)}", expected, "nothing", f" ({why})")

    def _unknown(self, error: ValidationError, pointer: str, schema: Any) -> Iterator[Fault]:
        instance = cast("Any", error.instance)
        if error.validator == "unevaluatedProperties":
            schema = {**schema, "properties": dict.fromkeys(self._evaluated(schema), True)}
        known = [clean_text(str(name)) for name in schema.get("properties", {})]
        noun = "key" if pointer else "parameter"
        for name in unknown_keys(instance, schema):
            close = nearest(name, known)
            place = clean_text(f"{pointer}/{pointer_step(name)}")
            remark = f"; did you mean {close!r}?" if close else ""
            all_known = listed(name, known, _KNOWN_SHOWN)
            message = f"{place_text(place)}: there is no such {noun}{remark} (known: {all_known})"
            # A slip in the name makes a secret no less secret.
            meant = place if close is None else f"{pointer}/{pointer_step(close)}"
            got = self.got(meant, instance[name])
            yield UnknownKey(place, "no such key", got, message, close, all_known)

    def _evaluated(self, schema: Any) -> Iterator[str]:
        """Names of the properties that a schema speaks of, also through what it refers to."""
        waiting, seen = [schema], set()
        while waiting:
            one = waiting.pop()
            if not isinstance(one, dict) or id(one) in seen:
                continue
            seen.add(id(one))
            properties = one.get("properties")
            yield from properties if isinstance(properties, dict) else ()
            if "$ref" in one:
                waiting.append(self.document.resolve(one["$ref"]))
            for keyword in ("allOf", "anyOf", "oneOf"):
                waiting += one[keyword] if isinstance(one.get(keyword), list) else ()
            waiting += [one.get(keyword) for keyword in ("if", "then", "else")]


_Several = Callable[[Findings, "ValidationError", str, Any], Iterator[Fault]]
_SEVERAL: dict[str, _Several] = {
    "required": Findings._missing,
    "dependentRequired": Findings._dependent,
    "dependencies": Findings._dependent,
    "additionalProperties": Findings._unknown,
    "unevaluatedProperties": Findings._unknown,
}
"""Keywords of which one error may tell of several places."""


def _pointer(error: ValidationError) -> str:
    return "".join(f"/{pointer_step(str(step))}" for step in error.absolute_path)


def _texts(names: Any) -> list[str]:
    """The names in a list; a broken schema may hold what is none."""
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _property(schema: Any, name: str) -> Any:
    properties = schema.get("properties")
    return properties.get(name, True) if isinstance(properties, dict) else True


def _json(value: Any) -> str:
    return shorten(json.dumps(jsonable(value), ensure_ascii=False), _JSON_SHOWN)


def _is_about_key(error: ValidationError) -> bool:
    """Whether the error is about the name of a key, which ``jsonschema`` judges like a value."""
    is_name = False
    for step in error.absolute_schema_path:
        if step == "propertyNames" and not is_name:
            return True
        is_name = not is_name and step in _NAMED
    return False
