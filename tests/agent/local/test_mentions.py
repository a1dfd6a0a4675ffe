"""What a request mentions."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agtools_nb.agent.models.local.mentions import Mentions


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("What is 17 plus 25?", ["17", "25"]),
        ("2048+4096=?", ["2048", "4096"]),
        ("3-4", ["3", "4"]),
        ("How much is -5 plus 12?", ["-5", "12"]),
        ("Change 19.99 GBP, please.", ["19.99"]),
        ("1,250,000 people and 007", ["1250000", "7"]),
        ("seven and Eleven, one hundred", ["7", "11", "1", "100"]),
        ("a 5-minute timer; 20%", ["5", "20"]),
        ("5 plus 5", ["5", "5"]),
        ("nothing, anyone, tenant", []),
        ("٣ apples, \N{LAO DIGIT ZERO} pears, -१२.५", ["3", "0", "-12.5"]),
    ],
)
def test_numbers(text: str, numbers: list[str]) -> None:
    assert [number.text for number in Mentions(text).numbers] == numbers


@given(st.text())
def test_numbers_are_json_and_words_are_of_the_text(text: str) -> None:
    mentions = Mentions(text)
    for number in mentions.numbers:
        assert isinstance(json.loads(number.text), (int, float))
    for index, is_free in enumerate(mentions.free):
        assert bool(mentions.word(index)) == is_free


def test_what_is_taken_is_not_mentioned_again() -> None:
    mentions = Mentions("Convert 20 EUR to USD, eur!")
    assert mentions.mentioned(["USD", "EUR", "GBP"]) == ["USD", "EUR"]
    mentions.take("USD")
    assert mentions.mentioned(["USD", "EUR", "GBP"]) == ["EUR"]
    mentions.take(20)
    assert mentions.numbers == []
    assert [mentions.word(i) for i, free in enumerate(mentions.free) if free] == [
        "Convert", "EUR", "to", "eur",
    ]  # fmt: skip


def test_of_equal_numbers_each_is_for_one_place() -> None:
    mentions = Mentions("5 plus 5")
    mentions.take(5)
    assert [number.text for number in mentions.numbers] == ["5"]


def test_words_of_a_number_are_taken_wherever_it_is() -> None:
    mentions = Mentions("the two papers, limit 2")
    mentions.take(2)
    assert [mentions.word(i) for i, free in enumerate(mentions.free) if free] == [
        "the", "papers", "limit",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a timer called bread", "bread"),
        ("5 minutes, call it laundry", "laundry"),
        ("with the label tea", "tea"),
        ("set a timer", None),
        ("a timer called", None),
    ],
)
def test_where_a_name_begins(text: str, word: str | None) -> None:
    mentions = Mentions(text)
    found = mentions.after_cue("label")
    assert (None if found is None else mentions.word(found)) == word
