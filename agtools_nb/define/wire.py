"""A tool as each provider wants it declared.

========== =====================================================================
provider   form
========== =====================================================================
openai     chat completions: ``{"type": "function", "function": {..., "parameters"}}``
anthropic  messages: ``{"name", "description", "input_schema"}``
gemini     ``FunctionDeclaration``: ``parameters`` in its subset of OpenAPI 3.0
mcp        ``tools/list``: ``inputSchema``, ``outputSchema``, ``annotations``
========== =====================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from agtools_nb.define.describe import type_text
from agtools_nb.define.subschemas import MISSING, resolve
from agtools_nb.define.tool import Tool

Provider = Literal["openai", "anthropic", "gemini", "mcp"]
PROVIDERS: tuple[Provider, ...] = get_args(Provider)

JsonSchema = dict[str, Any]


def declaration(tool: Tool, provider: Provider) -> dict[str, Any]:
    """Return the declaration of ``tool`` that ``provider`` is sent.

    Args:
        tool: The tool.
        provider: ``"openai"``, ``"anthropic"``, ``"gemini"`` or ``"mcp"``.

    Raises:
        ValueError: There is no such provider.
    """
    try:
        make = _MAKERS[provider]
    except KeyError:
        raise ValueError(f"no provider {provider!r}; known are {', '.join(PROVIDERS)}") from None
    return make(tool)


def _openai(tool: Tool) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
    }
    return {"type": "function", "function": function}


def _anthropic(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
    }


def _gemini(tool: Tool) -> dict[str, Any]:
    declared = {"name": tool.name, "description": tool.description}
    if not tool.input_schema.get("properties"):
        # Gemini refuses an object without properties; it takes no parameters at all instead.
        return declared
    return {**declared, "parameters": gemini_schema(tool.input_schema)}


def _mcp(tool: Tool) -> dict[str, Any]:
    declared: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
    }
    output = tool.response_schema
    if output is not None and output.get("type") == "object":
        declared["outputSchema"] = output
    if tool.read_only:
        declared["annotations"] = {"readOnlyHint": True}
    return declared


_MAKERS: Mapping[str, Callable[[Tool], dict[str, Any]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "mcp": _mcp,
}

# Keys of Gemini's Schema message (ai.google.dev/api/caching#Schema) with JSON Schema's meaning.
_GEMINI_KEYS = (
    "title", "description", "default", "minItems", "maxItems", "minProperties", "maxProperties",
    "minLength", "maxLength", "pattern", "minimum", "maximum",
)  # fmt: skip
_GEMINI_FORMATS = {
    "NUMBER": ("float", "double"),
    "INTEGER": ("int32", "int64"),
    "STRING": ("enum", "date-time"),
}


def gemini_schema(schema: JsonSchema) -> JsonSchema:
    """Translate a JSON Schema to the subset that Gemini takes.

    Types in capitals, ``null`` as ``nullable``, references put in place (a
    recursive one ends as a plain object), ``const`` as a one-value enum, choices
    that are not text in the description. Other keywords are left out.
    """
    return _gemini_node(schema, schema, ())


def _gemini_node(schema: Any, root: JsonSchema, open_refs: tuple[str, ...]) -> JsonSchema:
    if not isinstance(schema, dict):
        return {}
    if "$ref" in schema:
        return _gemini_reference(schema, root, open_refs)
    built = {key: schema[key] for key in _GEMINI_KEYS if key in schema}
    branches = schema.get("anyOf") or schema.get("oneOf") or []
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    if len(kinds) > 1:
        others = [{"type": kind} for kind in kinds if kind != "null"]
        branches = [*branches, *others] if len(others) > 1 else branches
    if "null" in kinds or any(_is_null(branch) for branch in branches):
        built["nullable"] = True
    kinds = [kind for kind in kinds if kind != "null"]
    branches = [branch for branch in branches if not _is_null(branch)]
    if len(branches) == 1:
        return {**_gemini_node(branches[0], root, open_refs), **built}
    if branches:
        built["anyOf"] = [_gemini_node(branch, root, open_refs) for branch in branches]
        return built
    _gemini_choices(schema, built)
    if kinds:
        built.setdefault("type", kinds[0].upper())
    _gemini_children(schema, built, root, open_refs)
    form = schema.get("format")
    if form in _GEMINI_FORMATS.get(built.get("type", ""), ()):
        built["format"] = form
    return built


def _gemini_reference(
    schema: JsonSchema, root: JsonSchema, open_refs: tuple[str, ...]
) -> JsonSchema:
    ref = schema["$ref"]
    siblings = {key: schema[key] for key in _GEMINI_KEYS if key in schema}
    target = resolve(ref, root)
    if target is MISSING or ref in open_refs:
        return {"type": "OBJECT", **siblings}
    return {**_gemini_node(target, root, (*open_refs, ref)), **siblings}


def _gemini_choices(schema: JsonSchema, built: JsonSchema) -> None:
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(choices, list):
        return
    if all(isinstance(choice, str) for choice in choices):
        built.update(type="STRING", format="enum", enum=choices)
        return
    note = type_text({"enum": choices})
    built["description"] = f"{built.get('description', '')} ({note})".strip()
    built.setdefault("type", _gemini_type_of(choices[0]) if choices else "STRING")


def _gemini_children(
    schema: JsonSchema, built: JsonSchema, root: JsonSchema, open_refs: tuple[str, ...]
) -> None:
    properties = schema.get("properties")
    if isinstance(properties, dict) and properties:
        built["type"] = "OBJECT"
        built["properties"] = {
            name: _gemini_node(sub, root, open_refs) for name, sub in properties.items()
        }
        built["propertyOrdering"] = list(properties)
        required = [name for name in schema.get("required", ()) if name in properties]
        if required:
            built["required"] = required
    if built.get("type") == "ARRAY":
        items = schema.get("items")
        built["items"] = _gemini_node(items, root, open_refs) if isinstance(items, dict) else {}


def _gemini_type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "BOOLEAN"
    return "INTEGER" if isinstance(value, int) else "NUMBER"


def _is_null(schema: Any) -> bool:
    return isinstance(schema, dict) and (
        schema.get("type") == "null" or ("const" in schema and schema["const"] is None)
    )
