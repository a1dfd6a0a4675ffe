"""Memory: plain words find texts, whatever the words are."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb.context import Memory, Store
from agtools_nb.errors import StateValueError, StoreError, UsageError


@pytest.fixture
def memory() -> Memory:
    return Store.open(None).memory


def texts(memory: Memory, query: str, limit: int = 10) -> list[str]:
    return [hit.text for hit in memory.search(query, limit)]


def test_the_best_comes_first(memory: Memory) -> None:
    for text in (
        "The build of release 4 failed on Monday",
        "Lunch is at noon",
        "The deploy of release 5 needs two approvals",
        "Release 5: the build is green, the deploy is on Friday",
    ):
        memory.add(text)
    found = texts(memory, "which approvals does the deploy of release 5 need?")
    assert found[0] == "The deploy of release 5 needs two approvals"
    assert "Lunch is at noon" not in found[:3]
    scores = [hit.score for hit in memory.search("deploy release")]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)


def test_a_hit_is_what_was_added(memory: Memory, monkeypatch: Any) -> None:
    monkeypatch.setattr(time, "time", lambda: 12.5)
    number = memory.add("Oslo is cold", source="chat", tags=("a", 1))
    [hit] = memory.search("oslo")
    assert (hit.id, hit.text, hit.at, hit.labels) == (
        number,
        "Oslo is cold",
        12.5,
        {"source": "chat", "tags": ["a", 1]},
    )


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("the builds were failing", "build fail"),
        ("Das Café in Zürich", "cafe zurich"),
        ("call get_state first", "get_state"),
        ("call get_state first", "state"),
        ("a well-known place", "well-known"),
        ("C3PO said it", "c3po"),
        ("今日の天気は晴れです", "天気"),
        ("今日の天気は晴れです", "東京の天気、教えて"),
        ("今日の天気は晴れです", "晴"),
        ("Python で天気を読む", "天気python"),
        ("cats,dogs", "dogs;birds"),
        ("हिन्दी में लिखा", "हिन्दी"),
        ("ราคาทองวันนี้", "ทอง"),
        ("서울은 춥다", "서울은"),
        ("don't panic", "don't"),
        ('he said "hello there"', '"hello there"'),
        ("a\x00b zero", "zero"),
    ],
)
def test_words_that_find(memory: Memory, text: str, query: str) -> None:
    memory.add("something else altogether")
    memory.add(text)
    assert texts(memory, query) == [text]


@pytest.mark.parametrize(
    "query",
    [
        '"',
        '""',
        "'",
        "*",
        "NEAR(",
        "NEAR(a b, 2)",
        "AND",
        "a AND",
        "OR OR",
        "NOT",
        "words:x",
        "-x",
        "^x",
        "(",
        ")",
        "{a b}: c",
        "a + b",
        "x*",
        '"unbalanced',
        "\x00",
        "\ud800",
        ";--",
        "?1",
        "memory_words",
        "%",
        "_",
        "a" * 100_000,
        "w " * 20_000,
        " ".join(map(str, range(500))),
        "",
        "   ",
        "\n",
        "…",
        "🙂",
    ],
)
def test_a_query_is_words_and_no_syntax(memory: Memory, query: str) -> None:
    memory.add("nothing of the kind")
    assert isinstance(memory.search(query), tuple)


def test_operators_are_words_like_any(memory: Memory) -> None:
    memory.add("cats and dogs")
    memory.add("near the river")
    assert texts(memory, "NOT cats") == ["cats and dogs"]
    assert texts(memory, "AND") == ["cats and dogs"]
    assert texts(memory, "NEAR(x y)") == ["near the river"]
    assert texts(memory, "riv*") == []


@given(st.text(max_size=40), st.text(max_size=40))
def test_nothing_raises_and_a_text_is_found_by_its_words(text: str, query: str) -> None:
    memory = Store.open(None).memory
    memory.add(f"anchor {text}")
    assert isinstance(memory.search(query), tuple)
    assert len(memory.search(f"anchor {query}")) == 1
    words = [word for word in text.split() if word.isascii() and word.isalnum()]
    for word in words:
        assert len(memory.search(word)) == 1, word


def test_the_limit(memory: Memory) -> None:
    for n in range(20):
        memory.add(f"note {n}")
    assert len(memory.search("note")) == 10
    assert len(memory.search("note", 15)) == 15
    assert len(memory) == 20
    for limit in (0, -1, 1_001, "3", None, True, 2.0):
        with pytest.raises(UsageError, match="limit must be from 1 to 1,000"):
            memory.search("note", limit)  # type: ignore[arg-type]


def test_what_cannot_be_remembered(memory: Memory) -> None:
    for text in ("", "  \n", None, 3, b"x"):
        with pytest.raises(UsageError, match="memory keeps texts that say something"):
            memory.add(text)  # type: ignore[arg-type]
    with pytest.raises(StateValueError, match="'tags' cannot be kept: it has a value of type set"):
        memory.add("a text", tags={1})
    with pytest.raises(UsageError, match="a memory is searched for with text"):
        memory.search(3)  # type: ignore[arg-type]
    assert len(memory) == 0


def test_half_a_character_is_written_out(memory: Memory) -> None:
    memory.add("bad \ud83d text")
    assert texts(memory, "bad") == ["bad \\ud83d text"]


def test_what_is_forgotten_is_not_found_and_its_id_not_used_again(memory: Memory) -> None:
    first, second = memory.add("one fish"), memory.add("two fish")
    assert memory.forget(second)
    assert not memory.forget(second)
    assert texts(memory, "fish") == ["one fish"]
    assert memory.add("red fish") > second
    assert memory.forget(first)
    for number in ("1", None, True):
        with pytest.raises(UsageError, match="takes the id that add"):
            memory.forget(number)  # type: ignore[arg-type]


def test_all_of_it_is_there_again(tmp_path: Path) -> None:
    for n in range(3):
        with Store.open(tmp_path / "work.db") as store:
            store.memory.add(f"note number {n}", n=n)
    with Store.open(tmp_path / "work.db") as store:
        assert sorted(hit.labels["n"] for hit in store.memory.search("note")) == [0, 1, 2]
        assert texts(store.memory, "number 1")[0] == "note number 1"


def test_threads_add_and_search_beside_each_other(memory: Memory) -> None:
    def work(n: int) -> None:
        for k in range(20):
            memory.add(f"thread {n} note {k}")
            assert memory.search(f"thread {n}")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(memory) == 120


def test_a_python_without_full_text_search_says_what_to_do(monkeypatch: Any) -> None:
    store = Store.open(None)

    def refuse(*statements: str) -> None:
        raise StoreError("the store in memory did not do what it was asked: no such module: fts5")

    monkeypatch.setattr(store.database, "create", refuse)
    with pytest.raises(StoreError, match=r"needs SQLite with FTS5.*use another Python"):
        store.memory  # noqa: B018
