"""Rules: which one decides, why the others do not, and what is refused or warned of at the start."""

from __future__ import annotations

import asyncio
import dataclasses
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Optional

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agtools_nb import (
    Background,
    BuiltinTools,
    CapabilitiesConfig,
    Decision,
    Policy,
    PolicyEngine,
    Tool,
    ToolCall,
    ToolRunner,
    UsageError,
    allow,
    allow_all,
    ask_user,
    confirm_run_command,
    deny,
    deny_all,
    safe_defaults,
    workspace_only,
)


def yes(approval: Any) -> bool:
    return True


def no(approval: Any) -> bool:
    return False


def tool(name: str = "pay", server: str | None = None, **options: Any) -> Tool:
    async def run(amount: int = 1) -> int:
        return amount

    return Tool(run, name=name, server_name=server, **options)


def decided(
    policies: Any, made: Tool | None = None, arguments: dict[str, Any] | None = None
) -> Decision:
    engine = PolicyEngine(policies, approve=yes)
    made = tool() if made is None else made
    return asyncio.run(engine.decide(ToolCall(made.name), made, arguments or {}))


# -- targets -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "named", "server", "level"),
    [
        ("pay", "pay", None, 0),
        (BuiltinTools.VIEW_FILE, "view_file", None, 0),
        ("s/pay", "s/pay", "s", 1),
        ("a/b/pay", "a/b/pay", "a/b", 1),
        ("a/b/*", "a/b/*", "a/b", 2),
        ("*", "*", None, 3),
        (tool("pay"), "pay", None, 0),
        (tool("pay", "s"), "s/pay", "s", 1),
    ],
)
def test_targets(target: Any, named: str, server: str | None, level: int) -> None:
    policy = deny(target)
    assert (policy.target, policy.server, policy.level) == (named, server, level)


def test_a_server_names_its_tools() -> None:
    server = SimpleNamespace(name="a/b*")
    assert [one.target for one in deny(server)] == ["a/b*/*"]
    assert [one.target for one in allow(server, ["x", "y/z"])] == ["a/b*/x", "a/b*/y/z"]
    assert ask_user(server, yes, ["x"])[0].handler is yes
    with pytest.raises(UsageError, match=r"tools='x' is one name; write tools=\['x'\]"):
        deny(server, "x")
    with pytest.raises(UsageError, match="tools= names tools of a server"):
        deny("x", ["y"])  # type: ignore[call-overload]


@pytest.mark.parametrize("target", ["del*", "dele?e", "[d]elete", "s/del*", "s*/x"])
def test_what_looks_like_a_pattern_is_refused(target: str) -> None:
    with pytest.raises(
        UsageError, match=r"patterns are not understood; a rule names a tool exactly"
    ):
        deny(target)


@pytest.mark.parametrize("target", [None, 5, "", "two words", "s/", "/x", [], "x" * 65])
def test_what_is_no_target_is_refused(target: Any) -> None:
    with pytest.raises(UsageError, match=r"^allow\(.*a rule names a tool"):
        allow(target)


def test_a_rule_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        deny("x").kind = "allow"  # type: ignore[misc]


def test_labels() -> None:
    assert deny("x").label == "deny('x')"
    assert ask_user("s/x").label == "ask_user('s/x')"
    assert allow("x", name="mine").label == "mine"


# -- which rule decides --------------------------------------------------------------------------

NAMES, SERVERS = ["pay", "delete"], ["s", "a/b"]
TARGETS = ["*", *NAMES, *(f"{s}/{n}" for s in SERVERS for n in [*NAMES, "*"])]
MAKERS: dict[str, Callable[..., Policy]] = {"deny": deny, "ask": ask_user, "allow": allow}


def oracle(rules: list[tuple[str, str, bool | None]], name: str, server: str | None) -> str:
    """The kind that decides, found level by level and kind by kind."""
    levels = [
        lambda t, k: t == name and (server is None or k != "allow"),
        lambda t, k: server is not None and t == f"{server}/{name}",
        lambda t, k: server is not None and t == f"{server}/*",
        lambda t, k: t == "*",
    ]
    for is_named in levels:
        for kind in ("deny", "ask", "allow"):
            for other, target, condition in rules:
                if other == kind and is_named(target, kind) and condition is not False:
                    return kind
    return "allow"


@given(
    st.lists(
        st.tuples(
            st.sampled_from(list(MAKERS)),
            st.sampled_from(TARGETS),
            st.sampled_from([None, True, False]),
        ),
        max_size=6,
    ),
    st.sampled_from(NAMES),
    st.sampled_from([None, *SERVERS]),
)
def test_precedence(
    rules: list[tuple[str, str, bool | None]], name: str, server: str | None
) -> None:
    made = [
        MAKERS[kind](target, when=None if holds is None else lambda a, holds=holds: holds)
        for kind, target, holds in rules
    ]
    which = tool(name, server)
    decision = decided(made, which)
    assert decision.kind == oracle(rules, name, server)
    assert [one.policy for one in decision.explained if one.decided] == (
        [] if decision.policy is None else [decision.policy]
    )
    engine = PolicyEngine(made, approve=yes)
    explained = asyncio.run(engine.explain(ToolCall(name), which, {}))
    assert (explained.kind, explained.policy) == (decision.kind, decision.policy)
    standing = engine.standing(which)
    assert standing in ({"allow": "on", "deny": "denied", "ask": "asks"}[decision.kind], "depends")


def test_among_equals_the_first_given_decides() -> None:
    rules = [deny("pay", name="one"), deny("pay", name="two")]
    assert decided(rules).policy is rules[0]


def test_where_no_rule_is_about_it_the_call_runs() -> None:
    decision = decided([deny("delete")])
    assert (decision.kind, decision.policy) == ("allow", None)
    assert decision.explained[0].why == "it is about 'delete'"


def test_what_was_not_looked_at_says_so() -> None:
    looked: list[str] = []
    rules = [deny("pay"), allow("*", when=lambda a: bool(looked.append("x")))]
    [first, second] = decided(rules).explained
    assert (first.matched, first.decided, first.why) == (True, True, "it is about every call of it")
    assert (second.matched, second.decided) == (None, False)
    assert second.why == "deny('pay') comes before it"
    assert looked == []
    engine = PolicyEngine(rules)
    [_, second] = asyncio.run(engine.explain(ToolCall("pay"), tool(), {})).explained
    assert (second.matched, second.why, looked) == (False, "its condition does not hold", ["x"])


def test_explaining_asks_nobody_and_remembers_nothing() -> None:
    asked: list[Any] = []
    engine = PolicyEngine([ask_user("pay", asked.append)])
    which = tool()
    assert asyncio.run(engine.explain(ToolCall("pay"), which, {})).kind == "ask"
    assert asked == []
    engine.remember(engine.policies[0], which)
    explained = asyncio.run(engine.explain(ToolCall("pay"), which, {}))
    assert (explained.kind, explained.remembered) == ("ask", True)


def test_explaining_a_call_whose_path_cannot_be_told() -> None:
    def path_of(arguments: Any) -> str:
        raise OSError("gone")

    engine = PolicyEngine([allow("*")])
    decision = asyncio.run(engine.explain(ToolCall("pay"), tool(path_of=path_of), {}))
    assert (decision.kind, decision.policy) == ("deny", None)
    assert "gone" in decision.reason


# -- conditions ----------------------------------------------------------------------------------


class Payment(BaseModel):
    amount: int


class Judge:
    def __call__(self, payment: Payment) -> bool:
        return payment.amount > 10

    def method(self, arguments: dict[str, Any]) -> bool:
        return arguments["amount"] > 10


async def later(arguments: dict[str, Any]) -> bool:
    await asyncio.sleep(0)
    return arguments["amount"] > 10


def by_text(payment: "Payment") -> bool:  # noqa: UP037 -- text within text
    return payment.amount > 10


def by_call(call: ToolCall) -> bool:
    assert (call.name, call.server_name) == ("pay", None)
    return dict(call.args)["amount"] > 10  # type: ignore[arg-type]


def by_call_or_none(call: ToolCall | None) -> bool:
    return call is not None and dict(call.args)["amount"] > 10  # type: ignore[arg-type]


def by_call_in_text(call: "ToolCall | None" = None) -> bool:  # noqa: UP037 -- text within text
    return by_call_or_none(call)


def by_optional_call(call: Optional[ToolCall]) -> bool:  # noqa: UP045 -- that is what is tried
    return by_call_or_none(call)


def by_model_or_none(payment: Payment | None) -> bool:
    return payment is not None and payment.amount > 10


def by_dict_or_none(arguments: dict[str, Any] | None) -> bool:
    return arguments is not None and arguments["amount"] > 10


CONDITIONS = [
    by_call_or_none, by_call_in_text, by_optional_call, by_model_or_none, by_dict_or_none,
    lambda a: a["amount"] > 10, later, Judge(), Judge().method, by_text, by_call,
    lambda a, limit=10: a["amount"] > limit, lambda *a: a[0]["amount"] > 10,
    lambda a: re.fullmatch(r"\d{2,}", str(a["amount"])),
]  # fmt: skip


@pytest.mark.parametrize("when", CONDITIONS)
def test_what_a_condition_is_given(when: Any) -> None:
    rules = [deny("pay", when=when)]
    assert decided(rules, arguments={"amount": 11}).kind == "deny"
    assert decided(rules, arguments={"amount": 9}).kind == "allow"


def test_a_condition_that_takes_nothing() -> None:
    assert decided([deny("pay", when=lambda: True)]).kind == "deny"


def a_generator(a: Any) -> Any:
    yield True


async def an_async_generator(a: Any) -> Any:
    yield True


def of_unknown(a: Nowhere) -> bool:  # noqa: F821
    return True


@pytest.mark.parametrize(
    ("when", "why"),
    [
        (5, "cannot be called"),
        ("amount > 5", "cannot be called"),
        (a_generator, "yields"),
        (an_async_generator, "yields"),
        (lambda a, b: True, "asks for 'b'"),
        (lambda *, a: True, "takes nothing by position"),
        (of_unknown, "its annotation 'Nowhere' names something that is not defined"),
    ],
)
def test_a_condition_that_cannot_be_asked_is_refused_where_it_is_written(
    when: Any, why: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        deny("pay", when=when)
    with pytest.raises(UsageError, match=re.escape(why)):
        PolicyEngine([Policy("deny", "pay", when=when)])


# -- paths ---------------------------------------------------------------------------------------


def test_workspace_only(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    inside, outside = tmp_path / "in", tmp_path / "in-other"

    def path_of(arguments: dict[str, Any]) -> str:
        return arguments["path"]

    async def read(path: str) -> str:
        return path

    reads = Tool(read, path_of=path_of)
    rules = [workspace_only(inside), allow("read")]
    fine = decided(rules, reads, {"path": str(inside / "new" / "file")})
    assert (fine.kind, fine.policy) == ("allow", rules[1])
    no = decided(rules, reads, {"path": str(outside)})
    assert (no.kind, no.policy) == ("deny", rules[0])
    assert f"paths must be inside of {inside}" in no.reason
    # Links are followed, also where the tool did not; relative paths are looked at from here.
    (inside / "link").symlink_to(tmp_path)
    assert decided(rules, reads, {"path": str(inside / "link" / "x")}).kind == "deny"
    assert decided(rules, reads, {"path": "x"}).kind == "deny"
    # It is not about tools that say nothing of paths.
    other = decided(rules, tool())
    assert other.kind == "allow"
    assert other.explained[0].why == "calls of this tool are about no path"
    assert PolicyEngine(rules).standing(reads) == "on"


@pytest.mark.parametrize("folders", [[], ["nowhere"], "nowhere", [5], [__file__]])
def test_a_workspace_is_a_folder(folders: Any) -> None:
    with pytest.raises(UsageError, match="workspace_only: "):
        workspace_only(folders)


# -- sets of rules -------------------------------------------------------------------------------


def test_safe_defaults() -> None:
    rules = safe_defaults()
    for member in BuiltinTools:
        calm = member in (*BuiltinTools.read_only(), BuiltinTools.ASK_QUESTION)
        assert decided(rules, tool(member.value)).kind == ("allow" if calm else "ask")
    assert decided(rules, tool("own")).kind == "ask"
    assert decided([rules, allow("own")], tool("own")).kind == "allow"


def test_confirm_run_command() -> None:
    rules = [confirm_run_command(yes)]
    assert decided(rules, tool("run_command")).kind == "ask"
    assert decided(rules, tool("create_file")).kind == "allow"


def test_all_and_nothing() -> None:
    assert decided([deny_all("not now")]).reason == "not now"
    assert decided([deny_all(), allow_all()]).kind == "deny"
    assert decided(allow_all()).kind == "allow"


# -- at the start --------------------------------------------------------------------------------


@pytest.mark.parametrize("policies", ["deny", 5, [5], [None], {"deny": "x"}, [["x"]]])
def test_what_is_no_rule_is_refused(policies: Any) -> None:
    with pytest.raises(UsageError, match="rule"):
        ToolRunner(policies=policies)


def test_a_question_needs_somebody_to_be_asked() -> None:
    with pytest.raises(UsageError, match=r"ask_user\('x'\) asks a person, and there is nobody"):
        ToolRunner(policies=[ask_user("x")])
    with pytest.raises(UsageError, match="safe_defaults asks a person"):
        ToolRunner(policies=safe_defaults())
    ToolRunner(policies=[ask_user("x")], approve=yes)
    ToolRunner(policies=[ask_user("x", yes)])


def checked(tools: list[Tool], policies: Any, **options: Any) -> tuple[str, ...]:
    return PolicyEngine(policies, approve=yes, **options).check(tools)


async def slow(n: int = 1) -> int:
    return n


async def ticks(n: int = 1) -> AsyncIterator[int]:
    yield n
    await asyncio.sleep(60)


async def tocks(n: int = 1) -> AsyncIterator[int]:
    yield n
    await asyncio.sleep(60)


COMPANIONS = [
    ([allow("slow"), deny_all()], "ok", "on"),
    ([allow("slow", when=lambda a: a["n"] == 1), deny_all()], "ok", "on"),
    ([ask_user("slow", yes), deny_all()], "ok", "on"),
    ([deny("slow", when=lambda a: a["n"] == 2), allow("slow"), deny_all()], "ok", "on"),
    ([deny("slow")], "denied", "denied"),
    ([deny_all()], "denied", "denied"),
    ([deny("slow", when=lambda a: a["n"] == 2), deny_all()], "denied", "denied"),
    ([allow("slow"), deny("check_slow")], "denied", "denied"),
    ([deny("slow"), allow("check_slow")], "ok", "on"),
    ([allow("slow"), ask_user("check_slow", no)], "denied", "asks"),
    ([ask_user("*", no)], "denied", "asks"),
    ([ask_user("slow", no)], "ok", "on"),
]


@pytest.mark.parametrize(("rules", "status", "standing"), COMPANIONS)
def test_what_comes_with_a_tool_stands_as_it_does(
    rules: list[Policy], status: str, standing: str
) -> None:
    async def main() -> str:
        made = Tool(slow, long_running=True)
        runner = ToolRunner([made], policies=rules, background=Background())
        assert runner.standing("check_slow") == standing
        for each in (runner, runner.twin(background=Background())):
            [found] = await each.process_tool_calls([("check_slow", {"task_id": "t"})])
            # No such task: what it says then is that it was asked.
            assert (found.status == "denied") == (status == "denied")
        return found.error or ""

    error = asyncio.run(main())
    assert ("task of slow" in error) == (status == "ok")


@pytest.mark.parametrize(
    ("rules", "is_denied"),
    [
        ([allow("ticks"), deny_all()], False),
        ([deny("ticks"), allow("tocks"), deny_all()], False),
        ([deny("ticks"), deny("tocks")], True),
        ([deny("ticks")], False),
    ],
)
def test_what_comes_with_several_tools_stands_as_the_freest(
    rules: list[Policy], is_denied: bool
) -> None:
    async def main() -> None:
        runner = ToolRunner([ticks, tocks], policies=rules, background=Background())
        calls = [("cancel_subscription", {"subscription_id": "s"})]
        [found] = await runner.process_tool_calls(calls)
        assert (found.status == "denied") == is_denied

    asyncio.run(main())


def test_tools_of_a_server_are_named_as_in_text() -> None:
    server = SimpleNamespace(name="s")
    remote = tool("pay", "s").renamed("s_pay")
    assert [one.target for one in deny(server, [remote, "*"])] == ["s/pay", "s/*"]
    assert deny(server, [remote])[0].names(remote)
    assert allow(server, []) == ()
    for wrong, why in [
        ("a*", "patterns are not understood"),
        ("", "no name of a tool"),
        (5, "no name of a tool"),
        (tool("pay"), "is your own, and not from 's'"),
        (tool("pay", "t"), "comes from 't', and not from 's'"),
    ]:
        with pytest.raises(UsageError, match=why):
            deny(server, [wrong])


def test_a_server_that_goes_takes_no_calls_with_it() -> None:
    runner = ToolRunner([tool("own")], policies=[deny("s/*")])
    with pytest.raises(UsageError, match="no tool comes from a server"):
        asyncio.run(runner.process_tool_calls([("own", {})]))
    runner.register(tool("pay", "s"))
    assert asyncio.run(runner.process_tool_calls([("pay", {})]))[0].status == "denied"
    runner.unregister("pay")
    found = asyncio.run(runner.process_tool_calls([("own", {}), ("pay", {})]))
    assert [result.status for result in found] == ["ok", "invalid"]
    runner.register(tool("pay", "s"))
    assert asyncio.run(runner.process_tool_calls([("pay", {})]))[0].status == "denied"


def test_rules_about_servers_need_one() -> None:
    with pytest.raises(UsageError, match="no tool comes from a server"):
        checked([tool()], [deny("s/x")])
    runner = ToolRunner([tool()], policies=[deny("s/*")])
    with pytest.raises(UsageError, match="no tool comes from a server"):
        asyncio.run(runner.process_tool_calls([("pay", {})]))
    runner.register(tool("x", "s"))
    [result] = asyncio.run(runner.process_tool_calls([("pay", {})]))
    assert result.ok


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("Pay", "'pay'"), ("pai", "'pay'"), ("LIST_DIR", "'list_directory'"),
        ("invoke_subagent", "'start_subagent'"), ("zzzzzz", None), ("s/Pay", "'s/pay'"),
        # Of the kind that was written.
        ("file/*", "'files/*'"), ("zzzz/*", None), ("view_file/*", "'files/*'"), ("s/pax", "'s/pay'"),
        ("zzz/list_directory", None), ("viewfile/x", None),
    ],
)  # fmt: skip
def test_a_rule_that_names_nobody_is_remarked_on(target: str, hint: str | None) -> None:
    tools = [tool("pay"), tool("pay", "s"), tool("move", "files")]
    [remark] = checked(tools, [deny(target)])
    assert remark.startswith(f"the rule deny({target!r}) names no tool")
    assert remark.endswith(f"; did you mean {hint}?") if hint else "mean" not in remark


def test_builtin_names_are_known_also_where_they_are_not_registered() -> None:
    assert checked([tool()], [safe_defaults(), confirm_run_command(), deny("finish")]) == ()


def test_an_allow_that_no_own_tool_has_is_remarked_on() -> None:
    [remark] = checked([tool("pay", "s")], [allow("pay")])
    assert "'pay' comes from a server" in remark


def test_capabilities_that_name_nobody_are_remarked_on() -> None:
    off = CapabilitiesConfig(disabled_tools=["Pay", "view_file"])
    assert checked([tool()], [], capabilities=off) == (
        "disabled_tools names 'Pay', and no tool has that name; did you mean 'pay'?",
    )
    names = ["*", "file/*", "files/*", "files/move", "files/mov", "move", "x/*"]
    some = CapabilitiesConfig(enabled_tools=names)
    assert checked([tool(), tool("move", "files")], [], capabilities=some) == (
        "enabled_tools names 'file/*', and no tool comes from that server; did you mean 'files/*'?",
        "enabled_tools names 'files/mov', and no tool has that name; did you mean 'files/move'?",
        "enabled_tools names 'x/*', and no tool comes from that server",
    )


def test_a_condition_that_a_more_exact_allow_beats_is_remarked_on() -> None:
    def secret(arguments: dict[str, Any]) -> bool:
        return "secret" in str(arguments)

    [remark] = checked([tool()], [deny("*", when=secret), allow("pay")])
    assert "deny('*') is not looked at for 'pay': allow('pay') is more exact" in remark
    assert "deny('pay', when=...)" in remark
    # What is meant to be beaten, and what is not.
    assert checked([tool()], [deny("*"), allow("pay")]) == ()
    assert checked([tool()], [deny("*", when=secret), allow("*")]) == ()
    assert checked([tool()], [deny("*", when=secret), allow("pay", when=secret)]) == ()
    assert checked([tool()], [deny("*", when=secret), allow("pay"), deny("pay")]) == ()
    [remark] = checked([tool("pay", "s")], [ask_user("s/*", when=secret), allow("s/pay")])
    assert "ask_user('pay', when=...)" in remark


def test_remarks_are_warned_of_once_as_calls_begin() -> None:
    """policy-07: neither a wrong case, a glob, nor a beaten condition is passed over in silence."""
    runner = ToolRunner(
        [tool()], policies=[deny("Pay"), deny("*", when=lambda a: "secret" in str(a)), allow("pay")]
    )
    with pytest.warns(UserWarning) as warned:  # noqa: PT030 -- two of them
        asyncio.run(runner.process_tool_calls([("pay", {})]))
    assert ["deny('Pay') names no tool" in str(one.message) for one in warned] == [True, False]
    asyncio.run(runner.process_tool_calls([("pay", {})]))  # a second warning would be an error
    runner.register(tool("other"))
    asyncio.run(runner.process_tool_calls([("pay", {})]))
    with pytest.raises(UsageError, match="patterns are not understood"):
        deny("del*")


# -- how tools stand -----------------------------------------------------------------------------


def test_standings() -> None:
    def small(arguments: dict[str, Any]) -> bool:
        return arguments["amount"] < 10

    runner = ToolRunner(
        [tool(name) for name in ("on", "off", "denied", "asks", "depends", "same")],
        policies=[
            deny("denied"),
            ask_user("asks"),
            deny("depends", when=small),
            allow("depends"),
            deny("same", when=small),
            deny("same"),
        ],
        capabilities=CapabilitiesConfig(disabled_tools=["off"]),
        approve=yes,
    )
    standings = {one.name: runner.standing(one) for one in runner.all_tools}
    assert standings == {name: name for name in standings} | {"same": "denied"}
