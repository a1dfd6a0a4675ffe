"""The inspector: live values, who wrote them, editing."""

from __future__ import annotations

import datetime as dt
import json
import threading

import pytest

from agtools_nb.context import StateStore
from agtools_nb.views.base import DirectScheduler
from agtools_nb.views.inspector import InspectorView


@pytest.fixture
def state() -> StateStore:
    return StateStore()


def edit(say, clock, view, key, text, **more) -> None:
    say(view, "edit", key=key, text=text, **more)
    clock.turn(1)


def test_it_shows_values_and_who_wrote_them(clock, state, say):
    state.set("count", 1)
    state.update("count", lambda n: n + 1, call_id="c1", tool_name="bump")
    view = InspectorView(clock, state, "State")
    (entry,) = view.data["keys"]
    assert (entry["key"], entry["text"]) == ("count", "2")
    write = entry["write"]
    assert (write["operation"], write["tool"], write["call"]) == ("update", "bump", "c1")
    assert [one["seq"] for one in view.data["writes"]] == [2]
    say(view, "recent")
    clock.turn(1)
    assert [one["seq"] for one in view.data["writes"]] == [2, 1]
    assert view.data["total_writes"] == 2


def test_writes_from_any_thread_reach_the_page_20_times_a_second(clock, state, wire):
    view = InspectorView(clock, state)

    def write() -> None:
        for _ in range(100):
            state.update("n", lambda n: n + 1, default=0)

    for _ in range(100):
        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
        clock.turn(0.01)
    clock.turn(1)
    assert len(wire.log) <= 22
    assert view.data["keys"][0]["text"] == "10000"
    assert view.data["total_writes"] == 10_000


def test_the_last_write_of_a_key_outlives_the_history(clock, state):
    view = InspectorView(clock, state)
    state.set("old", 1, tool_name="first")
    clock.turn(1)
    for n in range(10_001):
        state.set("new", n)
    clock.turn(1)
    assert view.data["keys"][0]["write"]["tool"] == "first"


def test_deleting_and_resetting_forget_who_wrote(clock, state):
    view = InspectorView(clock, state)
    state.set("a", 1)
    state.set("b", 1)
    state.delete("a")
    clock.turn(1)
    assert set(view._past.last) == {"b"}
    state.reset()
    clock.turn(1)
    assert view._past.last == {}
    assert view.data["writes"][0]["operation"] == "reset"


def test_an_edit_is_stored_exactly(clock, state, wire, say):
    state.set("id", 1)
    view = InspectorView(clock, state)
    edit(say, clock, view, "id", "9007199254740993")
    assert state.get("id") == 9007199254740993
    assert view.data["keys"][0]["text"] == "9007199254740993"
    assert wire.custom[-1] == {"type": "edited", "key": "id", "new": False, "fault": None}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[1, 2", "line 1, column 6"),
        ("", "Expecting value"),
        ("NaN", "NaN is not a JSON value"),
        ("[" * 100_000, "Nested too deeply"),
        ('"' + "x" * 900_000 + '"', "At most 800,000 characters"),
        ("1" * 5_000, "Not JSON"),
    ],
)
def test_a_faulty_edit_changes_nothing_and_says_why(clock, state, wire, say, text, fault):
    state.set("id", 1)
    view = InspectorView(clock, state)
    edit(say, clock, view, "id", text)
    assert state.get("id") == 1
    assert fault in wire.custom[-1]["fault"]


def test_a_new_key_must_be_new_and_have_a_name(clock, state, wire, say):
    state.set("taken", 1)
    view = InspectorView(clock, state)
    edit(say, clock, view, "taken", "2", new=True)
    assert "already" in wire.custom[-1]["fault"]
    edit(say, clock, view, "", "2", new=True)
    assert "at least one character" in wire.custom[-1]["fault"]
    edit(say, clock, view, "fresh", "2", new=True)
    assert state.snapshot() == {"taken": 1, "fresh": 2}


@pytest.mark.parametrize("content", [{}, {"key": 3, "text": "1"}, {"key": "a", "text": 1}])
def test_malformed_messages_are_ignored(clock, state, wire, say, content):
    state.set("a", 0)
    view = InspectorView(clock, state)
    for kind in ("edit", "delete", "open"):
        say(view, kind, **({"key": content.get("key")} if kind != "edit" else content))
    clock.turn(1)
    assert state.get("a", "gone") in (0, "gone")
    assert all(message["type"] == "value" for message in wire.custom)


def test_delete_and_reset(clock, state, say):
    state.set("a", 1)
    state.set("b", 2)
    view = InspectorView(clock, state)
    say(view, "delete", key="a")
    clock.turn(1)
    assert state.snapshot() == {"b": 2}
    say(view, "reset")
    clock.turn(1)
    assert state.snapshot() == {}
    assert view.data["keys"] == []


def test_all_of_a_value_is_sent_when_it_is_opened(clock, state, wire, say):
    state.set("big", ["x" * 100] * 1_000)
    view = InspectorView(clock, state)
    assert view.data["keys"][0]["note"]
    say(view, "open", key="big")
    clock.turn(1)
    (message,) = wire.custom
    assert json.loads(message["text"]) == ["x" * 100] * 1_000
    assert message["same"] is True


def test_a_value_that_is_not_json_says_that_an_edit_would_change_it(clock, state, wire, say):
    state.set("when", {"at": {1, 2}})
    view = InspectorView(clock, state)
    say(view, "open", key="when")
    clock.turn(1)
    assert wire.custom[0]["same"] is False


def test_many_keys_are_bounded(clock, state):
    for n in range(2_000):
        state.set(f"key {n}", "z" * 1_000)
    view = InspectorView(clock, state)
    assert len(view.data["keys"]) == 500
    assert view.data["more_keys"] == 1_500
    assert len(json.dumps(view.data)) < 400_000


def test_a_closed_view_stops_watching(clock, state):
    view = InspectorView(clock, state)
    view.close()
    assert state._watchers == []


def test_static_forms(clock, state):
    state.set("<b>key</b>", "<script>")
    view = InspectorView(clock, state, "State")
    html, text = view.static_html(), view.static_text()
    assert "<b>" not in html
    assert "<script>" not in html
    assert "State: 1 key, 1 write" in text
    assert "No state yet." in InspectorView(clock, StateStore()).static_html()
    state.reset()
    assert "No state now." in view.static_html()


def test_a_file_says_when_and_not_how_long_ago() -> None:
    """A saved notebook is read much later."""
    store = StateStore()
    store.set("a", 1, call_id="c", tool_name="counter")
    at = dt.datetime.fromtimestamp(store.history[0].at, dt.UTC)
    view = InspectorView(DirectScheduler(), store)
    for text in (view.static_html(), view.static_text()):
        assert f"set by counter, {at:%Y-%m-%d %H:%M:%S} UTC" in text
        assert "ago" not in text
