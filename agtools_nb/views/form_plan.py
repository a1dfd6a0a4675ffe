"""A tool's JSON Schema as a finite plan of fields, for the browser to draw and Python to edit by.

A field is a JSON-safe dict. Numbers stay text (``default`` and options are JSON text), so
that integers above 2**53 reach the page and come back exactly. Keys of every field:

``kind``      string, integer, number, boolean, enum, const, object, array, union, ref, json
``type``      its type in words; ``bounds`` its limits in words, if any
``title``     the property's name (or an item's title); ``required``: true if it is
``about``     its description; ``notes``: what is odd about it, a list of sentences
``default``   the default as JSON text; it is only ever shown, never sent by itself
``nullable``  true if ``null`` is a value too

and by kind: ``options`` (enum, const: ``label`` and ``json`` each); ``fields``, ``extra``
(the field of further keys, or None) and ``quiet`` (further keys are allowed only because
the schema does not forbid them); ``items``, ``prefix`` and ``more`` (array); ``branches``
(each with a ``label``) and ``tags`` (union: properties that tell the branches apart);
``ref`` (a name in the plan's ``defs``). What cannot be drawn is kind ``json``, alone.
"""

from __future__ import annotations

from typing import Any

from agtools_nb.define import bounds_text
from agtools_nb.jsonable import shorten
from agtools_nb.views import form_schema as schemas
from agtools_nb.views.form_schema import CannotDrawError, JsonSchema
from agtools_nb.views.form_unions import (
    ANY,
    Plan,
    different_branches,
    flatten_unions,
    label_branches,
)
from agtools_nb.views.form_words import (
    ABOUT_LIMIT,
    Field,
    default_notes,
    enum_notes,
    json_of,
    options_of,
    or_null,
    type_text,
)

MAX_DEPTH = 24
"""Levels of nesting in one schema (references start anew) that get fields."""

MAX_FIELDS = 5_000
"""Fields in one plan; what comes after them is edited as JSON."""


def plan_form(schema: Any) -> Plan:
    """Plan the fields for a tool's input schema. Never raises, whatever ``schema`` is."""
    planner = _Planner(schema if isinstance(schema, dict) else {})
    root = planner.field(schema)
    planner.any()  # for keys that the schema does not know
    flatten_unions(Plan(root, planner.defs))
    plan = Plan(root, planner.defs)
    full = plan.resolve(root)
    if full["kind"] not in ("object", "union", "json"):
        root = _json_field(f"its schema asks for {full['type']}, not for an object")
    elif full["kind"] == "object" and not full["fields"] and not _says_extra(schema):
        # {"type": "object"} is how many tools say that they take no arguments
        root = {**full, "quiet": True}
    return Plan(root, planner.defs)


def _says_extra(schema: Any) -> bool:
    return isinstance(schema, dict) and bool(
        schema.get("additionalProperties") or schema.get("patternProperties")
    )


def _json_field(reason: str) -> Field:
    return {"kind": "json", "type": "JSON", "notes": [f"edited as JSON: {shorten(reason, 300)}"]}


class _Planner:
    def __init__(self, root: JsonSchema) -> None:
        self.root = root
        self.defs: dict[str, Field] = {}
        self.count = 0

    def field(self, schema: Any, title: str | None = None, depth: int = 0) -> Field:
        """Plan one field; whatever cannot be planned becomes a JSON editor."""
        self.count += 1
        try:
            if depth > MAX_DEPTH:
                raise CannotDrawError("it is nested too deeply")
            if self.count > MAX_FIELDS:
                raise CannotDrawError("the schema is too large")
            planned = self._described(schema, depth)
        except CannotDrawError as reason:
            planned = self._fallback(str(reason), schema)
        except Exception as error:  # any keyword of a bad schema may hold anything
            planned = self._fallback(f"its schema cannot be read ({type(error).__name__})", schema)
        if title is not None:
            planned["title"] = title
        return planned

    def _fallback(self, reason: str, schema: Any) -> Field:
        planned = _json_field(reason)
        if isinstance(schema, dict) and isinstance(schema.get("description"), str):
            planned["about"] = shorten(schema["description"], ABOUT_LIMIT)
        return planned

    def _described(self, schema: Any, depth: int) -> Field:
        if schema is False:
            raise CannotDrawError("its schema allows no value")
        if schema is True:
            return self.any()
        if not isinstance(schema, dict):
            raise CannotDrawError("its schema is not an object")
        planned = self._structure(schema, depth)
        self._annotate(planned, schema)
        return planned

    def _annotate(self, planned: Field, schema: JsonSchema) -> None:
        """Add what a schema says about its place: description, default, bounds, oddities."""
        about = schema.get("description") or schema.get("title")
        if isinstance(about, str) and about:
            planned["about"] = shorten(about, ABOUT_LIMIT)
        if isinstance(schema.get("title"), str) and schema["title"]:
            planned.setdefault("name", shorten(schema["title"], 60))
        if "default" in schema:
            planned["default"] = json_of(schema["default"])
        if planned["kind"] not in ("union", "ref") and (bounds := bounds_text(schema)):
            planned["bounds"] = shorten(bounds, 200)
        if notes := [*planned.get("notes", ()), *default_notes(schema)]:
            planned["notes"] = list(dict.fromkeys(notes))
        planned.setdefault("type", type_text(planned))

    # -- references and joins -----------------------------------------------------------------

    def _structure(self, schema: JsonSchema, depth: int) -> Field:
        if "$dynamicRef" in schema or "$recursiveRef" in schema:
            raise CannotDrawError("dynamic references are not followed")
        if "$ref" in schema:
            rest = schemas.structure(schemas.without(schema, "$ref"))
            if not rest:
                return self._reference(schema["$ref"])
            target = schemas.resolve(self.root, schema["$ref"])
            return self._structure(self._joined(schemas.merge(target, rest)), depth + 1)
        if "allOf" in schema:
            rest = schemas.structure(schemas.without(schema, "allOf"))
            if not rest and len(schema["allOf"]) == 1:
                return self.field(schema["allOf"][0], depth=depth + 1)
            return self._structure(self._joined(schema), depth + 1)
        return self._shape(schema, depth)

    def _joined(self, schema: JsonSchema, level: int = 0) -> JsonSchema:
        """Return a schema with its ``allOf`` parts merged into it."""
        if level > MAX_DEPTH:
            raise CannotDrawError("its references lead back to themselves")
        joined: Any = schemas.without(schema, "allOf")
        for part in schema.get("allOf", ()):
            joined = schemas.merge(joined, schemas.structure(self._target(part, level)))
        if "$ref" in joined:
            rest = schemas.without(joined, "$ref")
            target = self._target({"$ref": joined["$ref"]}, level)
            joined = schemas.merge(schemas.structure(target), rest)
        return self._joined(joined, level + 1) if "allOf" in joined else dict(joined)

    def _target(self, schema: Any, level: int = 0) -> JsonSchema:
        """Follow references and joins until a schema that has neither."""
        if level > MAX_DEPTH:
            raise CannotDrawError("its references lead back to themselves")
        if isinstance(schema, dict) and "$ref" in schema:
            target = schemas.resolve(self.root, schema["$ref"])
            rest = schemas.without(schema, "$ref")
            target = self._target(target, level + 1)
            return schemas.merge(target, rest) if rest else target
        if isinstance(schema, dict) and "allOf" in schema:
            return self._joined(schema, level + 1)
        if schema is True:
            return {}
        if not isinstance(schema, dict):
            raise CannotDrawError("no value can satisfy it")
        return schema

    def _reference(self, reference: Any) -> Field:
        if not isinstance(reference, str):
            raise CannotDrawError("its reference is not text")
        target = schemas.resolve(self.root, reference)
        name = reference.rsplit("/", 1)[-1].replace("~1", "/").replace("~0", "~")
        if reference not in self.defs:
            self.defs[reference] = {"kind": "json", "type": name or "object"}  # while it is planned
            self.defs[reference] = self.field(target)
            self.defs[reference].setdefault("name", name or "arguments")
        found = self.defs[reference]
        reused = {"name": name} if name and name != "arguments" else {}
        kind = found["type"] if found["kind"] != "json" else name or "object"
        return {"kind": "ref", "ref": reference, "type": kind, **reused}

    def any(self) -> Field:
        """The field of any value at all: a union of what JSON has."""
        if ANY not in self.defs:
            of_any = {"kind": "ref", "ref": ANY, "type": "any"}
            self.defs[ANY] = {
                "kind": "union",
                "type": "any",
                "nullable": True,
                "tags": [],
                "branches": [
                    {"kind": "string", "type": "string", "label": "string"},
                    {"kind": "number", "type": "number", "label": "number"},
                    {"kind": "boolean", "type": "boolean", "label": "boolean"},
                    {"kind": "object", "type": "object", "label": "object",
                     "fields": [], "extra": of_any, "quiet": False},
                    {"kind": "array", "type": "array", "label": "array",
                     "items": of_any, "prefix": [], "more": True},
                ],
            }  # fmt: skip
        return {"kind": "ref", "ref": ANY, "type": "any"}

    # -- kinds --------------------------------------------------------------------------------

    def _shape(self, schema: JsonSchema, depth: int) -> Field:
        if "const" in schema:
            return {"kind": "const", "options": options_of([schema["const"]])}
        if "enum" in schema:
            return self._enum(schema)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                return self._union(schema, keyword, depth)
        types = schemas.types_of(schema)
        nullable = len(types) > 1 and "null" in types
        types = [kind for kind in types if not (nullable and kind == "null")]
        if not types:
            return self.any()
        if len(types) == 1:
            planned = self._typed(schema, types[0], depth)
        else:
            rest = schemas.structure(schema)
            branches = [{**rest, "type": kind} for kind in types]
            planned = self._branches([self.field(b, depth=depth + 1) for b in branches])
        return {**planned, "nullable": True} if nullable else planned

    def _typed(self, schema: JsonSchema, kind: str, depth: int) -> Field:
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, depth)
        if kind == "null":
            return {"kind": "const", "options": options_of([None])}
        if kind == "string" and isinstance(schema.get("format"), str):
            return {"kind": kind, "type": f"string ({shorten(schema['format'], 40)})"}
        return {"kind": kind}

    def _enum(self, schema: JsonSchema) -> Field:
        values = schema["enum"]
        if not isinstance(values, list) or not values:
            raise CannotDrawError("its list of options is empty")
        chosen = [value for value in values if value is not None]
        planned: Field = {"kind": "enum", "options": options_of(chosen or [None])}
        if notes := enum_notes(schema):
            planned["notes"] = notes
        if chosen and len(chosen) < len(values):
            planned["nullable"] = True
        return planned

    def _object(self, schema: JsonSchema, depth: int) -> Field:
        properties = dict(schema.get("properties", {}))
        for where in ("then", "else"):  # fields that only some arguments may have
            for name, child in (schema.get(where) or {}).get("properties", {}).items():
                properties.setdefault(name, child)
        required = schema.get("required", [])
        required = required if isinstance(required, list) else []
        for name in required:
            properties.setdefault(name, True)
        more, quiet = self._extra_schema(schema, has_fields="properties" in schema)
        names = (schema.get("propertyNames") or {}).get("enum")
        if more is not None and not properties and isinstance(names, list):
            properties, more = dict.fromkeys(map(str, names), more), None
        fields = []
        for name, child in properties.items():
            name.encode()  # a key that the page cannot be sent makes the object JSON
            planned = self.field(child, title=name, depth=depth + 1)
            fields.append({**planned, "required": True} if name in required else planned)
        extra = None if more is None else self.field(more, depth=depth + 1)
        return {"kind": "object", "fields": fields, "extra": extra, "quiet": quiet}

    def _extra_schema(self, schema: JsonSchema, *, has_fields: bool) -> tuple[Any, bool]:
        """Return the schema of further keys (None: there can be none), and if it is implied."""
        patterns = schema.get("patternProperties") or {}
        further = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        if patterns and not further:
            only = list(patterns.values())
            return (only[0] if len(only) == 1 else True), False
        if further is False:
            return None, False
        if further is None:
            return True, has_fields
        return (True if patterns else further), False

    def _array(self, schema: JsonSchema, depth: int) -> Field:
        items = schema.get("items", True)
        first = schema.get("prefixItems", [])
        if isinstance(items, list):  # tuples as drafts up to 2019-09 wrote them
            first, items = items, schema.get("additionalItems", True)
        prefix = []
        for at, child in enumerate(first):
            planned = self.field(child, depth=depth + 1)
            prefix.append({"title": planned.get("name", str(at)), **planned})
        most = schema.get("maxItems")
        full = items is False or (isinstance(most, int) and 0 < most <= len(prefix))
        more = None if full else self.field(items, depth=depth + 1)
        return {"kind": "array", "items": more, "prefix": prefix, "more": more is not None}

    # -- unions -------------------------------------------------------------------------------

    def _union(self, schema: JsonSchema, keyword: str, depth: int) -> Field:
        branches = schema[keyword]
        base = schemas.structure(schemas.without(schema, keyword))
        if not isinstance(branches, list) or not branches:
            raise CannotDrawError(f"its {keyword!r} has no branches")
        draws = "type" in base or "properties" in base or "anyOf" in base or "oneOf" in base
        if draws and schemas.only_rules(branches):
            return self._with_rules(base, branches, depth)
        nullable = any(schemas.is_plain_null(branch) for branch in branches)
        rest = [branch for branch in branches if not schemas.is_plain_null(branch)]
        if not rest:
            return {"kind": "const", "options": options_of([None])}
        planned = self._branches([self._branch(base, branch, depth) for branch in rest])
        return or_null(planned) if nullable else planned

    def _with_rules(self, base: JsonSchema, branches: list[Any], depth: int) -> Field:
        """Draw a parent whose union only says which of its fields go together."""
        planned = self._structure(base, depth + 1)
        sets = [", ".join(map(str, branch.get("required", []))) for branch in branches]
        if all(sets):
            planned["notes"] = [*planned.get("notes", ()), f"needs one of: {'; '.join(sets)}"]
        return planned

    def _branch(self, base: JsonSchema, branch: Any, depth: int) -> Field:
        if base:
            full = self._target(branch)
            keep = {k: full[k] for k in ("title", "description") if k in full}
            branch = {**schemas.merge(base, schemas.structure(full)), **keep}
        return self.field(branch, depth=depth + 1)

    def _branches(self, planned: list[Field]) -> Field:
        """Join planned branches: constants into one list of options, doubles into one."""
        nullable = any(branch.get("nullable") for branch in planned)
        different = different_branches(planned)
        if len(different) == 1:
            union = different[0]
        else:
            plan = Plan({}, self.defs)
            resolved = [plan.resolve(branch) for branch in different]
            tags = label_branches(different, resolved)
            union = {"kind": "union", "branches": different, "tags": tags}
        return or_null(union) if nullable else union
