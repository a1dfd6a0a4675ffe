"""The approval card."""

from __future__ import annotations

import json

import pytest
from views.asking import BAD, asked, run_command

from agtools_nb.access import ApprovalDecision
from agtools_nb.define import tool
from agtools_nb.views.approval import ARGUMENTS_LIMIT, ApprovalView


@pytest.fixture
def said():
    return []


@pytest.fixture
def view(clock, wire, said):
    return ApprovalView(clock, asked(), said.append, 300.0)


def test_it_shows_tool_arguments_and_the_rule(clock, wire, said):
    sent = {"command": ["git", "push"], "seconds": "60"}
    approval = asked(canonical_path="/project", server_name="shell")
    data = ApprovalView(clock, approval, said.append, 300.0, sent).data
    assert (data["tool"], data["state"], data["decision"]) == ("run_command", "open", None)
    assert (data["server"], data["path"]) == ("shell", "/project")
    assert data["about"] == "Run a command and return what it prints."
    assert (data["rule"], data["reason"]) == ("confirm", "Commands change things.")
    assert [(one["name"], one["json"], one["mark"], one["came"]) for one in data["arguments"]] == [
        ("command", '["git", "push"]', "", ""),
        ("folder", '"."', "default", ""),
        ("seconds", "60", "changed", '"60"'),
    ]
    assert 299 < data["left"] <= 300
    json.dumps(data)


@pytest.mark.parametrize("remember", [False, True])
def test_approve_settles_once_and_freezes_the_card(clock, view, said, say, remember):
    say(view, "approve", remember=remember)
    say(view, "deny", reason="too late")
    clock.turn()
    assert said == [ApprovalDecision(True, remember=remember)]
    assert (view.state, view.data["state"], view.data["left"]) == ("answered", "answered", None)
    assert view.data["decision"]["word"] == "approved"
    note = "further calls of run_command that confirm asks about run without asking"
    assert view.data["decision"]["note"] == (note if remember else "")


def test_deny_hands_on_the_reason(clock, view, said, say):
    say(view, "deny", reason="  not today ")
    clock.turn()
    assert said == [ApprovalDecision(False, reason="not today")]
    assert view.data["decision"] == {"word": "denied", "kind": "denied", "note": "not today"}


@pytest.mark.parametrize(
    "content",
    [{"remember": "yes"}, {"remember": 1}, {"arguments": {"command": ["rm"]}}, {"edited": True}],
)
def test_what_a_page_adds_to_approve_counts_for_nothing(clock, view, said, say, content):
    say(view, "approve", **content)
    clock.turn()
    assert said == [ApprovalDecision(True)]


def test_a_reason_that_is_no_text_is_none(clock, view, said, say):
    say(view, "deny", reason=["x"])
    clock.turn()
    assert said == [ApprovalDecision(False)]


def test_edited_arguments_are_what_is_approved(clock, view, said, say):
    say(view, "edit")
    clock.turn()
    form = view.form
    assert view.data["form"] == form.model_id
    assert form.arguments == dict(view.approval.arguments)
    form["seconds"] = "5"
    form["command"] = ["git", "status"]
    say(view, "approve")
    clock.turn(1)
    edited = {"command": ["git", "status"], "folder": ".", "seconds": "5"}
    assert said == [ApprovalDecision(True, edited)]
    assert view.data["decision"]["note"] == "with changed arguments"
    assert [one["mark"] for one in view.data["arguments"]] == ["edited", "", "edited"]
    assert form.comm is None, "the form's comm was left open"
    assert view.approval.arguments["command"] == ["git", "push"]


def test_an_untouched_form_is_no_edit(clock, view, said, say):
    say(view, "edit")
    say(view, "approve")
    clock.turn()
    assert said == [ApprovalDecision(True)]


@pytest.mark.parametrize("break_it", ["type", "missing", "json"])
def test_edits_that_do_not_fit_are_not_approved(clock, view, said, say, break_it):
    say(view, "edit")
    clock.turn()
    if break_it == "type":
        view.form["seconds"] = "soon"
    elif break_it == "missing":
        del view.form["command"]
    else:
        say(view.form, "json", text="{no")
    say(view, "approve")
    clock.turn(1)
    assert (said, view.is_open) == ([], True)
    assert "do not fit" in view.data["refused"]
    say(view, "leave")
    clock.turn(1)
    assert (view.form, view.data["form"], view.data["refused"]) == (None, None, "")
    say(view, "approve")
    clock.turn(1)
    assert said == [ApprovalDecision(True)]


@pytest.mark.parametrize(
    ("end", "word", "settled"), [("expire", "denied", [None]), ("stop", "stopped", [])]
)
def test_it_ends_without_an_answer(clock, view, said, say, end, word, settled):
    say(view, "edit")
    clock.turn()
    getattr(view, end)()
    say(view, "approve")
    clock.turn(1)
    assert (said, view.is_open, view.form) == (settled, False, None)
    assert view.data["decision"]["word"] == word
    assert word in view.static_text()


def test_a_page_that_is_loaded_again_is_told_the_time_left_now(clock, view, say, monkeypatch):
    now = view._asked_at
    monkeypatch.setattr(view, "_time", lambda: now + 100)
    say(view, "ready", rev=view.data["rev"])
    clock.turn(1)
    assert view.data["left"] == pytest.approx(200)


def test_a_huge_argument_says_that_it_was_cut(clock, wire, said):
    view = ApprovalView(clock, asked({"command": ["x" * (ARGUMENTS_LIMIT * 2)]}), said.append)
    (argument,) = view.data["arguments"]
    assert len(argument["json"]) < ARGUMENTS_LIMIT * 1.1
    assert argument["note"]


def test_many_long_arguments_share_what_there_is_room_for(clock, wire, said):
    given = {f"n{number}": "x" * ARGUMENTS_LIMIT for number in range(50)}
    rows = ApprovalView(clock, asked(given), said.append).data["arguments"]
    assert sum(len(one["json"]) for one in rows) < ARGUMENTS_LIMIT * 2
    assert all(len(one["json"]) > 1_000 for one in rows)
    assert all(one["note"] for one in rows[1:])


def test_the_authors_words_are_shown_beside_the_arguments(clock, wire, said):
    @tool(display="Build {build_id}")
    def build(build_id: int) -> None:
        """Build."""

    view = ApprovalView(clock, asked({"build_id": 7}, build), said.append)
    assert view.data["shown"] == "Build 7"
    assert [one["json"] for one in view.data["arguments"]] == ["7"]


def test_the_static_form_is_escaped_and_hides_nothing(clock, wire, said, say):
    view = ApprovalView(clock, asked({"command": [BAD], BAD: BAD}), said.append)
    html, text = view.static_html(), view.static_text()
    assert "waited for approval" in html
    for static in (html, text):
        assert "\u202e" not in static
        assert "U+202E" in static
    assert "<img" not in html
    say(view, "deny", reason=BAD)
    clock.turn()
    assert "<img" not in view.static_html()
    assert "\u202e" not in view.static_html()


def test_repr_tells_tool_and_outcome(clock, view, say):
    assert repr(view) == "<ApprovalView: run_command: waits for approval>"
    say(view, "approve")
    clock.turn()
    assert repr(view) == "<ApprovalView: run_command: approved>"
    assert view.approval.tool is run_command
