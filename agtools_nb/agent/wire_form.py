"""A request and its answer as a provider's own JSON, for people to read and to write."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from agtools_nb.agent.messages import Message, ResultsMessage, UserMessage
from agtools_nb.agent.model import ModelRequest
from agtools_nb.calls import ToolCall
from agtools_nb.define.wire import call_message, declaration, read_calls, reply
from agtools_nb.define.wire.content import IMAGES, bare_type, base64_text, data_uri, described
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr
from agtools_nb.media import Media

ChatProvider = Literal["openai", "openai-responses", "anthropic", "gemini", "ollama"]

CHAT_PROVIDERS: tuple[ChatProvider, ...] = (
    "openai",
    "openai-responses",
    "anthropic",
    "gemini",
    "ollama",
)
"""Providers whose form a whole conversation can be written in."""

_MAX_DEPTH = 8


def request_form(request: ModelRequest, provider: ChatProvider) -> dict[str, Any]:
    """What ``provider`` would be sent: system text, messages and tools, in its own form.

    Raises:
        UsageError: There is no such provider.
    """
    _check(provider)
    said = list(_messages(request.messages, provider))
    form = _SAID[provider](request.system, said)
    if request.tools:
        tools = [declaration(tool, provider) for tool in request.tools]
        form["tools"] = [{"functionDeclarations": tools}] if provider == "gemini" else tools
        if request.must_call:
            form |= _MUST_CALL.get(provider, {})
    return form


def answer_form(text: str, calls: Sequence[ToolCall], provider: ChatProvider) -> Any:
    """An answer as ``provider`` would give it: one message, or a list of items.

    Raises:
        UsageError: There is no such provider.
    """
    _check(provider)
    found = call_message(calls, provider, text=text) if calls else _text_turn(text, provider)
    return found if provider == "openai-responses" else found[0]


def read_answer(form: Any) -> tuple[str, list[ToolCall]]:
    """The text and the calls of an answer in any provider's form, or ``{"name", "arguments"}``.

    Raises:
        UsageError: There is neither in it.
    """
    calls = read_calls(form)
    text = "\n".join(_texts(form, 0))
    if not calls and not text.strip():
        raise UsageError(
            f"{brief_repr(form)} holds neither text nor a call; a call is "
            '{"name": "...", "arguments": {...}}, text is {"content": "..."}'
        )
    return text, calls


def _chat(system: str, said: list[dict[str, Any]]) -> dict[str, Any]:
    first = [{"role": "system", "content": system}] if system else []
    return {"messages": [*first, *said]}


def _responses(system: str, said: list[dict[str, Any]]) -> dict[str, Any]:
    return {**({"instructions": system} if system else {}), "input": said}


def _anthropic(system: str, said: list[dict[str, Any]]) -> dict[str, Any]:
    return {**({"system": system} if system else {}), "messages": said}


def _gemini(system: str, said: list[dict[str, Any]]) -> dict[str, Any]:
    told = {"systemInstruction": {"parts": [{"text": system}]}} if system else {}
    return {**told, "contents": said}


_SAID: Mapping[str, Callable[[str, list[dict[str, Any]]], dict[str, Any]]] = {
    "openai": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "ollama": _chat,
}
_MUST_CALL: Mapping[str, dict[str, Any]] = {
    "openai": {"tool_choice": "required"},
    "openai-responses": {"tool_choice": "required"},
    "anthropic": {"tool_choice": {"type": "any"}},
    "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
}


def _check(provider: Any) -> None:
    if provider not in CHAT_PROVIDERS:
        raise UsageError(
            f"no provider {brief_repr(provider)}; known are {', '.join(CHAT_PROVIDERS)}"
        )


def _messages(messages: Iterable[Message], provider: ChatProvider) -> Iterator[dict[str, Any]]:
    """Each message; a model's calls bear the ids of their results, as providers want them."""
    listed = list(messages)
    for at, message in enumerate(listed):
        after = listed[at + 1] if at + 1 < len(listed) else None
        if isinstance(message, UserMessage):
            yield _user(message, provider)
        elif isinstance(message, ResultsMessage):
            yield from reply(message.results, provider)
        elif message.calls:
            results = after.results if isinstance(after, ResultsMessage) else ()
            yield from call_message(message.calls, provider, results, text=message.text)
        elif message.text.strip():
            yield from _text_turn(message.text, provider)


def _text_turn(text: str, provider: ChatProvider) -> list[dict[str, Any]]:
    if provider == "gemini":
        return [{"role": "model", "parts": [{"text": text}]}]
    if provider == "anthropic":
        return [{"role": "assistant", "content": [{"type": "text", "text": text}]}]
    return [{"role": "assistant", "content": text}]


def _user(message: UserMessage, provider: ChatProvider) -> dict[str, Any]:
    text = message.text
    parts = [_USER_PART[provider](n, media) for n, media in enumerate(message.media, 1)]
    if provider == "gemini":
        return {"role": "user", "parts": [*([{"text": text}] if text else []), *parts]}
    if not parts:
        return {"role": "user", "content": text}
    if provider == "ollama":
        words = [part["text"] for part in parts if "text" in part]
        images = [part["image"] for part in parts if "image" in part]
        said = {"role": "user", "content": "\n".join([text, *words])}
        return {**said, "images": images} if images else said
    kind = "input_text" if provider == "openai-responses" else "text"
    return {"role": "user", "content": [*([{"type": kind, "text": text}] if text else []), *parts]}


def _is_image(media: Media) -> bool:
    return bare_type(media) in IMAGES and media.data is not None


def _openai_part(number: int, media: Media) -> dict[str, Any]:
    if _is_image(media):
        return {"type": "image_url", "image_url": {"url": data_uri(media)}}
    return {"type": "text", "text": described(number, media)}


def _responses_part(number: int, media: Media) -> dict[str, Any]:
    if _is_image(media):
        return {"type": "input_image", "image_url": data_uri(media)}
    return {"type": "input_text", "text": described(number, media)}


def _anthropic_part(number: int, media: Media) -> dict[str, Any]:
    if _is_image(media):
        data = {"type": "base64", "media_type": bare_type(media), "data": base64_text(media)}
        return {"type": "image", "source": data}
    return {"type": "text", "text": described(number, media)}


def _gemini_part(number: int, media: Media) -> dict[str, Any]:
    if media.data is not None:
        return {"inlineData": {"mimeType": bare_type(media), "data": base64_text(media)}}
    return {"fileData": {"mimeType": bare_type(media), "fileUri": media.uri}}


def _ollama_part(number: int, media: Media) -> dict[str, Any]:
    if _is_image(media):
        return {"image": base64_text(media)}
    return {"text": described(number, media)}


_USER_PART: Mapping[str, Callable[[int, Media], dict[str, Any]]] = {
    "openai": _openai_part,
    "openai-responses": _responses_part,
    "anthropic": _anthropic_part,
    "gemini": _gemini_part,
    "ollama": _ollama_part,
}


def _texts(form: Any, depth: int) -> Iterator[str]:
    """The text of a model's message, in any of the forms."""
    if isinstance(form, str) and form:
        yield form
    elif isinstance(form, list) and depth < _MAX_DEPTH:
        for one in form:
            yield from _texts(one, depth + 1)
    elif isinstance(form, Mapping) and depth < _MAX_DEPTH:
        for inner in _inner(form):
            yield from _texts(inner, depth + 1)


def _inner(form: Mapping[str, Any]) -> list[Any]:
    """What of an object may hold text."""
    if form.get("type") in ("tool_use", "function_call"):
        return []
    if isinstance(form.get("text"), str):
        return [form["text"]]
    for key in ("choices", "candidates"):
        if isinstance(form.get(key), list) and form[key]:
            return [form[key][0]]
    return [form.get(key) for key in ("message", "content", "parts", "output")]
