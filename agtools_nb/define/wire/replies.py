"""A model's turn and the answers to it, written as each provider wants them in its history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agtools_nb.calls import ToolCall, ToolResult
from agtools_nb.define.wire import anthropic, gemini, mcp, ollama, openai
from agtools_nb.define.wire.content import LIMIT, Content, content_of
from agtools_nb.define.wire.declared import Provider
from agtools_nb.jsonable import clean_text

_Messages = list[dict[str, Any]]
_REPLIES: Mapping[str, Callable[[Sequence[Content]], _Messages]] = {
    "openai": openai.replies,
    "openai-responses": openai.reply_items,
    "anthropic": anthropic.replies,
    "gemini": gemini.replies,
    "mcp": mcp.replies,
    "ollama": ollama.replies,
}
_CALLS: Mapping[str, Callable[[Sequence[ToolCall], str], _Messages]] = {
    "openai": openai.call_message,
    "openai-responses": openai.call_items,
    "anthropic": anthropic.call_message,
    "gemini": gemini.call_message,
    "mcp": mcp.call_message,
    "ollama": ollama.call_message,
}


def reply(
    results: Iterable[ToolResult], provider: Provider, *, limit: int | None = LIMIT
) -> list[dict[str, Any]]:
    """Return the messages that answer a model's calls, to be appended to its history.

    ================  ====================================================================
    provider          messages
    ================  ====================================================================
    openai            a ``tool`` message a result; media in words, it takes only text
    openai-responses  a ``function_call_output`` item a result; images and PDFs nested
    anthropic         one user message of ``tool_result`` blocks; images and PDFs nested
    gemini            one user content of ``functionResponse`` parts; all media nested
    mcp               a ``CallToolResult`` a result; all media nested
    ollama            a ``tool`` message a result; images nested
    ================  ====================================================================

    A result's text is what the tool returned, if that is text; else its JSON. Media that a
    provider's form has no place for are described: ``[part 2: audio/wav, 12 KB; ...]``. Data are
    base64 text, which the REST APIs and the SDKs' own types take alike. Gemini is not sent ids
    that the runner made up; Anthropic's ids keep only the characters that it takes.

    Args:
        results: In the order of the calls.
        provider: Whose form.
        limit: Characters of each result's text; what is longer is cut, and says so at its end.
            ``None``: all of it. Media and MCP's ``structuredContent`` are not cut.

    Raises:
        ValueError: There is no such provider.
    """
    make = _of(_REPLIES, provider)
    contents = [content_of(result, limit) for result in results]
    return make(contents) if contents else []


def call_message(
    calls: Iterable[ToolCall],
    provider: Provider,
    results: Iterable[ToolResult] = (),
    *,
    text: str = "",
) -> list[dict[str, Any]]:
    """Return the messages in which a model asked for calls, to stand before their replies.

    For a provider's own, unbroken message append that message itself: it may hold what only
    its provider can read (signed thoughts). This is for calls that came from another provider
    or a test, and for messages whose ids were missing or doubled. Arguments are written as the
    provider wants them, as text or as an object; text that is no JSON object stands in an
    object under ``"unreadable_arguments"``.

    Args:
        calls: The calls.
        provider: Whose form.
        results: Their results, whose ids (made unique by the runner) then stand in the calls.
        text: What the model said besides.

    Raises:
        ValueError: There is no such provider, or there are not as many results as calls.
    """
    make = _of(_CALLS, provider)
    asked = list(calls)
    answered = list(results)
    if answered:
        asked = [replace(call, id=result.id) for call, result in zip(asked, answered, strict=True)]
    clean = [
        replace(call, name=clean_text(str(call.name)), id=clean_text(str(call.id or "")))
        for call in asked
    ]
    return make(clean, clean_text(text)) if clean else []


def _of(makers: Mapping[str, Any], provider: Any) -> Any:
    try:
        return makers[provider]
    except (KeyError, TypeError):
        raise ValueError(f"no provider {provider!r}; known are {', '.join(makers)}") from None
