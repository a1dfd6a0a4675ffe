"""What a form says about a field: its type, its bounds, what is odd about it, its options."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from agtools_nb.jsonable import shorten
from agtools_nb.views.form_schema import JsonSchema, conforms, same, types_of

Field = dict[str, Any]
"""One field of a form's plan, JSON-safe; see :mod:`agtools_nb.views.form_plan`."""

LABEL_LIMIT = 120
ABOUT_LIMIT = 20_000
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


def json_of(value: Any, indent: int | None = None) -> str:
    """The exact JSON text of a JSON value; text that UTF-8 cannot carry is escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _LONE_SURROGATES.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def plain(value: Any, limit: int = LABEL_LIMIT) -> str:
    """A value as people read it: text as it is, anything else as JSON."""
    text = value if isinstance(value, str) else json_of(value)
    return shorten(text, limit)


def default_notes(schema: JsonSchema) -> list[str]:
    """What contradicts itself about a schema's default."""
    if "default" not in schema:
        return []
    default = schema["default"]
    shown = shorten(json_of(default), 60)
    if isinstance(schema.get("enum"), list):
        if not any(same(default, value) for value in schema["enum"]):
            return [f"the default {shown} is not one of its options"]
        return []
    types = types_of(schema) if "type" in schema else []
    if not conforms(default, types):
        return [f"the default {shown} is not of its type ({' or '.join(types)})"]
    return []


def enum_notes(schema: JsonSchema) -> list[str]:
    """What contradicts itself about a schema's options."""
    types = types_of(schema) if "type" in schema else []
    odd = [value for value in schema["enum"] if not conforms(value, types)]
    if not odd:
        return []
    shown = shorten(", ".join(json_of(value) for value in odd), 80)
    return [f"some options are not of its type ({' or '.join(types)}): {shown}"]


def options_of(values: Sequence[Any], labels: Sequence[str | None] = ()) -> list[Field]:
    """The choices of an enum: ``{"label": ..., "json": exact JSON text}``, none twice."""
    options: list[Field] = []
    seen: set[str] = set()
    texts = [plain(value) for value in values]
    for at, value in enumerate(values):
        exact = json_of(value)
        if exact in seen:
            continue
        seen.add(exact)
        ambiguous = value == "" or texts.count(texts[at]) > 1
        label = shorten(exact, LABEL_LIMIT) if ambiguous else texts[at]
        more = labels[at] if at < len(labels) else None
        options.append({"label": f"{label}: {more}" if more else label, "json": exact})
    return options


def type_text(field: Field) -> str:
    """A field's type in the terms of JSON Schema: ``"array of string"``."""
    text = _type_text(field)
    return f"{text} or null" if field.get("nullable") else text


def or_null(field: Field) -> Field:
    """Return a field that takes ``null``, too, and whose type says so if it has been put in words.

    A reference's type is put in words on the page, where it is followed.
    """
    found = {**field, "nullable": True}
    says_type = "type" in field and field["kind"] not in ("ref", "json")
    if says_type and not field.get("nullable") and field["type"] != "any":
        found["type"] = f"{field['type']} or null"
    return found


def _type_text(field: Field) -> str:
    match field["kind"]:
        case "enum":
            return "one of " + shorten(", ".join(o["label"] for o in field["options"]), 60)
        case "const":
            return f"only {field['options'][0]['label']}"
        case "array":
            items = field.get("items")
            if items is None or field["prefix"]:
                return "array"
            return f"array of {items['type']}" if items.get("type") else "array"
        case "union":
            return shorten(" or ".join(branch["label"] for branch in field["branches"]), 60)
        case "ref":
            return str(field.get("type", "object"))
        case "json":
            return "JSON"
        case kind:
            return str(kind)
