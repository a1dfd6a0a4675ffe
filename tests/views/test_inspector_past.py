"""The inspector's past: steps of a slider, search, snapshots."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb.context import StateStore
from agtools_nb.context.history import HISTORY_LIMIT
from agtools_nb.views import state_search
from agtools_nb.views.inspector import InspectorView
from agtools_nb.views.state_search import Search
from agtools_nb.views.steps import Steps


@pytest.fixture
def state() -> StateStore:
    """Three steps by call, five by write."""
    store = StateStore()
    store.set("city", "Oslo", call_id="c1", tool_name="start")
    store.set("km", 0, call_id="c1", tool_name="start")
    store.set("note", {"by": "hand"})
    store.set("city", "Hamar", call_id="c2", tool_name="travel")
    store.delete("note", call_id="c2", tool_name="travel")
    return store


@pytest.fixture
def ask(clock, wire, say, state):
    """Ask a view of the state, and get its answer."""
    view = InspectorView(clock, state)

    def answer(kind, **fields):
        before = len(wire.custom)
        say(view, kind, **fields)
        clock.turn(1)
        assert len(wire.custom) == before + 1
        return wire.custom[-1]

    return answer


def values(answer):
    return {entry["key"]: entry["text"] for entry in answer["keys"]}


def places(answer):
    return [(one["pointer"], one["before"], one["after"]) for one in answer["changes"]]


def test_a_slider_has_a_step_for_each_call_and_each_write(clock, state):
    assert InspectorView(clock, state).data["steps"] == {"call": (1, 3), "write": (1, 5)}
    assert InspectorView(clock, StateStore()).data["steps"] == {"call": (1, 0), "write": (1, 0)}


def test_a_moment_says_where_it_stands_by_the_other_kind_of_step(ask):
    for at, call in [(1, 1), (2, 1), (3, 2), (4, 3), (5, 3)]:
        assert ask("look", by="write", at=at)["steps"] == {"call": call, "write": at}
    assert ask("look", by="call", at=1)["steps"] == {"call": 1, "write": 2}, "its last write"
    assert ask("look", by="call", at=0)["steps"] == {"call": 0, "write": 0}
    assert ask("look", by="write", at=0)["steps"] == {"call": 0, "write": 0}


def test_recent_writes_lead_to_their_steps(clock, state, say):
    view = InspectorView(clock, state)
    say(view, "recent")
    clock.turn(1)
    steps = [(write["seq"], write["steps"]["call"]) for write in view.data["writes"]]
    assert steps == [(5, 3), (4, 3), (3, 2), (2, 1), (1, 1)]
    assert all(write["steps"]["write"] == write["seq"] for write in view.data["writes"])


def test_a_step_by_call_shows_the_state_after_it_and_all_that_it_changed(ask):
    answer = ask("look", by="call", at=3)
    assert values(answer) == {"city": '"Hamar"', "km": "0"}
    assert sorted(places(answer)) == [
        ("/city", '"Oslo"', '"Hamar"'),
        ("/note", '{"by": "hand"}', None),
    ]
    assert (answer["write"]["tool"], answer["writes"]) == ("travel", 2)
    assert (answer["by"], answer["at"]) == ("call", 3)


def test_a_step_by_write_shows_only_that_write(ask):
    answer = ask("look", by="write", at=2)
    assert values(answer) == {"city": '"Oslo"', "km": "0"}
    assert places(answer) == [("/km", None, "0")]
    assert [entry["write"]["seq"] for entry in answer["keys"]] == [1, 2]


def test_before_the_first_step_there_was_nothing(ask):
    answer = ask("look", by="call", at=0)
    assert (answer["keys"], answer["changes"], answer["write"]) == ([], [], None)


@pytest.mark.parametrize("at", [-5, 99])
def test_a_step_that_is_not_there_is_taken_as_the_nearest(ask, at):
    answer = ask("look", by="write", at=at)
    assert values(answer) == ({} if at < 0 else {"city": '"Hamar"', "km": "0"})


@pytest.mark.parametrize(
    "content", [{}, {"by": "day", "at": 1}, {"by": "call", "at": True}, {"by": "call", "at": "1"}]
)
def test_malformed_positions_are_ignored(clock, wire, say, state, content):
    view = InspectorView(clock, state)
    say(view, "look", **content)
    clock.turn(1)
    assert wire.custom == []


def test_the_oldest_step_is_the_oldest_that_the_store_has_kept(clock, wire, say):
    store = StateStore()
    view = InspectorView(clock, store)
    for n in range(HISTORY_LIMIT + 500):
        store.set("n", n, call_id=f"c{n // 10}", tool_name="t")
        if n % 4_000 == 0:
            clock.turn(1)
    clock.turn(1)
    assert view.data["steps"]["write"] == (501, HISTORY_LIMIT + 500)
    first, last = view.data["steps"]["call"]
    assert last - first + 1 == HISTORY_LIMIT / 10
    say(view, "look", by="write", at=first - 1)
    clock.turn(1)
    assert values(wire.custom[-1]) == {"n": "499"}
    say(view, "look", by="call", at=first)
    clock.turn(1)
    assert values(wire.custom[-1]) == {"n": "509"}


def test_a_step_that_is_given_up_meanwhile_is_taken_as_the_oldest(clock, wire, say, monkeypatch):
    """A tool writes on, on another thread, while the page looks at the oldest step."""
    store = StateStore()
    for n in range(HISTORY_LIMIT + 10):
        store.set("n", n)
    view = InspectorView(clock, store)
    real, asked = store.at, []

    def at(seq):
        if not asked:
            for n in range(2_000):
                store.set("n", n)
        asked.append(seq)
        return real(seq)

    monkeypatch.setattr(store, "at", at)
    say(view, "look", by="write", at=0)
    clock.turn(1)
    (answer,) = [message for message in wire.custom if message["type"] == "moment"]
    assert len(set(asked)) == 2
    assert values(answer) == {"n": "2009"}


@given(st.lists(st.sampled_from([None, "a", "b"]), max_size=30), st.integers(1, 40))
def test_steps_taken_in_pieces_are_those_taken_at_once(calls, piece):
    """However often the history is looked at, each write stands in exactly one step of its call."""
    store, slow, fast = StateStore(), Steps(), Steps()
    for at, call in enumerate(calls):
        store.set("k", at, call_id=call)
        if at % piece == 0:
            slow.take(store.history)
    slow.take(store.history)
    fast.take(store.history)
    assert slow.bounds("call") == fast.bounds("call")
    covered = []
    for number in range(1, fast.bounds("call")[1] + 1):
        span = fast.span("call", number)
        assert span == slow.span("call", number)
        inside = range(span.first, span.last + 1)
        assert len({calls[seq - 1] for seq in inside}) == 1
        assert len(inside) == 1 or calls[span.first - 1] is not None
        assert [fast.number("call", seq) for seq in inside] == [number] * len(inside)
        covered += inside
    assert covered == list(range(1, len(calls) + 1))


def test_a_search_finds_keys_values_and_writes(ask):
    answer = ask("find", text="oslo")
    assert values(answer) == {}
    assert [write["seq"] for write in answer["writes"]] == [1]
    assert answer["writes"][0]["steps"] == {"call": 1, "write": 1}
    answer = ask("find", text="HAMAR")
    assert [(entry["key"], entry["places"]) for entry in answer["keys"]] == [("city", ["/city"])]
    assert [write["seq"] for write in ask("find", text="travel")["writes"]] == [5, 4]


def test_a_search_in_the_past_finds_what_was_there_then(ask):
    answer = ask("find", text="hand", by="call", at=2)
    assert [(entry["key"], entry["places"]) for entry in answer["keys"]] == [("note", ["/note/by"])]
    assert (answer["by"], answer["at"]) == ("call", 2)
    assert ask("find", text="hand")["keys"] == []


def test_a_search_finds_numbers_words_and_names_deep_inside():
    value = {"a/b": [{"Name": 1}, [12.5, None, True]], "t": (b"raw",), "~": "x"}
    for text, found in {
        "12.5": ["/a~1b/1/0"],
        "name": ["/a~1b/0/Name"],
        "null": ["/a~1b/1/1"],
        "TRUE": ["/a~1b/1/2"],
        "~": ["/~0"],
        "nowhere": [],
    }.items():
        assert Search(text).places(value) == found


def test_a_search_is_bounded_and_says_so(monkeypatch):
    monkeypatch.setattr(state_search, "PARTS_LIMIT", 50)
    search = Search("9")
    assert search.places(list(range(1_000))) == ["/9", "/19", "/29", "/39"]
    assert search.is_cut
    endless: list[object] = []
    endless.append(endless)
    assert Search("x").places(endless) == []


@pytest.mark.parametrize("text", ["", 3, None])
def test_a_search_for_nothing_is_ignored(clock, wire, say, state, text):
    view = InspectorView(clock, state)
    say(view, "find", text=text)
    clock.turn(1)
    assert wire.custom == []


def test_a_snapshot_is_saved_compared_and_loaded(clock, wire, say, state):
    view = InspectorView(clock, state)
    say(view, "save", name=" before ")
    clock.turn(1)
    assert wire.custom[-1] == {"type": "saved", "fault": None}
    state.set("km", 12)
    clock.turn(1)
    assert [(one["name"], one["keys"]) for one in view.data["snapshots"]] == [("before", 2)]
    say(view, "compare", before="before", after=None)
    clock.turn(1)
    assert places(wire.custom[-1]) == [("/km", "0", "12")]
    say(view, "compare", before=None, after="before")
    clock.turn(1)
    assert places(wire.custom[-1]) == [("/km", "12", "0")]
    say(view, "load", name="before")
    clock.turn(1)
    assert state.snapshot() == {"city": "Hamar", "km": 0}
    assert view.data["writes"][0]["operation"] == "load"
    assert {entry["write"]["operation"] for entry in view.data["keys"]} == {"load"}
    say(view, "forget", name="before")
    clock.turn(1)
    assert view.data["snapshots"] == []
    assert state.snapshot() == {"city": "Hamar", "km": 0}


def test_a_snapshot_is_compared_with_what_is_a_stores_own(clock, wire, say, state):
    child = StateStore(parent=state)
    view = InspectorView(clock, child)
    child.set("own", 1)
    child.save("before")
    child.set("own", 2)
    say(view, "compare", before="before", after=None)
    clock.turn(1)
    assert places(wire.custom[-1]) == [("/own", "1", "2")]


@pytest.mark.parametrize("name", ["", "  ", "x" * 201])
def test_a_snapshot_needs_a_name_of_bounded_length(clock, wire, say, state, name):
    view = InspectorView(clock, state)
    say(view, "save", name=name)
    clock.turn(1)
    assert "name" in wire.custom[-1]["fault"]
    assert view.data["snapshots"] == []


def test_the_static_form_lists_the_snapshots(clock, state):
    state.save("<b>before</b>")
    html = InspectorView(clock, state).static_html()
    assert "&lt;b&gt;before" in html
    assert "Snapshots" in html
    assert "Snapshots" not in InspectorView(clock, StateStore()).static_html()


@pytest.mark.parametrize("names", [("gone", None), (3, None), (None, [1])])
def test_what_is_no_snapshot_is_not_compared(clock, wire, say, state, names):
    view = InspectorView(clock, state)
    say(view, "compare", before=names[0], after=names[1])
    clock.turn(1)
    assert wire.custom == []


def test_what_has_gone_cannot_be_loaded_and_the_view_says_so(clock, wire, say, state):
    view = InspectorView(clock, state)
    say(view, "load", name="gone")
    clock.turn(1)
    assert wire.custom[-1]["type"] == "problem"
    assert "gone" in wire.custom[-1]["text"]
    assert state.get("city") == "Hamar"
