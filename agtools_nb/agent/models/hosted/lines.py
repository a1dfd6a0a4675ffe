"""pydantic-ai's model objects, each with a transport of ours under it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
from pydantic_ai.models import Model

from agtools_nb.agent.models.hosted.wire import PLACEHOLDER, Access, Wire
from agtools_nb.define.wire.declared import Provider

# Tools are declared with their own schemas, unchanged.
_PROFILE: dict[str, Any] = {"json_schema_transformer": None}


@dataclass(slots=True)
class Line:
    """One way to a model: serves one request at a time.

    Attributes:
        model: pydantic-ai's model.
        wire: The transport under it.
        keys: The settings that it knows.
    """

    model: Model[Any]
    wire: Wire
    keys: frozenset[str]


def open_line(access: Access, title: str, name: str, base_url: str | None, tries: int) -> Line:
    """Make a line. Nothing is sent yet.

    Args:
        access: How the server is reached.
        title: What people call the model.
        name: What the server calls it.
        base_url: Its address; ``None``: the provider's, or what its SDK's variable says.
        tries: How often a request that came too often is sent again.
    """
    wire = Wire(access, title, tries)
    client = httpx2.AsyncClient(
        transport=wire, timeout=httpx2.Timeout(access.seconds, connect=min(15.0, access.seconds))
    )
    model, keys = _MAKERS[access.service.form](name, base_url, client)
    return Line(model, wire, keys)


def _chat(name: str, base_url: str | None, client: httpx2.AsyncClient) -> Any:
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings

    provider = _openai_provider(base_url, client)
    model = OpenAIChatModel(name, provider=provider, profile=_profile())
    return model, _keys(OpenAIChatModelSettings)


def _responses(name: str, base_url: str | None, client: httpx2.AsyncClient) -> Any:
    from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings

    provider = _openai_provider(base_url, client)
    model = OpenAIResponsesModel(name, provider=provider, profile=_profile())
    return model, _keys(OpenAIResponsesModelSettings)


def _openai_provider(base_url: str | None, client: httpx2.AsyncClient) -> Any:
    from openai import AsyncOpenAI
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    sdk = AsyncOpenAI(api_key=PLACEHOLDER, base_url=base_url, http_client=client, max_retries=0)
    if base_url is None:
        return OpenAIProvider(openai_client=sdk)
    return OpenAICompatibleProvider("compatible", openai_client=sdk)


def _anthropic(name: str, base_url: str | None, client: httpx2.AsyncClient) -> Any:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
    from pydantic_ai.providers.anthropic import AnthropicProvider

    sdk = AsyncAnthropic(api_key=PLACEHOLDER, base_url=base_url, http_client=client, max_retries=0)
    provider = AnthropicProvider(anthropic_client=sdk)
    return AnthropicModel(name, provider=provider, profile=_profile()), _keys(
        AnthropicModelSettings
    )


def _gemini(name: str, base_url: str | None, client: httpx2.AsyncClient) -> Any:
    from pydantic_ai.models.google import GoogleModel, GoogleModelSettings
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(api_key=PLACEHOLDER, base_url=base_url, http_client=client)
    return GoogleModel(name, provider=provider, profile=_profile()), _keys(GoogleModelSettings)


_MAKERS: Mapping[Provider, Callable[[str, str | None, httpx2.AsyncClient], Any]] = {
    "openai": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
}


def _profile() -> Any:
    return dict(_PROFILE)


def _keys(settings: Any) -> frozenset[str]:
    return frozenset(settings.__required_keys__ | settings.__optional_keys__)
