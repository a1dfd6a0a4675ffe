"""The registry view."""

from __future__ import annotations

import json

import pytest

from agtools_nb.access import CapabilitiesConfig, ask_user, deny
from agtools_nb.calls import ToolResult
from agtools_nb.define import Tool, tool
from agtools_nb.notebook import Toolkit
from agtools_nb.views.registry import ACCESS_WORDS, RegistryRow, RegistryView, access_of


@tool(read_only=True, scopes=["notes:read"])
def search(query: str, folder: str = "notes") -> list[str]:
    """Search the notes.

    Args:
        query: Words to find.
    """
    return []


def test_it_shows_tools_with_parameters_flags_counts_and_outcome(clock):
    last = ToolResult("search", result=["a"], duration=0.2, started_at=5.0)
    view = RegistryView(clock, lambda: [RegistryRow(search, 3, 1, 2, last)])
    (shown,) = view.data["tools"]
    assert shown["name"] == "search"
    assert shown["description"] == "Search the notes."
    assert [(p["name"], p["required"], p["default"]) for p in shown["parameters"]] == [
        ("query", True, None),
        ("folder", False, '"notes"'),
    ]
    assert shown["flags"] == ["read-only"]
    assert shown["scopes"] == ["notes:read"]
    assert (shown["calls"], shown["failures"], shown["running"]) == (3, 1, 2)
    assert shown["last"] == {
        "status": "ok", "word": "ok", "text": '["a"]', "duration": 0.2, "at": 5.2
    }  # fmt: skip
    json.dumps(view.data)


def test_it_follows_its_source(clock):
    rows: list[RegistryRow] = []
    view = RegistryView(clock, lambda: rows)
    assert view.data["tools"] == []
    rows.append(RegistryRow(search))
    view.refresh()
    clock.turn(1)
    assert len(view.data["tools"]) == 1


def test_a_tool_that_was_replaced_is_described_anew(clock):
    rows = [RegistryRow(search)]
    view = RegistryView(clock, lambda: rows)

    def other(city: str) -> str:
        """Another."""
        return city

    rows[0] = RegistryRow(Tool(other, name="search"))
    view.refresh()
    clock.turn(1)
    assert view.data["tools"][0]["description"] == "Another."


def test_a_schema_that_cannot_be_built_is_told_in_its_row(clock):
    def late(city: "Missing") -> str:  # noqa: F821, UP037
        """Late."""
        return city

    view = RegistryView(clock, lambda: [RegistryRow(Tool(late)), RegistryRow(search)])
    first, second = view.data["tools"]
    assert "Missing" in first["fault"]
    assert second["fault"] is None
    assert "Missing" in view.static_text()


def test_static_forms(clock):
    last = ToolResult("search", error="<b>no</b>", status="error", duration=1.0)
    view = RegistryView(clock, lambda: [RegistryRow(search, 1, 1, 0, last)])
    html, text = view.static_html(), view.static_text()
    for part in ("search", "Search the notes.", "query: string", "folder?: string", "1 failed"):
        assert part in html
        assert part in text
    assert "error · 1.00 s" in html
    assert RegistryView(clock, list).static_text() == "No tools yet."


@pytest.mark.parametrize("access", ["on", "off", "denied", "asks", "approved", "depends"])
def test_how_a_tool_stands_is_told_in_a_word_and_a_sentence(clock, access):
    view = RegistryView(clock, lambda: [RegistryRow(search, access=access)])
    shown = view.data["tools"][0]["access"]
    assert shown["kind"] == access
    assert shown["word"] == ACCESS_WORDS[access]
    assert shown["text"].endswith(".")
    for static in (view.static_html(), view.static_text()):
        assert ACCESS_WORDS[access] in static


def test_where_no_rule_is_nothing_is_said_of_access(clock):
    view = RegistryView(clock, lambda: [RegistryRow(search)])
    assert view.data["tools"][0]["access"] is None
    assert "Access" not in view.static_html()


def test_a_toolkit_tells_how_its_tools_stand(clock):
    def stand(**options):
        tk = Toolkit(**options)
        tk.add(search, tool(name="find")(lambda query: query), [tool(name="look")(lambda: 1)])
        shown = tk.registry().data["tools"]
        return {one["name"]: (one["access"] or {}).get("kind") for one in shown}

    assert stand() == {"search": None, "find": None, "look": None}
    assert stand(
        policies=[ask_user("search"), deny("find", when=lambda arguments: True)],
        capabilities=CapabilitiesConfig(disabled_tools=["look"]),
    ) == {"search": "asks", "find": "depends", "look": "off"}


def test_what_was_approved_for_the_session_is_told_until_it_ends(clock):
    rule, when = ask_user("search", approve), ask_user("find", approve, when=lambda arguments: True)
    tk = Toolkit(policies=[rule, when, ask_user("find", approve)])
    tk.add(search, tool(name="find")(lambda query: query))
    engine = tk.runner.access.engine

    def stand():
        return [access_of(engine, tk.runner.tool(name)) for name in ("search", "find")]

    assert stand() == ["asks", "asks"]
    engine.remember(rule, tk.runner.tool("search"))
    engine.remember(when, tk.runner.tool("find"))
    assert stand() == ["approved", "asks"], "the other rule on find still asks"
    assert [one["access"]["kind"] for one in tk.registry().data["tools"]] == ["approved", "asks"]
    engine.forget()
    assert stand() == ["asks", "asks"]


def approve(approval):
    return True
