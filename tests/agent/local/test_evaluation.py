"""What the evaluation counts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from agtools_nb.agent import ScriptedModel, Turn
from agtools_nb.agent.models.evaluation import (
    EvaluationRequest,
    evaluate,
    evaluation_tools,
    requests,
)
from agtools_nb.agent.models.evaluation.requests import read
from agtools_nb.agent.models.local import LocalModel
from agtools_nb.errors import ModelError, UsageError

TOOLS = {tool.name: tool for tool in evaluation_tools()}


def test_sixty_requests_over_six_tools() -> None:
    counted = Counter(one.tool for one in requests())
    assert counted == {**dict.fromkeys(TOOLS, 10), None: 10}


def test_thirty_others_to_develop_on() -> None:
    counted = Counter(one.tool for one in requests("development"))
    assert counted == {**dict.fromkeys(TOOLS, 5), None: 5}
    assert not {one.request for one in requests()} & {
        one.request for one in requests("development")
    }


def good(wanted: Any) -> Any:
    """A value that is as asked for."""
    if isinstance(wanted, dict):
        if "any" in wanted:
            return wanted["any"][0]
        return " ".join(wanted["words"]) if "words" in wanted else good(wanted["optional"])
    return wanted


def perfect(request: Any) -> Any:
    said = request.messages[-1].text
    [one] = [one for one in requests() if one.request == said]
    if one.tool is None:
        return "Hello!"
    return (one.tool, {name: good(value) for name, value in (one.arguments or {}).items()})


async def test_a_model_that_is_always_right() -> None:
    found = await evaluate(ScriptedModel(perfect))
    assert (found.tool_accuracy, found.argument_accuracy, found.text_accuracy) == (1, 1, 1)
    assert found.misses == ()
    assert [row.requests for row in found.rows] == [10] * 6 + [60, 10]


ADD = EvaluationRequest("x", "Add 1 and 2.", "add", {"a": 1, "b": 2}, ("a", "b"))
WEATHER = EvaluationRequest("x", "Weather in Oslo?", "get_weather", {"city": "Oslo"})
TIMER = EvaluationRequest("x", "5 minutes for tea", "set_timer", {"minutes": 5, "label": {"optional": {"words": ["tea"]}}})  # fmt: skip
TEXT = EvaluationRequest("x", "Hello!")


@pytest.mark.parametrize(
    ("wanted", "said", "tool", "right"),
    [
        (ADD, ("add", {"a": 1, "b": 2}), True, True),
        (ADD, ("add", {"a": 2, "b": 1}), True, True),
        (ADD, ("add", {"a": "1", "b": 2}), True, True),
        (ADD, ("add", {"a": 1, "b": 1}), True, False),
        (ADD, ("add", {"a": 1}), True, False),
        (ADD, ("add", '{"a": 1, "b": '), True, False),
        (ADD, ("get_weather", {"city": "1"}), False, False),
        (ADD, ("nothing", {}), False, False),
        (ADD, "3", False, False),
        (ADD, [("add", {"a": 1, "b": 2}), ("add", {"a": 1, "b": 2})], False, False),
        (WEATHER, ("get_weather", {"city": "oslo."}), True, True),
        (WEATHER, ("get_weather", {"city": "Oslo", "unit": "celsius"}), True, True),
        (WEATHER, ("get_weather", {"city": "Oslo", "unit": "fahrenheit"}), True, False),
        (WEATHER, ("get_weather", {"city": "the weather in Oslo"}), True, False),
        (TIMER, ("set_timer", {"minutes": 5}), True, True),
        (TIMER, ("set_timer", {"minutes": 5, "label": "Tea time"}), True, True),
        (TIMER, ("set_timer", {"minutes": 5, "label": "5 minutes"}), True, False),
        (TEXT, "Hello to you", True, True),
        (TEXT, ("get_weather", {"city": "Hello"}), False, False),
    ],
)
async def test_what_counts_as_right(wanted: Any, said: Any, tool: bool, right: bool) -> None:
    found = await evaluate(ScriptedModel([said]), [wanted])
    [outcome] = found.outcomes
    assert (outcome.tool_is_right, outcome.is_right) == (tool, right)
    assert found.misses == (() if right else (outcome,))


async def test_a_model_that_fails_is_a_miss() -> None:
    def fail(request: Any) -> Any:
        raise ModelError("out of order")

    found = await evaluate(ScriptedModel(fail), [ADD, TEXT])
    assert [outcome.said for outcome in found.misses] == ["failed: out of order"] * 2


async def test_a_request_for_a_tool_that_is_not_offered() -> None:
    with pytest.raises(UsageError, match="no tool is offered for requests of add"):
        await evaluate(ScriptedModel([]), [ADD], [TOOLS["get_weather"]])


def test_what_is_no_set_and_no_request() -> None:
    with pytest.raises(UsageError, match="no set of requests"):
        requests("training")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="line 2 is no request"):
        read(['{"id": "a", "request": "b"}', '{"id": "a"}'])


async def test_it_is_shown_as_text_and_as_a_table() -> None:
    turns = [Turn("<b>no</b>"), ("add", {"a": 1, "b": 2})]
    asked = [WEATHER, ADD]
    done: list[tuple[int, int]] = []
    found = await evaluate(
        ScriptedModel(turns), asked, progress=lambda now, of: done.append((now, of))
    )
    assert done == [(1, 2), (2, 2)]
    text = repr(found)
    assert "get_weather  1         0 (0 %)" in text
    assert "all tools    2         1 (50 %)" in text
    assert "missed: Weather in Oslo?\n        text: <b>no</b>" in text
    page = found._repr_html_()
    assert "<b>" not in page
    assert "text: &lt;b&gt;no&lt;/b&gt;" in page


async def test_the_small_model(model: LocalModel) -> None:
    """What the docs say of it holds on requests that were not used to make it work."""
    asked = [one for one in requests() if one.id in ("get_weather-02", "add-05", "send_message-04")]
    found = await evaluate(model, asked)
    assert found.tool_accuracy == 1, found
    assert found.argument_accuracy >= 0.6, found
