"""Declarations: a tool as each provider wants it declared, and such a declaration read back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agtools_nb.define.normal import normalized
from agtools_nb.define.tool import Tool
from agtools_nb.define.wire import anthropic, gemini, mcp, openai
from agtools_nb.define.wire.plain import first, plain
from agtools_nb.define.wire.strict import NotStrictError, strict_schema
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr

Provider = Literal["openai", "openai-responses", "anthropic", "gemini", "mcp", "ollama"]

PROVIDERS: tuple[Provider, ...] = ("openai", "anthropic", "gemini", "mcp")
"""What a tool's card shows. ``"openai-responses"`` and ``"ollama"`` are known besides."""

_MAKERS: Mapping[str, Callable[[Tool, bool], dict[str, Any]]] = {
    "openai": openai.declare_chat,
    "openai-responses": openai.declare_response,
    "anthropic": lambda tool, _: anthropic.declare(tool),
    "gemini": lambda tool, _: gemini.declare(tool),
    "mcp": lambda tool, _: mcp.declare(tool),
    "ollama": lambda tool, _: openai.declare_chat(tool, False),
}


def declaration(tool: Tool, provider: Provider, *, strict: bool = False) -> dict[str, Any]:
    """Return the declaration of ``tool`` that ``provider`` is sent.

    Args:
        tool: The tool.
        provider: ``"openai"`` (chat completions), ``"openai-responses"``, ``"anthropic"``,
            ``"gemini"``, ``"mcp"``, or ``"ollama"`` (declared as for OpenAI chat).
        strict: OpenAI only: have the model held to the schema. The declaration then says
            ``"strict": true`` and its schema is changed to what strict mode takes; where that
            cannot be (a parameter that takes any value or any keys, a tuple), it says
            ``"strict": false`` with the schema as it is, and :func:`why_not_strict` says why.
            An optional parameter may come back as ``null``: give the runner ``omit_nulls=True``.

    Raises:
        ValueError: There is no such provider.
        UsageError: It is no tool, or ``strict`` with a provider that has no strict mode.
    """
    if not hasattr(tool, "input_schema"):
        raise UsageError(
            f"declaration() takes a tool, not {brief_repr(tool)}: make one with @tool, and call it "
            "for each of several"
        )
    try:
        make = _MAKERS[provider]
    except (KeyError, TypeError):
        raise ValueError(f"no provider {provider!r}; known are {', '.join(_MAKERS)}") from None
    if strict and not provider.startswith("openai"):
        raise UsageError(f"strict=True is for OpenAI; leave it out for {provider!r}")
    return make(tool, strict)


def why_not_strict(tool: Tool) -> str | None:
    """Say what keeps a tool out of OpenAI's strict mode; ``None`` if nothing does."""
    try:
        strict_schema(tool.input_schema)
    except NotStrictError as error:
        return str(error)
    return None


@dataclass(frozen=True, slots=True)
class Declared:
    """A tool's declaration, read.

    Attributes:
        name: The tool's name, as declared.
        description: What it does; ``""`` if it was not said.
        input_schema: Plain JSON Schema of the arguments.
        response_schema: The same of the result; ``None`` if it was not said.
        provider: Whose form it was.
        read_only: Whether MCP's ``readOnlyHint`` was set.
        strict: Whether OpenAI's strict mode was asked for.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    response_schema: dict[str, Any] | None
    provider: Provider
    read_only: bool = False
    strict: bool = False


def read_declaration(declared: Any) -> Declared:
    """Read a declaration in any provider's form, known by its shape.

    ``read_declaration(declaration(tool, p)).input_schema == tool.input_schema`` for OpenAI (not
    in strict mode, which changes the schema), Anthropic and MCP. For Gemini the two accept the
    same arguments, except that ``additionalProperties: false`` is lost, and the spelling may
    differ: ``null`` stands among the types, ``const`` is an ``enum`` of one, and references
    stand in place.

    Args:
        declared: A mapping with camelCase or snake_case keys, or an SDK's object of it.

    Raises:
        UsageError: It is none of the known forms.
        DefinitionError: Its schema is nested too deeply to be read.
    """
    form = plain(declared)
    if not isinstance(form, Mapping):
        raise _unknown(declared)
    inner = form.get("function")
    if isinstance(inner, Mapping):
        return _declared("openai", inner, "parameters")
    if form.get("type") == "function":
        return _declared("openai-responses", form, "parameters")
    if "input_schema" in form and not form.keys() & {"annotations", "output_schema"}:
        return _declared("anthropic", form, "input_schema")
    if form.keys() & {"inputSchema", "input_schema"}:
        return _declared("mcp", form, "inputSchema", "input_schema")
    return _declared("gemini", form, *_GEMINI_KEYS)


_GEMINI_KEYS = ("parametersJsonSchema", "parameters_json_schema", "parameters")
_RESPONSE_KEYS = (
    "outputSchema", "output_schema", "responseJsonSchema", "response_json_schema", "response",
)  # fmt: skip


def _declared(provider: Provider, form: Mapping[str, Any], *keys: str) -> Declared:
    name = form.get("name")
    schema = first(form, *keys)
    if not isinstance(name, str) or not (schema is None or isinstance(schema, Mapping)):
        raise _unknown(form)
    read = normalized(schema) if schema is not None else {"type": "object", "properties": {}}
    response = first(form, *_RESPONSE_KEYS)
    annotations = form.get("annotations")
    hints = annotations if isinstance(annotations, Mapping) else {}
    description = form.get("description")
    return Declared(
        name,
        description if isinstance(description, str) else "",
        read,
        normalized(response) if isinstance(response, Mapping) else None,
        provider,
        read_only=True in (hints.get("readOnlyHint"), hints.get("read_only_hint")),
        strict=form.get("strict") is True,
    )


def _unknown(declared: Any) -> UsageError:
    return UsageError(
        f"{brief_repr(declared)} is no tool declaration; known are those of OpenAI (chat and "
        "responses), Anthropic, Gemini and MCP, each with a name and a schema"
    )
