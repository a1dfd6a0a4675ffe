"""A model's message, in any provider's form, as ``ToolCall`` objects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from agtools_nb.calls import ToolCall
from agtools_nb.define.wire.plain import first, mapping, plain
from agtools_nb.jsonable import json_text

_MAX_DEPTH = 8


def read_calls(message: Any) -> list[ToolCall]:
    """Return the calls that a model's message asks for, in their order. Never raises.

    ================  ====================================================================
    provider          what is read, each as a dict, or as an SDK's object
    ================  ====================================================================
    OpenAI chat       the response (its first choice), the message, or its ``tool_calls``
    OpenAI responses  the response, its ``output``, or a ``function_call`` item (``call_id``)
    Anthropic         the message, its ``content``, or a ``tool_use`` block
    Gemini            the response (its first candidate), the content, or a ``functionCall``
                      part, in camelCase or snake_case
    MCP               a ``tools/call`` request (the id is JSON-RPC's), or its ``params``
    Ollama            the response of ``/api/chat``, or its message
    ================  ====================================================================

    The form is known by its shape; a list of any of these works too. Arguments may be an object
    or JSON text; text is kept as it came, so that the runner answers malformed text with an
    error that the model can act on, as it does arguments that are a number or an array. Ids are
    kept; a missing one is ``None``, and the runner makes one. What asks for no call (text,
    tools that the provider runs itself) is left out. What stands among the calls but has no
    name becomes a call of ``""``, whose result says that there is no such tool, since a
    provider wants every call answered. ``step_id`` is the response's id, where it has one.

    Args:
        message: What the provider sent.
    """
    try:
        return list(_calls(message, 0))
    except Exception:  # a foreign object's own code
        return []


def _calls(message: Any, depth: int) -> Iterator[ToolCall]:
    form = plain(message)
    if depth > _MAX_DEPTH:
        return
    if isinstance(form, (list, tuple)):
        for one in form:
            yield from _calls(one, depth + 1)
    elif isinstance(form, Mapping):
        yield from _of_turn(form, _of_mapping(form, depth + 1))


def _of_turn(form: Mapping[str, Any], calls: Iterator[ToolCall]) -> Iterator[ToolCall]:
    """Give calls the id of the whole response that they stand in."""
    step = first(form, "responseId", "response_id")
    if step is None and (form.keys() & {"choices", "output"} or form.get("type") == "message"):
        step = form.get("id")
    for call in calls:
        yield replace(call, step_id=step) if isinstance(step, str) else call


def _of_mapping(form: Mapping[str, Any], depth: int) -> Iterator[ToolCall]:
    own = call_of(form)
    if own is not None:
        yield own
        return
    for key in ("choices", "candidates"):
        alternatives = form.get(key)
        if isinstance(alternatives, (list, tuple)) and alternatives:
            yield from _calls(alternatives[0], depth)
            return
    asked = first(form, "tool_calls", "toolCalls")
    if isinstance(asked, (list, tuple)):
        yield from entries(asked)
    for key in ("message", "output", "content", "parts"):
        inner = plain(form.get(key))
        if isinstance(inner, (Mapping, list, tuple)):
            yield from _calls(inner, depth)


def entries(asked: Iterable[Any]) -> Iterator[ToolCall]:
    """The calls of a list that holds nothing else; an object without a name is one too."""
    for one in asked:
        form = mapping(one)
        if form:
            found = call_of(form)
            yield ToolCall("", {}, text_or_none(form.get("id"))) if found is None else found


def call_of(form: Mapping[str, Any]) -> ToolCall | None:
    """The call that an object is, in any of the forms; ``None`` if it is none."""
    for key in ("function", "functionCall", "function_call"):
        inner = mapping(form.get(key))
        if inner and not form.keys() & {"choices", "candidates"}:
            return _made(inner, first(form, "call_id", "id") or inner.get("id"))
    kind = form.get("type")
    if kind in ("function_call", "tool_use"):
        return _made(form, first(form, "call_id", "id"))
    if form.get("method") == "tools/call":
        number = form.get("id")
        return _made(mapping(form.get("params")), None if number is None else str(number))
    plainly = isinstance(form.get("name"), str) and form.keys() & {"arguments", "args", "input"}
    if plainly and kind in (None, "function"):
        return _made(form, first(form, "call_id", "id"))
    return None


def _made(form: Mapping[str, Any], call_id: Any) -> ToolCall:
    name = form.get("name")
    sent = first(form, "arguments", "args", "input")
    return ToolCall(
        name if isinstance(name, str) else "", arguments_of(sent), text_or_none(call_id)
    )


def arguments_of(sent: Any) -> Mapping[str, Any] | str:
    """Arguments as a mapping or as text: what is neither, as its JSON text."""
    sent = plain(sent)
    if sent is None:
        return {}
    if isinstance(sent, (Mapping, str)):
        return sent
    return json_text(sent)


def text_or_none(call_id: Any) -> str | None:
    """An id that is text; any other is as good as none."""
    return call_id if isinstance(call_id, str) else None


def is_whole(arguments: Mapping[str, Any] | str) -> bool:
    """Whether these are complete arguments already, so that more could only spoil them."""
    if not isinstance(arguments, str):
        return True
    if not arguments.rstrip().endswith("}"):
        return False
    try:
        return isinstance(json.loads(arguments, strict=False), dict)
    except (ValueError, RecursionError):
        return False
