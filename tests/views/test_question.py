"""The question widget."""

from __future__ import annotations

import json

import pytest
from views.asking import BAD

from agtools_nb.context import Question
from agtools_nb.views.question import QuestionView

COLOURS = ["red", "green", "blue"]


@pytest.fixture
def said():
    return []


def test_it_shows_what_is_asked(clock, wire, said):
    question = Question("Which?", COLOURS, multiple=True, tool_name="paint")
    data = QuestionView(clock, question, said.append, 60.0).data
    assert (data["text"], data["options"], data["multiple"]) == ("Which?", COLOURS, True)
    assert (data["allow_text"], data["tool"], data["state"]) == (False, "paint", "open")
    json.dumps(data)


@pytest.mark.parametrize(
    ("question", "content", "answer"),
    [
        (Question("Which?", COLOURS), {"options": [1]}, "green"),
        (Question("Which?", COLOURS, allow_text=True), {"options": [], "text": "grey"}, "grey"),
        (Question("Which?", COLOURS, True), {"options": [2, 0]}, ["blue", "red"]),
        (Question("Which?", COLOURS, True), {"options": []}, []),
        (
            Question("Which?", COLOURS, True, True),
            {"options": [0], "text": "grey"},
            ["red", "grey"],
        ),
        (Question("Why?"), {"options": [], "text": "Because.\nOf that."}, "Because.\nOf that."),
        (Question("Why?"), {"text": None}, ""),
    ],
)
def test_each_kind_is_answered(clock, wire, said, say, question, content, answer):
    view = QuestionView(clock, question, said.append)
    say(view, "answer", **content)
    say(view, "decline")
    clock.turn()
    assert said == [answer]
    assert question.fault(said[0]) is None
    assert view.data["decision"]["word"] == "answered"


@pytest.mark.parametrize(
    "content",
    [
        {"options": []},
        {"options": [0, 1]},
        {"options": [7, -1, True, "0", None]},
        {"options": [0], "text": "grey"},
        {"options": 1},
        {"text": "grey"},
        {"text": 5},
    ],
)
def test_what_answers_nothing_is_refused_and_the_card_stays(clock, wire, said, say, content):
    view = QuestionView(clock, Question("Which?", COLOURS), said.append)
    say(view, "answer", **content)
    clock.turn()
    assert (said, view.is_open) == ([], True)
    assert view.data["refused"]
    view.say("red")
    assert said == ["red"]


def test_declining_is_an_answer(clock, wire, said, say):
    view = QuestionView(clock, Question("Why?"), said.append)
    say(view, "decline")
    clock.turn()
    assert (said, view.answer, view.data["decision"]["word"]) == ([None], None, "declined")


@pytest.mark.parametrize(
    ("end", "word", "settled"), [("expire", "no answer", [None]), ("stop", "stopped", [])]
)
def test_it_ends_without_an_answer(clock, wire, said, say, end, word, settled):
    view = QuestionView(clock, Question("Why?"), said.append)
    getattr(view, end)()
    say(view, "answer", text="x")
    clock.turn()
    assert (said, view.data["decision"]["word"]) == (settled, word)


def test_static_forms(clock, wire, said):
    view = QuestionView(
        clock, Question(f"Which {BAD}?", ["red", BAD], allow_text=True), said.append
    )
    assert "waited for an answer" in view.static_html()
    view.say(BAD)
    for static in (view.static_html(), view.static_text()):
        assert "answered" in static
        assert "red" in static
        assert "\u202e" not in static
    assert "<img" not in view.static_html()
    assert "answered" in repr(view)
