"""The providers that are known, where their keys come from, and what a model's name means."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from agtools_nb.define.wire.declared import Provider
from agtools_nb.errors import ModelError, UsageError
from agtools_nb.jsonable import brief_repr

INSTALL = 'pip install "agtools_nb[models]"'


@dataclass(frozen=True, slots=True)
class Service:
    """A provider's API.

    Attributes:
        title: What people call it.
        form: Which wire form it speaks.
        keys: Environment variables that hold its key; the first that is set counts.
        header: The header that carries the key.
        library: Its SDK, which pydantic-ai uses.
    """

    title: str
    form: Provider
    keys: tuple[str, ...]
    header: str
    library: str


_OPENAI = Service("OpenAI", "openai", ("OPENAI_API_KEY",), "authorization", "openai")
_RESPONSES = Service("OpenAI", "openai-responses", ("OPENAI_API_KEY",), "authorization", "openai")
_ANTHROPIC = Service("Anthropic", "anthropic", ("ANTHROPIC_API_KEY",), "x-api-key", "anthropic")
_GEMINI = Service(
    "Google", "gemini", ("GOOGLE_API_KEY", "GEMINI_API_KEY"), "x-goog-api-key", "google.genai"
)

SERVICES: Mapping[str, Service] = {
    "openai": _OPENAI,
    "openai-chat": _OPENAI,
    "openai-responses": _RESPONSES,
    "anthropic": _ANTHROPIC,
    "google-gla": _GEMINI,
    "google": _GEMINI,
}
"""By the word before the colon of a model's name."""

COMPATIBLE = Service("the server", "openai", (), "authorization", "openai")
"""Any server that speaks OpenAI's chat completions."""

KEY_HEADERS = frozenset(
    ("authorization", "x-api-key", "api-key", "x-goog-api-key", "proxy-authorization", "cookie")
)
"""Headers that hold secrets."""


def split_name(name: Any, base_url: str | None) -> tuple[Service, str]:
    """The service and the service's own name of a model.

    Raises:
        UsageError: It says no service that is known.
    """
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"{brief_repr(name)} is no model's name; write one such as {_EXAMPLES}")
    prefix, colon, rest = name.strip().partition(":")
    if colon and prefix in SERVICES:
        if not rest:
            raise UsageError(f"{name!r} says no model after the colon; write {_EXAMPLES}")
        return SERVICES[prefix], rest
    if base_url is not None:
        return COMPATIBLE, name.strip()  # names such as ``llama3.2:3b`` hold colons, too
    raise UsageError(
        f"{brief_repr(name)} is no hosted model: write {_EXAMPLES}; for any other server that "
        f"speaks OpenAI's chat completions, HostedModel({name!r}, base_url='http://...')"
    )


_EXAMPLES = "'openai:gpt-...', 'anthropic:claude-...' or 'google-gla:gemini-...'"


def check_base_url(base_url: object) -> str:
    """The address, without a slash at its end.

    Raises:
        UsageError: It is none, or holds what could be a key. It is then not shown.
    """
    if not isinstance(base_url, str):
        raise UsageError(f"base_url={brief_repr(base_url)} must be an address: 'http://...'")
    try:
        parts = urlsplit(base_url)
        is_sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_sound = False
    if is_sound and (parts.username or parts.password or parts.query or parts.fragment):
        raise UsageError(
            "base_url holds more than an address (a user name, a query or a fragment); a key goes "
            "into an environment variable that key_variable= names"
        )
    if not is_sound or any(letter.isspace() for letter in base_url):
        raise UsageError(
            f"base_url={brief_repr(base_url)} is no address; write one such as "
            "'http://localhost:8000/v1'"
        )
    return base_url.rstrip("/")


def check_installed(service: Service) -> None:
    """See that the libraries are there, without importing them.

    Raises:
        UsageError: They are not; says what to install.
    """
    missing = [name for name in ("pydantic_ai", service.library) if not _is_there(name)]
    if missing:
        raise UsageError(
            f"a model of {service.title} needs {' and '.join(missing)}, which is not installed: "
            f"{INSTALL}"
        )


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):  # its parent is not there; None in sys.modules
        return False


def key_of(service: Service, variables: tuple[str, ...]) -> str | None:
    """The key, from the environment; ``None`` if none is wanted. Never keep it, never show it.

    Raises:
        ModelError: No variable is set, or what it holds can be no key.
    """
    if not variables:
        return None
    for variable in variables:
        key = os.environ.get(variable, "").strip()
        if not key:
            continue
        if not key.isascii() or not key.isprintable() or " " in key:
            raise ModelError(f"what {variable} holds is no key: it has characters that none has")
        return key
    names = " or ".join(variables)
    raise ModelError(
        f"no key for {service.title}: the environment variable {names} is not set. Set it before "
        f"Jupyter starts, or in a cell that does not show it: import os, getpass; "
        f"os.environ[{variables[0]!r}] = getpass.getpass()"
    )
