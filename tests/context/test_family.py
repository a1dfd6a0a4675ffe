"""A state with a parent, the state as it was, snapshots, and what differs between two."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb.context import ABSENT, Snapshot, StateChange, StateStore, diff
from agtools_nb.errors import UsageError


@pytest.fixture
def family() -> tuple[StateStore, StateStore]:
    parent = StateStore()
    parent.set("a", 1)
    parent.set("b", [1])
    return parent, StateStore(parent)


def test_a_child_reads_its_parents_and_writes_its_own(family: Any) -> None:
    parent, child = family
    assert (child.get("a"), child.get("none", 7), "b" in child, len(child)) == (1, 7, True, 2)
    child.set("a", 2)
    child.set("c", 3)
    assert (child.get("a"), parent.get("a"), parent.get("c")) == (2, 1, None)
    assert child.snapshot() == {"a": 2, "b": [1], "c": 3}
    assert list(child.snapshot()) == ["a", "b", "c"]
    assert parent.snapshot() == {"a": 1, "b": [1]}
    assert [write.key for write in child.history] == ["a", "c"]
    assert len(parent.history) == 2


def test_what_the_parent_writes_is_seen_at_once_and_through_every_level(family: Any) -> None:
    parent, child = family
    grandchild = StateStore(child)
    parent.set("a", 5)
    child.set("d", 6)
    assert (grandchild.get("a"), grandchild.get("d"), len(grandchild)) == (5, 6, 3)


def test_deleting_in_a_child_hides_nothing_of_the_parents(family: Any) -> None:
    parent, child = family
    child.set("a", 2)
    child.delete("a")
    child.delete("b")
    assert child.get("a") == 1
    assert "b" in child
    child.set("a", 3)
    child.reset()
    assert child.snapshot() == parent.snapshot()
    assert len(parent.history) == 2


def test_an_update_in_a_child_starts_from_the_parents_value(family: Any) -> None:
    parent, child = family
    assert child.update("b", lambda items: [*items, 2]) == [1, 2]
    assert (parent.get("b"), child.get("b")) == ([1], [1, 2])
    assert child.history[0].before is ABSENT


def test_a_child_that_is_held_holds_its_parent(family: Any) -> None:
    parent, child = family
    done = threading.Event()
    writer = threading.Thread(target=lambda: (parent.set("a", 9), done.set()))
    with child.lock():
        writer.start()
        assert not done.wait(0.05)
        assert child.get("a") == 1
    assert done.wait(10)


def test_updates_of_children_and_parents_lose_nothing() -> None:
    parent = StateStore()
    children = [StateStore(parent) for _ in range(3)]

    def work(store: StateStore) -> None:
        for _ in range(200):
            store.update("n", lambda n: n + 1, 0)

    threads = [threading.Thread(target=work, args=(s,)) for s in (parent, *children, *children)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert parent.get("n") == 200
    assert all(child.get("n") >= 400 for child in children)


# -- the state as it was ----------------------------------------------------------------------


def test_the_state_as_it_was_after_each_write() -> None:
    store = StateStore()
    store.set("a", 1)
    store.update("b", lambda value: [*value, 1], [])
    store.delete("a")
    store.save("here")
    store.reset()
    store.load("here")
    store.set("a", 2)
    assert [store.at(n) for n in range(7)] == [
        {},
        {"a": 1},
        {"a": 1, "b": [1]},
        {"b": [1]},
        {},
        {"b": [1]},
        {"b": [1], "a": 2},
    ]
    assert list(store.at(6)) == ["b", "a"]
    store.at(6)["b"].append(9)
    assert store.at(6)["b"] == [1]


@pytest.mark.parametrize("seq", [-1, 3, "1", None, 1.5, True])
def test_no_such_write(seq: Any) -> None:
    store = StateStore()
    store.set("a", 1)
    store.set("a", 2)
    with pytest.raises(UsageError, match="the number of a write, from 0 to 2"):
        store.at(seq)


def test_what_is_too_long_ago_is_said() -> None:
    store = StateStore()
    for n in range(12_001):
        store.set(str(n % 7), n)
    first = store.history[0].seq
    assert (first, len(store.history)) == (2_002, 10_000)
    with pytest.raises(UsageError, match="about the last 10,000 are kept"):
        store.at(100)
    assert store.at(first) == {str(n % 7): n for n in range(first)}
    assert store.at(12_001) == store.snapshot()


def test_the_past_is_looked_at_while_others_write() -> None:
    store = StateStore()
    stop = threading.Event()

    def write() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            store.set(str(n % 3), n)

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        looks = 0
        while looks < 30:
            history = store.history
            if len(history) < 3:
                continue
            looks += 1
            write_ = history[len(history) // 2]
            values = store.at(write_.seq)
            assert values[write_.key] == write_.after
    finally:
        stop.set()
        for writer in writers:
            writer.join()


# -- snapshots --------------------------------------------------------------------------------


def test_snapshots_bring_back_the_values() -> None:
    store = StateStore()
    store.set("a", [1])
    saved = store.save("first")
    store.update("a", lambda value: [*value, 2])
    store.set("b", 1)
    assert store.load("first", call_id="c1", tool_name="undo") == saved
    assert store.snapshot() == {"a": [1]}
    write = store.history[-1]
    assert (write.operation, write.key, write.call_id, write.tool_name) == (
        "load",
        "",
        "c1",
        "undo",
    )
    assert (write.before, write.after) == ({"a": [1, 2], "b": 1}, {"a": [1]})
    assert saved == Snapshot("first", 1, saved.at, {"a": [1]})


def test_a_snapshot_changes_with_nothing() -> None:
    store = StateStore()
    store.set("a", {"x": 1})
    saved = store.save("s")
    store.load(saved)
    store.update("a", lambda value: {**value, "x": 2})
    store.get("a")["x"] = 3
    assert saved.values == {"a": {"x": 1}}
    with pytest.raises(TypeError):
        saved.values["a"] = 2  # type: ignore[index]


def test_a_name_is_saved_under_once_and_the_latest_is_last() -> None:
    store = StateStore()
    for n, name in enumerate(["x", "y", "x"]):
        store.set("n", n)
        store.save(name)
    assert [(s.name, s.values["n"]) for s in store.snapshots] == [("y", 1), ("x", 2)]
    store.forget("y")
    assert [s.name for s in store.snapshots] == ["x"]


def test_snapshots_that_are_not_there() -> None:
    store = StateStore()
    with pytest.raises(UsageError, match="there is no snapshot 'a'; saved: none"):
        store.load("a")
    store.save("one")
    for use in (store.load, store.forget):
        with pytest.raises(UsageError, match="there is no snapshot 'a'; saved: 'one'"):
            use("a")
    for name in ("", 3, None, ["a"]):
        with pytest.raises(UsageError, match="a snapshot's name is text"):
            store.save(name)  # type: ignore[arg-type]
    assert store.history == ()


def test_a_child_saves_and_loads_its_own(family: Any) -> None:
    parent, child = family
    child.set("a", 2)
    child.save("s")
    child.reset()
    assert child.get("a") == 1
    child.load("s")
    assert (child.get("a"), child.snapshots[0].values) == (2, {"a": 2})
    assert parent.snapshots == ()


# -- what differs -----------------------------------------------------------------------------


def changes(before: Any, after: Any) -> list[tuple[str, Any, Any]]:
    return [(c.pointer, c.before, c.after) for c in diff({"k": before}, {"k": after})]


def test_differences_say_where() -> None:
    before = {"a": 1, "gone": 2, "route": {"to": ["x", "y"], "km": 3}, "a/b~c": 1}
    after = {"a": 1, "route": {"to": ["x", "z", "w"], "km": 3}, "a/b~c": 2, "new": None}
    assert diff(before, after) == (
        StateChange("/gone", 2, ABSENT),
        StateChange("/route/to/1", "y", "z"),
        StateChange("/route/to/2", ABSENT, "w"),
        StateChange("/a~1b~0c", 1, 2),
        StateChange("/new", ABSENT, None),
    )


def test_differences_of_snapshots() -> None:
    store = StateStore()
    store.set("a", 1)
    first = store.save("first")
    store.set("a", 2)
    assert diff(first, store.save("second")) == (StateChange("/a", 1, 2),)
    assert diff(first, store.at(1)) == ()


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (1, True, [("/k", 1, True)]),
        (1, 1.0, []),
        (float("nan"), float("nan"), []),
        ([1], (1,), []),
        ([], {}, [("/k", [], {})]),
        ({1, 2}, {2, 1}, []),
        ("1", 1, [("/k", "1", 1)]),
    ],
)
def test_what_counts_as_different(before: Any, after: Any, expected: Any) -> None:
    assert changes(before, after) == expected


def test_values_that_cannot_be_compared_and_containers_in_themselves() -> None:
    class Frame:
        def __eq__(self, other: object) -> Any:
            return self

        def __bool__(self) -> bool:
            raise ValueError("ambiguous")

        __hash__ = None  # type: ignore[assignment]

    frame = Frame()
    assert changes(frame, frame) == []
    assert len(changes(frame, Frame())) == 1
    one: list[Any] = [1]
    other: list[Any] = [2]
    one.append(one)
    other.append(other)
    assert changes(one, other) == [("/k/0", 1, 2)]
    deep_one: Any = 1
    deep_other: Any = 2
    for _ in range(5_000):
        deep_one, deep_other = [deep_one], [deep_other]
    assert changes(deep_one, deep_other) == [("/k" + "/0" * 5_000, 1, 2)]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "a", "~", "/"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab/~0", max_size=2), inner, max_size=3)
    ),
    max_leaves=12,
)
states = st.dictionaries(st.text("ab/~", max_size=2), json_values, max_size=4)


@given(states, states)
def test_differences_carried_out_make_one_state_of_the_other(before: Any, after: Any) -> None:
    made = _carried_out(before, diff(before, after))
    assert made == after
    assert (diff(before, after) == ()) == (_typed(before) == _typed(after))


def _typed(value: Any) -> Any:
    """A value in which ``True`` is not ``1``."""
    if isinstance(value, dict):
        return {key: _typed(item) for key, item in value.items()}
    return [_typed(item) for item in value] if isinstance(value, list) else (type(value), value)


def _carried_out(state: Any, found: tuple[StateChange, ...]) -> Any:
    made = copy.deepcopy(state)
    # From the back: of a list, the last items go first.
    for change in reversed(found):
        if change.after is ABSENT:
            place, step = _place(made, change.pointer)
            del place[step]
    for change in found:
        if change.after is not ABSENT:
            place, step = _place(made, change.pointer)
            if isinstance(place, list) and step == len(place):
                place.append(change.after)
            else:
                place[step] = change.after
    return made


def _place(state: Any, pointer: str) -> tuple[Any, Any]:
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    for step in steps[:-1]:
        state = state[int(step) if isinstance(state, list) else step]
    return state, int(steps[-1]) if isinstance(state, list) else steps[-1]


def test_absent_is_one_object_also_when_it_was_pickled_or_copied() -> None:
    assert pickle.loads(pickle.dumps(ABSENT)) is ABSENT
    assert copy.deepcopy({"a": [ABSENT]})["a"][0] is ABSENT
