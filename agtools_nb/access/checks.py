"""Whether rules fit the tools there are: what is refused at the start, and what is remarked on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agtools_nb.access.capabilities import CapabilitiesConfig, is_named
from agtools_nb.access.names import BuiltinTools
from agtools_nb.access.policy import Policy
from agtools_nb.access.rule import Rule
from agtools_nb.arguments.nearest import nearest
from agtools_nb.define import Tool
from agtools_nb.errors import UsageError


def checked(policies: Sequence[Policy], tools: Sequence[Tool]) -> None:
    """Refuse rules about servers where there are none.

    Raises:
        UsageError: A rule names a server, and no tool comes from one: it could never hold.
    """
    if any(tool.server_name is not None for tool in tools):
        return
    for policy in policies:
        if policy.server is not None:
            raise UsageError(
                f"the rule {policy.label} is about the MCP server {policy.server!r}, and no tool "
                "comes from a server: add the server's tools first, or take the rule out"
            )


def remarks(
    rules: Sequence[Rule],
    capabilities: CapabilitiesConfig,
    tools: Sequence[Tool],
    *,
    at_start: bool = True,
) -> tuple[str, ...]:
    """What looks like a mistake, each in a sentence for people."""
    # A server that was there at the start may be gone for now, with its tools.
    looked_at = [rule for rule in rules if at_start or rule.policy.server is None]
    unknown = _unknown(capabilities, tools, at_start=at_start)
    return (*_nameless(looked_at, tools), *unknown, *_beaten(rules, tools))


def _nameless(rules: Sequence[Rule], tools: Sequence[Tool]) -> Iterator[str]:
    """Rules that name no tool."""
    for rule in rules:
        policy = rule.policy
        if policy.target == "*" or policy.target in _BUILTIN or any(map(policy.names, tools)):
            continue
        if policy.kind == "allow" and any(tool.name == policy.target for tool in tools):
            yield (
                f"the rule {policy.label} lets no tool run: {policy.target!r} comes from a server, "
                "and a bare name that allows is about own tools; write 'server/tool'"
            )
            continue
        yield f"the rule {policy.label} names no tool{_hint(policy.target, tools)}"


def _unknown(
    capabilities: CapabilitiesConfig, tools: Sequence[Tool], *, at_start: bool
) -> Iterator[str]:
    """Names in the capabilities that no tool has."""
    which = "disabled_tools" if capabilities.enabled_tools is None else "enabled_tools"
    for name in sorted(capabilities.names - _BUILTIN - {"*"}):
        if any(is_named(name, tool) for tool in tools) or ("/" in name and not at_start):
            continue
        said = "no tool comes from that server" if name.endswith("/*") else "no tool has that name"
        yield f"{which} names {name!r}, and {said}{_hint(name, tools)}"


def _hint(name: str, tools: Sequence[Tool]) -> str:
    """What may have been meant: a server's tools by a server, one of them by one, else a name."""
    member = BuiltinTools.__members__.get(name.upper())
    if member is not None:
        return f"; did you mean {member.value!r}?"
    servers = {tool.server_name for tool in tools if tool.server_name is not None}
    server, _, of_server = name.rpartition("/")
    if of_server == "*":
        close = nearest(server, sorted(servers))
        close = close and f"{close}/*"
    elif server:
        close = nearest(
            name,
            [f"{one.server_name}/{one.remote_name}" for one in tools if one.server_name in servers],
        )
    else:
        close = nearest(name, [*(tool.name for tool in tools), *sorted(_BUILTIN)])
    return f"; did you mean {close!r}?" if close else ""


def _beaten(rules: Sequence[Rule], tools: Sequence[Tool]) -> Iterator[str]:
    """Broad rules with a condition that are never looked at, because an allow is more exact."""
    said = set()
    for tool in tools:
        allowing: Policy | None = None
        for rule in rules:
            policy = rule.policy
            if policy.scope is not None or not rule.names(tool):
                continue
            if allowing is not None and policy.kind != "allow" and rule.is_conditional:
                remark = (
                    f"the rule {policy.label} is not looked at for {tool.name!r}: "
                    f"{allowing.label} is more exact, and lets every call run. To keep the "
                    f"condition, name the tool in it: {_word(policy)}({tool.name!r}, when=...)"
                )
                if remark not in said:
                    said.add(remark)
                    yield remark
            if allowing is None and not rule.is_conditional:
                if policy.kind != "allow":
                    break  # what decides is no allow, and what comes after it is meant to be beaten
                allowing = policy


def _word(policy: Policy) -> str:
    return "ask_user" if policy.kind == "ask" else policy.kind


_BUILTIN = {tool.value for tool in BuiltinTools}
