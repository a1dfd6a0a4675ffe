"""The policy table."""

from __future__ import annotations

import asyncio
import json

import pytest
from views.asking import BAD, run_command

from agtools_nb.access import (
    CapabilitiesConfig,
    PolicyEngine,
    allow,
    ask_user,
    deny,
    workspace_only,
)
from agtools_nb.builtin import view_file_tool
from agtools_nb.define import tool
from agtools_nb.views.policies import PoliciesView


@tool
def delete(path: str, times: int = 1) -> None:
    """Delete a file."""


def is_risky(arguments):
    return "rm" in arguments["command"]


RULES = [
    allow("*"),
    ask_user("run_command", name="confirm", reason="Commands change things."),
    deny("run_command", when=is_risky, name="no_rm", reason="Nothing is removed."),
    deny("delete", when=lambda arguments: 1 / 0),
]


def view_of(clock, *rules, off=(), first=None, **arguments):
    capabilities = CapabilitiesConfig(disabled_tools=list(off)) if off else None
    engine = PolicyEngine(rules or RULES, approve=lambda approval: False, capabilities=capabilities)
    return PoliciesView(clock, engine, lambda: [run_command, delete], first, arguments)


def explain(clock, view, name, text):
    asyncio.run(view.explain(name, text))
    clock.turn(1)
    return view.data["tried"]


def test_rules_stand_in_the_order_in_which_they_decide(clock, wire):
    data = view_of(clock).data
    assert [(one["kind"], one["target"], one["when"], one["name"]) for one in data["rules"]] == [
        ("deny", "run_command", "when is_risky", "no_rm"),
        ("deny", "delete", "under a condition", "deny('delete')"),
        ("ask", "run_command", "", "confirm"),
        ("allow", "*", "", "allow('*')"),
    ]
    assert [(one["name"], one["example"]) for one in data["tools"]] == [
        ("run_command", '{"command": []}'),
        ("delete", '{"path": ""}'),
    ]
    assert data["tried"] is None
    json.dumps(data)


@pytest.mark.parametrize(
    ("name", "text", "kind", "decides", "words"),
    [
        ("run_command", '{"command": ["ls"]}', "asking", 2, "You are asked, by confirm"),
        ("run_command", '{"command": ["rm"]}', "denied", 0, "It is denied, by no_rm: Nothing is"),
        ("delete", '{"path": "a"}', "denied", 1, "ZeroDivisionError"),
    ],
)
def test_a_typed_call_is_decided_and_every_rule_says_why(
    clock, wire, name, text, kind, decides, words
):
    tried = explain(clock, view_of(clock), name, text)
    assert tried["kind"] == kind
    assert words in tried["verdict"]
    outcomes = tried["outcomes"]
    assert [at for at, one in enumerate(outcomes) if one["decided"]] == [decides]
    assert len(outcomes) == 4
    assert all(one["why"] for one in outcomes)


def test_a_call_that_was_approved_for_the_session_runs_without_asking(clock, wire):
    rule = ask_user("delete", lambda approval: True, name="careful")
    engine = PolicyEngine([rule])
    engine.remember(rule, delete)
    tried = explain(clock, PoliciesView(clock, engine, lambda: [delete]), "delete", '{"path": "a"}')
    assert tried["kind"] == "ok"
    assert tried["verdict"] == (
        "It runs without asking: you approved further calls of delete for this session, about "
        "which careful asks otherwise"
    )


def test_what_the_tool_would_get_is_what_is_judged(clock, wire):
    rule = deny("delete", when=lambda arguments: arguments["times"] == 3)
    view = view_of(clock, rule)
    tried = explain(clock, view, "delete", '{"path": "a", "times": "3"}')
    assert (tried["kind"], tried["arguments"]) == ("denied", '{"path": "a", "times": 3}')


def test_a_call_that_no_rule_is_about_runs(clock, wire):
    tried = explain(clock, view_of(clock, deny("other")), "delete", '{"path": "a"}')
    assert tried["kind"] == "ok"
    assert "It runs" in tried["verdict"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("run_command", "", "It would not run, and no rule would be asked. The arguments do not"),
        ("run_command", "{no", "Not JSON: expecting property name"),
        ("run_command", '{"a": 1, "a": 2}', 'The key "a" stands there twice.'),
        ("run_command", "{}", "do not fit run_command: /command: expected an array"),
        ("run_command", "[1]", "no rule would be asked. The arguments must be a JSON object"),
        ("run_command", json.dumps({str(n): n for n in range(99)}), "; and more."),
        ("nobody", "{}", "no tool"),
        ("delete", '{"path": "a"}', "is off"),
    ],
)
def test_what_is_no_call_is_told_and_no_rule_is_asked(clock, wire, name, text, words):
    off = ["delete"] if name == "delete" else []
    view = view_of(clock, deny("*", when=lambda arguments: pytest.fail("asked")), off=off)
    tried = explain(clock, view, name, text)
    assert words in tried["verdict"]
    assert (tried["kind"], tried["outcomes"]) == ("invalid", [])


def test_a_page_asks_and_odd_messages_count_for_nothing(clock, wire, say):
    view = view_of(clock)
    say(view, "explain", tool=["run_command"], text="{}")
    say(view, "explain", tool="run_command", text='{"command": ["ls"]}')
    clock.turn(1)
    for coroutine in clock.coroutines:
        asyncio.run(coroutine)
    clock.turn(1)
    assert view.tried is not None
    assert view.tried.decision is not None
    assert view.tried.decision.kind == "ask"


def test_tools_that_are_off_are_named_and_not_offered(clock, wire):
    data = view_of(clock, off=["delete"]).data
    assert data["off"] == ["delete"]
    assert [one["name"] for one in data["tools"]] == ["run_command"]


def test_static_forms(clock, wire):
    view = view_of(clock, deny("run_command", name=BAD, reason=BAD), allow("*"))
    assert "deny" in view.static_text()
    explain(clock, view, "run_command", json.dumps({"command": [BAD]}))
    for static in (view.static_html(), view.static_text()):
        assert "It is denied" in static
        assert "decides" in static
        assert "\u202e" not in static
    assert "<img" not in view.static_html()
    assert "2 rules" in repr(view)


def test_without_rules_it_says_so(clock, wire):
    engine = PolicyEngine(())
    view = PoliciesView(clock, engine, lambda: [delete])
    assert view.static_text() == "No rules: every call runs."
    assert repr(view) == "<PoliciesView: no rules>"
    assert explain(clock, view, "delete", '{"path": "a"}')["kind"] == "ok"


def test_a_call_may_be_explained_from_the_start(clock, wire):
    view = view_of(clock, first="run_command", command=["rm"])
    assert view.data["first"] == ["run_command", '{"command": ["rm"]}']
    (coroutine,) = clock.coroutines
    asyncio.run(coroutine)
    clock.turn(1)
    assert view.data["tried"]["kind"] == "denied"


def test_a_path_that_cannot_be_judged_is_told_in_one_sentence(clock, wire, tmp_path):
    engine = PolicyEngine([workspace_only(tmp_path)])
    view = PoliciesView(clock, engine, lambda: [view_file_tool(tmp_path)], None, {})
    verdict = explain(clock, view, "view_file", '{"path": "../x"}')["verdict"]
    assert verdict.startswith("It would not run: '../x' is outside")
    assert not verdict.endswith("..")
    assert "denied" not in verdict
