"""Cards below the view whose work asks."""

from __future__ import annotations

from views.asking import run_command

from agtools_nb.calls import ToolCall
from agtools_nb.context import Question
from agtools_nb.views.batch import BatchView
from agtools_nb.views.form import FormView
from agtools_nb.views.hosting import MAX_ANSWERED, MAX_OPEN
from agtools_nb.views.question import QuestionView


def card(clock, text="Why?"):
    return QuestionView(clock, Question(text), lambda answer: None)


def test_a_card_is_told_to_pages_and_to_those_loaded_later(clock, wire, say):
    host = BatchView(clock, [ToolCall("x")], None)
    rev = host.data["rev"]
    assert host.data["cards"] == {"ids": [], "more": 0}
    one = card(clock)
    host.show_card(one)
    clock.turn(1)
    cards = {"ids": [one.model_id], "more": 0}
    assert {"type": "cards", "cards": cards} in wire.custom
    say(host, "ready", rev=rev)
    clock.turn(1)
    assert host.data["cards"] == cards
    assert host.data["rev"] > rev


def test_few_ask_at_one_time_and_the_next_follow(clock, wire):
    host = FormView(clock, run_command)
    cards = [card(clock, f"{number}?") for number in range(MAX_OPEN + 2)]
    for one in cards:
        host.show_card(one)
    ids = [one.model_id for one in cards]
    assert host._cards_data() == {"ids": ids[:MAX_OPEN], "more": 2}
    cards[0].say("a")
    host.cards_changed()
    assert host._cards_data() == {"ids": ids[: MAX_OPEN + 1], "more": 1}


def test_old_answers_go(clock, wire):
    host = FormView(clock, run_command)
    cards = [card(clock) for _ in range(MAX_ANSWERED + 3)]
    for one in cards:
        host.show_card(one)
        one.say("a")
        host.cards_changed()
    assert host.cards == tuple(cards[3:])
    assert cards[0].comm is None
    assert cards[3].comm is not None


def test_the_static_form_holds_what_was_asked(clock, wire):
    for host in (
        BatchView(clock, [ToolCall("x"), ToolCall("y")], None),
        FormView(clock, run_command),
    ):
        before = host.revision
        host.show_card(card(clock, "Shall I?"))
        assert host.revision > before, "the saved twin would stay what it was"
        assert "Shall I?" in host.static_html()
        assert "Shall I?" in host.static_text()


def test_the_row_of_a_call_says_that_it_asks(clock, wire):
    host = BatchView(clock, [ToolCall("x"), ToolCall("y")], None)
    host.call_asks(1, True)
    clock.turn(1)
    assert wire.custom[-1]["rows"][0]["status"] == "asking"
    assert "1 waiting for an answer" in host.static_text()
    host.call_asks(1, False)
    clock.turn(1)
    assert wire.custom[-1]["rows"][0]["status"] == "waiting"
