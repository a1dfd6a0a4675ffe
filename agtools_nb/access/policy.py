"""``Policy``: one rule on who may call what, and the functions that make rules."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, overload

from agtools_nb.access.approval import ApprovalHandler
from agtools_nb.access.predicate import checked_predicate
from agtools_nb.access.scope import PathScope
from agtools_nb.define import Tool
from agtools_nb.errors import UsageError
from agtools_nb.jsonable import brief_repr

PolicyKind = Literal["deny", "ask", "allow"]
Predicate = Callable[..., "bool | Awaitable[bool]"]
Target = str | Tool


class Server(Protocol):
    """Anything that says what an MCP server is called."""

    @property
    def name(self) -> str:
        """The server's name."""


_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_WORDS = {"deny": "deny", "ask": "ask_user", "allow": "allow"}
_GLOB = re.compile(r"[*?\[\]]")


@dataclass(frozen=True, slots=True)
class Policy:
    """One rule. Make it with :func:`allow`, :func:`deny` or :func:`ask_user`.

    Attributes:
        kind: ``"deny"``, ``"ask"`` or ``"allow"``.
        target: ``"name"``, ``"server/tool"``, ``"server/*"`` or ``"*"``.
        when: Asked about each call of the target; ``None``: the rule is about all of them.
        name: What people call the rule; ``""``: see :attr:`label`.
        reason: Why, for the model and for people.
        handler: Who is asked, for ``"ask"``; ``None``: the runner's ``approve=``.
        scope: Folders that the path of a call must be in: the rule refuses calls outside.
        server: The server of the target; ``None`` if it names none.
    """

    kind: PolicyKind
    target: str
    when: Predicate | None = None
    name: str = ""
    reason: str = ""
    handler: ApprovalHandler | None = None
    scope: PathScope | None = None
    server: str | None = None

    @property
    def level(self) -> int:
        """How exactly it names its target: 0 a name, 1 a server's tool, 2 a server, 3 all."""
        if self.target == "*":
            return 3
        if self.server is None:
            return 0
        return 2 if self.target == f"{self.server}/*" else 1

    @property
    def rank(self) -> tuple[bool, int, int]:
        """Where it stands among others, lowest first: scopes, then by level, then by kind."""
        return self.scope is None, self.level, ("deny", "ask", "allow").index(self.kind)

    @property
    def label(self) -> str:
        """The rule in a few words, for messages: its name, or ``deny('delete')``."""
        return self.name or f"{_WORDS[self.kind]}({self.target!r})"

    def names(self, tool: Tool) -> bool:
        """Whether its target is this tool. Names are compared exactly, never by case or look.

        A bare name that allows is about own tools only: a server could offer a tool under the
        name of one that you trust. A bare name that denies or asks is about any tool of it.
        """
        if self.target == "*":
            return True
        server = tool.server_name
        if self.server is None:
            return self.target == tool.name and (server is None or self.kind != "allow")
        if server is None:
            return False
        if self.level == 2:
            return self.server == server
        named = {tool.name, tool.remote_name}
        if self.kind == "allow":
            return self.server == server and self.target in {f"{server}/{one}" for one in named}
        # Names may hold slashes: what could be meant is meant.
        return self.target in {f"{server}/{one}" for one in named}


@overload
def allow(  # type: ignore[overload-overlap]  # a tool has a name, too, and comes first
    target: Target,
    tools: None = None,
    *,
    when: Predicate | None = None,
    name: str = "",
    reason: str = "",
) -> Policy: ...
@overload
def allow(
    target: Server,
    tools: Sequence[str | Tool] | None = None,
    *,
    when: Predicate | None = None,
    name: str = "",
    reason: str = "",
) -> tuple[Policy, ...]: ...
def allow(
    target: Target | Server,
    tools: Sequence[str | Tool] | None = None,
    *,
    when: Predicate | None = None,
    name: str = "",
    reason: str = "",
) -> Policy | tuple[Policy, ...]:
    """Let calls of a tool run without a question.

    Args:
        target: A tool or its name (a :class:`BuiltinTools` is one), ``"server/tool"``,
            ``"server/*"``, or ``"*"`` for all. Or a server: anything with a ``name``.
        tools: With a server, its tools, or their names. Default: all of them.
        when: Only calls for which this is true; sync or async. It is given a copy of the
            arguments as the tool will get them (coerced, changed by its types, defaults filled
            in), as a dict under the keys of the tool's schema, or what its parameter is annotated
            with: a pydantic model of them, or the :class:`ToolCall`. If it raises, the call is
            refused.
        name: What people call the rule. Default: ``allow('name')``.
        reason: Why.

    Returns:
        The rule; for a server a tuple of rules, one a tool.

    Raises:
        UsageError: The target is none, or ``when`` cannot be used.
    """
    return _made("allow", target, tools, when, name, reason)


@overload
def deny(  # type: ignore[overload-overlap]  # a tool has a name, too, and comes first
    target: Target,
    tools: None = None,
    *,
    when: Predicate | None = None,
    name: str = "",
    reason: str = "",
) -> Policy: ...
@overload
def deny(
    target: Server,
    tools: Sequence[str | Tool] | None = None,
    *,
    when: Predicate | None = None,
    name: str = "",
    reason: str = "",
) -> tuple[Policy, ...]: ...
def deny(
    target: Target | Server,
    tools: Sequence[str | Tool] | None = None,
    *,
    when: Predicate | None = None,
    name: str = "",
    reason: str = "",
) -> Policy | tuple[Policy, ...]:
    """Refuse calls of a tool; the model sees the tool, and is told ``reason``.

    The arguments are those of :func:`allow`. If ``when`` raises, the call is refused.

    Raises:
        UsageError: The target is none, or ``when`` cannot be used.
    """
    return _made("deny", target, tools, when, name, reason)


@overload
def ask_user(  # type: ignore[overload-overlap]  # a tool has a name, too, and comes first
    target: Target,
    handler: ApprovalHandler | None = None,
    tools: None = None,
    *,
    when: Predicate | None = None,
    name: str = "",
    reason: str = "",
) -> Policy: ...
@overload
def ask_user(
    target: Server,
    handler: ApprovalHandler | None = None,
    tools: Sequence[str | Tool] | None = None,
    *,
    when: Predicate | None = None,
    name: str = "",
    reason: str = "",
) -> tuple[Policy, ...]: ...
def ask_user(
    target: Target | Server,
    handler: ApprovalHandler | None = None,
    tools: Sequence[str | Tool] | None = None,
    *,
    when: Predicate | None = None,
    name: str = "",
    reason: str = "",
) -> Policy | tuple[Policy, ...]:
    """Ask a person about each call of a tool.

    Args:
        target: As for :func:`allow`.
        handler: Who is asked: it is given an :class:`Approval` and returns ``True``, ``False``
            or an :class:`ApprovalDecision`. Default: the runner's ``approve=``; in a notebook
            a card is shown.
        tools: As for :func:`allow`.
        when: As for :func:`allow`; if it raises, the person is asked.
        name: What people call the rule.
        reason: Why; it is shown to who is asked.

    Raises:
        UsageError: The target is none, or ``when`` or ``handler`` cannot be used.
    """
    if handler is not None and not callable(handler):
        raise UsageError(f"ask_user: the handler {brief_repr(handler)} cannot be called")
    return _made("ask", target, tools, when, name, reason, handler)


def _made(
    kind: PolicyKind,
    target: Any,
    tools: Sequence[str | Tool] | None,
    when: Predicate | None,
    name: str,
    reason: str,
    handler: ApprovalHandler | None = None,
) -> Policy | tuple[Policy, ...]:
    word = _WORDS[kind]
    checked_predicate(when, word)
    server = _server_of(target)
    if server is None:
        if tools is not None:
            raise UsageError(
                f"{word}({brief_repr(target)}, tools=...): tools= names tools of a server; give "
                "the server, or write 'server/tool'"
            )
        text, server = read_target(f"{word}({brief_repr(target)})", target, "a rule names")
        return Policy(kind, text, when, name, reason, handler, None, server)
    if isinstance(tools, str):
        raise UsageError(f"{word}: tools={tools!r} is one name; write tools=[{tools!r}]")
    named = ["*"] if tools is None else [_tool_of(word, server, one) for one in tools]
    return tuple(
        Policy(kind, f"{server}/{tool}", when, name, reason, handler, None, server)
        for tool in named
    )


def _server_of(target: Any) -> str | None:
    """The name of a server that is given as an object; ``None`` if it is something else."""
    if isinstance(target, (str, Tool)):
        return None
    name = getattr(target, "name", None)
    return name if isinstance(name, str) and name else None


def _tool_of(word: str, server: str, tool: Any) -> str:
    """The name of a server's tool.

    Raises:
        UsageError: It is none.
    """
    if isinstance(tool, Tool):
        if tool.server_name == server:
            return tool.remote_name
        where = "is your own" if tool.server_name is None else f"comes from {tool.server_name!r}"
        raise UsageError(f"{word}: tools=[{tool.name}] {where}, and not from {server!r}")
    text = str(getattr(tool, "value", tool)) if isinstance(tool, str) else ""
    if text == "*" or (text and not _GLOB.search(text)):
        return text
    why = "patterns are not understood" if text else "that is no name of a tool"
    raise UsageError(
        f"{word}: tools=[{brief_repr(tool)}]: {why}; name tools of {server!r} exactly, or leave "
        "tools= out for all of them"
    )


def read_target(where: str, target: Any, names: str) -> tuple[str, str | None]:
    """A target as text, and the server that it names.

    Args:
        where: What is written, for the message.
        target: A tool, or text.
        names: Who names a tool there, for the message: ``"a rule names"``.

    Raises:
        UsageError: It is none.
    """
    if isinstance(target, Tool):
        if target.server_name is None:
            return target.name, None
        return f"{target.server_name}/{target.remote_name}", target.server_name
    text = str(getattr(target, "value", target)) if isinstance(target, str) else None
    if text is None:
        raise UsageError(f"{where}: {names} a tool, 'server/tool', 'server/*' or '*'")
    if text == "*" or _NAME.fullmatch(text):
        return text, None
    server, _, tool = text.rpartition("/")
    is_exact = tool == "*" or (tool and not _GLOB.search(tool))
    if server and is_exact and not _GLOB.search(server):
        return text, server
    why = "patterns are not understood" if _GLOB.search(text) else "that is no name of a tool"
    raise UsageError(
        f"{where}: {why}; {names} a tool exactly (1 to 64 ASCII letters, digits, _ and -), or "
        "'server/tool', 'server/*', or '*' for all"
    )
