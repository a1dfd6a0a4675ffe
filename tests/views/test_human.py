"""The view in which a person plays the model: what it shows, and each way to answer."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Literal

import pytest

from agtools_nb import ToolCall, ToolRunner, tool
from agtools_nb.agent import ModelRequest, Session, UserMessage
from agtools_nb.agent.models.human import HumanModel, Said
from agtools_nb.errors import UsageError
from agtools_nb.views.human import HumanView


@tool
def forecast(city: str, days: int = 3, unit: Literal["mm", "in"] = "mm") -> str:
    """Say what the weather will be."""
    return f"{city}: {days}"


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def request(*messages: str, **more) -> ModelRequest:
    said = tuple(UserMessage(text) for text in messages or ("Will it rain?",))
    return ModelRequest(said, "Be brief.", (forecast, add), **more)


@pytest.fixture
def asked(clock):
    """A view that shows a request, and the answers that it was given."""
    view = HumanView(clock)
    answers: list[Said] = []
    view.ask(request(), answers.append)
    return view, answers


def test_it_shows_exactly_what_a_model_is_sent_and_how_long_it_is(asked, wire, clock, say):
    view, _ = asked
    shown = view.data["asked"]
    assert shown["system"] == "Be brief."
    assert shown["messages"] == [{"role": "user", "text": "Will it rain?", "event": ""}]
    assert [tool["name"] for tool in shown["tools"]] == ["forecast", "add"]
    assert shown["tokens"]["system"] == 3  # 9 characters
    assert shown["tokens"]["total"] == sum(
        shown["tokens"][part] for part in ("system", "tools", "messages")
    )
    for provider, where in (("anthropic", "input_schema"), ("gemini", "parameters")):
        say(view, "provider", provider=provider)
        clock.turn(1)
        assert where in json.loads(view.data["asked"]["tools"][0]["json"])
    wire.log.clear()
    say(view, "wire")
    clock.turn(1)
    (message,) = wire.custom
    assert json.loads(message["request"])["systemInstruction"]["parts"][0]["text"] == "Be brief."
    assert json.loads(message["answer"])["role"] == "model"


def test_a_form_becomes_a_call(asked, clock, say):
    view, answers = asked
    say(view, "pick", name="forecast")
    clock.turn(1)
    assert view.data["tool"] == "forecast"
    view.form["city"] = "Oslo"
    say(view, "call", text="Let me look.")
    clock.turn(1)
    assert answers == [Said("Let me look.", (ToolCall("forecast", {"city": "Oslo"}),))]
    assert view.data["asked"] is None
    assert view.data["form"] is None
    assert view.data["past"][0]["words"] == (
        'said \'Let me look.\', called forecast {"city": "Oslo"}'
    )


def test_several_calls_are_collected(asked, clock, say):
    view, answers = asked
    for a in (1, 2, 3):
        say(view, "pick", name="add")
        clock.turn(1)
        view.form.arguments = {"a": a, "b": a}
        say(view, "add" if a < 3 else "call")
        clock.turn(1)
    assert [call.args["a"] for call in answers[0].calls] == [1, 2, 3]


def test_a_collected_call_can_be_dropped(asked, clock, say):
    view, answers = asked
    for a in (1, 2):
        view.pick("add", a=a, b=a)
        say(view, "add")
        clock.turn(1)
    say(view, "drop", i=0)
    say(view, "drop", i=7)
    say(view, "call")
    clock.turn(1)
    assert [call.args["a"] for call in answers[0].calls] == [2]


def test_arguments_that_do_not_fit_are_sent_only_when_insisted_on(asked, clock, say):
    view, answers = asked
    view.pick("add", a="many", b=2)
    say(view, "call", insist=True)
    clock.turn(1)
    assert answers == [], "nothing was refused yet that could be insisted on"
    assert view.data["may_insist"]
    assert "do not fit" in view.data["refused"]
    say(view, "call", insist=True)
    clock.turn(1)
    assert answers[0].calls == (ToolCall("add", {"a": "many", "b": 2}),)


def test_a_required_text_that_was_left_alone_is_missing(asked, clock, say):
    view, answers = asked
    form = view.pick("forecast")
    clock.turn(1)
    assert form.data["came"] == [{"t": "{}"}]
    say(view, "call")
    clock.turn(1)
    assert answers == []
    assert [fault["at"] for fault in form.data["faults"]] == ["/city"]
    say(view, "call", insist=True)
    clock.turn(1)
    assert answers[0].calls == (ToolCall("forecast", {}),)


def test_an_empty_text_that_was_set_is_sent(asked, clock, say):
    view, answers = asked
    view.pick("forecast")["city"] = ""
    say(view, "call")
    clock.turn(1)
    assert answers[0].calls == (ToolCall("forecast", {"city": ""}),)


def test_text_is_an_answer(asked, clock, say):
    view, answers = asked
    say(view, "say", text=" ")
    clock.turn(1)
    assert view.data["refused"] == "an answer is a call or text."
    say(view, "say", text="Yes.")
    clock.turn(1)
    assert answers == [Said("Yes.", ())]


@pytest.mark.parametrize(
    ("written", "text", "calls"),
    [
        ({"name": "add", "arguments": {"a": 1}}, "", [("add", {"a": 1})]),
        (
            {
                "role": "assistant",
                "content": "Well",
                "tool_calls": [
                    {"id": "c", "type": "function", "function": {"name": "add", "arguments": '{"a'}}
                ],
            },
            "Well",
            [("add", '{"a')],
        ),
        (
            {
                "content": [
                    {"type": "text", "text": "Well"},
                    {"type": "tool_use", "id": "x", "name": "add", "input": {"a": 1}},
                ]
            },
            "Well",
            [("add", {"a": 1})],
        ),
        (
            {"role": "model", "parts": [{"functionCall": {"name": "add", "args": {"a": 1}}}]},
            "",
            [("add", {"a": 1})],
        ),
        ({"content": "Only text"}, "Only text", []),
    ],
)
def test_json_in_any_providers_form_is_an_answer(asked, clock, say, written, text, calls):
    view, answers = asked
    say(view, "json", text=json.dumps(written))
    clock.turn(1)
    (said,) = answers
    assert (said.text, [(call.name, call.args) for call in said.calls]) == (text, calls)
    assert said.raw == written


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("{", "This is not JSON"),
        ("[]", "neither text nor a call"),
        ("17", "neither text nor a call"),
        ("[" * 100_000, "not JSON|nested too deeply"),
        (5, "This is not JSON"),
    ],
)
def test_what_is_no_answer_is_refused_with_the_reason(asked, clock, say, written, why):
    view, answers = asked
    say(view, "json", text=written)
    clock.turn(1)
    assert answers == []
    assert re.search(why, view.data["refused"])


def test_where_a_call_is_wanted_text_alone_is_refused(clock, say):
    view = HumanView(clock)
    answers: list[Said] = []
    view.ask(request(must_call=True), answers.append)
    say(view, "say", text="No.")
    clock.turn(1)
    assert answers == []
    assert "wants a call" in view.data["refused"]


def test_what_is_taken_away_is_not_answered_any_more(asked, clock, say):
    view, answers = asked
    view.pick("add")
    view.withdraw()
    for kind in ("say", "call", "json", "add", "wire"):
        say(view, kind, text="x")
    say(view, "pick", name="add")
    clock.turn(1)
    assert answers == []
    assert view.data["past"][0]["answered"] is False
    assert view.data["past"][0]["words"] == "(stopped before it was answered)"
    assert view.data["ended"] == "stopped"
    assert view.headline() == "1 turn stopped"
    assert view.data["problem"] is None


@pytest.mark.parametrize("name", ["nothing", 5, None, ["add"]])
def test_tools_that_were_not_offered_are_not_picked(asked, clock, say, name):
    view, _ = asked
    say(view, "pick", name=name)
    clock.turn(1)
    assert view.form is None


def test_results_come_back_to_the_person(clock):
    async def play():
        desk = OneDesk(clock)
        session = Session(HumanModel("openai", desk=desk), ToolRunner([add]))
        desk.script = [Said("", (ToolCall("add", {"a": 1, "b": "x"}),)), Said("done")]
        reply = await session.chat("1 + x?")
        return desk, reply

    desk, reply = asyncio.run(play())
    assert reply.text == "done"
    parts = desk.shown[1]["messages"]
    assert [part["role"] for part in parts] == ["user", "call", "result"]
    assert parts[2]["status"] == "invalid arguments"


def test_without_a_desk_a_request_is_refused_with_a_remedy():
    async def play():
        return await Session(HumanModel()).chat("hello")

    reply = asyncio.run(play())
    assert reply.reason == "model_error"
    assert "ScriptedModel" in reply.detail


def test_an_unknown_provider_is_refused():
    with pytest.raises(UsageError, match="known are openai"):
        HumanModel("mcp")


def test_static_forms_tell_the_turns(asked, clock):
    view, _ = asked
    view.answer(text="<b>Yes</b>")
    assert "&lt;b&gt;Yes" in view.static_html()
    assert "1: said '<b>Yes</b>'" in view.static_text()
    assert repr(view) == "<HumanView: 1 turn answered>"
    assert view.data["ended"] == "answered"


class OneDesk:
    """A desk whose person answers by script, through the view."""

    def __init__(self, clock) -> None:
        self.view = HumanView(clock)
        self.script: list[Said] = []
        self.shown: list[dict] = []

    async def ask(self, request: ModelRequest) -> Said:
        answers: list[Said] = []
        self.view.ask(request, answers.append)
        self.shown.append(self.view.data["asked"])
        said = self.script.pop(0)
        self.view.answer(*said.calls, text=said.text)
        return answers[0]
