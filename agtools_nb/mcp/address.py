"""Where a server is: a command to start, or an address. Its keys are never shown."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr

# RFC 9110: a field's name is a token; its value holds no line breaks.
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_SHORTEST_SECRET = 6


@dataclass(frozen=True, slots=True, repr=False)
class Address:
    """How a server is reached. :meth:`of` checks what it is made of.

    Attributes:
        command: The program and its arguments; empty for one at a ``url``.
        url: Its address; ``""`` for one that is started.
        env: Variables for the program.
        cwd: The folder that the program runs in.
        headers: Sent with each request.
        max_bytes: Most bytes of one message.
    """

    command: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | os.PathLike[str] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    max_bytes: int = 0

    @classmethod
    def of(
        cls,
        server: str,
        command: Any,
        url: Any,
        env: Any,
        cwd: Any,
        headers: Any,
        max_bytes: int,
    ) -> Address:
        """Check what a caller gave.

        Raises:
            UsageError: It does not lead to one server.
        """
        if (command is None) == (url is None):
            raise UsageError(
                f"MCPServer({server!r}): give exactly one of command=['program', 'argument', ...] "
                "(it is started) and url='https://...' (it runs already)"
            )
        if url is not None:
            _refuse(server, "url=", env=env, cwd=cwd)
            return cls(
                url=_checked_url(server, url),
                headers=_checked_headers(server, headers),
                max_bytes=max_bytes,
            )
        _refuse(server, "command=", headers=headers)
        return cls(
            command=_checked_command(server, command),
            env=_checked_texts(server, "env", env),
            cwd=cwd,
            max_bytes=max_bytes,
        )

    def transport(self) -> AbstractAsyncContextManager[Any]:
        """What a client speaks through; a new one for each connection."""
        if self.url:
            from agtools_nb.mcp.http import http_transport

            return http_transport(self.url, self.headers, self.max_bytes)
        from agtools_nb.mcp.stdio import StdioTransport

        return StdioTransport(self.command, self.env, self.cwd, self.max_bytes)

    def __str__(self) -> str:
        """For messages: no argument, query, user or password, any of which can be a key."""
        if not self.url:
            return f"(command {PurePath(self.command[0]).name!r})"
        parts = urlsplit(self.url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        port = f":{parts.port}" if parts.port else ""
        return f"(at {parts.scheme}://{host}{port}{parts.path})"

    def scrubbed(self, text: str) -> str:
        """A text without the values of headers and variables, which a server may repeat."""
        secrets = [*self.headers.values(), *self.env.values()]
        secrets += [word for value in self.headers.values() for word in value.split()]
        if self.url:
            parts = urlsplit(self.url)
            secrets += [parts.query, parts.password or "", parts.username or ""]
        for secret in sorted(set(secrets), key=len, reverse=True):
            if len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, "***")
        return text

    @property
    def advice(self) -> str:
        """What to look at if it cannot be reached."""
        if self.url:
            return "Look whether it runs there, and whether it wants headers=."
        return (
            "Look whether the program is installed and starts by itself, and give what it needs "
            "of your variables with env=."
        )


def _refuse(server: str, beside: str, **given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            other = "url=" if beside == "command=" else "command="
            raise UsageError(f"MCPServer({server!r}): {name}= is for {other}, not for {beside}")


def _checked_command(server: str, command: Any) -> tuple[str, ...]:
    if isinstance(command, (str, bytes)) or not isinstance(command, Sequence) or not command:
        raise UsageError(
            f"MCPServer({server!r}): command= is a list, the program first: "
            "command=['uvx', 'mcp-server-files', 'data']; no shell reads it"
        )
    words = [os.fspath(word) if isinstance(word, os.PathLike) else word for word in command]
    if not all(isinstance(word, str) and "\0" not in word for word in words) or not words[0]:
        raise UsageError(f"MCPServer({server!r}): each word of command= is text without NUL")
    return tuple(words)


def _checked_url(server: str, url: Any) -> str:
    try:
        parts = urlsplit(url) if isinstance(url, str) and url.isprintable() else None
        is_one = parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname)
        if is_one and parts is not None:
            parts.port  # noqa: B018 -- a wrong one raises here
    except ValueError:
        is_one = False
    if not is_one:
        # Not shown whole: it may hold a password.
        shown = brief_repr(url) if not isinstance(url, str) else f"a text of {len(url)} characters"
        raise UsageError(
            f"MCPServer({server!r}): url= is an address such as 'https://example.org/mcp', "
            f"not {shown}"
        )
    return str(url)


def _checked_headers(server: str, headers: Any) -> Mapping[str, str]:
    found = _checked_texts(server, "headers", headers)
    for name, value in found.items():
        if not _HEADER.fullmatch(name) or any(mark in value for mark in "\r\n\0"):
            raise UsageError(
                f"MCPServer({server!r}): headers[{brief_repr(name)}] is no HTTP header: a name is "
                "letters, digits and -, and a value has one line"
            )
    return found


def _checked_texts(server: str, option: str, given: Any) -> Mapping[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise UsageError(f"MCPServer({server!r}): {option}= is a dict of texts")
    for name, value in given.items():
        if not isinstance(name, str) or not isinstance(value, str):
            # The value is not shown: it may be a key.
            raise UsageError(
                f"MCPServer({server!r}): {option}[{brief_repr(name)}] must be text, not "
                f"{type(value).__name__}"
            )
    return dict(given)
