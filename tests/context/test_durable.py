"""State in a file: what it keeps, what it refuses, and that it is there again."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import enum
import json
import math
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from agtools_nb.context import ABSENT, Database, Store
from agtools_nb.context import durable as durable_module
from agtools_nb.context.durable import DurableState
from agtools_nb.errors import StateValueError, StoreError


@pytest.fixture
def path(tmp_path: Path):
    yield tmp_path / "work.db"
    Store.open(tmp_path / "work.db").close()


def again(path: Path) -> DurableState:
    """The state as another kernel would find it."""
    Store.open(path).close()
    state = Store.open(path).state
    assert isinstance(state, DurableState)
    return state


def test_all_of_it_is_there_again(path: Path) -> None:
    state = again(path)
    state.set("b", {"x": [1, 2.5, None, True, "ü\u2028\x00"]}, call_id="c1", tool_name="t")
    state.set("a", 1)
    state.update("a", lambda n: n + 1)
    state.save("kept")
    state.delete("b")
    state.set("\ud800 half", "\udfff")
    before = (state.snapshot(), state.history, state.snapshots, [state.at(n) for n in range(6)])
    found = again(path)
    after = (found.snapshot(), found.history, found.snapshots, [found.at(n) for n in range(6)])
    assert after == before
    assert list(found.at(3)) == ["b", "a"]
    found.load("kept")
    found.forget("kept")
    found.reset()
    found.set("z", 1)
    last = again(path)
    assert (last.snapshot(), last.snapshots) == ({"z": 1}, ())
    assert [w.operation for w in last.history[-3:]] == ["load", "reset", "set"]
    assert [w.seq for w in last.history] == list(range(1, 9))


def test_what_is_read_is_what_will_be_read_after_a_restart(path: Path) -> None:
    class Color(enum.StrEnum):
        RED = "red"

    class Level(enum.IntEnum):
        HIGH = 3

    state = again(path)
    given = {
        "tuple": (1, (2,)),
        "counter": collections.Counter("aab"),
        "enum": Color.RED,
        "level": Level.HIGH,
        "default": collections.defaultdict(list, a=[1]),
        "big": 10**3_000,
        "small": -0.0,
    }
    for key, value in given.items():
        state.set(key, value)
    read = state.snapshot()
    assert read == again(path).snapshot()
    assert read["tuple"] == [1, [2]]
    assert {key: type(value) for key, value in read.items()} == {
        "tuple": list,
        "counter": dict,
        "enum": str,
        "level": int,
        "default": dict,
        "big": int,
        "small": float,
    }
    assert math.copysign(1, read["small"]) == -1


class Thing:
    def __repr__(self) -> str:
        return "<b>%s {x}</b>"


deep: list[Any] = []
for _ in range(300):
    deep = [deep]
endless: list[Any] = []
endless.append(endless)


@pytest.mark.parametrize(
    ("value", "pointer", "words"),
    [
        (
            {"a": {1, 2}},
            "/a",
            r"'k' cannot be kept: it has a value of type set at /a.*list\(\.\.\.\)",
        ),
        (b"x", "", "a value of type bytes, and a store on disk"),
        ({"a/b": [1, {"~": Thing()}]}, "/a~1b/1/~0", "type Thing at /a~1b/1/~0"),
        ({"a": {1: "x"}}, "/a", "a key of type int, 1 at /a"),
        ({None: 1}, "", "a key of type NoneType"),
        ([0, math.nan], "/1", "the number nan at /1"),
        (math.inf, "", "the number inf"),
        (dt.datetime(2025, 1, 1, tzinfo=dt.UTC), "", "type datetime.*isoformat"),
        (decimal.Decimal(1), "", "type Decimal"),
        ([10**5_000], "/0", "an integer of over 4,000 digits"),
        (deep, "/0" * 200, "more than 200 containers inside each other"),
        (endless, "/0" * 200, "more than 200 containers inside each other"),
        (len, "", "type builtin_function_or_method"),
    ],
)
def test_what_cannot_be_kept_changes_nothing(
    path: Path, value: Any, pointer: str, words: str
) -> None:
    state = again(path)
    state.set("k", 1)
    for write in (
        lambda: state.set("k", value),
        lambda: state.update("k", lambda old: value),
    ):
        with pytest.raises(StateValueError, match=words) as e:
            write()
        assert (e.value.key, e.value.pointer) == ("k", pointer)
        assert len(str(e.value)) < 700
    assert (state.get("k"), len(state.history)) == (1, 1)
    assert again(path).snapshot() == {"k": 1}


@pytest.mark.parametrize("key", [1, None, ("a",), b"a"])
def test_a_key_is_text(path: Path, key: Any) -> None:
    state = again(path)
    with pytest.raises(TypeError, match="a state key must be text, not"):
        state.set(key, 1)
    assert again(path).history == ()


def test_an_updater_that_fails_changes_nothing(path: Path) -> None:
    state = again(path)
    state.set("a", [1])

    def fail(value: Any) -> Any:
        value.append(2)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        state.update("a", fail)
    with pytest.raises(TypeError, match="ABSENT is no value"):
        state.set("a", ABSENT)
    assert state.get("a") == [1]
    assert again(path).snapshot() == {"a": [1]}


def test_a_transaction_holds_for_memory_and_file(path: Path) -> None:
    state = again(path)
    state.set("a", 1)
    database = Store.open(path).database
    heard: list[Any] = []
    state.watch(lambda write: heard.append(write.after))

    def fail(error: BaseException, *, saves: bool = False) -> None:
        with database.transaction():
            if saves:
                state.save("s")
            state.set("a", 2)
            state.set("b", 2)
            assert state.snapshot() == {"a": 2, "b": 2}
            raise error

    for error, saves in ((ValueError("no"), False), (KeyboardInterrupt(), True)):
        with pytest.raises(type(error)):
            fail(error, saves=saves)
        assert (state.snapshot(), len(state.history), state.snapshots) == ({"a": 1}, 1, ())
    with database.transaction():
        state.set("a", 3)
        with pytest.raises(ValueError, match="no"):
            fail(ValueError("no"))
        assert heard == []
        state.set("b", 4)
    assert heard == [3, 4]
    assert state.snapshot() == {"a": 3, "b": 4}
    assert again(path).snapshot() == {"a": 3, "b": 4}
    assert [w.seq for w in again(path).history] == [1, 2, 3]


def test_an_interrupt_between_file_and_memory_leaves_them_alike(
    path: Path, monkeypatch: Any
) -> None:
    state = again(path)
    state.set("a", 1)
    real = Database.execute

    def interrupted(self: Database, sql: str, *rest: Any) -> Any:
        rows = real(self, sql, *rest)
        if sql.startswith("INSERT INTO state_writes"):
            raise KeyboardInterrupt
        return rows

    monkeypatch.setattr(Database, "execute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        state.set("a", 2)
    monkeypatch.undo()
    assert (state.get("a"), state.history[-1].seq) == (2, 2)
    state.set("a", 3)
    assert again(path).get("a") == 3


def test_a_clock_that_jumps_back_does_not_change_the_order(path: Path, monkeypatch: Any) -> None:
    state = again(path)
    clock = iter([2e9, 1e9, 3e9, 0.5])
    monkeypatch.setattr(time, "time", lambda: next(clock))
    for n in range(4):
        state.set("n", n)
    monkeypatch.undo()
    for one in (state, again(path)):
        assert [(w.seq, w.after, w.at) for w in one.history] == [
            (1, 0, 2e9),
            (2, 1, 1e9),
            (3, 2, 3e9),
            (4, 3, 0.5),
        ]
        assert one.at(2) == {"n": 1}


def test_old_writes_are_given_up_in_the_file_too(path: Path) -> None:
    state = again(path)
    state.set("first", 0)
    state.set("gone", 0)
    state.delete("gone")
    for n in range(11_500):
        state.set(f"k{n % 11}", n)
    rows = Store.open(path).database.execute("SELECT count(*) FROM state_writes")
    assert rows[0][0] <= 11_000
    found = again(path)
    assert found.snapshot() == state.snapshot()
    assert list(found.snapshot()) == list(state.snapshot())
    assert found.history == state.history
    assert len(found.history) == 10_000
    first = found.history[0].seq
    assert found.at(first) == state.at(first)
    found.set("k0", "new")
    assert again(path).history[-1].seq == 11_504


def give_up_all_but_the_last(state: DurableState) -> None:
    """As happens after many writes."""
    state._history.give_up(len(state.history) - 1)
    state._give_up_oldest()


def test_what_was_deleted_long_ago_does_not_come_back(path: Path) -> None:
    state = again(path)
    for key in ("a", "b", "c"):
        state.set(key, 1)
    state.set("last", 1)
    give_up_all_but_the_last(state)
    state.delete("a")
    state.delete("b")
    state.set("b", 2)
    state.set("last", 2)
    give_up_all_but_the_last(state)
    found = again(path)
    assert list(found.snapshot().items()) == [("c", 1), ("last", 2), ("b", 2)]
    found.reset()
    found.set("d", 4)
    found.set("last", 3)
    give_up_all_but_the_last(found)
    assert list(again(path).snapshot().items()) == [("d", 4), ("last", 3)]


def test_large_writes_are_given_up_sooner(path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(durable_module, "HISTORY_BYTES", 100_000)
    state = again(path)
    state.set("kept", 1)
    state.reset()
    state.set("other", 2)
    for n in range(300):
        state.set("big", [n] * 1_000)
    database = Store.open(path).database
    [(size,)] = database.execute("SELECT sum(length(after)) FROM state_writes")
    assert size < 110_000
    found = again(path)
    assert found.snapshot() == {"other": 2, "big": [299] * 1_000}
    assert found.history == state.history
    assert 5 < len(found.history) < 50
    state = found
    state.set("huge", "x" * 200_000)
    assert again(path).history[-1].key == "huge"


def test_a_childs_state_lasts_beside_its_parents(path: Path) -> None:
    again(path).set("a", 1)
    child = Store.open(path).child_state("researcher")
    assert child is Store.open(path).child_state("researcher")
    child.set("a", 2)
    child.save("s")
    Store.open(path).child_state("other").set("a", 3)
    again(path)
    child = Store.open(path).child_state("researcher")
    assert (child.get("a"), Store.open(path).state.get("a")) == (2, 1)
    assert [s.name for s in child.snapshots] == ["s"]
    child.delete("a")
    assert child.get("a") == 1
    assert Store.open(path).child_state("other").get("a") == 3


def test_an_unreadable_value_is_a_damaged_file(path: Path) -> None:
    state = again(path)
    state.set("a", 1)
    Store.open(path).database.execute("UPDATE state_writes SET after = '{'")
    Store.open(path).close()
    with pytest.raises(StoreError, match="is damaged: its state is unreadable") as e:
        Store.open(path)
    assert e.value.reason == "damaged"
    database = Database.open(path)
    database.execute("UPDATE state_writes SET after = '5'")
    database.close()
    assert again(path).get("a") == 5


keys = st.text(max_size=3) | st.sampled_from(["a", "b"])
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


class LikeADict(RuleBasedStateMachine):
    """Whatever is done, a state in a file is a plain dict, and its history is what was done."""

    @initialize()
    def open(self) -> None:
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "work.db"
        self.model: dict[str, Any] = {}
        self.past: list[dict[str, Any]] = [{}]
        self.saved: dict[str, dict[str, Any]] = {}
        self.store = Store.open(self.path)

    @property
    def state(self) -> Any:
        return self.store.state

    def wrote(self) -> None:
        self.past.append(json.loads(json.dumps(self.model)))

    @rule(key=keys, value=json_values)
    def set(self, key: str, value: Any) -> None:
        self.state.set(key, value)
        self.model[key] = value
        self.wrote()

    @rule(key=keys, value=json_values)
    def update(self, key: str, value: Any) -> None:
        got = self.state.update(key, lambda old: [old, value], "none")
        self.model[key] = [self.model.get(key, "none"), value]
        assert got == self.model[key]
        self.wrote()

    @rule(key=keys)
    def delete(self, key: str) -> None:
        self.state.delete(key)
        if key in self.model:
            del self.model[key]
            self.wrote()

    @rule()
    def reset(self) -> None:
        self.state.reset()
        self.model = {}
        self.wrote()

    @rule(name=st.sampled_from(["x", "y"]))
    def save(self, name: str) -> None:
        self.state.save(name)
        self.saved.pop(name, None)
        self.saved[name] = dict(self.model)

    @precondition(lambda self: self.saved)
    @rule(data=st.data())
    def load(self, data: Any) -> None:
        name = data.draw(st.sampled_from(sorted(self.saved)))
        self.state.load(name)
        self.model = dict(self.saved[name])
        self.wrote()

    @rule(key=keys)
    def fail(self, key: str) -> None:
        with pytest.raises(StateValueError):
            self.state.set(key, {"bad": object()})

    @rule(key=keys, value=json_values, saves=st.booleans())
    def undo(self, key: str, value: Any, saves: bool) -> None:
        def fail() -> None:
            with self.store.database.transaction():
                self.state.set(key, value)
                if saves:
                    self.state.save("z")
                self.state.reset()
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = Store.open(self.path)

    @rule(count=st.integers(0, 3))
    def give_up(self, count: int) -> None:
        """As happens after many writes."""
        history = self.state._history
        history.give_up(min(count, max(len(history.writes) - 1, 0)))
        self.state._give_up_oldest()

    @invariant()
    def is_the_same(self) -> None:
        if not hasattr(self, "model"):
            return
        assert self.state.snapshot() == self.model
        assert list(self.state.snapshot()) == list(self.model)
        assert {s.name: dict(s.values) for s in self.state.snapshots} == self.saved
        assert [s.name for s in self.state.snapshots] == list(self.saved)
        first = self.state._history.given_up
        history = self.state.history
        assert [w.seq for w in history] == list(range(first + 1, len(self.past)))
        for seq in range(first, len(self.past)):
            assert self.state.at(seq) == self.past[seq]
            assert list(self.state.at(seq)) == list(self.past[seq])

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()


LikeADict.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestLikeADict = LikeADict.TestCase


@given(json_values)
def test_every_json_value_comes_back_as_it_was(value: Any) -> None:
    store = Store.open(None)
    state = DurableState(store.database)
    state.set("k", value)
    found = DurableState(store.database).get("k")
    assert json.dumps(found) == json.dumps(value) == json.dumps(state.get("k"))
