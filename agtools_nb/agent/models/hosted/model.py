"""``HostedModel``: a provider's model, or one behind any OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import importlib
import os
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any
from urllib.parse import urlsplit

from agtools_nb.agent.model import ModelEvent, ModelRequest
from agtools_nb.agent.models.hosted.services import (
    check_base_url,
    check_installed,
    key_of,
    split_name,
)
from agtools_nb.errors import ModelError, UsageError
from agtools_nb.jsonable import brief_repr

_NOT_SETTINGS = {
    "extra_headers": "headers may hold secrets, and are not for notebooks",
    "max_retries": "say max_retries= itself",
    "timeout": "say timeout= itself",
    "request_timeout": "say timeout= itself, or the session's time_budget=",
    "first_event_timeout": "say timeout= itself",
    "tool_choice": "the conversation says when a tool must be called",
    "extra_body": "it would replace what the conversation says",
}
_MOST_LINES = 4
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")


class HostedModel:
    """A model that is asked over HTTP, through pydantic-ai.

    ::

        HostedModel("openai:gpt-...")               # OpenAI; openai-responses: its newer API
        HostedModel("anthropic:claude-...")         # Anthropic
        HostedModel("google-gla:gemini-...")        # Google
        HostedModel("qwen3", base_url="http://localhost:8000/v1")   # any compatible server

    The key is read from the environment each time a request goes out: ``OPENAI_API_KEY``,
    ``ANTHROPIC_API_KEY``, ``GOOGLE_API_KEY`` or ``GEMINI_API_KEY``. It is not kept, and does not
    appear in errors, the raw view, saved notebooks or exported conversations. A server at
    ``base_url`` is sent no key unless ``key_variable`` names the variable that holds one.

    A request that came too often (429) is sent again after the time that the server asks for, one
    that the server failed at (500 and the like) once; the answer's notes say so. Text streams as
    it comes. A failure, or an answer that breaks off, ends the answer and not the conversation.

    Args:
        name: ``"provider:model"``; with ``base_url`` also the model's name alone.
        base_url: Address of the server, up to what comes before ``/chat/completions``.
        key_variable: Name of the environment variable that holds the key. Default: the
            provider's own; with ``base_url``: none.
        temperature: How freely it chooses its words. Default: the provider's.
        max_tokens: Most tokens of one answer. Default: the provider's.
        settings: More of pydantic-ai's model settings, such as ``{"top_p": 0.9}`` or
            ``{"thinking": "low"}``.
        timeout: Longest silence, in seconds. Default 300.
        max_retries: How often a request that came too often is sent again. Default 3.

    Raises:
        UsageError: No such provider, a library or the key is not there, or an argument does not
            fit; says what to do.

    Attributes:
        name: What people call it.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        key_variable: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        settings: Mapping[str, Any] | None = None,
        timeout: float = 300.0,
        max_retries: int = 3,
    ) -> None:
        self._service, self._model_name = split_name(name, base_url)
        self.name = name.strip()
        self._base_url = None if base_url is None else check_base_url(base_url)
        self._variables = _variables(self._service.keys, self._base_url, key_variable)
        self._settings = _settings(settings, temperature, max_tokens)
        self._timeout = _checked("timeout", timeout, (int, float), 0.001)
        self._max_retries = _checked("max_retries", max_retries, (int,), 0)
        self._lines: list[Any] = []
        self._answers: Any = None
        check_installed(self._service)
        try:
            key_of(self._service, self._variables)
        except ModelError as error:
            raise UsageError(str(error)) from None

    async def respond(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Answer ``request``.

        Raises:
            ModelError: There is no key, the server refused, or the answer broke off.
        """
        key_of(self._service, self._variables)
        # In a thread: the first import of pydantic-ai and an SDK takes seconds.
        line = self._lines.pop() if self._lines else await asyncio.to_thread(self._open)
        hosted = importlib.import_module("agtools_nb.agent.models.hosted.asking")
        if self._answers is None:
            self._answers = hosted.Answers()
        asking = hosted.Asking(
            line,
            self._service.form,
            self._where,
            " or ".join(self._variables),
            self._settings,
            self._answers,
        )
        try:
            async with aclosing(asking.parts(request)) as parts:
                async for part in parts:
                    yield part
        finally:
            if len(self._lines) < _MOST_LINES:
                self._lines.append(line)

    async def aclose(self) -> None:
        """Close the connections that are kept for the next request to any hosted model.

        The model stays usable. The end of ``asyncio.run`` does the same.
        """
        if self._lines:
            await importlib.import_module("agtools_nb.agent.models.hosted.wire").close_connections()

    @property
    def _where(self) -> str:
        if self._base_url is None:
            return self._service.title
        return urlsplit(self._base_url).netloc

    def _open(self) -> Any:
        """A line to the model, with all that asking takes imported."""
        importlib.import_module("agtools_nb.agent.models.hosted.asking")
        lines = importlib.import_module("agtools_nb.agent.models.hosted.lines")
        wire = importlib.import_module("agtools_nb.agent.models.hosted.wire")
        access = wire.Access(
            self._service, self._variables, self._base_url is not None, float(self._timeout)
        )
        line = lines.open_line(
            access, self.name, self._model_name, self._base_url, self._max_retries
        )
        unknown = sorted(self._settings.keys() - line.keys)
        if unknown:
            known = ", ".join(sorted(line.keys - _NOT_SETTINGS.keys()))
            raise ModelError(f"no setting {unknown[0]!r} of {self.name}; there are {known}")
        return line

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lines": [], "_answers": None}

    def __repr__(self) -> str:
        at = "" if self._base_url is None else f" at {self._base_url}"
        return f"<HostedModel {self.name}{at}>"


def _variables(own: tuple[str, ...], base_url: str | None, key_variable: Any) -> tuple[str, ...]:
    if key_variable is None:
        return own if base_url is None else ()
    is_name = isinstance(key_variable, str) and key_variable.isidentifier()
    # Many keys are identifiers, too: one that is not written as names of variables are has to be
    # set. What is given may be the key itself, and is not shown.
    if is_name and (_VARIABLE.fullmatch(key_variable) or key_variable in os.environ):
        return (key_variable,)
    raise UsageError(
        "key_variable= is the name of an environment variable, such as 'MY_SERVER_KEY', never the "
        "key. What was given is not shown, for it may be one; a name in small letters counts "
        "only if that variable is set"
    )


def _settings(given: Any, temperature: float | None, max_tokens: int | None) -> dict[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(f"settings={brief_repr(given)} must be a dict, such as {{'top_p': 0.9}}")
    settings = dict(given or {})
    for key, why in _NOT_SETTINGS.items():
        if key in settings:
            raise UsageError(f"settings may not have {key!r}: {why}")
    if temperature is not None:
        settings["temperature"] = _checked("temperature", temperature, (int, float), 0)
    if max_tokens is not None:
        settings["max_tokens"] = _checked("max_tokens", max_tokens, (int,), 1)
    return settings


def _checked(name: str, value: Any, kinds: tuple[type, ...], least: float) -> Any:
    is_number = isinstance(value, kinds) and not isinstance(value, bool)
    if not is_number or not value >= least:
        kind = "a number" if float in kinds else "a whole number"
        raise UsageError(f"{name}={brief_repr(value)} must be {kind} of at least {least:g}")
    return value
